"""Commands that write memories and look after them. Refused while an agent has the memory open."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from hippo_async.cli.output import console, print_json
from hippo_async.cli.store import Agent, DataDir, Json, KeyFile, RecordName, Scope, Store
from hippo_async.hippocampus import Hippocampus
from hippo_async.lifecycle.remembering import Remembered
from hippo_async.lives.states import MemoryState, Task
from hippo_async.naming import id_meant, record_at, short
from hippo_async.records import Kind
from hippo_async.selection import moment_of


def remember(
    text: Annotated[str, typer.Argument(help="What to remember.")],
    tags: Annotated[list[str] | None, typer.Option("--tag", help="A tag to find it by; repeat.")] = None,
    kind: Annotated[Kind, typer.Option(help="What it is about.")] = Kind.OBSERVATION,
    media_url: Annotated[str | None, typer.Option(help="http, https or an absolute path.")] = None,
    media_type: Annotated[str | None, typer.Option(help="image, video, document or audio.")] = None,
    occurred: Annotated[str | None, typer.Option(help="When it was, ISO; UTC if no zone.")] = None,
    scope: Scope = None,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Remember something for good. What is known already is counted and not written again."""

    async def write(memory: Hippocampus) -> Remembered:
        return await memory.remember(
            text,
            tags=tags or (),
            kind=kind,
            scope=scope or (),
            media_url=media_url,
            media_type=media_type,
            occurred=None if occurred is None else moment_of(occurred, name="--occurred"),
        )

    made = Store.named(data_dir, agent, key_file).ask(write, as_json=as_json)
    record_id = made.record.record_id
    if as_json:
        facts = {"record_id": record_id, "event_id": made.event_id}
        print_json({**facts, "count": made.count, "is_new": made.is_new})
    elif made.is_new:
        console.print(f"remembered as {short(record_id)}", highlight=False)
    else:
        console.print(f"known as {short(record_id)}, remembered {made.count} times", highlight=False)


def checkpoint(
    task_id: Annotated[str, typer.Argument(metavar="TASK", help="The task's name.")],
    text: Annotated[str, typer.Argument(help="What is done, and what comes next.")],
    progress: Annotated[int, typer.Option(help="How much of it is done, 0 to 100.")] = 0,
    scope: Scope = None,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Say how far the one task in progress is; at 100 it is done."""

    async def write(memory: Hippocampus) -> Task | None:
        return await memory.checkpoint(task_id, text, progress=progress, scope=scope or ())

    found = Store.named(data_dir, agent, key_file).ask(write, as_json=as_json)
    if as_json:
        print_json({"task": None if found is None else asdict(found)})
    else:
        _say_task(found)


def task(
    scope: Scope = None,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Show the one task in progress and what was said of it last."""

    async def look(memory: Hippocampus) -> tuple[Task | None, str]:
        found = await memory.active_task(scope=scope or ())
        return found, "" if found is None else (await record_at(memory, found.seq)).text

    found, text = Store.named(data_dir, agent, key_file).ask(look, as_json=as_json)
    if as_json:
        print_json({"task": None if found is None else {**asdict(found), "content": text}})
        return
    _say_task(found)
    if found is not None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)


def reinforce(
    record_id: RecordName,
    scope: Scope = None,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Confirm a memory, which moves its review on."""

    async def confirm(memory: Hippocampus) -> MemoryState:
        target = await id_meant(memory, record_id, scope=scope or ())
        return await memory.reinforce(target, scope=scope or ())

    state = Store.named(data_dir, agent, key_file).ask(confirm, as_json=as_json)
    if as_json:
        print_json(asdict(state))
        return
    review = "no further review" if state.due is None else f"next review {state.due[:10]}"
    console.print(f"confirmed {short(state.record_id)}, times: {state.confirmed}; {review}", highlight=False)


def reviews(
    scope: Scope = None,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Show the memories whose review is due, the longest due first. 'hippo reinforce' confirms one."""

    async def look(memory: Hippocampus) -> list[dict[str, Any]]:
        due = await memory.reviews(scope=scope or ())
        return [{**asdict(state), "content": (await record_at(memory, state.seq)).text} for state in due]

    found = Store.named(data_dir, agent, key_file).ask(look, as_json=as_json)
    if as_json:
        print_json(found)
        return
    table = Table("due", "remembered", "confirmed", "content", "id", box=None)
    for state in found:
        text = " ".join(state["content"].split())[:200]
        counts = (str(state["count"]), str(state["confirmed"]))
        table.add_row(state["due"][:10], *counts, escape(text), short(state["record_id"]))
    console.print(table if found else "no review is due")


def tags(
    n: Annotated[int, typer.Option("-n", min=1, help="How many at most.")] = 50,
    scope: Scope = None,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Show the tags on the agent's mind and how many memories carry each, the most frequent first."""

    async def look(memory: Hippocampus) -> list[tuple[str, int]]:
        return await memory.active_tags(scope=scope or (), most=n)

    found = Store.named(data_dir, agent, key_file).ask(look, as_json=as_json)
    if as_json:
        print_json([{"tag": tag, "records": count} for tag, count in found])
        return
    table = Table("tag", "records", box=None)
    for tag, count in found:
        table.add_row(escape(tag), f"{count:,}")
    console.print(table if found else "no tag is in use")


def _say_task(found: Task | None) -> None:
    if found is None:
        console.print("no task is in progress")
        return
    when = found.updated[:16].replace("T", " ")
    said = f"{found.task_id}: {found.progress} %, as of {when}"
    console.print(said, markup=False, highlight=False, soft_wrap=True)
