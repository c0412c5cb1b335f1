"""When maintenance comes by itself: soon after opening, by cron, when nobody uses the memory (L24)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from queue import SimpleQueue
from typing import NamedTuple

from hippo_async.config import Settings
from hippo_async.errors import HippoError
from hippo_async.lifecycle.maintenance import Source
from hippo_async.protocols import Clock

logger: logging.Logger = logging.getLogger("hippo_async.maintenance")

BOOT_SECONDS = 30.0
"""How long after opening it begins: a command that takes a second never pays for it, nor does a start."""

LONGEST_WAIT = 3600.0
"""A clock that was set meanwhile, or a changed setting, is noticed after an hour at most."""


class Due(NamedTuple):
    """The next round: in how many seconds, and who asks for it."""

    seconds: float
    source: Source


@dataclass(frozen=True, slots=True)
class Situation:
    """What decides on the next round; times in seconds of the monotonic clock.

    ``is_first`` says that no round was run since the memory was opened. ``used`` is when somebody last used
    it, ``None`` if there was a round since. ``cron`` is when the schedule last fired, or began.
    """

    now: float
    today: datetime
    is_first: bool
    used: float | None
    cron: datetime


def next_round(situation: Situation, settings: Settings) -> Due:
    """Return which round is next; those that are switched off never are. Pure."""
    if situation.is_first and settings.auto_maintain_on_boot:
        return Due(0.0, "boot")
    due = [Due(_until_cron(situation, settings), "cron")]
    if settings.enable_dream and situation.used is not None:
        due.append(Due(situation.used + settings.dream_idle_minutes * 60 - situation.now, "dream"))
    return min(due)


def _until_cron(situation: Situation, settings: Settings) -> float:
    from cronsim import CronSim

    fires = next(CronSim(settings.maintenance_cron, situation.cron))
    return (fires - situation.today) / timedelta(seconds=1)


class Schedule:
    """A thread that waits for the next round and runs it. ``run`` blocks until the round is done.

    A round that is due while another one runs is refused by it, and not made up for.
    """

    def __init__(
        self, run: Callable[[Source], object], settings: Callable[[], Settings], clock: Clock
    ) -> None:
        self._run = run
        self._settings = settings
        self._clock = clock
        self._signals: SimpleQueue[bool] = SimpleQueue()
        self._is_first = True
        self._used: float | None = clock.monotonic()
        self._cron = clock.now()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="hippo-maintenance", daemon=True)
        self._thread.start()

    def touch(self) -> None:
        """Note that somebody uses the memory. From any thread; costs nothing."""
        self._used = self._clock.monotonic()

    @property
    def stopping(self) -> bool:
        """Whether the memory is being closed: a round ends after the step it is at."""
        return self._stopping.is_set()

    def close(self) -> None:
        """End the thread, after the step it is at. Blocks; may be called twice."""
        self._stopping.set()
        self._signals.put(True)
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _keep(self) -> None:
        self._clock.get(self._signals, BOOT_SECONDS)
        while not self.stopping:
            due = next_round(self._situation(), self._settings())
            if due.seconds > 0:
                self._clock.get(self._signals, min(due.seconds, LONGEST_WAIT))
            else:
                self._fire(due.source)

    def _situation(self) -> Situation:
        return Situation(self._clock.monotonic(), self._clock.now(), self._is_first, self._used, self._cron)

    def _fire(self, source: Source) -> None:
        """Run a round; it stands for every other that was due. Nothing it raises ends the schedule."""
        self._is_first, self._used, self._cron = False, None, self._clock.now()
        try:
            self._run(source)
        except HippoError as error:
            logger.warning("no maintenance (%s): %s", source, error)
        except Exception:
            logger.exception("maintenance (%s) failed", source)
