"""Commands that need the whole memory: ``recall`` and ``brief``. Refused while an agent has it open."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from hippo_async.cli.output import console, print_json, reported
from hippo_async.cli.store import Agent, DataDir, Json, KeyFile, Store
from hippo_async.records import Briefing, Recall

Embedder = Annotated[str, typer.Option(help="auto, none, multilingual, semantic, or a model's name.")]
Scope = Annotated[
    list[str] | None, typer.Option("--scope", help="The scope to look in; repeat for its elements.")
]


def recall(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    top_k: Annotated[int, typer.Option("-k", help="How many memories.")] = 5,
    scope: Scope = None,
    embedder: Embedder = "auto",
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Find memories by words and meaning, and say why each is there."""
    store = Store.named(data_dir, agent, key_file)

    async def find() -> Recall:
        async with store.memory(embedder=embedder, as_json=as_json) as memory:
            return await memory.recall(query, top_k=top_k, scope=scope or ())

    with reported(as_json=as_json):
        found = asyncio.run(find())
    if as_json:
        print_json({"query": query, "hits": [hit.as_dict() for hit in found], "notes": found.notes})
        return
    table = Table("score", "time", "who", "content", "why", "id", box=None)
    for hit in found:
        why = ", ".join(f"{signal} {value:.2f}" for signal, value in hit.why.items())
        text = " ".join(hit.record.text.split())[:200]
        time = hit.record.timestamp[:16].replace("T", " ")
        who = hit.record.role or hit.record.kind
        table.add_row(f"{hit.score:.2f}", time, escape(who), escape(text), why, hit.record.record_id[:8])
    console.print(table if len(found) else "nothing found")
    for note in found.notes:
        console.print(f"note: {escape(note)}")


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
