"""Days and months as their owner counts them: those of one time zone. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from hippo_async.records import utc_timestamp

BEFORE_ALL = ""
AFTER_ALL = "~"
"""Sort before and behind every timestamp: what a zone makes of the ends of the calendar has no other name."""


class Between(NamedTuple):
    """From ``start`` to before ``end``: timestamps in UTC, to be compared with those of records."""

    start: str
    end: str


@dataclass(frozen=True, slots=True)
class Calendar:
    """The days and months of a zone, ``"UTC"`` or another of the IANA's names.

    Each moment is in one day and one month, also where clocks are set: a day may have 23 or 25 hours.
    """

    zone: str = "UTC"

    def find(self) -> None:
        """Read the zone from the disk, the first time in this process; later uses find it in memory.

        Raises ``ZoneInfoNotFoundError`` if there is none of this name.
        """
        _zone(self.zone)

    def here(self, moment: datetime) -> datetime:
        """Return an aware moment as clocks here show it, as near to it as the calendar goes."""
        try:
            return moment.astimezone(_zone(self.zone))
        except OverflowError:
            return moment.replace(tzinfo=_zone(self.zone))

    def day(self, moment: datetime) -> date:
        """Return the day on which a moment is."""
        return self.here(moment).date()

    def month(self, moment: datetime) -> str:
        """Return the month in which a moment is, as ``YYYY-MM``."""
        return self.day(moment).isoformat()[:7]

    def of_day(self, day: date) -> Between:
        """Return the time of a day."""
        return Between(self._midnight(day), self._midnight(_later(day, 1)))

    def of_month(self, month: str) -> Between:
        """Return the time of a month that :meth:`month` named."""
        first = date.fromisoformat(f"{month}-01")
        following = _later(first, 32)
        return Between(self._midnight(first), self._midnight(following and following.replace(day=1)))

    def _midnight(self, day: date | None) -> str:
        if day is None:
            return AFTER_ALL
        try:
            return utc_timestamp(datetime(day.year, day.month, day.day, tzinfo=_zone(self.zone)))
        except OverflowError:
            return BEFORE_ALL if day.year == 1 else AFTER_ALL


def _later(day: date, days: int) -> date | None:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


@cache
def _zone(name: str) -> tzinfo:
    return UTC if name == "UTC" else ZoneInfo(name)
