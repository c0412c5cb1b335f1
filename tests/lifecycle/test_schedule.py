"""When maintenance comes by itself (L24)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from eventual import eventually
from hypothesis import given
from hypothesis import strategies as st

from hippo_async import Hippocampus, Settings
from hippo_async.lifecycle.maintenance import Source
from hippo_async.lifecycle.schedule import BOOT_SECONDS, Due, Schedule, Situation, next_round
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]
NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
HOUR, DAY = 3600.0, 86400.0
FRESH = Situation(now=0.0, today=NINE, is_first=True, used=0.0, cron=NINE)


def settings(**values: Any) -> Settings:
    return Settings.from_mapping(values)


def test_the_first_round_comes_once_the_memory_was_open_for_half_a_minute() -> None:
    assert BOOT_SECONDS == 30
    assert next_round(FRESH, settings()) == Due(0, "boot")
    assert next_round(FRESH, settings(auto_maintain_on_boot=False)).source != "boot"


def test_then_it_comes_by_cron_every_six_hours_unless_the_memory_is_idle_before() -> None:
    booted = replace(FRESH, is_first=False)
    assert next_round(booted, settings()) == Due(3 * HOUR, "cron")
    assert next_round(booted, settings(dream_idle_minutes=60)) == Due(HOUR, "dream")
    assert next_round(booted, settings(dream_idle_minutes=60, enable_dream=False)) == Due(3 * HOUR, "cron")
    assert next_round(replace(booted, used=None), settings(dream_idle_minutes=1)).source == "cron"


def test_a_round_that_was_missed_is_due_at_once_and_once() -> None:
    asleep = replace(FRESH, is_first=False, used=None, today=NINE + timedelta(days=3), now=3 * DAY)
    assert next_round(asleep, settings()).seconds < 0
    assert next_round(replace(asleep, cron=asleep.today), settings()) == Due(3 * HOUR, "cron")


@given(
    now=st.floats(0, 1e6),
    used=st.none() | st.floats(0, 1e6),
    minutes=st.integers(1, 525_600),
    passed=st.timedeltas(timedelta(0), timedelta(days=400)),
)
def test_the_next_round_is_never_more_than_six_hours_away(
    now: float, used: float | None, minutes: int, passed: timedelta
) -> None:
    at = Situation(now=now, today=NINE + passed, is_first=False, used=used, cron=NINE)
    assert next_round(at, settings(dream_idle_minutes=minutes)).seconds <= 6 * HOUR


class Rounds:
    """Notes which rounds were run, and waits for them."""

    def __init__(self) -> None:
        self.run: list[Source] = []
        self.new = threading.Semaphore(0)

    def __call__(self, source: Source) -> None:
        self.run.append(source)
        self.new.release()

    async def next(self) -> Source:
        assert await asyncio.to_thread(self.new.acquire, timeout=10)
        return self.run[-1]


async def until_waiting(clock: FakeClock) -> None:
    await eventually(lambda: clock.waiting > 0)


async def test_rounds_come_as_time_goes_by_and_end_with_the_schedule() -> None:
    clock, rounds = FakeClock(NINE), Rounds()
    schedule = Schedule(rounds, lambda: settings(dream_idle_minutes=300), clock)
    for seconds, source in ((30, "boot"), (6 * HOUR, "cron"), (6 * HOUR, "cron")):
        await until_waiting(clock)
        for _ in range(int(seconds // HOUR) or 1):
            clock.advance(min(seconds, HOUR))
            await asyncio.sleep(0.01)
        assert await rounds.next() == source
    await until_waiting(clock)
    schedule.touch()
    for _ in range(5):
        await until_waiting(clock)
        clock.advance(HOUR)
        await asyncio.sleep(0.01)
    await rounds.next()
    assert set(rounds.run[3:]) <= {"dream", "cron"}
    await asyncio.to_thread(schedule.close)
    count = len(rounds.run)
    clock.advance(10 * DAY)
    assert len(rounds.run) == count


async def test_a_round_that_fails_or_is_refused_does_not_end_the_schedule(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, tried = FakeClock(NINE), Rounds()

    def run(source: Source) -> None:
        tried(source)
        raise RuntimeError("no space left")

    schedule = Schedule(run, settings, clock)
    for _ in range(2):
        await until_waiting(clock)
        clock.advance(6 * HOUR)
        await tried.next()
    await asyncio.to_thread(schedule.close)
    assert caplog.text.count("no space left") >= 2


async def test_what_is_due_is_erased_by_itself_while_the_memory_is_open(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory(maintenance=True) as memory:
        kept = await memory.remember("the word is quokka")
        await memory.forget(kept.event_id)
        for _ in range(40):
            clock.advance(HOUR)
            await asyncio.sleep(0.02)
            if (await memory.pending_deletes())[0].erased:
                break
        assert (await memory.pending_deletes())[0].erased
        assert len(await memory.recall("quokka")) == 0
