"""``hippo migrate``: a memory moved to another data directory."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hippo_async.cli.output import console, print_json, progress, reported
from hippo_async.cli.store import Agent, Json, KeyFile
from hippo_async.configuring import load_settings
from hippo_async.errors import NotFound
from hippo_async.files import Files
from hippo_async.journal.moved import MIGRATING, MOVED
from hippo_async.migration import MIGRATED, MigrationReport, find_old
from hippo_async.migration import migrate as move
from hippo_async.migration.arrival import read
from hippo_async.migration.document import announced
from hippo_async.migration.old import has_journal, holds_memory, old_directories
from hippo_async.place import Place, default_data_dir, default_witness

Timeout = Annotated[
    int | None,
    typer.Option(
        "--timeout",
        help="Give up after so many seconds; as migration.timeout_ms of the memory says if not given.",
        min=10,
        max=3600,
        show_default=False,
    ),
]


def migrate(
    target: Annotated[Path, typer.Argument(help="A new or empty directory.")],
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="The directory to move. If not given: what migrate_from of the new directory names, the "
            "default one, or one under an old name.",
            show_default=False,
        ),
    ] = None,
    timeout: Timeout = None,
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
            timeout_ms=_timeout_ms(place.data_dir) if timeout is None else timeout * 1000,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    if as_json:
        print_json(report.as_dict())
    else:
        _say(report)


def _found(target: Path) -> Path:
    """The directory to move, if none is named. Raises :class:`NotFound`."""
    files, default = Files(), default_data_dir()
    if (begun := _begun(target, files)) is not None:
        return begun
    if (named := _named(target, files)) is not None:
        return named
    if default.absolute() != target.absolute() and holds_memory(default, files):
        return default
    if (old := find_old(target, files=files)) is None:
        looked = ", ".join(map(str, [default, *old_directories()]))
        raise NotFound(f"no memory to be moved in {looked}; name its directory with --from")
    return old


def _begun(target: Path, files: Files) -> Path | None:
    """Where the memory came from that is there, or on its way."""
    for sign in (MIGRATED, MIGRATING):
        with suppress(ValueError):
            if (text := read(target / sign, files)) is not None:
                return Path(announced(text).source)
    return None


def _named(target: Path, files: Files) -> Path | None:
    """What ``migrate_from`` names, which may be left set when its memory is fetched."""
    named = load_settings(target, files=files).migrate_from
    if not named or files.exists(Path(named) / MOVED):
        return None
    if not has_journal(Path(named), files):
        raise NotFound(f"migrate_from names {named}, where no memory is; name its directory with --from")
    return Path(named)


def _timeout_ms(source: Path) -> int:
    return load_settings(source).migration.timeout_ms


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
