"""The anchors of many days from one pass over a journal (J11, J17). Pure.

A record belongs to the day its timestamp names, wherever in the journal it stands, so a day is complete only
when the pass is. Until then a record costs 17 bytes: its id and its novelty.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from hippo_async.anchors.cursor import Cursor, Numbered
from hippo_async.journal.anchor import Anchored
from hippo_async.journal.proof import AnchorV2, anchor_v2
from hippo_async.records import Novelty

ID_BYTES = 16
ONE_DAY = datetime.timedelta(days=1)
_NOVELTIES = tuple(Novelty)


class _Noted(NamedTuple):
    record_id: str
    timestamp: str
    novelty: Novelty


class DayTally:
    """What one day's anchor is made of, in the order of the journal."""

    def __init__(self) -> None:
        self._ids = bytearray()
        self._novelties = bytearray()

    def __len__(self) -> int:
        return len(self._novelties)

    def add(self, record: Anchored) -> None:
        """Take the day's next record."""
        self._ids += bytes.fromhex(record.record_id)
        self._novelties.append(_NOVELTIES.index(record.novelty))

    def anchor(self, date: str, *, agent_id: str) -> AnchorV2:
        """Return the anchor of the records taken so far, as :func:`anchor_v2` makes it."""
        day = datetime.date.fromisoformat(date)
        return anchor_v2(self._noted(date), agent_id=agent_id, date=day)[0]

    def _noted(self, date: str) -> Iterator[_Noted]:
        for number, novelty in enumerate(self._novelties):
            record_id = self._ids[number * ID_BYTES : (number + 1) * ID_BYTES]
            yield _Noted(record_id.hex(), date, _NOVELTIES[novelty])


class Tally:
    """Collects the days that have no anchor yet, up to and with the day ``until``.

    These are all days from the first record's on, empty ones too, and earlier ones that a record names: an
    import may bring some. ``anchored`` are the days to leave out. If none is missing since the first record,
    nothing is read behind it. ``first`` is the day of that record if ``records`` begin at a cursor.
    """

    def __init__(
        self,
        records: Iterable[Numbered],
        *,
        anchored: Collection[str],
        until: datetime.date,
        first: datetime.date | None = None,
    ) -> None:
        self._records = iter(records)
        self._first = first
        self._last: Numbered | None = None
        self._waiting: Numbered | None = None  # the first one of a day that is not over
        self._anchored = frozenset(anchored)
        self._until = until
        self._days: dict[str, DayTally | None] = {}  # None: a day that is not wanted

    def read(self, limit: int) -> bool:
        """Take up to ``limit`` records more; return whether there may be others to take."""
        if not self._days and not self._begin():
            return False
        taken = 0
        for record in islice(self._records, limit):
            self._take(record)
            taken += 1
        return taken == limit

    def anchors(self, *, agent_id: str) -> Iterator[AnchorV2]:
        """Yield the anchors of the days collected, oldest first, each forgotten once it is made."""
        for date in sorted(self._days):
            day = self._days.pop(date)
            if day is not None:
                yield day.anchor(date, agent_id=agent_id)

    def cursor(self, journal_id: str) -> Cursor | None:
        """Return where to begin once the days collected are anchored; ``None`` if nothing had to be read."""
        found = self._waiting or self._last
        if found is None or self._first is None:
            return None
        return Cursor(self._first, journal_id, found.record_id, found.seq)

    def _begin(self) -> bool:
        """Take the first record and make room for the days since; return whether any is wanted."""
        for record in self._records:
            self._first = self._first or _day_of(record.timestamp[:10])
            if self._first is not None:
                self._days = {date: DayTally() for date in self._missing_since(self._first)}
                if self._days:
                    self._take(record)
                return bool(self._days)
        return False

    def _missing_since(self, first: datetime.date) -> Iterator[str]:
        for number in range((self._until - first).days + 1):
            date = (first + number * ONE_DAY).isoformat()
            if date not in self._anchored:
                yield date

    def _take(self, record: Numbered) -> None:
        self._last = record
        date = record.timestamp[:10]
        if date not in self._days:
            self._days[date] = self._room_for(record, date)
        day = self._days[date]
        if day is not None:
            day.add(record)

    def _room_for(self, record: Numbered, date: str) -> DayTally | None:
        """Return what to collect a date in, if it is wanted, at its first record."""
        day = _day_of(date)
        if day is None or date in self._anchored:
            return None
        if day <= self._until:
            return DayTally()
        self._waiting = self._waiting or record
        return None


def _day_of(text: str) -> datetime.date | None:
    """Return the day that a text of ten characters names; a sealed timestamp may name none."""
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        return None
    return day if day.isoformat() == text else None  # week dates have ten characters too
