"""Commands that need the whole memory: ``recall`` and ``brief``. Refused while an agent has it open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from hippo_async.cli.output import console, print_json, reported
from hippo_async.cli.store import Agent, DataDir, Json, KeyFile, Scope, Store
from hippo_async.records import Briefing, Kind, Recall
from hippo_async.selection import moment_of

MEMORIES = 5

Embedder = Annotated[str, typer.Option(help="auto, none, multilingual, semantic, or a model's name.")]


def recall(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    top_k: Annotated[int | None, typer.Option("-k", help="How many memories.", show_default="5")] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="Only with this tag; repeat.")] = None,
    kinds: Annotated[list[Kind] | None, typer.Option("--kind", help="Only of this kind; repeat.")] = None,
    roles: Annotated[list[str] | None, typer.Option("--role", help="Only by this role; repeat.")] = None,
    session: Annotated[str | None, typer.Option(help="Only of this conversation.")] = None,
    scope: Scope = None,
    start: Annotated[str | None, typer.Option(help="From this ISO date or time on; UTC if no zone.")] = None,
    end: Annotated[str | None, typer.Option(help="Up to this time, or through this day.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=0, help="Most tokens that texts may take.")] = None,
    neighbours: Annotated[int, typer.Option(min=0, help="So many turns before and after each.")] = 0,
    deep_raw: Annotated[
        bool, typer.Option("--deep-raw", help="What was said word for word; needs --start and --end.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
    embedder: Embedder = "auto",
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Find memories by words and meaning, or with --deep-raw what was said word for word."""
    store = Store.named(data_dir, agent, key_file)

    async def find() -> Recall:
        first = None if start is None else moment_of(start, name="--start")
        last = None if end is None else moment_of(end, name="--end", whole_day=True)
        async with store.memory(embedder=embedder, as_json=as_json) as memory:
            return await memory.recall(
                query,
                tags=tags or (),
                kinds=kinds or (),
                roles=roles or (),
                scope=scope or (),
                session=session,
                start=first,
                end=last,
                top_k=MEMORIES if top_k is None and not deep_raw else top_k,
                max_tokens=max_tokens,
                neighbours=neighbours,
                mode="deep_raw" if deep_raw else "memories",
            )

    with reported(as_json=as_json):
        found = asyncio.run(find())
    if as_json:
        print_json(found.as_dict())
    elif deep_raw:
        _show(_raw_table(found), bool(found.raw), found.notes)
    else:
        _show(_table(found, explain=explain), bool(found.hits), found.notes)


def _show(table: Table, is_any: bool, notes: Sequence[str]) -> None:
    console.print(table if is_any else "nothing found")
    for note in notes:
        console.print(f"note: {escape(note)}", soft_wrap=True)


def _table(found: Recall, *, explain: bool) -> Table:
    """One row for each hit, between rows without a score for the turns around it."""
    table = Table("score", "time", "who", "content", *(["why"] if explain else []), "id", box=None)
    for hit in found:
        before = [turn for turn in hit.around if turn.seq < hit.record.seq]
        for record in (*before, hit.record, *hit.around[len(before) :]):
            score, why = "", ""
            if record is hit.record:
                score = f"{hit.score:.2f}"
                why = ", ".join(f"{signal} {value:.2f}" for signal, value in hit.why.items())
            who = record.speaker or record.role or record.kind
            text = " ".join(record.text.split())[:200]
            again = f" (again on {hit.repeats[-1].timestamp[:10]})" if score and hit.repeats else ""
            shown = (score, _time(record.timestamp), escape(who), escape(text + again))
            table.add_row(*shown, *([why] if explain else []), record.record_id[:8])
    return table


def _raw_table(found: Recall) -> Table:
    table = Table("time", "who", "said", "where", box=None)
    for hit in found.raw:
        said = " ".join(hit.snippet.split())
        table.add_row(_time(hit.timestamp), escape(hit.role), escape(said), f"{hit.day}:{hit.line}")
    return table


def _time(timestamp: str) -> str:
    return timestamp[:16].replace("T", " ")


def brief(
    query: Annotated[str | None, typer.Argument(help="What the prompt is about.")] = None,
    budget: Annotated[int, typer.Option("-b", min=0, help="Most tokens the block may take.")] = 500,
    scope: Scope = None,
    embedder: Embedder = "auto",
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Print the block that would go into a prompt, and its size."""
    store = Store.named(data_dir, agent, key_file)

    async def select() -> Briefing:
        async with store.memory(embedder=embedder, as_json=as_json) as memory:
            return await memory.brief(query, budget=budget, scope=scope or ())

    with reported(as_json=as_json):
        made = asyncio.run(select())
    if as_json:
        print_json(
            {"text": made.text, "tokens": made.tokens, "budget": made.budget, "record_ids": made.record_ids}
        )
        return
    console.print(made.text or "nothing to say", markup=False, highlight=False, soft_wrap=True)
    console.print(f"[dim]{made.tokens} of {made.budget} tokens, {len(made.record_ids)} memories[/]")
