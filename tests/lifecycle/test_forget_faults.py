"""A process that dies, or a disk that fails, at any file call of forgetting: the next call finishes it.

Every tenth to twentieth call or so by default; ``HIPPO_LONG=1`` tries them all.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import doomed
import pytest
from doomed import ACTS, BESIDE, NEW, OLD, SECRET, memory_at
from doors import holding, shown
from nursery import Nursery, running_nursery

from hippo_async import Hippocampus
from hippo_async.errors import Forgotten, HippoError
from hippo_async.testing import FakeClock, ScriptedOps

LONG = os.environ.get("HIPPO_LONG") == "1"
FAULTS = (OSError, HippoError, sqlite3.Error)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with running_nursery(doomed.__file__) as running:
        yield running


@pytest.fixture
async def stores(tmp_path: Path) -> dict[str, Path]:
    """For each act a store to act on: the secrets are to be forgotten already where they only are erased."""
    made = {act: tmp_path / act for act in ACTS}
    await doomed.prepare(made["forget"])
    shutil.copytree(made["forget"], made["erase"])
    async with memory_at(made["erase"]) as memory:
        await doomed.forget(memory)
    return made


def copied(store: Path, name: object) -> Path:
    return Path(shutil.copytree(store, store.parent / str(name)))


async def is_hidden(memory: Hippocampus) -> bool:
    clock = FakeClock(doomed.MORNING)
    return SECRET not in await shown(memory, SECRET, clock=clock)


async def folds(memory: Hippocampus) -> list[str]:
    return [fold.text for fold in await memory.latest(n=9, tags=["status:folded"])]


async def check_end(memory: Hippocampus) -> None:
    """All is as if nothing had happened on the way."""
    assert (await memory.verify_chain()).intact
    assert await is_hidden(memory)
    assert [text in (await folds(memory))[0] for text in (OLD, *BESIDE)] == [False, True, True]
    left = {record.text for record in await memory.latest(n=99)}
    assert left == {*BESIDE, "it goes on", *await folds(memory)}
    assert [one.erased for one in await memory.pending_deletes()] == [True, True]
    with pytest.raises(Forgotten):
        await memory.remember(NEW, tags=[SECRET])
    with pytest.raises(Forgotten):
        await memory.record(OLD, key=OLD)


async def finish(base: Path, act: str) -> None:
    """Open again, call again, and open once more, as if nothing had happened."""
    async with memory_at(base, days=1, grace=0) as memory:
        if act == "erase":
            assert await is_hidden(memory), "a hidden record became visible"
        else:
            pending = [one.record_id for one in await memory.pending_deletes()]
            told = {record.text for record in await memory.latest(n=99)}
            assert len(pending) + len(told & {OLD, NEW}) == 2, "a record is neither to be found nor forgotten"
            await doomed.forget(memory)
        await memory.erase_due()
        await check_end(memory)
        assert holding(base / "store", SECRET) == []
    async with memory_at(base, days=1) as memory:
        await memory.erase_due()
        await check_end(memory)
        assert holding(base / "store", SECRET) == []
        assert len(await folds(memory)) == 1, "the fold was made again more than once"


@pytest.mark.process
@pytest.mark.parametrize("act", ACTS)
async def test_a_process_that_dies_while_it_forgets_leaves_what_the_next_one_finishes(
    stores: dict[str, Path], nursery: Nursery, act: str
) -> None:
    deaths = 0
    for at in range(1, 10_000, 1 if LONG else 23):
        base = copied(stores[act], at)
        _, died = nursery.let_die(at, base, act)
        await finish(base, act)
        shutil.rmtree(base)
        if not died:
            break
        deaths += 1
    print(f"{act}: {deaths} deaths, up to file call {at}")
    assert deaths > 15


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("act", ACTS)
async def test_a_disk_that_fails_while_something_is_forgotten_leaves_what_the_next_start_finishes(
    stores: dict[str, Path], act: str, lasting: bool
) -> None:
    failures = 0
    for at in range(1, 10_000, 1 if LONG else 23):
        base = copied(stores[act], at)
        ops = ScriptedOps(syncing=False)
        rule = ops.fail("*", errno.EIO, at=at, lasting=lasting)
        with suppress(*FAULTS):
            await ACTS[act](base, ops)
        await finish(base, act)
        shutil.rmtree(base)
        if not rule.fired:
            break
        failures += 1
    print(f"{act}: {failures} failures, up to file call {at}")
    assert failures > 15


async def test_after_a_failure_the_same_memory_finishes_what_it_began(stores: dict[str, Path]) -> None:
    """A call or two later: the journal is opened anew behind a failed write.

    What it could not remove goes at the next start, though other records were written meanwhile.
    """
    failures = 0
    for at in range(1, 10_000, 1 if LONG else 9):
        base = copied(stores["erase"], at)
        ops = ScriptedOps(syncing=False)
        async with memory_at(base, ops=ops, days=1) as memory:
            rule = ops.fail("*", errno.EIO, at=at)
            for _ in range(4):
                with suppress(*FAULTS):
                    await memory.erase_due()
                    break
            else:
                raise AssertionError(f"erasing never came to an end after call {at} failed")
            if not rule.fired:
                break
            await memory.erase_due()
            await check_end(memory)
            await memory.record("it goes on", role="user", session="s")
        async with memory_at(base, days=1) as memory:
            await check_end(memory)
            assert holding(base / "store", SECRET) == []
        shutil.rmtree(base)
        failures += 1
    print(f"{failures} failures, up to file call {at}")
    assert failures > 20


async def test_a_fold_is_made_again_once_though_writing_it_failed_once_it_was_on_the_disk(
    stores: dict[str, Path],
) -> None:
    ops = ScriptedOps(syncing=False)
    async with memory_at(stores["erase"], ops=ops, days=1) as memory:
        ops.fail("sync_data", errno.EIO)
        with suppress(*FAULTS):
            await memory.erase_due()
        await memory.erase_due()
        assert len(await folds(memory)) == 1
