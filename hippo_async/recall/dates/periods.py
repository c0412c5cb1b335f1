"""The calendar: days, weeks, months, seasons and years as half-open periods, by the wall clock. Pure.

A date that the calendar does not have raises ValueError or OverflowError.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from hippo_async.recall.dates.signs import Unit

Kind = Literal["day", "month", "year", "range", "fuzzy"]

DAY = timedelta(days=1)
_LEAP_CYCLE = 8  # there are at most eight years from one 29 February to the next

# Morning, afternoon, evening, night: from which hour, and for how many.
_HOURS = ((5, 7), (12, 6), (17, 7), (18, 12))


class Period(NamedTuple):
    """From ``start`` to before ``end``, without a zone. ``free`` says that nobody named its year."""

    start: datetime
    end: datetime
    kind: Kind
    free: bool = False


def midnight(moment: datetime) -> datetime:
    """Return the start of a moment's day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def day(moment: datetime, offset: int = 0) -> Period:
    """Return the day of a moment, or one so many days on."""
    start = midnight(moment) + offset * DAY
    return Period(start, start + DAY, "day")


def months(year: int, first: int, count: int, kind: Kind) -> Period:
    """Return ``count`` months from the month ``first``, which may be past December."""
    start, end = (_month_start(year * 12 + first - 1 + further) for further in (0, count))
    return Period(start, end, kind)


def year(number: int) -> Period:
    """Return a calendar year."""
    return months(number, 1, 12, "year")


def shifted(moment: datetime, unit: Unit, count: int) -> datetime:
    """Move a moment by so many units; a day that its new month does not have becomes the month's last."""
    if unit in _DAYS:
        return moment + count * _DAYS[unit] * DAY
    index = moment.year * 12 + moment.month - 1 + count * _MONTHS[unit]
    number, month = index // 12, index % 12 + 1
    if not 1 <= number <= 9999:
        raise OverflowError
    return moment.replace(
        year=number, month=month, day=min(moment.day, calendar.monthrange(number, month)[1])
    )


def around(moment: datetime, unit: Unit, offset: int = 0) -> Period:
    """Return the calendar unit that a moment is in, or one so many units on. Weeks begin on Monday."""
    start = shifted(_first(midnight(moment), unit), unit, offset)
    if unit == "weekend":
        return Period(start, start + 2 * DAY, "range")
    return Period(start, shifted(start, unit, 1), _KINDS[unit])


def latest(candidate: Callable[[int], Period], now: datetime) -> Period:
    """Return the latest of a yearly period that has begun by now, marked as ``free``."""
    for number in range(now.year, max(now.year - _LEAP_CYCLE - 1, 0), -1):
        try:
            found = candidate(number)
        except ValueError:  # 29 February of a common year
            continue
        if found.start <= now:
            return found._replace(free=True)
    raise ValueError


def weekday(number: int, now: datetime, turn: int = 0) -> Period:
    """Return the latest such weekday up to today; with a ``turn`` the last before today, or next."""
    back = (now.weekday() - number) % 7
    if turn < 0:
        return day(now, 7 * (turn + 1) - (back or 7))
    return day(now, 7 - back if turn > 0 else -back)


def season(index: int, number: int) -> Period:
    """Return spring (0) to winter of a year, as in the northern half; winter begins in its December."""
    return months(number, 3 * index + 3, 3, "range")


def part_of_day(whole: Period, part: int) -> Period:
    """Return the morning (0), afternoon, evening or night of a day; the night goes on until six."""
    hour, length = _HOURS[part]
    start = whole.start + timedelta(hours=hour)
    return whole._replace(start=start, end=start + timedelta(hours=length))


def third(whole: Period, part: int) -> Period:
    """Return the first (0), middle or last third of a period, in whole months or else in whole days."""
    count = 12 * (whole.end.year - whole.start.year) + whole.end.month - whole.start.month
    if count >= 3 and whole.start.day == whole.end.day == 1:
        start, end = (shifted(whole.start, "month", count * edge // 3) for edge in (part, part + 1))
        return whole._replace(start=start, end=end, kind="range")
    days = (whole.end - whole.start).days
    start, end = (whole.start + days * edge // 3 * DAY for edge in (part, part + 1))
    return whole._replace(start=start, end=end, kind="range")


def moved(period: Period, years: int) -> Period:
    """Return a period as many years on."""
    start, end = (shifted(edge, "year", years) for edge in (period.start, period.end))
    return period._replace(start=start, end=end)


def _month_start(index: int) -> datetime:
    return datetime(index // 12, index % 12 + 1, 1)  # noqa: DTZ001 (the zone comes later)


def _first(start: datetime, unit: Unit) -> datetime:
    match unit:
        case "week":
            return start - start.weekday() * DAY
        case "weekend":
            return start + (5 - start.weekday()) * DAY
        case "month":
            return start.replace(day=1)
        case "quarter":
            return start.replace(month=(start.month - 1) // 3 * 3 + 1, day=1)
        case "year":
            return start.replace(month=1, day=1)
        case _:
            return start


_DAYS: dict[Unit, int] = {"day": 1, "week": 7, "weekend": 7}
_MONTHS: dict[Unit, int] = {"month": 1, "quarter": 3, "year": 12}
_KINDS: dict[Unit, Kind] = {
    "day": "day",
    "week": "range",
    "month": "month",
    "quarter": "range",
    "year": "year",
}
