"""The thread between the agent and the disk: it collects turns and writes them a batch at a time.

``put`` costs microseconds and never waits. A batch is written when ten turns are there or the oldest is one
second old (M2), at once when somebody asks, and at the end. A disk that fails keeps the turns here: the
writer backs off, opens the journal again, and goes on from memory.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Protocol

from hippo_async.capture.turns import Captured
from hippo_async.errors import CaptureRefused, Closed
from hippo_async.protocols import Clock

logger: logging.Logger = logging.getLogger("hippo_async.capture")

BACKOFF_FIRST = 0.5
BACKOFF_MOST = 30.0


class Sink(Protocol):
    """Where batches go. Called in the pipeline's thread only; may block."""

    def write(self, batch: Sequence[Captured]) -> None:
        """Make a batch durable and resolve the future of each turn.

        A turn whose future is resolved when this raises is done; the others are handed over again. Raises
        ``OSError`` when the disk fails.
        """
        ...

    def recover(self) -> None:
        """Make writing possible again after it failed. Raises ``OSError`` if it is not yet."""
        ...


class _Stop:
    """Asks the thread to write what is there and end."""


@dataclass(frozen=True, slots=True)
class _Flush:
    """Asks for everything before it to be written now."""

    done: Future[None]


@dataclass(slots=True)
class PipelineState:
    """Counts of what went through. Read from any thread, written by the pipeline's alone."""

    refused: int = 0
    failures: int = 0
    last_error: str | None = None
    retry_at: float | None = None


class Pipeline:
    """Collects captured turns and hands them to a :class:`Sink` in batches."""

    def __init__(
        self, sink: Sink, *, clock: Clock, flush_turns: int, flush_seconds: float, buffer_turns: int
    ) -> None:
        self._sink = sink
        self._clock = clock
        self._flush_turns = flush_turns
        self._flush_seconds = flush_seconds
        self._buffer_turns = buffer_turns
        self._queue: SimpleQueue[Captured | _Flush | _Stop | None] = SimpleQueue()
        self._pending: list[Captured] = []
        self._waiting: list[Future[None]] = []
        self._deadline: float | None = None
        self._urgent = False
        self._backoff = BACKOFF_FIRST
        self._door = threading.RLock()  # so that the sign to end comes last in the queue
        self._closed = False
        self._held = 0
        self.state: PipelineState = PipelineState()
        self._thread = threading.Thread(target=self._run, name="hippo-capture", daemon=True)
        self._thread.start()

    @property
    def buffered(self) -> int:
        """Turns that are in memory only at this moment."""
        return self._queue.qsize() + sum(not turn.future.done() for turn in list(self._pending))

    def adjust(self, *, flush_turns: int, flush_seconds: float, buffer_turns: int) -> None:
        """Change the limits; a batch that waits already keeps its deadline. From any thread."""
        self._flush_turns = flush_turns
        self._flush_seconds = flush_seconds
        self._buffer_turns = buffer_turns

    def put(self, turn: Captured) -> None:
        """Take a turn. Never blocks, never raises.

        A full buffer refuses the newest turn, so that what is kept has no gap before it: its future fails
        with :class:`CaptureRefused`, and ``state.refused`` counts it.
        """
        with self._door:
            if self._closed:
                turn.future.set_exception(Closed("the memory is closed"))
            elif self._held >= self._buffer_turns:
                self.state.refused += 1
                full = f"the buffer holds {self._buffer_turns:,} turns that could not be written yet"
                turn.future.set_exception(CaptureRefused(full))
            else:
                self._held += 1
                self._queue.put(turn)

    def flush(self) -> Future[None]:
        """Ask for everything captured so far to be made durable now; the future resolves when it is.

        While the disk fails it fails with that error; the turns stay buffered all the same.
        """
        done: Future[None] = Future()
        with self._door:
            if self._closed:
                done.set_result(None)
            else:
                self._queue.put(_Flush(done))
        return done

    def close(self) -> int:
        """Write what is buffered and end the thread. Blocks. Returns how many turns could not be written."""
        with self._door:
            if not self._closed:
                self._closed = True
                self._queue.put(_Stop())
        if self._thread is not threading.current_thread():
            self._thread.join()
        return len(self._pending)

    def _run(self) -> None:
        while True:
            item = self._clock.get(self._queue, self._patience())
            if isinstance(item, _Stop):
                self._finish()
                return
            if isinstance(item, Captured):
                self._take(item)
            elif isinstance(item, _Flush):
                self._waiting.append(item.done)
            if self._is_due():
                self._write()

    def _take(self, turn: Captured) -> None:
        if not self._pending:
            self._deadline = self._clock.monotonic() + self._flush_seconds
        self._pending.append(turn)
        self._urgent = self._urgent or turn.explicit

    def _patience(self) -> float | None:
        """How long to wait for the next item: until the batch or the next try is due."""
        until = self.state.retry_at if self.state.retry_at is not None else self._deadline
        return None if until is None else max(0.0, until - self._clock.monotonic())

    def _is_due(self) -> bool:
        if self._waiting or self._urgent:
            return True
        now = self._clock.monotonic()
        if self.state.retry_at is not None:
            return now >= self.state.retry_at
        old = self._deadline is not None and now >= self._deadline
        return old or len(self._pending) >= self._flush_turns

    def _write(self) -> None:
        """Write what is pending, after recovering from an earlier failure if there was one."""
        error = self._attempt()
        self._let_go()
        self._urgent = False
        if error is None:
            self._deadline = None
            self._backoff = BACKOFF_FIRST
            self.state.retry_at = None
        else:
            self._postpone(error)
        for waiter in self._waiting:
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(error)
        self._waiting = []

    def _attempt(self) -> Exception | None:
        try:
            if self.state.retry_at is not None:
                self._sink.recover()
            if self._pending:
                self._sink.write(self._pending)
        except Exception as error:  # noqa: BLE001 - whatever it is, the turns stay and the agent goes on
            return error
        return None

    def _postpone(self, error: Exception) -> None:
        self.state.failures += 1
        self.state.last_error = f"{type(error).__name__}: {error}"
        self.state.retry_at = self._clock.monotonic() + self._backoff
        logger.warning("writing failed, next try in %.1f s: %s", self._backoff, self.state.last_error)
        self._backoff = min(self._backoff * 2, BACKOFF_MOST)
        for turn in self._pending:
            if turn.explicit:  # its caller is told, and decides
                turn.future.set_exception(error)
        self._let_go()

    def _let_go(self) -> None:
        """Drop the turns that are done with; there is room for as many new ones."""
        before = len(self._pending)
        self._pending = [turn for turn in self._pending if not turn.future.done()]
        with self._door:
            self._held -= before - len(self._pending)

    def _finish(self) -> None:
        """Take what is still queued, write it once, and tell everybody who still waits."""
        while not self._queue.empty():
            item = self._queue.get()
            if isinstance(item, Captured):
                self._take(item)
            elif isinstance(item, _Flush):
                self._waiting.append(item.done)
        self._write()
        for turn in self._pending:
            turn.future.set_exception(Closed("the memory was closed before this turn could be written"))
