"""Printing results: for people with rich, for programs as one JSON document."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from hippo_async.errors import ConfigError, HippoError, IntegrityError

NOT_INTACT = 1
WRONG_USE = 2
FAILED = 3
"""Exit codes; 2 is typer's own too."""

console: Console = Console()
errors: Console = Console(stderr=True)


def print_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


@contextmanager
def reported(*, as_json: bool) -> Iterator[None]:
    """Turn an error of ours, or of the system, into a message with its stable code, and leave.

    The exit code is 1 if a store is not intact, 2 for a setting that is not allowed, else 3.
    """
    try:
        yield
    except (HippoError, OSError) as error:
        described = _described(error)
        if as_json:
            print_json({"error": described})
        else:
            errors.print(
                f"[bold red]{described['code']}[/]", described["message"], soft_wrap=True, highlight=False
            )
            if isinstance(error, IntegrityError):
                errors.print(error.advice, soft_wrap=True, highlight=False)
        raise typer.Exit(_exit_code(error)) from error


def _exit_code(error: HippoError | OSError) -> int:
    if isinstance(error, IntegrityError):
        return NOT_INTACT
    return WRONG_USE if isinstance(error, ConfigError) else FAILED


def _described(error: HippoError | OSError) -> dict[str, str]:
    if not isinstance(error, HippoError):
        return {"code": "MEM_E_OS", "message": str(error)}
    if not isinstance(error, IntegrityError):
        return error.as_dict()
    where = {"path": str(error.path), "offset": str(error.offset), "seq": str(error.seq)}
    return {**error.as_dict(), **where, "reason": error.reason, "advice": error.advice}


@contextmanager
def progress(label: str, *, as_json: bool, in_bytes: bool = False) -> Iterator[Progress]:
    """Show a progress bar on standard error; none with ``--json`` or where nobody looks."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(binary_units=True) if in_bytes else MofNCompleteColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=errors,
        transient=True,
        disable=as_json or not errors.is_terminal,
    ) as bar:
        bar.add_task(label, total=None)
        yield bar
