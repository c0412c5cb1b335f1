"""``kill -9`` inside each step of maintenance: the next round ends where an undisturbed one would have (L24).

Some points in each step by default; ``HIPPO_LONG=1`` tries every file call and every wait.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import tended
from nursery import Nursery, running_nursery
from tended import BUSY, memory_at, state_of

pytestmark = pytest.mark.process

LONG = os.environ.get("HIPPO_LONG") == "1"
POINTS = 10_000 if LONG else 3
"""In each step, of each kind, spread evenly from its first to its last."""

MOMENTS = 200 if LONG else 6


@dataclass(frozen=True)
class Part:
    """A step of a round: its name, and how many file calls and waits it has."""

    name: str
    calls: int
    waits: int


@dataclass(frozen=True)
class Life:
    """A store to be looked after, what an undisturbed round makes of it, and the parts of such a round."""

    store: Path
    undisturbed: dict[str, Any]
    parts: tuple[Part, ...]


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with running_nursery(tended.__file__) as running:
        yield running


@pytest.fixture(scope="module")
def life(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Life:
    store = tmp_path_factory.mktemp("life") / "store"
    asyncio.run(tended.prepare(store))
    heard, _ = nursery.let_die(copied(store, "counted"), "none", "call", 0)
    return Life(store, asyncio.run(looked_after(copied(store, "undisturbed"))), parts_of(heard))


def copied(store: Path, name: str) -> Path:
    return Path(shutil.copytree(store, store.parent / name))


def parts_of(heard: list[str]) -> tuple[Part, ...]:
    said = [(name, int(calls), int(waits)) for name, calls, waits in map(str.split, heard)]
    return tuple(
        Part(name, next_calls - calls, next_waits - waits)
        for (name, calls, waits), (_, next_calls, next_waits) in pairwise(said)
    )


async def looked_after(store: Path) -> dict[str, Any]:
    """Do a round in which every step succeeds, and what comes of it after one more opening."""
    async with memory_at(store) as memory:
        assert (await memory.run_maintenance()).failed == ()
        ended = await state_of(memory, store)
    async with memory_at(store) as memory:
        assert await state_of(memory, store) == ended
    return ended


def spread(points: int) -> list[int]:
    """The first, the last, and some in between."""
    most = min(POINTS, points)
    return sorted({1 + at * (points - 1) // max(most - 1, 1) for at in range(most)})


async def die_and_go_on(life: Life, nursery: Nursery, step: str, how: str, at: float) -> str | None:
    """Kill a round and do the next one; return the step in which it died, ``None`` if it had ended before."""
    store = copied(life.store, f"{step}-{how}-{at}")
    heard, died = await asyncio.to_thread(nursery.let_die, store, step, how, at)
    assert await looked_after(store) == life.undisturbed, f"{how} {at} of {step}, having said {heard}"
    shutil.rmtree(store)
    return heard[-1].split()[0] if died else None


async def test_there_is_something_to_do_for_each_step(life: Life) -> None:
    async with memory_at(copied(life.store, "looked at")) as memory:
        report = await memory.run_maintenance()
        assert {step.name for step in report.steps if any(step.did.values())} >= BUSY
        assert [step.name for step in report.steps] == [part.name for part in life.parts]
        again = {step.name: step.did for step in (await memory.run_maintenance()).steps}
    idle = {name: did for name, did in again.items() if name in BUSY - {"reviews"}}
    assert not any(value for did in idle.values() for value in did.values()), (
        "the next has nothing left to do"
    )


@pytest.mark.timeout(3600 if LONG else 60)
@pytest.mark.parametrize("how", ["call", "wait"])
async def test_a_round_that_dies_anywhere_is_made_good_by_the_next(
    life: Life, nursery: Nursery, how: str
) -> None:
    """At file calls, and where it waits: a step that only asks the index makes no file call."""
    deaths: Counter[str | None] = Counter()
    for part in life.parts:
        for at in spread(part.calls if how == "call" else part.waits):
            deaths[await die_and_go_on(life, nursery, part.name, how, at)] += 1
    print(f"at a {how}: {deaths.total()} deaths, {dict(deaths)}")
    assert None not in deaths
    if how == "wait":
        assert deaths.keys() >= {part.name for part in life.parts}, "a step was never died in"


@pytest.mark.timeout(600)
async def test_a_round_that_is_killed_at_any_moment_is_made_good_by_the_next(
    life: Life, nursery: Nursery
) -> None:
    """Also in the midst of what SQLite writes."""
    deaths: Counter[str | None] = Counter()
    chance, first = random.Random(7), life.parts[0].name
    for _ in range(MOMENTS):
        deaths[await die_and_go_on(life, nursery, first, "moment", chance.uniform(0, 0.1))] += 1
    print(f"at random moments: {dict(deaths)}")
    assert deaths.keys() - {None}


async def test_rounds_that_die_one_after_the_other_add_up_to_a_whole_one(
    life: Life, nursery: Nursery
) -> None:
    """Each gets a little further than the one before, or begins anew; what was done is not done again."""
    store = copied(life.store, "dying-again")
    deaths, first = 0, life.parts[0].name
    for at in range(20, 10_000, 13 if LONG else 97):
        _, died = await asyncio.to_thread(nursery.let_die, store, first, "call", at)
        if not died:
            break
        deaths += 1
    print(f"{deaths} deaths of one store")
    assert deaths > 3
    assert await looked_after(store) == life.undisturbed


async def test_what_a_death_left_of_a_shard_is_gone_though_its_forgetting_was_taken_back(
    life: Life, nursery: Nursery
) -> None:
    """The rewritten shard that never took its place holds other lines, of which some are forgotten later."""
    store = copied(life.store, "taken-back")
    left = store / "store/raw/2026-05-02.jsonl.new"
    heard, died = await asyncio.to_thread(nursery.let_die, store, "forget", "replace", left.stem)
    assert died, heard
    assert "letters" in left.read_text()
    async with memory_at(store) as memory:
        for pending in await memory.pending_deletes():
            await memory.restore(pending.record_id)
        await memory.run_maintenance()
    assert not left.exists()
