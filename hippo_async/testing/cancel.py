"""Callers that give up at each point at which they wait."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from functools import partial
from itertools import count
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Cancellation:
    """Cancels a coroutine as it suspends for the ``at``-th time. ``fired`` says whether it came that far."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.fired = False
        self._suspensions = 0

    async def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in a task of its own and cancel that task; return or raise what comes of it."""
        return await asyncio.create_task(self._watched(coroutine))

    async def _watched(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return await _Watched(coroutine, self._suspended)

    def _suspended(self) -> None:
        self._suspensions += 1
        task = asyncio.current_task()
        if self._suspensions == self.at and task is not None:
            self.fired = True
            task.cancel()  # the event loop does the rest, just as for any other task


def each_cancellation() -> Iterator[Cancellation]:
    """Yield what cancels at the first suspension, then what does at the second, and so on.

    Run the same steps under each. It ends after the run in which nothing was left to cancel, so every point
    at which the steps wait has been cancelled once.
    """
    for at in count(1):
        cancellation = Cancellation(at)
        yield cancellation
        if not cancellation.fired:
            return


class _Watched(Generic[T]):
    """Passes everything through, and says so each time before the awaitable suspends."""

    def __init__(self, awaitable: Awaitable[T], suspended: Callable[[], None]) -> None:
        self._awaitable = awaitable
        self._suspended = suspended

    def __await__(self) -> Generator[Any, Any, T]:
        steps = self._awaitable.__await__()
        resume: Callable[[], Any] = steps.__next__
        while True:
            try:
                waited_for = resume()
            except StopIteration as done:
                result: T = done.value
                return result
            self._suspended()
            try:
                yield waited_for
            except BaseException as error:  # noqa: BLE001 - the coroutine decides what becomes of it
                resume = partial(steps.throw, error)
            else:
                resume = steps.__next__
