"""Time: the real clock, and the one that tests move."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from queue import SimpleQueue

import pytest

from hippo_async.clock import SystemClock
from hippo_async.protocols import Clock
from hippo_async.testing import FakeClock

SECONDS = 20


@pytest.mark.parametrize("clock", [SystemClock(), FakeClock()], ids=["real", "fake"])
def test_a_clock_tells_an_aware_moment_in_utc_and_never_goes_back(clock: Clock) -> None:
    assert clock.now().utcoffset() == timedelta(0)
    assert clock.monotonic() <= clock.monotonic()


@pytest.mark.parametrize("clock", [SystemClock(), FakeClock()], ids=["real", "fake"])
@pytest.mark.parametrize("timeout", [None, 0.0, 5.0])
def test_an_item_that_waits_is_taken_at_once(clock: Clock, timeout: float | None) -> None:
    queue: SimpleQueue[str] = SimpleQueue()
    queue.put("item")
    assert clock.get(queue, timeout) == "item"


@pytest.mark.parametrize("clock", [SystemClock(), FakeClock()], ids=["real", "fake"])
def test_without_time_left_an_empty_queue_gives_nothing(clock: Clock) -> None:
    assert clock.get(SimpleQueue(), 0.0) is None


def test_the_real_clock_gives_up_after_the_time_it_was_given() -> None:
    clock = SystemClock()
    before = clock.monotonic()
    assert clock.get(SimpleQueue(), 0.01) is None
    assert clock.monotonic() - before >= 0.009


def test_a_fake_clock_stands_still_until_it_is_moved() -> None:
    clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
    assert (clock.now(), clock.monotonic()) == (datetime(2026, 1, 1, tzinfo=UTC), 0.0)
    clock.advance(90)
    assert (clock.now(), clock.monotonic()) == (datetime(2026, 1, 1, 0, 1, 30, tzinfo=UTC), 90.0)


def test_setting_the_wall_clock_back_does_not_move_the_monotonic_one() -> None:
    clock = FakeClock()
    clock.advance(10)
    clock.set(datetime(1960, 1, 1, tzinfo=UTC))
    assert (clock.now(), clock.monotonic()) == (datetime(1960, 1, 1, tzinfo=UTC), 10.0)


class Waiter:
    """A thread that waits on a fake clock for an item."""

    def __init__(self, clock: FakeClock, queue: SimpleQueue[str], timeout: float | None) -> None:
        self.found: list[str | None] = []
        self._thread = threading.Thread(
            target=lambda: self.found.append(clock.get(queue, timeout)), daemon=True
        )
        self._thread.start()

    def join(self) -> None:
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()

    def moved(self, clock: FakeClock, seconds: float) -> None:
        """Advance the clock until the waiter wakes; it may not have begun to wait the first time."""
        while self._thread.is_alive():
            clock.advance(seconds)
            self._thread.join(0.001)


def test_a_waiter_wakes_when_the_clock_passes_its_deadline() -> None:
    clock: FakeClock = FakeClock()
    waiter = Waiter(clock, SimpleQueue(), 60)
    waiter.moved(clock, 30)
    assert waiter.found == [None]
    assert clock.monotonic() >= 60


def test_a_waiter_takes_an_item_with_the_clock_standing_still() -> None:
    clock = FakeClock()
    queue: SimpleQueue[str] = SimpleQueue()
    waiters = [Waiter(clock, queue, 60), Waiter(clock, queue, None)]
    queue.put("one")
    queue.put("two")
    for waiter in waiters:
        waiter.join()
    assert sorted(str(waiter.found[0]) for waiter in waiters) == ["one", "two"]
    assert clock.monotonic() == 0


def test_each_waiter_has_its_own_deadline() -> None:
    clock = FakeClock()
    early, late = Waiter(clock, SimpleQueue(), 10), Waiter(clock, SimpleQueue(), 10_000_000)
    early.moved(clock, 5)
    assert (early.found, late.found) == ([None], [])
    late.moved(clock, 10_000_000)
    assert late.found == [None]
