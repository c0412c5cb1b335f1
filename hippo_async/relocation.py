"""An open memory that moves to another directory while turns go on being captured (L13).

Most is copied beside the writer. Then comes the pause: the engine is closed, the rest is copied, all is
verified and switched, and the engine is opened where the memory is then. Turns that are captured meanwhile
wait, and are written after it. What cannot be opened for a failing disk is tried again, as a failing disk is
while turns are captured, until it can or the memory is closed.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue

from hippo_async import exits
from hippo_async.capture.pipeline import BACKOFF_FIRST, BACKOFF_MOST
from hippo_async.errors import Closed, InvalidInput
from hippo_async.journal.moved import MOVED
from hippo_async.life import Life, Progress, in_thread
from hippo_async.migration import MigrationReport, migrate
from hippo_async.migration.copying import place_at
from hippo_async.place import Place, Tools

logger: logging.Logger = logging.getLogger("hippo_async.migration")


async def relocate(life: Life, target: Path, tools: Tools, progress: Progress | None) -> MigrationReport:
    """Move an open memory; a cancelled caller leaves the move to end by itself, done or undone.

    Raises :class:`~hippo_async.errors.MigrationLocked` if it is being moved already, and as
    :meth:`hippo_async.Hippocampus.migrate` does.
    """
    relocation = Relocation(life, target, tools, progress)
    life.begin(relocation)
    in_thread("hippo-migrate", relocation.run)
    return await asyncio.shield(asyncio.wrap_future(relocation.ended))


class Relocation:
    """One move of an open memory; :meth:`run` once, in a thread of its own."""

    def __init__(self, life: Life, target: Path, tools: Tools, progress: Progress | None) -> None:
        self.ended: Future[MigrationReport] = Future()
        self._life = life
        self._source: Place = life.place
        self._target = target
        self._tools = tools
        self._progress = progress
        self._stopping = threading.Event()
        self._signals: SimpleQueue[bool] = SimpleQueue()

    def run(self) -> None:
        """Move, and be done with it; ``ended`` has the report, or why the memory is where it was. Blocks."""
        try:
            report = self._moved()
        except BaseException as error:  # noqa: BLE001 - it is handed to whoever waits for the move
            self._life.end()
            self.ended.set_exception(error)
        else:
            self._life.end()
            self.ended.set_result(report)

    def close(self) -> None:
        """Give up as soon as that is possible; return once the memory is open at one place, or never will be.

        Blocks. For whoever closes the memory.
        """
        self._stopping.set()
        self._signals.put(True)
        wait([self.ended])

    def _moved(self) -> MigrationReport:
        self._target = self._target.absolute()
        with ExitStack() as pause:
            try:
                self._life.configuration.refuse_pinned()
                report = self._migrate(lambda: self._pause(pause))
            except BaseException:
                finished = self._opened_again() if self._life.paused else None
                if finished is None:
                    raise
                return finished
            if not self._life.paused:
                reason = "this memory was moved here before, and went on without; name an empty directory"
                raise InvalidInput(f"{self._target}: {reason}")
            self._opened_again()
            return report

    def _migrate(self, quiet: Callable[[], object] | None = None) -> MigrationReport:
        return migrate(
            self._source,
            self._target,
            timeout_ms=self._life.configuration.current.migration.timeout_ms,
            files=self._tools.files,
            clock=self._tools.clock,
            progress=self._tell,
            quiet=quiet,
        )

    def _tell(self, done: int, total: int) -> None:
        if self._stopping.is_set():
            raise Closed("the memory was closed while it was being moved, and is where it was")
        if self._progress is not None:
            self._progress(done, total)

    def _pause(self, pause: ExitStack) -> None:
        """Have the memory stand still: its turns wait, its settings stay, and an exit waits for the end."""
        pause.enter_context(self._life.configuration.unchanged())
        exits.at_exit(self, self._life.close_here)
        pause.callback(exits.forget, self)
        self._life.pause()

    def _opened_again(self) -> MigrationReport | None:
        """Open the memory where it is now, however often it takes; return the move if that is the target.

        Raises what opening raises once somebody wants it closed.
        """
        delay = 0.0
        while True:
            try:
                report = self._finished()
                self._life.resume(self._source if report is None else place_at(self._target, self._source))
                return report
            except Exception as error:
                if self._stopping.is_set():
                    raise
                logger.warning("a moved memory could not be opened, next try in %.1f s: %s", delay, error)
            self._tools.clock.get(self._signals, delay)
            delay = min(max(BACKOFF_FIRST, delay * 2), BACKOFF_MOST)

    def _finished(self) -> MigrationReport | None:
        """Finish a move that came too far to be undone; ``None`` if the memory is durably where it was."""
        source = self._source.data_dir
        if self._tools.files.exists(source / MOVED):
            return replace(self._migrate(), already=False)
        self._tools.files.sync_dir(source)
        return None
