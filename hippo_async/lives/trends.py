"""What keeps coming up: tags seen again and again, watched for a while, and kept if they last (L20). Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from hippo_async.lives.rarity import most_carriers

LASTING_DAYS = 4
"""A trend that lasts was seen on so many days at least, the first and the last far enough apart."""

BURST = 5
"""A burst is so many sightings on one day at least,"""

BURST_OVER_USUAL = 4.0
"""and so many times what is usual for the tag on a day."""

Reason = Literal["lasting", "burst"]


@dataclass(frozen=True, slots=True)
class Trend:
    """A tag that was seen on ``count`` records on ``days`` days, from ``first`` to ``last``.

    It was seen most on the day ``peak``. ``reason`` says why it is more than a passing thing, if it is: it
    lasts, or it came up often on one day.
    """

    tag: str
    count: int
    days: int
    first: date
    last: date
    peak: date
    reason: Reason | None = None

    @property
    def text(self) -> str:
        """What a memory of the trend says."""
        if self.reason == "burst":
            return f"“{self.tag}” came up {self.count} times, most of it on {self.peak}."
        when = f"{self.count} times on {self.days} days, {self.first} to {self.last}"
        return f"“{self.tag}” keeps coming up: {when}."


def trends(
    seen: Iterable[tuple[str, date]], *, told: int, today: date, ttl: timedelta, window: timedelta
) -> list[Trend]:
    """Return what was seen in the last ``ttl`` on more than one record, the most frequent first.

    ``seen`` is each tag of each record with its day, ``told`` the number of records; a tag on too many of
    them is no trend. One lasts if its first and last day lie ``window`` apart, with enough days between
    them; one that was last seen before ``ttl`` is over.
    """
    days: defaultdict[str, Counter[date]] = defaultdict(Counter)
    for tag, day in seen:
        if today - ttl <= day <= today:
            days[tag][day] += 1
    found = [_trend(tag, counted, ttl=ttl, window=window) for tag, counted in days.items()]
    most = most_carriers(told)
    return sorted(
        (trend for trend in found if 1 < trend.count <= most), key=lambda trend: (-trend.count, trend.tag)
    )


def _trend(tag: str, days: Counter[date], *, ttl: timedelta, window: timedelta) -> Trend:
    first, last = min(days), max(days)
    peak = max(days, key=lambda day: (days[day], day))
    reason = _reason(days, last - first, ttl=ttl, window=window)
    return Trend(tag, days.total(), len(days), first, last, peak, reason)


def _reason(days: Counter[date], span: timedelta, *, ttl: timedelta, window: timedelta) -> Reason | None:
    if span >= window and len(days) >= LASTING_DAYS:
        return "lasting"
    most = max(days.values())
    usual = (days.total() - most) / max(1, ttl.days)
    return "burst" if most >= max(BURST, BURST_OVER_USUAL * usual) else None
