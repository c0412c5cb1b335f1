"""A thread with a name that runs one thing at a time.

``concurrent.futures`` executors refuse work once the interpreter has begun to exit, which is just when a
memory still has turns to flush. These threads are daemons that their owner closes, so ``atexit`` can use
them.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from queue import SimpleQueue
from time import sleep
from typing import Any, ParamSpec, TypeVar

from hippo_async.errors import Closed

P = ParamSpec("P")
T = TypeVar("T")


def step_aside() -> None:
    """Let threads that wait for the interpreter run now; takes some 60 µs.

    What reads a database row by row lets go of the interpreter all the time, but for too short to be seen: an
    event loop that wakes up for it comes too late and starts its wait of 5 ms anew. So work that takes longer
    than that steps aside between its parts.
    """
    sleep(1e-6)


def unhurried(items: Iterable[T], *, every: int = 64) -> Iterator[T]:
    """Yield items and step aside after every so many: for long work that nobody waits for."""
    for number, item in enumerate(items, 1):
        yield item
        if number % every == 0:
            step_aside()


class OneAtATime:
    """Lets coroutines in one after the other, in the order in which they came, whatever loop each is on.

    async with one_at_a_time.turn():
        ...
    """

    def __init__(self) -> None:
        self._door = threading.Lock()
        self._last: Future[None] | None = None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until those who came before are done. One that is cancelled while it waits is passed over."""
        mine: Future[None] = Future()
        with self._door:
            before, self._last = self._last, mine
        if before is not None:
            try:
                await asyncio.shield(asyncio.wrap_future(before))
            except BaseException:
                before.add_done_callback(lambda _: mine.set_result(None))
                raise
        try:
            yield
        finally:
            mine.set_result(None)


class Worker:
    """Runs submitted calls one after the other in its own thread, started at the first call."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._door = threading.RLock()  # so that the sign to end comes last in the queue
        self._closed = False

    def submit(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Queue a call and return its future. Raises :class:`Closed` after :meth:`close`. Never blocks."""
        future: Future[T] = Future()
        with self._door:
            if self._closed:
                raise Closed(f"the {self._name} thread was closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._calls.put((future, lambda: call(*args, **kwargs)))
        return future

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Await a call in this thread. A call that has begun is finished even if its caller is cancelled."""
        return await asyncio.wrap_future(self.submit(call, *args, **kwargs))

    def close(self) -> None:
        """Let queued calls finish, then end the thread and wait for it. Blocks; may be called twice."""
        with self._door:
            self._closed = True
            self._calls.put(None)
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while (entry := self._calls.get()) is not None:
            future, call = entry
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(call())
            except StopIteration as error:  # no coroutine can raise it: who awaits this would wait for ever
                future.set_exception(RuntimeError(f"{self._name}: a call raised {error!r}"))
            except BaseException as error:  # noqa: BLE001 - whatever it is belongs to the one who waits
                future.set_exception(error)
