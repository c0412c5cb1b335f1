"""Commands that prove one record to somebody else: ``prove``, and ``check-proof`` for that somebody."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hippo_async.cli.output import NOT_INTACT, console, print_json, reported
from hippo_async.cli.store import Agent, DataDir, Json, KeyFile, Store
from hippo_async.errors import Forgotten, InvalidInput, NotFound
from hippo_async.files import Files
from hippo_async.journal import Lineage
from hippo_async.journal.proof import Proof, ProofReport, check_proof, make_proof, read_proof
from hippo_async.lives import hidden_ids
from hippo_async.records import Record

NOT_SHOWN = "Not shown: when the anchor was made; who sealed the record; that its time is true."


def prove(
    record_id: Annotated[str, typer.Argument(help="The record's id, all 32 digits.")],
    reveal: Annotated[bool, typer.Option("--reveal", help="Put the text and metadata in.")] = False,
    last: Annotated[
        str | None,
        typer.Option(help="last_id of the anchor to prove it to; the day's newest record if not given."),
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write it to this file.")] = None,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Prove that a record is in the anchor of its day, without showing any other record.

    The text of what is to be forgotten is not revealed: a proof would outlive it.
    """
    with reported(as_json=as_json):
        with Store.named(data_dir, agent, key_file).journal() as journal:
            if reveal and record_id in hidden_ids(record for record, _ in journal.scan()):
                reason = f"record {record_id} is to be forgotten; prove it without --reveal"
                raise Forgotten(reason, record_id)
            line = _stored_line(journal, record_id)
            proof = make_proof(line, _records(journal, last), reveal=reveal)
        if output is not None:
            Files().write_atomic(output, proof.encode())
    if output is None:
        sys.stdout.write(proof.encode().decode())
    else:
        _say_written(output, proof, as_json=as_json)


def check(
    file: Annotated[Path, typer.Argument(help="The proof.")],
    anchor: Annotated[
        str | None, typer.Option(help="The anchor's hash as it was published, to compare with.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a proof; needs neither key nor journal. Exit code 1 if it does not hold."""
    with reported(as_json=as_json):
        report = check_proof(read_proof(Files().read(file)), published=anchor)
    if as_json:
        print_json(report.as_dict())
    else:
        console.print(_verdict(report, compared=anchor is not None), soft_wrap=True, highlight=False)
    if not report.holds:
        raise typer.Exit(NOT_INTACT)


def _stored_line(journal: Lineage, record_id: str) -> bytes:
    for record, location in journal.scan():
        if record.record_id == record_id:
            return journal.line(location, record_id)
    raise NotFound(f"no record {record_id} in this journal")


def _records(journal: Lineage, last: str | None) -> Iterator[Record]:
    """Yield the journal's records up to and with ``last``."""
    for record, _ in journal.scan():
        yield record
        if record.record_id == last:
            return
    if last is not None:
        raise InvalidInput(f"--last {last}: no such record in this journal")


def _say_written(output: Path, proof: Proof, *, as_json: bool) -> None:
    if as_json:
        print_json({"path": str(output), "record_id": proof.record_id, "anchor_hash": proof.anchor_hash})
        return
    place = f"leaf {proof.leaf_index} of {proof.anchor.count} of {proof.anchor.date}"
    written = f"{output}: {place}, anchor {proof.anchor_hash}"
    console.print(written, highlight=False, soft_wrap=True, markup=False)


def _verdict(report: ProofReport, *, compared: bool) -> str:
    """Write a report for people. Text of the proof's maker is quoted, so that it cannot pass for ours."""
    if report.reason is not None:
        return f"[bold red]does not hold[/]: record {report.record_id}: {report.reason}"
    place = f"leaf {report.leaf_index} of {report.count} of {report.date}"
    lines = [
        f"[green]holds[/]: record {report.record_id} of agent {escape(repr(report.agent_id))}",
        f"timed {report.timestamp}, {place}",
        f"in the anchor {report.anchor_hash}" + (", the published one" if compared else ""),
    ]
    if not compared:
        lines.append("Compare this hash with where the anchor was published: nothing else makes it proof.")
    lines.append(NOT_SHOWN)
    if report.content is not None:
        lines.append(f"text: {escape(repr(report.content))}")
    return "\n".join(lines)
