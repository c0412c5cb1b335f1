"""A clock that stands still until a test moves it."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


class FakeClock:
    """Implements :class:`hippo_async.protocols.Clock`; time moves only by :meth:`advance` and :meth:`set`.

    Safe to use from any thread. A thread that waits in :meth:`get` wakes as soon as the clock passes its
    deadline.
    """

    def __init__(self, start: datetime = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)) -> None:
        self._now = start
        self._elapsed = 0.0
        self._lock = threading.Lock()
        self._waiting: list[tuple[float, SimpleQueue[Any]]] = []

    @property
    def waiting(self) -> int:
        """How many waiters have a deadline that the clock has not passed yet."""
        with self._lock:
            return len(self._waiting)

    def now(self) -> datetime:
        """Return the moment the test has set."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds by which the clock was advanced."""
        return self._elapsed

    def advance(self, seconds: float) -> None:
        """Move time on and wake every waiter whose deadline has passed."""
        with self._lock:
            self._elapsed += seconds
            self._now += timedelta(seconds=seconds)
            due = [queue for deadline, queue in self._waiting if deadline <= self._elapsed]
            self._waiting = [entry for entry in self._waiting if entry[0] > self._elapsed]
        for queue in due:
            queue.put(None)

    def set(self, moment: datetime) -> None:
        """Set the wall clock, also backwards; the monotonic clock does not move."""
        self._now = moment

    def get(self, queue: SimpleQueue[T], timeout: float | None) -> T | None:
        """Wait for an item or for the test to advance the clock past ``timeout``.

        A deadline that passes just as an item arrives may leave one extra ``None`` in the queue: a waiter
        takes it for a timeout that came early, and looks at the clock again.
        """
        with self._lock:
            if timeout is not None:
                if timeout <= 0:
                    return None if queue.empty() else queue.get()
                self._waiting.append((self._elapsed + timeout, queue))
        return queue.get()
