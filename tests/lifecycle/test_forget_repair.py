"""A repair leaves what is to be forgotten hidden, though its records get new ids."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from doors import holding

from hippo_async import Hippocampus, Turn
from hippo_async.engine import find_keys
from hippo_async.files import Files
from hippo_async.journal.diagnosis import Diagnosis
from hippo_async.journal.lineage import journal_directory
from hippo_async.journal.repair import Repair
from hippo_async.place import Place
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]


async def test_what_is_to_be_forgotten_stays_hidden_after_a_repair_and_is_erased_when_due(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    async with make_memory() as memory:
        damaged = await memory.record("the record that is lost")
        secret = await memory.record("the word is zanzibarquokka", role="user")
        await memory.fold([Turn("user", secret.text, 9, record_id=secret.record_id)])
        await memory.forget(secret.record_id)
    repaired = await asyncio.to_thread(damaged_and_repaired, tmp_path, damaged.seq)
    assert repaired.carried > 0
    async with make_memory() as memory:
        assert len(await memory.recall("zanzibarquokka")) == 0
        [pending] = await memory.pending_deletes()
        assert pending.record_id != secret.record_id
        clock.advance(24 * 3600)
        assert (await memory.erase_due()).records == 1
        assert holding(tmp_path / "store", "zanzibarquokka") == []
        assert (await memory.verify_chain()).intact


def damaged_and_repaired(folder: Path, seq: int) -> Diagnosis:
    """Make the line of a record unreadable, and save what is left."""
    [segment] = folder.glob("store/journal/gen-*/seg-*.jsonl")
    lines = segment.read_bytes().splitlines(keepends=True)
    lines[seq] = b"x" * (len(lines[seq]) - 1) + b"\n"
    segment.write_bytes(b"".join(lines))
    place = Place(folder / "store", "tester", None, None, folder / "witness")
    key = find_keys(place, Files(), make=False).key(0)
    return Repair(journal_directory(place.data_dir, 0), "tester", key, place.witness).apply()
