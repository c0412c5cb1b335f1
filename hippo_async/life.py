"""Opening and closing a memory: once each, from any thread, whoever is cancelled meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ParamSpec

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


class Life:
    """From when to when a memory has an engine. The engine itself is imported when it is first needed."""

    def __init__(self, place: Place, tools: Tools, configuration: Configuration) -> None:
        self._place = place
        self._tools = tools
        self._configuration = configuration
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
        engine, self.engine, self._opening = self.engine, None, None
        if engine is not None:
            lost = engine.close()
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
            opening.set_result(engine.report)

    def _close(self, opening: Future[OpenReport], closed: Future[int]) -> None:
        """Close what was opened, or is still being opened, and tell how many turns were lost."""
        try:
            with contextlib.suppress(HippoError, OSError):
                opening.result()
            engine, self.engine = self.engine, None
            closed.set_result(0 if engine is None else engine.close())
        except BaseException as error:  # noqa: BLE001 - it is handed to whoever waits for the end
            closed.set_exception(error)


def _in_thread(name: str, call: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
    """Start a call at once: cancelling the caller before its first pause must not keep it from running."""
    threading.Thread(target=call, args=args, kwargs=kwargs, name=name, daemon=True).start()


def _complain_about(lost: int) -> None:
    if lost:
        raise WriteFailed(f"{lost} captured turns could not be written before the memory was closed")
