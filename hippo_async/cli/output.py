"""Printing results: for people with rich, for programs as one JSON document."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from hippo_async.errors import HippoError, IntegrityError

T = TypeVar("T")

OK = 0
NOT_INTACT = 1
USAGE = 2
FAILED = 3

console: Console = Console()
errors: Console = Console(stderr=True)


def print_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def run(work: Coroutine[Any, Any, T], *, as_json: bool) -> T:
    """Run a command's coroutine; an error of ours becomes a message and an exit code."""
    try:
        return asyncio.run(work)
    except (HippoError, OSError) as error:
        fail(error, as_json=as_json)


def fail(error: HippoError | OSError, *, as_json: bool) -> NoReturn:
    """Print an error with its stable code and leave: 1 if a store is not intact, else 3."""
    described = (
        error.as_dict() if isinstance(error, HippoError) else {"code": "MEM_E_OS", "message": str(error)}
    )
    if isinstance(error, IntegrityError):
        described |= {
            "path": str(error.path),
            "offset": str(error.offset),
            "seq": str(error.seq),
            "reason": error.reason,
        }
    if as_json:
        print_json({"error": described})
    else:
        errors.print(
            f"[bold red]{described['code']}[/]", described["message"], soft_wrap=True, highlight=False
        )
    raise typer.Exit(NOT_INTACT if isinstance(error, IntegrityError) else FAILED)


@contextmanager
def progress(label: str, *, as_json: bool) -> Iterator[Progress]:
    """Show a progress bar on standard error; none with ``--json`` or where nobody looks."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=errors,
        transient=True,
        disable=as_json or not errors.is_terminal,
    ) as bar:
        bar.add_task(label, total=None)
        yield bar
