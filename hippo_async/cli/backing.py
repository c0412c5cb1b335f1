"""``hippo backup`` and ``hippo restore``: a verified copy of a store, and a store made of one again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import Progress

from hippo_async.backup import BackupReport, Manifest, RestoreReport
from hippo_async.backup import backup as make_backup
from hippo_async.backup import restore as restore_backup
from hippo_async.backup.copying import Progress as Told
from hippo_async.cli.output import console, print_json, progress, reported
from hippo_async.cli.store import Agent, DataDir, Json, KeyFile, Store
from hippo_async.place import Place, default_witness


def backup(
    destination: Annotated[Path, typer.Argument(help="A new or empty directory.")],
    with_key: Annotated[
        bool, typer.Option("--with-key", help="Put the keys in: whoever has the backup can forge then.")
    ] = False,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Copy the store to a new place and verify the copy; also while an agent writes to it.

    A store that is not intact is not copied, with exit code 1. On an error nothing is left behind that could
    be taken for a backup.
    """
    place = _place(data_dir, agent, key_file)
    with reported(as_json=as_json), progress("copying", as_json=as_json, in_bytes=True) as bar:
        report = make_backup(place, destination, with_keys=with_key, progress=_told(bar))
    if as_json:
        print_json(report.as_dict())
    else:
        _say_made(report)


def restore(
    backup: Annotated[Path, typer.Argument(help="What 'hippo backup' made.")],
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Verify a backup and make a store of it, where there is none; keys that are in it are restored too.

    Exit code 1 if a bit of it is not what was written; nothing is restored then.
    """
    place = _place(data_dir, agent, key_file)
    with reported(as_json=as_json), progress("restoring", as_json=as_json, in_bytes=True) as bar:
        report = restore_backup(backup, place, progress=_told(bar))
    if as_json:
        print_json(report.as_dict())
    else:
        _say_restored(report)


def _place(data_dir: Path | None, agent: str, key_file: Path | None) -> Place:
    store = Store.named(data_dir, agent, key_file)
    return Place(store.data_dir, agent, None, key_file, default_witness())


def _told(bar: Progress) -> Told:
    [task] = bar.task_ids
    return lambda done, total: bar.update(task, completed=done, total=total)


def _say_made(report: BackupReport) -> None:
    _say(f"[green]verified[/]: {_described(report.path, report.manifest)}")
    for note in report.notes:
        _say(f"note: {escape(note)}")
    _say(f"[bold yellow]{escape(report.warning)}[/]")


def _say_restored(report: RestoreReport) -> None:
    made_at = report.manifest.made_at[:16].replace("T", " ")
    _say(f"[green]verified[/]: {_described(report.path, report.manifest)}, as of {made_at}Z")
    if report.rolled_back is not None:
        _say(
            f"[bold yellow]This is older than what the witness outside the store saw[/]: "
            f"{escape(report.rolled_back.reason)}. If you mean to go on from here without what came after: "
            "hippo witness accept"
        )


def _described(path: Path, manifest: Manifest) -> str:
    return (
        f"{escape(str(path))}: {manifest.seq + 1:,} records of agent {escape(repr(manifest.agent_id))}, "
        f"last {manifest.record_id}; {len(manifest.files):,} files, {manifest.size:,} bytes"
    )


def _say(line: str) -> None:
    console.print(line, highlight=False, soft_wrap=True)
