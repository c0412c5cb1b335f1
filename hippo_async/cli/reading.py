"""Commands that read the journal alone: ``status``, ``log``, ``verify``. Safe beside a writer."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from hippo_async.cli.output import NOT_INTACT, console, print_json, progress, reported
from hippo_async.cli.store import Agent, DataDir, Json, KeyFile, Store
from hippo_async.journal import ChainReport, Lineage
from hippo_async.lives import hidden_ids, operation_of
from hippo_async.records import Record


def status(
    data_dir: DataDir = None, agent: Agent = "agent", key_file: KeyFile = None, as_json: Json = False
) -> None:
    """Say what the store holds: records by kind and novelty, days, bytes."""
    store = Store.named(data_dir, agent, key_file)
    with reported(as_json=as_json), store.journal() as journal, progress("reading", as_json=as_json) as bar:
        [task] = bar.task_ids
        total = journal.tail.seq + 1
        seen = _Tally()
        for record, _ in journal.scan():
            seen.add(record)
            bar.update(task, completed=record.seq + 1, total=total)
        facts = {
            "data_dir": str(store.data_dir),
            "agent_id": agent,
            "journal_id": journal.journal_id,
            "generation": journal.generation,
            "records": total,
            "journal_bytes": journal.size,
            **seen.as_dict(),
        }
    if as_json:
        print_json(facts)
        return
    table = Table("", "", show_header=False, box=None)
    for name, value in facts.items():
        shown = (
            ", ".join(f"{key} {count:,}" for key, count in value.items())
            if isinstance(value, dict)
            else value
        )
        table.add_row(name.replace("_", " "), escape(f"{shown:,}" if isinstance(shown, int) else str(shown)))
    console.print(table)


def log(
    n: Annotated[int, typer.Option("-n", min=1, help="How many of the newest records.")] = 20,
    after: Annotated[int, typer.Option(help="Only records with a seq above this.")] = -1,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Show the newest records, oldest first, each verified; what is to be forgotten without its text."""
    with reported(as_json=as_json), Store.named(data_dir, agent, key_file).journal() as journal:
        records = _newest(journal, n, after=after)
    if as_json:
        print_json([record.as_dict() for record in records])
        return
    table = Table("seq", "time", "kind", "novelty", "who", "content", "id", box=None)
    for record in records:
        text = "[forgotten]" if record.purged else " ".join(record.text.split())
        table.add_row(
            str(record.seq),
            record.timestamp[:19].replace("T", " "),
            record.kind,
            record.novelty,
            escape(record.role or record.type),
            escape(text[:200]),
            record.record_id[:8],
        )
    console.print(table)


def verify(
    data_dir: DataDir = None, agent: Agent = "agent", key_file: KeyFile = None, as_json: Json = False
) -> None:
    """Walk the journal once and check every seal and link; exit code 1 if it is not intact."""
    with reported(as_json=as_json), Store.named(data_dir, agent, key_file).journal() as journal:
        report = journal.verify_chain()
    if as_json:
        print_json(report.as_dict())
    else:
        console.print(_verdict(report), soft_wrap=True, highlight=False)
    if not report.intact:
        raise typer.Exit(NOT_INTACT)


def _newest(journal: Lineage, n: int, *, after: int) -> list[Record]:
    """Read all, since a text may be asked to be forgotten much later; in one walk, beside a writer too."""
    newest: deque[Record] = deque(maxlen=n)

    def kept() -> Iterator[Record]:
        for record, _ in journal.scan():
            if record.seq > after:
                newest.append(record)
            yield record

    hidden = hidden_ids(kept())
    return [record.without_text() if record.record_id in hidden else record for record in newest]


def _verdict(report: ChainReport) -> str:
    if report.intact:
        return f"[green]intact[/]: {report.records:,} records, last {report.record_id}"
    where = f"{report.path}: offset {report.offset}, seq {report.seq}, record {report.record_id}"
    return f"[bold red]not intact[/]: {escape(where)}: {report.reason}"


class _Tally:
    """Counts over all records."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.novelty: Counter[str] = Counter()
        self.sessions: set[str | None] = set()
        self.first = ""
        self.last = ""

    def add(self, record: Record) -> None:
        """Count one record."""
        self.first = self.first or record.timestamp
        self.last = record.timestamp
        if record.type == "record" and operation_of(record) is None:
            self.kinds[record.kind] += 1
            self.novelty[record.novelty] += 1
            self.sessions.add(record.session)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as plain JSON values."""
        return {
            "kinds": dict(self.kinds),
            "novelty": dict(self.novelty),
            "sessions": len(self.sessions - {None}),
            "first": self.first,
            "last": self.last,
        }
