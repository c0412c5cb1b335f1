"""Clocks that stand, jump, go back or begin again: order is that of recording (F36, F37)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from hippo_async import Hippocampus, Settings
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]
SECONDS = 20


async def texts(memory: Hippocampus) -> list[str]:
    return [record.text async for record in memory.records() if record.type == "record"]


async def pass_a_second(clock: FakeClock) -> None:
    """Move the clock on once the buffer's thread has come to wait for it."""
    for _ in range(2000):
        if clock.waiting:
            break
        await asyncio.sleep(0.005)
    clock.advance(1.0)


async def test_a_thousand_records_of_one_moment_keep_their_order_and_have_ids_of_their_own(
    make_memory: MakeMemory,
) -> None:
    async with make_memory(clock=FakeClock()) as memory:
        for number in range(1000):
            memory.capture(f"text {number}", session="s")
        await memory.flush()
        records = [record async for record in memory.records() if record.type == "record"]
        assert [record.text for record in records] == [f"text {number}" for number in range(1000)]
        assert len({record.timestamp for record in records}) == 1
        assert len({record.record_id for record in records}) == 1000
        assert [record.text for record in await memory.latest(n=2)] == ["text 999", "text 998"]
        assert [record.text for record in await memory.session("s", limit=2)] == ["text 998", "text 999"]


JUMPS = [
    timedelta(seconds=-1),
    timedelta(days=-365),
    datetime(1969, 7, 20, 20, 17, tzinfo=UTC) - datetime(2026, 1, 1, 12, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=UTC) - datetime(2026, 1, 1, 12, tzinfo=UTC),
    timedelta(days=365 * 100),
    datetime(9999, 12, 31, 23, 59, tzinfo=UTC) - datetime(2026, 1, 1, 12, tzinfo=UTC),
]


@pytest.mark.parametrize("jump", JUMPS, ids=str)
async def test_a_wall_clock_that_jumps_changes_no_order_and_raises_nothing(
    make_memory: MakeMemory, jump: timedelta
) -> None:
    """By a second, by a year, to before 1970, to the ends of the calendar; and back again."""
    clock = FakeClock(datetime(2026, 1, 1, 12, tzinfo=UTC))
    start = clock.now()
    async with make_memory(clock=clock) as memory:
        await memory.record("tea before", session="s")
        clock.set(start + jump)
        await memory.record("tea there", session="s")
        clock.set(start)
        await memory.record("tea after", session="s")
    async with make_memory(clock=clock) as memory:
        assert await texts(memory) == ["tea before", "tea there", "tea after"]
        assert [record.text for record in await memory.session("s")] == await texts(memory)
        assert [record.text for record in await memory.latest()] == ["tea after"]
        assert len(await memory.selective_load(1000)) == 3
        assert len(await memory.recall("tea")) == 3
        assert "tea there" in (await memory.brief("tea", budget=300)).text
        assert (await memory.daily_anchor((start + jump).date())).count >= 1
        assert (await memory.verify_chain()).intact


async def test_a_window_of_time_takes_records_by_what_the_clock_said_of_them(make_memory: MakeMemory) -> None:
    clock = FakeClock(datetime(2026, 3, 1, tzinfo=UTC))
    async with make_memory(clock=clock) as memory:
        await memory.record("tea in march")
        clock.set(datetime(1969, 7, 20, tzinfo=UTC))
        await memory.record("tea on the moon")
        clock.set(datetime(2026, 3, 2, tzinfo=UTC))
        old = await memory.recall("tea", end=datetime(1970, 1, 1, tzinfo=UTC))
        new = await memory.recall("tea", start=datetime(1970, 1, 1, tzinfo=UTC))
        assert [hit.record.text for hit in old] == ["tea on the moon"]
        assert [hit.record.text for hit in new] == ["tea in march"]


async def test_an_hour_that_comes_twice_is_two_hours(make_memory: MakeMemory) -> None:
    """The night in which summer time ends: 02:30 is two moments, and each record keeps its own."""
    wall = datetime(2026, 10, 25, 2, 30)  # noqa: DTZ001 - the zone is what differs
    summer, winter = (wall.replace(tzinfo=timezone(timedelta(hours=hours))) for hours in (2, 1))
    async with make_memory() as memory:
        first = await memory.capture("summer", timestamp=summer)
        second = await memory.capture("winter", timestamp=winter)
        assert second.at - first.at == timedelta(hours=1)
        assert (await memory.daily_anchor(date(2026, 10, 25))).count == 2


async def test_a_clock_that_jumps_while_a_turn_is_buffered_does_not_hold_it_back(
    make_memory: MakeMemory,
) -> None:
    """The buffer goes by the monotonic clock, which no correction of the wall clock moves."""
    clock = FakeClock()
    async with make_memory(clock=clock, settings=Settings()) as memory:
        receipt = memory.capture("tea")
        clock.set(clock.now() - timedelta(days=365))
        await pass_a_second(clock)
        async with asyncio.timeout(SECONDS):
            assert (await receipt).content == "tea"


async def test_a_monotonic_clock_that_begins_again_is_compared_with_nothing_older(
    make_memory: MakeMemory,
) -> None:
    """F37: the machine was started anew, and what counts seconds since then counts from zero."""
    before = FakeClock()
    before.advance(1_000_000)
    async with make_memory(clock=before, settings=Settings()) as memory:
        await memory.record("before the restart", session="s")
    after = FakeClock()
    assert after.monotonic() < before.monotonic()
    async with make_memory(clock=after, settings=Settings()) as memory:
        receipt = memory.capture("after it", session="s")
        await pass_a_second(after)
        async with asyncio.timeout(SECONDS):
            await receipt
        assert await texts(memory) == ["before the restart", "after it"]
