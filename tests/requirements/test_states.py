"""What becomes of a memory (L11, L12, L14, L22): one test a requirement, by the numbers it names."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta

import pytest
from doors import holding
from living import DAY, MakeMemory, did, pass_time, texts
from scripted_tools import every_tool

from hippo_async.errors import Forgotten, NotFound
from hippo_async.testing import FakeClock

HOUR = timedelta(hours=1)


async def test_l11_what_is_forgotten_is_pending_for_24_hours_then_purged_and_restore_undoes_either(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        with pytest.raises(NotFound) as unknown:
            await memory.forget("0" * 32)
        assert unknown.value.code == "MEM_E_NOT_FOUND"
        name = (await memory.remember("The word is quokka.")).event_id
        pending = await memory.forget(name)
        since, due = map(datetime.fromisoformat, (pending.since, pending.due))
        assert due - since == 24 * HOUR
        assert await memory.restore(name), "before that it is cancelled"
        assert await texts(memory, "quokka") == ["The word is quokka."]
        await memory.forget(name)
        pass_time(clock, 24 * HOUR - timedelta(seconds=1))
        assert did(await memory.run_maintenance(), "forget")["records"] == 0
        pass_time(clock, timedelta(seconds=1))
        assert did(await memory.run_maintenance(), "forget")["records"] == 1
        assert holding(memory.data_dir, "quokka") == []
        with pytest.raises(Forgotten):
            await memory.remember("The word is quokka.")
        assert not await memory.restore(name), "the text is gone"
        assert (await memory.remember("The word is quokka.")).is_new


async def test_l12_reviews_come_at_1_2_4_7_15_and_30_days(make_memory: MakeMemory, clock: FakeClock) -> None:
    async with make_memory() as memory:
        name = (await memory.remember("The gate code is 4711.")).event_id
    for days in (1, 2, 4, 7, 15, 30):
        async with make_memory() as memory:  # what is due is known after each opening
            pass_time(clock, days * DAY - timedelta(seconds=1))
            assert await memory.reviews() == []
            pass_time(clock, timedelta(seconds=1))
            assert did(await memory.run_maintenance(), "reviews") == {"due": 1}
            shown = await every_tool(memory)["admin"].ainvoke({"action": "reviews"})
            assert "The gate code is 4711." in shown
            await memory.reinforce(name)
            assert await memory.reviews() == []
    async with make_memory() as memory:
        pass_time(clock, 400 * DAY)
        assert await memory.reviews() == []


async def test_l14_one_task_is_active_however_old_until_nothing_is_heard_of_it_for_7_days(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory({"activeSet.cap": 100}) as memory:

        async def active() -> str | None:
            task = await memory.active_task()
            return task and task.task_id

        await memory.checkpoint("tax", "Receipts sorted.", progress=10)
        await memory.checkpoint("move", "Boxes packed.", progress=20)
        assert await active() == "move"
        for number in range(150):
            memory.capture(f"fact {number} of many")
        assert await active() == "move"
        pass_time(clock, 7 * DAY)
        assert did(await memory.run_maintenance(), "tasks") == {"demoted": 0}
        pass_time(clock, timedelta(seconds=1))
        assert did(await memory.run_maintenance(), "tasks") == {"demoted": 1}
        assert await active() is None


async def test_l22_what_says_the_same_is_one_memory_and_what_was_forgotten_stays_so(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        first = await memory.remember("Tea at 9", tags=["b", "a"])
        again = await memory.remember("  tea   AT ９", tags=["a", "b"])
        second = await memory.remember("Tea at 9", tags=["a", "b"], occurrence=1)
        later = await memory.remember("Tea at 9", tags=["a", "b"], occurred=datetime(2026, 1, 1, tzinfo=UTC))
        assert (again.event_id, again.is_new, again.count) == (first.event_id, False, 2)
        assert len({each.event_id for each in (first, second, later)}) == 3
        assert len({each.record.metadata["identity"]["content_hash"] for each in (first, second, later)}) == 1
        await memory.forget(first.event_id)
        pass_time(clock, DAY)
        await memory.run_maintenance()
    shutil.rmtree(memory.data_dir / "index")
    async with make_memory() as memory:
        with pytest.raises(Forgotten):
            await memory.remember("Tea at 9", tags=["a", "b"])
        assert [record.record_id for record in await memory.latest(n=9)] == [
            *(later.record.record_id, second.record.record_id)
        ]
