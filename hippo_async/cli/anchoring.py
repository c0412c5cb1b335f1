"""``hippo anchor``: the hashes of finished days, and who has them. Safe beside a writer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import Progress

from hippo_async.anchors import (
    AnchoredDay,
    AnchorRun,
    DayCheck,
    FilePublisher,
    Ledger,
    PostPublisher,
    Publisher,
    Source,
    TimestampPublisher,
    check_ledger,
    publish_due,
    read_roots,
)
from hippo_async.cli.output import FAILED, NOT_INTACT, console, print_json, progress, reported
from hippo_async.cli.store import Agent, DataDir, Json, KeyFile, Store
from hippo_async.clock import SystemClock
from hippo_async.files import Files
from hippo_async.journal import Lineage
from hippo_async.journal.anchor import daily_anchor
from hippo_async.journal.moved import refuse_moved
from hippo_async.journal.proof import anchor_v2
from hippo_async.records import Record

app: typer.Typer = typer.Typer(
    help="Fold each day into a hash, publish it, and check what was published.", no_args_is_help=True
)
Roots = Annotated[
    list[Path] | None,
    typer.Option("--timestamp-roots", help="Root certificates (PEM) that time-stamps must lead to; repeat."),
]


@app.command("day")
def day(
    day: Annotated[datetime, typer.Argument(formats=["%Y-%m-%d"], help="A UTC date.")],
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Fold the records of a day into a hash that can be published: alone, or with a root for proofs."""
    wanted = day.date()
    with reported(as_json=as_json), Store.named(data_dir, agent, key_file).journal() as journal:
        records = [record for record, _ in journal.scan() if record.timestamp.startswith(wanted.isoformat())]
    plain = daily_anchor(records, agent_id=agent, date=wanted)
    with_tree, _ = anchor_v2(records, agent_id=agent, date=wanted)
    facts: dict[str, Any] = {
        "payload": plain.as_dict(),
        "anchor_payload_hash": plain.anchor_payload_hash.hex(),
        "merkle_root": with_tree.merkle_root,
        "anchor_v2_hash": with_tree.anchor_payload_hash.hex(),
    }
    if as_json:
        print_json(facts)
        return
    console.print(f"{wanted}: {plain.count} records", highlight=False)
    for name in ("anchor_payload_hash", "anchor_v2_hash"):
        console.print(f"{name} {facts[name]}", highlight=False, soft_wrap=True)


@app.command("list")
def list_days(data_dir: DataDir = None, agent: Agent = "agent", as_json: Json = False) -> None:
    """Show each anchored day: its records and hash, who published it and when, what is still to be."""
    ledger = Ledger(Store.named(data_dir, agent, None).data_dir, agent_id=agent)
    with reported(as_json=as_json):
        days = [ledger.read(date) for date in ledger.dates()]
    if as_json:
        print_json([_facts(anchored) for anchored in days])
        return
    for anchored in days:
        console.print(_told(anchored), highlight=False, soft_wrap=True)
    if not days:
        console.print("no day is anchored yet")


