"""What forgetting does not do yet and should: each test says it, and fails the day it does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from hippo_async import Hippocampus
from hippo_async.engine import find_keys
from hippo_async.files import Files
from hippo_async.journal.diagnosis import Diagnosis
from hippo_async.journal.lineage import journal_directory
from hippo_async.journal.repair import Repair
from hippo_async.place import Place
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]


@pytest.mark.xfail(strict=True, reason="a checkpoint that a later one replaced counts as having no text")
async def test_an_older_checkpoint_can_be_forgotten(make_memory: MakeMemory) -> None:
    """Its text stays in the journal, and in what ``records()`` yields, for good."""
    async with make_memory() as memory:
        await memory.checkpoint("boat", "the word is zanzibarquokka", progress=10)
        [older] = await memory.latest()
        await memory.checkpoint("boat", "the hull is done", progress=20)
        await memory.forget(older.record_id)


@pytest.mark.xfail(strict=True, reason="the answer is taken before the erasure")
async def test_without_grace_forget_says_that_the_text_is_erased(make_memory: MakeMemory) -> None:
    async with make_memory({"delete": {"grace_hours": 0}}) as memory:
        kept = await memory.remember("the boat is called Nimbus")
        pending = await memory.forget(kept.event_id)
        assert [pending] == await memory.pending_deletes()


@pytest.mark.xfail(strict=True, reason="tasks do not ask whether their checkpoint is hidden")
async def test_a_task_whose_checkpoint_is_forgotten_is_not_in_progress(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        await memory.checkpoint("zanzibarquokka", "the hull is done", progress=10)
        [record] = await memory.latest()
        await memory.forget(record.record_id)
        assert await memory.active_task() is None


@pytest.mark.xfail(strict=True, reason="what is repeated behind the chain has another id than its fate names")
async def test_what_is_to_be_forgotten_stays_hidden_after_a_repair(
    make_memory: MakeMemory, tmp_path: Path
) -> None:
    """Its text comes back to every search, and is never erased."""
    async with make_memory() as memory:
        damaged = await memory.record("the record that is lost")
        secret = await memory.record("the word is zanzibarquokka")
        await memory.forget(secret.record_id)
    repaired = await asyncio.to_thread(damaged_and_repaired, tmp_path, damaged.seq)
    assert repaired.carried > 0
    async with make_memory() as memory:
        assert len(await memory.recall("zanzibarquokka")) == 0


@pytest.mark.xfail(strict=True, reason="each finds the text that the other takes away")
async def test_two_may_erase_at_the_same_time(make_memory: MakeMemory, clock: FakeClock) -> None:
    """As maintenance does by itself while an owner calls ``erase_due``, or forgets without grace."""
    async with make_memory() as memory:
        kept = await memory.remember("the word is zanzibarquokka")
        await memory.forget(kept.event_id)
        clock.advance(24 * 3600)
        erased = await asyncio.gather(memory.erase_due(), memory.erase_due())
        assert sum(one.records for one in erased) == 1


def damaged_and_repaired(folder: Path, seq: int) -> Diagnosis:
    """Make the line of a record unreadable, and save what is left."""
    [segment] = folder.glob("store/journal/gen-*/seg-*.jsonl")
    lines = segment.read_bytes().splitlines(keepends=True)
    lines[seq] = b"x" * (len(lines[seq]) - 1) + b"\n"
    segment.write_bytes(b"".join(lines))
    place = Place(folder / "store", "tester", None, None, folder / "witness")
    key = find_keys(place, Files(), make=False).key(0)
    return Repair(journal_directory(place.data_dir, 0), "tester", key, place.witness).apply()
