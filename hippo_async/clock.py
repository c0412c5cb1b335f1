"""The one module that asks the operating system for the time."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")


class SystemClock:
    """Real time; implements :class:`hippo_async.protocols.Clock`."""

    def now(self) -> datetime:
        """Return the current moment in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - this module is where the time comes from

    def monotonic(self) -> float:
        """Return seconds since some fixed point of this process."""
        return time.monotonic()

    def get(self, queue: SimpleQueue[T], timeout: float | None) -> T | None:
        """Wait up to ``timeout`` real seconds for an item, else return ``None``."""
        try:
            return queue.get(timeout=timeout)
        except Empty:
            return None
