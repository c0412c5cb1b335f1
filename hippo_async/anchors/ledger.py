"""The anchors of a store: ``<data_dir>/anchors/``, one file a day, and who has published them (J11, J12).

What a day's file holds is written in :mod:`hippo_async.anchors.day`; beside them is ``CURSOR.json``, see
:mod:`hippo_async.anchors.cursor`. All of it blocks: call it in a worker thread.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import JsonValue

from hippo_async.anchors.cursor import Cursor, read_cursor
from hippo_async.anchors.day import AnchoredDay, read_day
from hippo_async.errors import AnchorDamaged, AnchorsLocked, NotFound
from hippo_async.files import Files
from hippo_async.journal.proof import AnchorV2

FOLDER = "anchors"
LOCK = "LOCK"
CURSOR = "CURSOR.json"
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})\.json")


@dataclass(frozen=True, slots=True)
class Due:
    """The days to offer to each publisher, oldest first, and how many others wait for their back-off."""

    offers: Mapping[str, list[str]]
    resting: int


class Ledger:
    """The anchors of one agent's store. The constructor touches nothing.

    Anyone may read while one run writes. Files are replaced whole: after a crash each holds what it held
    before or what was to be written.
    """

    def __init__(self, data_dir: Path, *, agent_id: str, files: Files | None = None) -> None:
        self.folder: Path = data_dir / FOLDER
        self.agent_id = agent_id
        self._files = files or Files()
        self._lock = FileLock(self.folder / LOCK, timeout=0, thread_local=False)

    def acquire(self) -> None:
        """Make the folder, and keep other runs out until :meth:`release`. Raises :class:`AnchorsLocked`."""
        self._files.mkdir(self.folder)
        try:
            self._lock.acquire()
        except Timeout:
            reason = "another run is publishing anchors of this store; try again when it is done"
            raise AnchorsLocked(f"{self.folder}: {reason}") from None

    def release(self) -> None:
        """Let other runs in; does nothing if they were not kept out."""
        self._lock.release()

    def dates(self) -> list[str]:
        """Return the anchored days, ``YYYY-MM-DD``, oldest first."""
        return [found[1] for name in self._files.list(self.folder) if (found := _DAY.fullmatch(name))]

    def read(self, date: str) -> AnchoredDay:
        """Read a day. Raises :class:`NotFound`, or :class:`AnchorDamaged` if it is not what was written."""
        path = self._path(date)
        try:
            return read_day(self._files.read(path), date=date, agent_id=self.agent_id)
        except FileNotFoundError:
            raise NotFound(f"{path}: this day has no anchor yet") from None
        except ValueError as error:
            raise AnchorDamaged(path, str(error)) from None

    def add(self, anchor: AnchorV2) -> None:
        """Keep a day's anchor, durably. A day that is there stays as it was: it may be published already."""
        path = self._path(anchor.date)
        if not self._files.exists(path):
            self._files.write_atomic(path, AnchoredDay.of(anchor).encode())

    def cursor(self, dates: Sequence[str]) -> Cursor | None:
        """Return where to begin to read, if one was kept for just the anchors of these dates."""
        try:
            return read_cursor(self._files.read(self.folder / CURSOR), dates)
        except FileNotFoundError:
            return None

    def keep_cursor(self, cursor: Cursor, dates: Sequence[str]) -> None:
        """Keep where to begin to read while there are the anchors of just these dates, durably."""
        self._files.write_atomic(self.folder / CURSOR, cursor.encode(dates))

    def note_published(
        self, date: str, publisher: str, returned: Mapping[str, JsonValue], at: datetime
    ) -> None:
        """Add a receipt, durably. Raises :class:`RecordRejected` if it is not JSON."""
        self._change(date, lambda day: day.published(publisher, returned, at))

    def note_failed(self, date: str, publisher: str, error: str, at: datetime) -> None:
        """Note a failure and when to try again, durably."""
        self._change(date, lambda day: day.failed(publisher, error, at))

    def due(self, publishers: Collection[str], now: datetime | None) -> Due:
        """Say which days to offer to publishers at this moment; with no ``now``, back-off or not."""
        offers: dict[str, list[str]] = {name: [] for name in publishers}
        resting = 0
        for date in self.dates() if publishers else ():
            day = self.read(date)
            for name in itertools.filterfalse(day.is_published_by, publishers):
                if now is not None and day.is_resting(name, now):
                    resting += 1
                else:
                    offers[name].append(date)
        return Due(offers, resting)

    def _change(self, date: str, change: Callable[[AnchoredDay], AnchoredDay]) -> None:
        self._files.write_atomic(self._path(date), change(self.read(date)).encode())

    def _path(self, date: str) -> Path:
        return self.folder / f"{date}.json"
