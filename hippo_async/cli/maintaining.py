"""``hippo maintain``: do all that is due now."""

from __future__ import annotations

import asyncio

import typer
from rich.markup import escape
from rich.table import Table

from hippo_async.cli.output import FAILED, console, print_json, progress, reported
from hippo_async.cli.store import Agent, DataDir, Json, KeyFile, Store
from hippo_async.lifecycle.maintenance import MaintenanceReport


def maintain(
    data_dir: DataDir = None, agent: Agent = "agent", key_file: KeyFile = None, as_json: Json = False
) -> None:
    """Do all that is due: erase what is to be forgotten, remove old raw shards, make memos of months,
    summaries of topics and memories of trends, anchor finished days.

    An agent that has the memory open does it by itself, and has it locked. Exit code 3 if a step failed.
    """
    with reported(as_json=as_json):
        report = asyncio.run(_maintained(Store.named(data_dir, agent, key_file), as_json=as_json))
    if as_json:
        print_json(report.as_dict())
    else:
        _say(report)
    if report.failed:
        raise typer.Exit(FAILED)


async def _maintained(store: Store, *, as_json: bool) -> MaintenanceReport:
    async with store.memory(embedder="none", as_json=as_json) as memory:
        with progress("maintenance", as_json=as_json) as bar:
            [task] = bar.task_ids

            def tell(done: int, total: int, name: str) -> None:
                bar.update(task, completed=done, total=total, description=name or "done")

            return await memory.run_maintenance(progress=tell)


def _say(report: MaintenanceReport) -> None:
    table = Table("step", "seconds", "did", box=None)
    for step in report.steps:
        did = ", ".join(f"{name} {value}" for name, value in step.did.items())
        said = escape(did) if step.error is None else f"[red]{escape(step.error)}[/]"
        table.add_row(step.name, f"{step.seconds:.2f}", said)
    console.print(table)
