"""Opening and closing a memory: once each, from any thread, whoever is cancelled meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol

from hippo_async import exits
from hippo_async.config import Settings
from hippo_async.configuring import Configuration
from hippo_async.errors import Closed, HippoError, WriteFailed
from hippo_async.place import Place, Tools

if TYPE_CHECKING:
    from hippo_async.engine import Engine
    from hippo_async.journal import OpenReport

P = ParamSpec("P")
Progress = Callable[[int, int], None]


class Attendant(Protocol):
    """Whoever works on an open memory by himself, in a thread of his own."""

    def touch(self) -> None:
        """Note that somebody uses the memory."""

    def close(self) -> None:
        """Stop working, and return once the thread has ended. Blocks."""


class Life:
    """From when to when a memory has an engine. The engine itself is imported when it is first needed.

    ``attend`` is called once the engine is there; whoever comes, if anybody, is sent away before it goes.
    """

    def __init__(
        self, place: Place, tools: Tools, configuration: Configuration, attend: Callable[[], Attendant | None]
    ) -> None:
        self._place = place
        self._tools = tools
        self._configuration = configuration
        self._attend = attend
        self._attendant: Attendant | None = None
        self._opening: Future[OpenReport] | None = None
        self.engine: Engine | None = None

    @property
    def running(self) -> Engine:
        """The engine. Raises :class:`Closed` where there is none, or only that of a parent process."""
        if self.engine is None:
            raise Closed("the memory is not open; use 'async with memory:' or 'await memory.open()'")
        if self.engine.inherited:
            raise Closed("the memory was opened before a fork and belongs to the parent; build a new one")
        return self.engine

    @property
    def in_use(self) -> Engine:
        """The engine, for somebody who uses the memory at this moment. Raises as :attr:`running`."""
        engine = self.running
        if self._attendant is not None:
            self._attendant.touch()
        return engine

    async def open(self, progress: Progress | None) -> OpenReport:
        """Open, or wait for the opening that is under way; a cancelled caller leaves it to finish."""
        exits.watch_sigterm()
        opening = self._opening
        if opening is None:
            opening = self._opening = Future()
            _in_thread("hippo-open", self._open, opening, progress)
        return await asyncio.shield(asyncio.wrap_future(opening))

    async def close(self) -> None:
        """Close what was opened; a cancelled caller leaves it to finish. Raises :class:`WriteFailed`."""
        opening, self._opening = self._opening, None
        if opening is not None:
            closed: Future[int] = Future()
            _in_thread("hippo-close", self._close, opening, closed)
            lost = await asyncio.shield(asyncio.wrap_future(closed))
            exits.unwatch_sigterm()
            _complain_about(lost)

    def open_here(self) -> None:
        """Open in the thread that asks. Blocks."""
        exits.watch_sigterm()
        opening = self._opening = self._opening or Future()
        if not opening.done():
            self._open(opening, None)
        opening.result()

    def close_here(self) -> None:
        """Close in the thread that asks. Blocks. Raises :class:`WriteFailed`."""
        self._opening = None
        if self.engine is not None:
            lost = self._closed()
            exits.unwatch_sigterm()
            _complain_about(lost)

    def configure(self, patch: Mapping[str, Any]) -> Settings:
        """Change settings of the open memory, here and in its file. Blocks."""
        return self._configuration.change(patch, self.running.adopt)

    def _open(self, opening: Future[OpenReport], progress: Progress | None) -> None:
        try:
            from hippo_async.engine import Engine

            tools = replace(self._tools, settings=self._configuration.load())
            engine = Engine.open(self._place, tools, progress)
        except BaseException as error:  # noqa: BLE001 - it is handed to whoever waits for the opening
            self._opening = None
            opening.set_exception(error)
        else:
            self.engine = engine
            self._attendant = self._attend()
            opening.set_result(engine.report)

    def _close(self, opening: Future[OpenReport], closed: Future[int]) -> None:
        """Close what was opened, or is still being opened, and tell how many turns were lost."""
        try:
            with contextlib.suppress(HippoError, OSError):
                opening.result()
            closed.set_result(self._closed())
        except BaseException as error:  # noqa: BLE001 - it is handed to whoever waits for the end
            closed.set_exception(error)

    def _closed(self) -> int:
        """Send the attendant away, close the engine, and return how many turns were lost."""
        attendant, self._attendant = self._attendant, None
        engine, self.engine = self.engine, None
        if engine is None:
            return 0
        if attendant is not None and not engine.inherited:
            engine.closing.set()
            attendant.close()
        return engine.close()


def _in_thread(name: str, call: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
    """Start a call at once: cancelling the caller before its first pause must not keep it from running."""
    threading.Thread(target=call, args=args, kwargs=kwargs, name=name, daemon=True).start()


def _complain_about(lost: int) -> None:
    if lost:
        raise WriteFailed(f"{lost} captured turns could not be written before the memory was closed")