@app.command("publish")
def publish(
    file: Annotated[
        list[Path] | None, typer.Option("--file", help="Append a line a day to this file; repeat.")
    ] = None,
    post: Annotated[
        list[str] | None, typer.Option("--post", help="Post a JSON object a day to this URL; repeat.")
    ] = None,
    timestamp: Annotated[
        list[str] | None,
        typer.Option("--timestamp", help="Have the authority at this URL stamp each day (RFC 3161); repeat."),
    ] = None,
    timestamp_roots: Roots = None,
    retry_now: Annotated[bool, typer.Option("--retry-now", help="Do not wait for any back-off.")] = False,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Anchor every finished day, and publish what is due. Exit code 3 if a publisher failed."""
    store = Store.named(data_dir, agent, key_file)
    with reported(as_json=as_json):
        refuse_moved(store.data_dir, Files())  # reading a moved store is fine, but not adding to its anchors
        publishers = _publishers(file or (), post or (), timestamp or (), timestamp_roots or ())
        with store.journal() as journal, progress("reading", as_json=as_json) as bar:
            run = asyncio.run(_publish(store, journal, publishers, bar, retry_now=retry_now))
    if as_json:
        print_json(run.as_dict())
    else:
        _say(run)
    if run.failed:
        raise typer.Exit(FAILED)


@app.command("check")
def check(
    timestamp_roots: Roots = None,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Recompute every stored anchor and, given roots, verify its time-stamps; exit code 1 if one fails."""
    store = Store.named(data_dir, agent, key_file)
    ledger = Ledger(store.data_dir, agent_id=agent)
    with reported(as_json=as_json):
        roots = _roots(timestamp_roots or ())
        with store.journal() as journal, progress("reading", as_json=as_json) as bar:
            found = check_ledger(ledger, _records(journal, bar), roots=roots)
    if as_json:
        print_json([checked.as_dict() for checked in found])
    else:
        _say_checked(found)
    if not all(checked.holds for checked in found):
        raise typer.Exit(NOT_INTACT)


async def _publish(
    store: Store, journal: Lineage, publishers: Sequence[Publisher], bar: Progress, *, retry_now: bool
) -> AnchorRun:
    [task] = bar.task_ids
    return await publish_due(
        Source(journal.journal_id, lambda after: _records(journal, bar, after=after)),
        Ledger(store.data_dir, agent_id=store.agent_id),
        publishers,
        SystemClock(),
        retry_now=retry_now,
        progress=lambda done, total: bar.update(task, description="publishing", completed=done, total=total),
    )


def _records(journal: Lineage, bar: Progress, *, after: int = -1) -> Iterator[Record]:
    """Yield the journal's records with a seq above ``after``, and move the bar along."""
    [task] = bar.task_ids
    total = journal.tail.seq + 1
    for record, _ in journal.scan(after=after):
        yield record
        bar.update(task, completed=record.seq + 1, total=total)


def _publishers(
    files: Sequence[Path], posts: Sequence[str], timestamps: Sequence[str], roots: Sequence[Path]
) -> list[Publisher]:
    trusted = _roots(roots)
    return [
        *(FilePublisher(path) for path in files),
        *(PostPublisher(url) for url in posts),
        *(TimestampPublisher(url, roots=trusted) for url in timestamps),
    ]


def _roots(paths: Sequence[Path]) -> list[Any]:
    return [root for path in paths for root in read_roots(Files().read(path))]


def _facts(anchored: AnchoredDay) -> dict[str, Any]:
    return {
        "date": anchored.date,
        "count": anchored.anchor.count,
        "anchor_payload_hash": anchored.anchor_payload_hash,
        "anchor_v2_hash": anchored.anchor_v2_hash,
        "published": {given.publisher: given.published_at for given in anchored.receipts},
        "pending": {
            failed.publisher: {
                "attempts": failed.attempts,
                "last_error": failed.last_error,
                "retry_at": failed.retry_at,
            }
            for failed in anchored.pending
        },
    }


def _told(anchored: AnchoredDay) -> str:
    """Write a day for people: a line for itself, and one for each publisher."""
    return "\n".join(
        [
            f"[bold]{anchored.date}[/]  {anchored.anchor.count:,} records  {anchored.anchor_v2_hash}",
            *(
                f"  [green]published[/] {given.published_at[:16]}Z, {escape(given.publisher)}"
                for given in anchored.receipts
            ),
            *(
                f"  [yellow]pending[/] until {failed.retry_at[:16]}Z, attempt {failed.attempts}, "
                f"{escape(f'{failed.publisher}: {failed.last_error}')}"
                for failed in anchored.pending
            ),
        ]
    )


def _say(run: AnchorRun) -> None:
    console.print(
        f"{len(run.anchored)} days anchored, {len(run.published)} publications, {run.waiting} waiting",
        highlight=False,
    )
    for failed in run.failed:
        line = f"[bold red]failed[/]: {failed.date}, {escape(failed.publisher)}: {escape(failed.error)}"
        console.print(line, highlight=False, soft_wrap=True)


def _say_checked(found: Sequence[DayCheck]) -> None:
    for checked in found:
        if checked.reason is not None:
            line = f"[bold red]does not hold[/]: {checked.date}: {escape(checked.reason)}"
            console.print(line, highlight=False, soft_wrap=True)
    good = sum(checked.holds for checked in found)
    stamped = sum(len(checked.stamped) for checked in found if checked.holds)
    console.print(f"{good} of {len(found)} anchors hold, {stamped} time-stamps verified", highlight=False)
