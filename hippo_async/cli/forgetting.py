"""``hippo forget``, ``unforget`` and ``deletes``. Refused while an agent has the memory open."""

from __future__ import annotations

from dataclasses import asdict

from rich.table import Table

from hippo_async.cli.output import console, print_json
from hippo_async.cli.store import Agent, DataDir, Json, KeyFile, RecordName, Scope, Store
from hippo_async.hippocampus import Hippocampus
from hippo_async.lives.states import Pending
from hippo_async.naming import id_meant, short


def forget(
    record_id: RecordName,
    scope: Scope = None,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Hide a record from every search at once, to be erased for good after delete.grace_hours."""

    async def hide(memory: Hippocampus) -> Pending:
        target = await id_meant(memory, record_id, scope=scope or ())
        return await memory.forget(target, scope=scope or ())

    found = Store.named(data_dir, agent, key_file).ask(hide, as_json=as_json)
    if as_json:
        print_json(asdict(found))
    else:
        console.print(f"{short(found.record_id)} is hidden, and to be erased from {_time(found.due)} on")


def unforget(
    record_id: RecordName,
    scope: Scope = None,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Take back 'hippo forget'. What was erased already stays so, but may be remembered anew."""

    async def show(memory: Hippocampus) -> tuple[str, bool]:
        target = await id_meant(memory, record_id, scope=scope or ())
        return target, await memory.restore(target, scope=scope or ())

    target, is_back = Store.named(data_dir, agent, key_file).ask(show, as_json=as_json)
    if as_json:
        print_json({"record_id": target, "is_back": is_back})
    elif is_back:
        console.print(f"{short(target)} is back", highlight=False)
    else:
        console.print(f"{short(target)} was erased; it may be remembered anew", highlight=False)


def deletes(
    scope: Scope = None,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Show what is to be forgotten, the soonest due first, and what was erased."""

    async def look(memory: Hippocampus) -> list[Pending]:
        return await memory.pending_deletes(scope=scope or ())

    found = Store.named(data_dir, agent, key_file).ask(look, as_json=as_json)
    if as_json:
        print_json([asdict(one) for one in found])
        return
    table = Table("id", "hidden since", "erased from", "", box=None)
    for one in found:
        state = "erased" if one.erased else "hidden"
        table.add_row(short(one.record_id), _time(one.since), _time(one.due), state)
    console.print(table if found else "nothing is to be forgotten")


def _time(timestamp: str) -> str:
    return timestamp[:16].replace("T", " ")
