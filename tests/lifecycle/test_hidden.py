"""What a journal alone says of what is to be forgotten is what its index says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hippo_async import Hippocampus, Turn
from hippo_async.lives import hidden_ids
from hippo_async.records import Record
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]


async def journal_of(memory: Hippocampus) -> list[Record]:
    await memory.flush()
    return await asyncio.to_thread(lambda: [record for record, _ in memory._running.journal.scan()])


async def agreed(memory: Hippocampus) -> set[str]:
    """What is hidden and has its text, on which both have to agree."""
    records = await journal_of(memory)
    hidden = hidden_ids(records) & {record.record_id for record in records if not record.purged}
    assert hidden == await memory._running.lives.hidden()
    return hidden


async def test_forgotten_restored_folded_erased_and_folded_again(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        said = [await memory.record(f"turn {number}", role="user") for number in range(4)]
        ids = [one.record_id for one in said]
        turns = [Turn("user", one.text, 5, record_id=one.record_id) for one in said]
        fold = await memory.fold(turns[:3])
        other = await memory.fold(turns[3:])
        assert await agreed(memory) == set()
        await memory.forget(ids[0])
        await memory.forget(ids[1])
        assert await agreed(memory) == {ids[0], ids[1], fold.record_id}
        await memory.restore(ids[0])
        assert await agreed(memory) == {ids[1], fold.record_id}
        await memory.restore(ids[1])
        assert await agreed(memory) == set()
        await memory.forget(ids[1])
        await memory.fold(turns[:2])
        await memory.forget(other.record_id)
        assert {ids[1], fold.record_id, other.record_id} <= await agreed(memory)
        clock.advance(24 * 3600)
        await memory.erase_due()
        assert await agreed(memory) == set()
        assert ids[1] in hidden_ids(await journal_of(memory))
