"""Commands for a store that is not what was written: ``repair``, ``salvage`` and ``witness accept``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from hippo_async.cli.output import NOT_INTACT, console, print_json, reported
from hippo_async.cli.store import Agent, DataDir, Json, KeyFile, Store
from hippo_async.errors import RolledBack
from hippo_async.files import Files
from hippo_async.journal.diagnosis import Diagnosis
from hippo_async.lives import hidden_ids
from hippo_async.records import Record

witness: typer.Typer = typer.Typer(
    help="The copy of the head outside the store, by which a rollback is noticed.", no_args_is_help=True
)


def repair(
    apply: Annotated[
        bool, typer.Option("--apply", help="Do it. Without this, only say what would be done.")
    ] = False,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Say what is wrong with a damaged journal and what could be saved; with --apply, save it.

    What was damaged is moved aside and kept. What is missing afterwards is recorded in the chain as accepted.
    Exit code 1 if there is something to repair and nothing was done.
    """
    with reported(as_json=as_json):
        repairs = Store.named(data_dir, agent, key_file).repairs()
        found = [one.apply() if apply else one.examination.diagnose() for one in repairs]
    wrong = [diagnosis for diagnosis in found if diagnosis.verdict is not None]
    if as_json:
        print_json({"applied": apply, "journals": [diagnosis.as_dict() for diagnosis in found]})
    else:
        for line in _report(wrong, applied=apply):
            console.print(line, soft_wrap=True, highlight=False)
    if wrong and not apply:
        raise typer.Exit(NOT_INTACT)


def salvage(
    output: Annotated[Path, typer.Option("-o", "--output", help="Write them here, one JSON object a line.")],
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Take every record that can be proved out of a journal, in whatever state it is; change nothing.

    What is to be forgotten comes without its text, as far as the records that say so can be proved too.
    """
    kept: list[Record] = []
    lost = 0
    with reported(as_json=as_json):
        for one in Store.named(data_dir, agent, key_file).repairs():
            found = one.examination.salvage()
            kept += found.records()
            lost += len(found.damages)
        hidden = hidden_ids(kept)
        shown = (record.without_text() if record.record_id in hidden else record for record in kept)
        lines = (json.dumps(record.as_dict(), ensure_ascii=False) + "\n" for record in shown)
        Files().write_atomic(output, "".join(lines).encode())
    if as_json:
        print_json({"path": str(output), "records": len(kept), "damages": lost})
    else:
        text = f"{output}: {len(kept):,} records; {lost} stretches of bytes are not what was sealed"
        console.print(text, soft_wrap=True, highlight=False, markup=False)


@witness.command("accept")
def accept(
    data_dir: DataDir = None, agent: Agent = "agent", key_file: KeyFile = None, as_json: Json = False
) -> None:
    """Take a store as it is although the witness saw a later state, as after restoring a backup.

    The act is recorded in the chain, with what the witness saw. Do it only if you know why the store is
    older.
    """
    objection: RolledBack | None = None
    with reported(as_json=as_json), closing(Store.named(data_dir, agent, key_file).lineage()) as journal:
        try:
            journal.open()
        except RolledBack as error:
            objection = error
            journal.open(accepting=[RolledBack])
        seq = journal.tail.seq
    if as_json:
        print_json({"accepted": None if objection is None else objection.as_dict(), "seq": seq})
    elif objection is None:
        console.print("the witness has nothing against this store")
    else:
        console.print(
            f"accepted, and recorded as seq {seq}: {escape(str(objection))}", soft_wrap=True, highlight=False
        )


def _report(wrong: list[Diagnosis], *, applied: bool) -> Iterator[str]:
    if not wrong:
        yield "nothing is wrong"
    for diagnosis in wrong:
        verdict = diagnosis.verdict
        yield f"[bold red]{verdict.code if verdict else ''}[/] {escape(str(verdict))}"
        if isinstance(verdict, RolledBack):
            yield "This is no damage. If you put an older copy here yourself: hippo witness accept"
            continue
        yield from map(_line, diagnosis.as_dict()["damages"])
        yield (
            f"{diagnosis.kept:,} records keep their place, {diagnosis.texts_lost:,} of them without their "
            f"text; {diagnosis.carried:,} are repeated behind them; of {diagnosis.lost:,} nothing is left"
        )
        yield "Repaired." if applied else "Nothing was changed. To repair it: hippo repair --apply"


def _line(damage: dict[str, Any]) -> str:
    seqs = ", ".join(map(str, damage["seqs"])) or "none"
    place = f"segment {damage['segment']}, offset {damage['offset']}, {damage['length']} bytes"
    return f"  {place}: {damage['outcome'].replace('_', ' ')}, seq {seqs}"
