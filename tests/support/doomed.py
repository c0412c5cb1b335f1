"""A store with texts that are to be forgotten, and processes that die while they are erased.

Run as a program it forks a process for each line ``AT BASE ACT`` on its standard input, which opens the store
and acts until its ``AT``-th call of the file system, at which it dies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from nursery import fork_for_each_line

from hippo_async import Hippocampus, Settings, Turn
from hippo_async.files import Files
from hippo_async.journal import KeyFiles, Lineage
from hippo_async.testing import FakeClock, ScriptedOps

SECRET = "zanzibarquokka"
OLD, NEW = f"my {SECRET} is in the Harbour", f"The {SECRET} eats hay."
BESIDE = ["the kettle is in Berlin", "the lamp is in London"]
MORNING = datetime(2026, 3, 2, 9, tzinfo=UTC)


def memory_at(base: Path, *, ops: ScriptedOps | None = None, days: float = 0, grace: int = 24) -> Hippocampus:
    """A memory over the store, so many days after it was made."""
    return Hippocampus(
        base / "store",
        agent_id="tester",
        embedder="none",
        maintenance=False,
        witness=base / "witness",
        clock=FakeClock(MORNING + timedelta(days=days)),
        files=Files(ops or ScriptedOps(syncing=False)),
        settings=Settings.from_mapping({"raw": {"mode": "all"}, "delete": {"grace_hours": grace}}),
    )


async def prepare(base: Path) -> None:
    """Say two secrets: one in a journal whose key is retired, folded and in the raw box; one remembered."""
    async with memory_at(base) as memory:
        said = [await memory.record(text, role="user", session="s", key=text) for text in (OLD, *BESIDE)]
        await memory.fold([Turn("user", one.text, 9, record_id=one.record_id) for one in said], session="s")
    await asyncio.to_thread(rotate, base)
    async with memory_at(base) as memory:
        await memory.remember(NEW, tags=[SECRET])
        await memory.record("it goes on", role="user", session="s")


def rotate(base: Path) -> None:
    """Go on under another key, as ``hippo key rotate`` does."""
    files = Files(ScriptedOps(syncing=False))
    keys = KeyFiles(files, base / "store" / "agent.key")
    lineage = Lineage(base / "store", agent_id="tester", keys=keys, witness=base / "witness", files=files)
    lineage.open()
    lineage.rotate()
    lineage.close()


async def forget(memory: Hippocampus) -> None:
    """Ask to forget both, unless somebody did already."""
    for record in await memory.latest(n=99):
        if record.text in (OLD, NEW):
            await memory.forget(record.record_id)


async def forget_now(base: Path, ops: ScriptedOps) -> None:
    """Forget without grace."""
    async with memory_at(base, ops=ops, grace=0) as memory:
        await forget(memory)


async def erase(base: Path, ops: ScriptedOps) -> None:
    """Erase what is due a day later."""
    async with memory_at(base, ops=ops, days=1) as memory:
        await memory.erase_due()


ACTS: dict[str, Callable[[Path, ScriptedOps], Coroutine[Any, Any, None]]] = {
    "forget": forget_now,
    "erase": erase,
}


def _die(at: str, base: str, act: str) -> None:
    ops = ScriptedOps(syncing=False)
    ops.kill("*", at=int(at))
    asyncio.run(ACTS[act](Path(base), ops))


if __name__ == "__main__":
    fork_for_each_line(_die)
