"""The active set, the tags in it, and the diary (L14, L20)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from hippo_async import Hippocampus
from hippo_async.errors import InvalidInput
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]
DAY = timedelta(days=1).total_seconds()


async def test_the_active_set_are_the_newest_up_to_its_cap(make_memory: MakeMemory, clock: FakeClock) -> None:
    async with make_memory({"active_set.cap": 100}) as memory:
        for number in range(130):
            memory.capture(f"Thing {number}.", tags=[f"t{number}"])
            clock.advance(60)
        found = await memory.active_set()
        assert [hit.record.text for hit in found] == [f"Thing {number}." for number in range(129, 29, -1)]
        assert found[0].score > found[-1].score
        await memory.configure({"activeSet.cap": 110})
        assert len(await memory.active_set()) == 110


async def test_what_is_confirmed_stays_on_the_mind_for_longer(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory({"active_set.cap": 100}) as memory:
        old = (await memory.remember("Anna is allergic to nuts.")).record
        clock.advance(DAY)
        await memory.reinforce(old.record_id)
        await memory.remember("Anna is allergic to nuts.")
        clock.advance(20 * DAY)
        for number in range(120):
            memory.capture(f"Thing {number}.")
        found = await memory.active_set()
        assert found[0].record == old
        assert found[0].why == {
            "fresh": pytest.approx(2 ** (-20 / 30)),
            "confirmed": pytest.approx(2 ** (-20 / 30) * 1.584963),
        }
        clock.advance(365 * DAY)
        for number in range(120):
            memory.capture(f"Other {number}.")
        assert old.record_id not in {hit.record.record_id for hit in await memory.active_set()}


async def test_active_tags_are_those_of_the_active_set(make_memory: MakeMemory, clock: FakeClock) -> None:
    async with make_memory({"active_set.cap": 100}) as memory:
        await memory.record("Long ago.", tags=["old"], role="user")
        for number in range(100):
            await memory.record(f"Thing {number}.", tags=["New"] if number % 4 else ["even", "new"])
        assert await memory.active_tags() == [("new", 100), ("even", 25)]
        assert await memory.active_tags(most=1) == [("new", 100)]
        assert await memory.active_tags(scope=("ann",)) == []


async def test_a_diary_says_what_was_told_on_each_day(make_memory: MakeMemory, clock: FakeClock) -> None:
    async with make_memory() as memory:
        await memory.record("We decided to paint the boat.", role="user", tags=["boat"])
        await memory.record("Fine, blue then.", role="assistant", tags=["boat", "paint"])
        await memory.record("hers", role="user", scope=("ann",))
        clock.advance(3 * DAY)
        gone = await memory.record("The boat is blue.", role="user")
        first, second = await memory.diary(date(2026, 3, 1), date(2026, 3, 31))
        assert (first.day, first.told, first.tags) == (date(2026, 3, 2), 2, ("boat", "paint"))
        assert "paint the boat" in first.text
        assert second.day == date(2026, 3, 5)
        assert second.records == (gone.record_id,)
        await memory.forget(gone.record_id)
        assert await memory.diary(date(2026, 3, 5)) == []
        assert len(await memory.diary(date(2026, 3, 2))) == 1


@pytest.mark.parametrize(("zone", "day"), [("UTC", 2), ("Pacific/Kiritimati", 3), ("Pacific/Niue", 2)])
async def test_days_are_those_of_the_users_zone(make_memory: MakeMemory, zone: str, day: int) -> None:
    async with make_memory({"time_zone": zone}) as memory:
        late = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)
        await memory.record("Late in Greenwich.", role="user", timestamp=late)
        [found] = await memory.diary(date(2026, 3, 1), date(2026, 3, 4))
        assert found.day == date(2026, 3, day)
        await memory.record(
            "Said elsewhere.", role="user", timestamp=late.astimezone(timezone(timedelta(hours=-11)))
        )
        assert (await memory.diary(date(2026, 3, day)))[0].told == 2


async def test_a_diary_of_more_than_a_year_is_refused(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        assert await memory.diary(date(2024, 1, 1), date(2024, 12, 31)) == []
        with pytest.raises(InvalidInput, match="366 days"):
            await memory.diary(date(2024, 1, 1), date(2025, 1, 1))


async def test_a_day_at_either_end_of_the_calendar_is_a_day(make_memory: MakeMemory) -> None:
    async with make_memory({"time_zone": "Pacific/Kiritimati"}) as memory:
        assert await memory.diary(date.min) == []
        assert await memory.diary(date.max) == []
