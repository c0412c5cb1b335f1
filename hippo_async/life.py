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
from hippo_async.capture.turns import Captured
from hippo_async.capture.waiting import WaitingRoom
from hippo_async.config import Settings
from hippo_async.configuring import Configuration
from hippo_async.errors import Closed, HippoError, MigrationLocked, WriteFailed
from hippo_async.place import Place, Tools

if TYPE_CHECKING:
    from hippo_async.engine import Engine
    from hippo_async.journal import OpenReport

BATCH = 100
"""How many of the turns that waited go to the engine at a time: who captures one meanwhile waits for none."""

P = ParamSpec("P")
Progress = Callable[[int, int], None]


class Attendant(Protocol):
    """Whoever works on an open memory by himself, in a thread of his own."""

    def touch(self) -> None:
        """Note that somebody uses the memory."""

    def close(self) -> None:
        """Stop working, and return once the thread has ended. Blocks."""


class Mover(Protocol):
    """Whoever moves an open memory to another directory, in a thread of his own (L13)."""

    def close(self) -> None:
        """Give up if that is possible, and return once nothing is being moved any more. Blocks."""


class Life:
    """From when to when a memory has an engine. The engine itself is imported when it is first needed.

    ``attend`` is called once the engine is there; whoever comes, if anybody, is sent away before it goes.
    ``place`` is where the memory lies now. While it is :attr:`paused` the engine is a closed one, and turns
    wait for the next.
    """

    def __init__(
        self, place: Place, tools: Tools, configuration: Configuration, attend: Callable[[], Attendant | None]
    ) -> None:
        self.place = place
        self.configuration = configuration
        self._tools = tools
        self._attend = attend
        self._attendant: Attendant | None = None
        self._opening: Future[OpenReport] | None = None
        self._mover: Mover | None = None
        self._room: WaitingRoom | None = None
        self._door = threading.RLock()
        self.engine: Engine | None = None

    @property
    def running(self) -> Engine:
        """The engine. Raises :class:`Closed` where there is none, or only that of a parent process, and
        :class:`MigrationLocked` while it is paused.
        """
        engine = self._ours
        if self.paused:
            raise MigrationLocked("the memory is being moved to another directory; ask again in a moment")
        return engine

    @property
    def in_use(self) -> Engine:
        """The engine, for somebody who uses the memory at this moment. Raises as :attr:`running`."""
        engine = self.running
        self._touch()
        return engine

    @property
    def paused(self) -> bool:
        """Whether turns wait until the memory is open at one place or the other."""
        return self._room is not None

    @property
    def waiting(self) -> int:
        """How many turns wait for that."""
        room = self._room
        return 0 if room is None else len(room)

    def put(self, turn: Captured) -> None:
        """Hand a turn to the engine, or have it wait for the next one. Costs microseconds; from any thread.

        Raises :class:`Closed`, and :class:`~hippo_async.errors.CaptureRefused` if too many wait already.
        """
        engine = self._ours  # before the door: in a forked child nobody may ever open it again
        if not turn.explicit:
            self._touch()
        with self._door:
            if self._room is None:
                (self.engine or engine).pipeline.put(turn)
            else:
                self._room.put(turn)

    async def open(self, progress: Progress | None) -> OpenReport:
        """Open, or wait for the opening that is under way; a cancelled caller leaves it to finish."""
        exits.watch_sigterm()
        opening = self._opening
        if opening is None:
            opening = self._opening = Future()
            in_thread("hippo-open", self._open, opening, progress)
        return await asyncio.shield(asyncio.wrap_future(opening))

    async def close(self) -> None:
        """Close what was opened; a cancelled caller leaves it to finish. Raises :class:`WriteFailed`."""
        opening, self._opening = self._opening, None
        if opening is not None:
            closed: Future[int] = Future()
            in_thread("hippo-close", self._close, opening, closed)
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
        self._stand_still()
        if self.engine is not None:
            lost = self._closed()
            exits.unwatch_sigterm()
            _complain_about(lost)

    def configure(self, patch: Mapping[str, Any]) -> Settings:
        """Change settings of the open memory, here and in its file; waits for the end of a pause. Blocks."""
        return self.configuration.change(patch, lambda: self.running.adopt)

    def begin(self, mover: Mover) -> None:
        """Have the open memory moved. Raises :class:`Closed`; :class:`MigrationLocked` if it is being so."""
        with self._door:
            if self._mover is not None:
                raise MigrationLocked(f"{self.place.data_dir}: this memory is being moved already")
            if self._opening is None or self._ours.closing.is_set():
                raise Closed("the memory is not open; open it, or move it with 'hippo migrate'")
            self._mover = mover

    def end(self) -> None:
        """Note that nothing is being moved any more."""
        self._mover = None

    def pause(self) -> None:
        """Close the engine, with all that was captured before durable; later turns wait. Blocks.

        Raises the disk's error if something cannot be written: the engine goes on then, with all of it.
        """
        engine = self._ours
        engine.closing.set()
        attendant, self._attendant = self._attendant, None
        if attendant is not None:
            attendant.close()
        with self._door:
            self._room = WaitingRoom(self.configuration.current.capture.buffer_turns)
        try:
            engine.pipeline.flush().result()
        except BaseException:
            engine.closing.clear()
            self._go_on(engine)
            raise
        engine.close()

    def resume(self, place: Place) -> None:
        """Open the engine where the memory is now; the turns that waited come first. Blocks.

        Raises what opening raises; it is paused then as before.
        """
        from hippo_async.engine import Engine

        engine = Engine.open(place, replace(self._tools, settings=self.configuration.current))
        self.place = place
        self.configuration.data_dir = place.data_dir
        self._go_on(engine)

    def _open(self, opening: Future[OpenReport], progress: Progress | None) -> None:
        try:
            from hippo_async.engine import Engine

            tools = replace(self._tools, settings=self._settled(progress))
            engine = Engine.open(self.place, tools, progress)
        except BaseException as error:  # noqa: BLE001 - it is handed to whoever waits for the opening
            self._opening = None
            opening.set_exception(error)
        else:
            self.engine = engine
            self._attendant = self._attend()
            opening.set_result(engine.report)

    def _settled(self, progress: Progress | None) -> Settings:
        """Read the settings; a memory that they say is to be fetched from elsewhere is here then (L13)."""
        if self._mover is not None:
            raise MigrationLocked("the memory is being moved and closed; open it when that is done")
        settings = self.configuration.load()
        if settings.migrate_from is None:
            return settings
        from hippo_async.migration.fetching import fetch

        fetched = fetch(self.place, settings, self._tools, progress)
        return settings if fetched is None else self.configuration.load()

    def _close(self, opening: Future[OpenReport], closed: Future[int]) -> None:
        """Close what was opened, or is still being opened, and tell how many turns were lost."""
        try:
            with contextlib.suppress(HippoError, OSError):
                opening.result()
            self._stand_still()
            closed.set_result(self._closed())
        except BaseException as error:  # noqa: BLE001 - it is handed to whoever waits for the end
            closed.set_exception(error)

    def _closed(self) -> int:
        """Send the attendant away, close the engine, and return how many turns were lost."""
        attendant, self._attendant = self._attendant, None
        engine, self.engine = self.engine, None
        if engine is None:
            return 0
        if self.paused:  # it was closed to be moved, and could not be opened again
            return self._turned_away()
        if attendant is not None and not engine.inherited:
            engine.closing.set()
            attendant.close()
        return engine.close()

    @property
    def _ours(self) -> Engine:
        """The engine, running or paused. Raises :class:`Closed`."""
        if self.engine is None:
            raise Closed("the memory is not open; use 'async with memory:' or 'await memory.open()'")
        if self.engine.inherited:
            raise Closed("the memory was opened before a fork and belongs to the parent; build a new one")
        return self.engine

    def _touch(self) -> None:
        attendant = self._attendant
        if attendant is not None:
            attendant.touch()

    def _stand_still(self) -> None:
        """Wait until nothing is being moved. What a parent process moves is left to it."""
        if self.engine is None or self.engine.inherited:
            return
        with self._door:
            mover = self._mover
        if mover is not None:
            mover.close()

    def _go_on(self, engine: Engine) -> None:
        """Let the turns that waited go to the engine, in their order, and have it attended."""
        while (room := self._room) is not None:
            with self._door:
                turns = room.call(BATCH)
                if not turns:
                    self.engine, self._room = engine, None
            for turn in turns:
                engine.pipeline.put(turn)
        self._attendant = self._attend()

    def _turned_away(self) -> int:
        """Tell those whose turns still wait that there is no engine any more; return how many turns."""
        with self._door:
            turns = self._room.call(len(self._room)) if self._room is not None else []
            self._room = None
        for turn in turns:
            turn.future.set_exception(Closed("the memory was closed before this turn could be written"))
        return len(turns)


def in_thread(name: str, call: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
    """Start a call at once: cancelling the caller before its first pause must not keep it from running."""
    threading.Thread(target=call, args=args, kwargs=kwargs, name=name, daemon=True).start()


def _complain_about(lost: int) -> None:
    if lost:
        raise WriteFailed(f"{lost} captured turns could not be written before the memory was closed")
