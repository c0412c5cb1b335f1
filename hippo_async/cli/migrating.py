"""``hippo migrate``: a memory moved to another data directory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hippo_async.cli.output import console, print_json, progress, reported
from hippo_async.cli.store import Agent, Json, KeyFile
from hippo_async.config import MigrationSettings
from hippo_async.errors import NotFound
from hippo_async.files import Files
from hippo_async.migration import MigrationReport, find_old
from hippo_async.migration import migrate as move
from hippo_async.migration.document import MIGRATED
from hippo_async.migration.old import holds_memory, old_directories
from hippo_async.place import Place, default_data_dir, default_witness

Timeout = Annotated[
    int, typer.Option("--timeout", help="Give up after so many seconds.", min=10, max=3600, show_default=True)
]
DEFAULT_TIMEOUT = MigrationSettings().timeout_ms // 1000


def migrate(
    target: Annotated[Path, typer.Argument(help="A new or empty directory.")],
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="The directory to move; the default one, or one under an old name, if not given.",
            show_default=False,
        ),
    ] = None,
    timeout: Timeout = DEFAULT_TIMEOUT,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Move a memory to another directory and verify it there; nobody may have it open.

    The old directory stays as a backup, and is not written to any more. On an error it stays the memory, and
    the target is emptied. Run it again after a crash, or to hear that it was done.
    """
    with reported(as_json=as_json), progress("moving", as_json=as_json, in_bytes=True) as bar:
        [task] = bar.task_ids
        place = Place(source or _found(target), agent, None, key_file, default_witness())
        report = move(
            place,
            target,
            timeout_ms=timeout * 1000,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    if as_json:
        print_json(report.as_dict())
    else:
        _say(report)


def _found(target: Path) -> Path:
    """The directory to move, if none is named. Raises :class:`NotFound`."""
    files, default = Files(), default_data_dir()
    if files.exists(target / MIGRATED):
        return default
    if default.absolute() != target.absolute() and holds_memory(default, files):
        return default
    if (old := find_old(target, files=files)) is None:
        looked = ", ".join(map(str, [default, *old_directories()]))
        raise NotFound(f"no memory to be moved in {looked}; name its directory with --from")
    return old


def _say(report: MigrationReport) -> None:
    made, done = report.move, "moved before" if report.already else "moved and verified"
    _print(
        f"[green]{done}[/]: {escape(made.target)}: {made.records:,} records of agent "
        f"{escape(repr(made.agent_id))}, last {made.record_id}; {made.files:,} files, {made.size:,} bytes"
    )
    _print(
        f"Open it there from now on. {escape(made.source)} stays as a backup and is not written to any more: "
        "what is forgotten later is still in it until you remove it."
    )


def _print(line: str) -> None:
    console.print(line, highlight=False, soft_wrap=True)
