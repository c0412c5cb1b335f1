"""What a capture gives back: a promise that can be awaited, or not."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from concurrent.futures import Future
from typing import Any

from hippo_async.errors import CaptureRefused, HippoError
from hippo_async.records import Record


class Receipt:
    """Says whether a captured turn is durable yet.

    ``await receipt`` (on any loop) or ``receipt.wait()`` (in a thread) return its record once it is on disk.
    Nobody has to: an unawaited turn is flushed all the same. A cancelled waiter takes nothing back.
    """

    __slots__ = ("_future", "turn_id")

    def __init__(self, turn_id: str, future: Future[Record]) -> None:
        self.turn_id: str = turn_id
        self._future = future

    @classmethod
    def refused(cls, turn_id: str, error: Exception) -> Receipt:
        """Make the receipt of a turn that was not taken, for this reason."""
        future: Future[Record] = Future()
        ours = isinstance(error, HippoError)
        future.set_exception(error if ours else CaptureRefused(f"{type(error).__name__}: {error}"))
        return cls(turn_id, future)

    def done(self) -> bool:
        """Whether the turn is durable, or has been refused."""
        return self._future.done()

    def wait(self, timeout: float | None = None) -> Record:
        """Block until the turn is durable and return its record.

        Raises ``TimeoutError`` after ``timeout`` seconds, or the reason why the turn was refused. Not for the
        event loop: await the receipt there.
        """
        return self._future.result(timeout)

    def __await__(self) -> Generator[Any, None, Record]:
        return asyncio.shield(asyncio.wrap_future(self._future)).__await__()

    def __repr__(self) -> str:
        if not self._future.done():
            state = "buffered"
        else:
            state = "refused" if self._future.exception() else "durable"
        return f"<Receipt {self.turn_id} {state}>"
