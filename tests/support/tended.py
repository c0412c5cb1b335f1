"""A store in which every step of maintenance has something to do, and rounds that die in the midst of it.

Run as a program it forks a process for each line ``BASE STEP HOW AT``. That opens the store, runs a round,
and dies once it has come to the step: at the ``AT``-th file call or wait from there, after ``AT`` seconds, or
instead of replacing the file ``AT``. It says which step it comes to, and how many file calls and waits there
were before.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from doomed import rotate
from doors import holding
from nursery import fork_for_each_line, say

from hippo_async import Hippocampus, Record, Settings, Turn
from hippo_async.files import Files
from hippo_async.testing import FakeClock, ScriptedOps

SECRET = "zanzibarquokka"
SCOPES: list[tuple[str, ...]] = [(), ("ann",)]
APRIL = datetime(2026, 4, 2, 9, tzinfo=UTC)
NOW = datetime(2026, 5, 20, 9, tzinfo=UTC)
BUSY = {"forget", "tasks", "raw", "months", "reviews", "anchors"}
"""The steps that have something to do in this store. Others may be there."""

SETTINGS = {"raw": {"mode": "all", "retention_days": 30}, "delete": {"grace_hours": 24}}
QUERIES = ["harbour", "what did we do in April?", "who likes the kettle?", SECRET]


def memory_at(
    base: Path, clock: FakeClock | None = None, *, ops: ScriptedOps | None = None, **options: Any
) -> Hippocampus:
    """A memory over the store; on 20 May unless a clock says otherwise."""
    usual: dict[str, Any] = {
        "agent_id": "tester",
        "embedder": "none",
        "maintenance": False,
        "witness": base / "witness",
        "clock": clock or FakeClock(NOW),
        "files": Files(ops or ScriptedOps(syncing=False)),
        "settings": Settings.from_mapping(SETTINGS),
    }
    return Hippocampus(base / "store", **(usual | options))


async def prepare(base: Path, **options: Any) -> None:
    """Live from March to 20 May, with one round of maintenance on 2 April and two keys.

    What is to be forgotten then was said, remembered and worked on; it is in a fold, in the memo of March, in
    raw lines that are too old and in some that are not.
    """
    clock = FakeClock(datetime(2026, 3, 10, 9, tzinfo=UTC))
    async with memory_at(base, clock, **options) as memory:
        await _say(
            memory, clock, f"The {SECRET} of Anna Larsen is in the harbour of Oslo.", "The tea is hot."
        )
        clock.set(APRIL)
        await memory.run_maintenance()
    await asyncio.to_thread(rotate, base)
    async with memory_at(base, clock, **options) as memory:
        await _say(memory, clock, "Anna Larsen likes the kettle.", "The boat is painted red.")
        await memory.remember("Anna Larsen was born in Bergen", tags=["anna", "bergen"])
        await memory.remember("her boat is red", tags=["anna", "boat"], scope=("ann",))
        await memory.checkpoint("boat", "the hull is done", progress=40, scope=("ann",))
        clock.set(datetime(2026, 5, 2, 9, tzinfo=UTC))
        await _say(memory, clock, f"We saw the {SECRET} again.", "It rains on the harbour.")
        await memory.remember(f"The {SECRET} eats hay", tags=[SECRET, "anna"])
        await memory.checkpoint("move", "boxes packed", progress=20)
        await memory.checkpoint("tax", f"the {SECRET} is deductible", progress=50)
        clock.set(NOW - timedelta(hours=25))
        for record in await memory.latest(n=999):
            if SECRET in record.text and "status:" not in str(record.tags):
                await memory.forget(record.record_id)
        clock.set(NOW - timedelta(hours=1))
        for word in ("tea", "salt"):
            await memory.forget((await memory.remember(f"the word is {word}", tags=[word])).event_id)
        await memory.restore((await memory.pending_deletes())[-1].record_id)


async def _say(memory: Hippocampus, clock: FakeClock, *texts: str) -> None:
    """Say texts to a user and to Ann, on one day after the other, and fold what the user said."""
    said = []
    for text in texts:
        said.append(await memory.record(text, role="user", session="s", key=text))
        await memory.record(f"Ann: {len(text)} letters", role="user", session="a", scope=("ann",))
        clock.advance(86_400)
    await memory.fold([Turn("user", one.text, 9, record_id=one.record_id) for one in said], session="s")


async def state_of(memory: Hippocampus, base: Path) -> dict[str, Any]:
    """All that can be seen of a memory, but for ids that are drawn anew and for places in the journal.

    Those count for the order of what is recalled, too: it goes by how many records there are, and a round
    that was cut short leaves some that the next writes again.
    """
    state: dict[str, Any] = {str(scope): await _state_in(memory, scope) for scope in SCOPES}
    store = base / "store"
    state["raw"] = {path.name: path.read_text() for path in sorted(store.glob("raw/*"))}
    state["anchors"] = {path.name: json.loads(path.read_text()) for path in sorted(store.glob("anchors/2*"))}
    state["intact"] = (await memory.verify_chain()).intact
    state["holding the secret"] = holding(base, SECRET)
    return state


async def _state_in(memory: Hippocampus, scope: tuple[str, ...]) -> dict[str, Any]:
    task = await memory.active_task(scope=scope)
    recalled = [await memory.recall(query, scope=scope, top_k=50) for query in QUERIES]
    graph = await memory.tag_graph(scope=scope)
    return {
        "records": sorted(map(_said, await memory.latest(n=999, scope=scope))),
        "recalled": [sorted(hit.record.text for hit in hits) for hits in recalled],
        "pending": await memory.pending_deletes(scope=scope),
        "task": task and (task.task_id, task.progress, task.updated),
        "reviews": await memory.reviews(scope=scope),
        "tags": await memory.active_tags(scope=scope),
        "graph": graph,
    }


def _said(record: Record) -> str:
    """What a record says and of what it is made. How new it was depends on what this process saw before."""
    metadata = {name: value for name, value in record.metadata.items() if name != "turn_id"}
    return json.dumps([record.timestamp, record.kind, record.text, metadata], sort_keys=True)


class _Watched:
    """Passes everything through, and calls back before it waits. Its result is dropped."""

    def __init__(self, awaitable: Awaitable[object], waits: Callable[[], None]) -> None:
        self._awaitable, self._waits = awaitable, waits

    def __await__(self) -> Generator[Any, Any, None]:
        for waited_for in self._awaitable.__await__():
            self._waits()
            yield waited_for


class _Watch:
    """Counts what a round does, says so, and has it die once it has come to a step."""

    def __init__(self, step: str, how: str, at: str) -> None:
        self.ops = ScriptedOps(syncing=False)
        self._step, self._how, self._at = step, how, at
        self._waits = 0
        self._last_wait = -1

    def came_to(self, _done: int, _of: int, step: str) -> None:
        say(f"{step or 'end'} {len(self.ops.calls)} {self._waits}")
        if step == self._step:
            self._arm()

    def wait(self) -> None:
        self._waits += 1
        if self._waits == self._last_wait:
            _die()

    def _arm(self) -> None:
        if self._how == "call":
            self.ops.kill("*", at=int(self._at))
        elif self._how == "wait":
            self._last_wait = self._waits + int(self._at)
        elif self._how == "replace":
            self.ops.kill("replace", name=self._at)
        else:
            timer = threading.Timer(float(self._at), _die)
            timer.daemon = True
            timer.start()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def _round(base: Path, watch: _Watch) -> None:
    async with memory_at(base, ops=watch.ops) as memory:
        await _Watched(memory.run_maintenance(progress=watch.came_to), watch.wait)


def _run(base: str, step: str, how: str, at: str) -> None:
    asyncio.run(_round(Path(base), _Watch(step, how, at)))


if __name__ == "__main__":
    fork_for_each_line(_run)
