"""From a text to the spans of time that it names: dates, and what is said relative to them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from hippo_async.recall.dates import grammar, lexing, periods
from hippo_async.recall.dates.grammar import Words
from hippo_async.recall.dates.periods import DAY, Kind, Period
from hippo_async.recall.dates.signs import Unit

_SHORTEST_PARTED = 7 * DAY  # what is shorter has no beginning, middle and end worth telling apart


class Span(NamedTuple):
    """From ``start`` to before ``end``, in the zone of the moment that it was seen from.

    ``text`` is the part of the text that says so, as it is written there. ``kind`` says how exactly: a
    ``day`` or a part of one, a ``month``, a ``year``, another ``range``, or ``fuzzy``.
    """

    start: datetime
    end: datetime
    text: str
    kind: Kind


def time_spans(text: str, *, now: datetime) -> tuple[Span, ...]:
    """Return the spans of time that a text names in English, Chinese or Russian, in the order of the text.

    ``now`` is aware; days, months and years are those of its zone, and what has no year is the latest that
    has begun by then. Never raises for a text; takes time that grows with the text's length only.

    Weeks begin on Monday. "Two weeks ago" is the calendar week before the last, and so for months and years;
    the day only for days. Seasons are those of the northern half. 5/8/2023 is 8 May, 05.08.2023 5 August.
    """
    reader = _Reader(text, now.replace(tzinfo=None, fold=0))
    return tuple(
        Span(
            period.start.replace(tzinfo=now.tzinfo), period.end.replace(tzinfo=now.tzinfo), said, period.kind
        )
        for period, said in reader.all()
    )


# What a date, or what is measured from one, can begin with; "every" is met so as to leave out what follows.
_START = re.compile("[^_.,%#&oiatBEAxz-]")
_JOINT = re.compile("[tx&-]")
_HALVES: dict[Unit, int] = {"week": 3, "month": 15, "quarter": 45, "year": 182}  # in whole days


class _Read(NamedTuple):
    period: Period
    stop: int


class _Reader:
    """Reads the signs of one text from left to right, the longest form at each place first."""

    def __init__(self, text: str, now: datetime) -> None:
        self._text = text
        self._now = now
        self._atoms = lexing.atoms(text)
        self._kinds = "".join(atom.sign.kind for atom in self._atoms)
        self._dates: dict[int, _Read | None] = {}

    def all(self) -> list[tuple[Period, str]]:
        found: list[tuple[Period, str]] = []
        place = 0
        while match := _START.search(self._kinds, place):
            place = match.start()
            if match[0] == "!":
                place += 2
            elif read := self._at(place):
                said = self._text[self._atoms[place].begin : self._atoms[read.stop - 1].end]
                found.append((read.period, said))
                place = read.stop
            else:
                place += 1
        return found

    def _at(self, place: int) -> _Read | None:
        try:
            return self._relative(place) or self._between(place) or self._with_rest(place)
        except (ValueError, OverflowError):  # it leaves the calendar
            return self._date(place)

    def _relative(self, place: int) -> _Read | None:
        """Read what goes before a date and is measured from it: "the week before", "the evening of"."""
        if not _MEASURES.match(self._kinds, place):
            return None
        for pattern, make in _BEFORE_DATE:
            if (match := pattern.match(self._kinds, place)) and (date := self._date(match.end())):
                period = make(Words(self._atoms[place : match.end()]), date.period)
                if period is not None:
                    return _Read(period, date.stop)
        return None

    def _between(self, place: int) -> _Read | None:
        """Read "from … to …", "between … and …", and the same without the first word."""
        opener = self._kinds[place] if self._kinds[place] in "fqbe" else ""
        if opener and (whole := self._date(place)):
            return whole
        first = self._date(place + len(opener))
        if first is None:
            return None
        joint = _JOINT.match(self._kinds, first.stop)
        if joint and (second := self._date(joint.end())):
            closed = self._kinds.startswith("z", second.stop)
            if opener == "b" or closed or joint[0] != "&":
                return _Read(_spanned(first.period, second.period), second.stop + closed)
        return self._since(first) if opener in ("e", "q") else None

    def _since(self, first: _Read) -> _Read | None:
        end = periods.day(self._now).end
        if first.period.start >= end:
            return None
        return first._replace(period=Period(first.period.start, end, "range"))

    def _with_rest(self, place: int) -> _Read | None:
        """Read a date, and what goes after it and is measured from it: "in the evening", 前一周."""
        date = self._date(place)
        if date is None:
            return None
        for pattern, make in _AFTER_DATE:
            if match := pattern.match(self._kinds, date.stop):
                period = make(Words(self._atoms[date.stop : match.end()]), date.period)
                if period is not None:
                    return _Read(period, match.end())
        if self._kinds[date.stop : date.stop + 1] == "k":
            return self._since(_Read(date.period, date.stop + 1))
        return date

    def _date(self, place: int) -> _Read | None:
        if place not in self._dates:
            found = grammar.date(self._atoms, self._kinds, place, self._now)
            self._dates[place] = None if found is None else _Read(*found)
        return self._dates[place]


def _spanned(first: Period, last: Period) -> Period:
    """Return all from the first to the last; a year that nobody named gives way to the one that was."""
    if first.free and not last.free:
        first = periods.moved(first, last.start.year - first.start.year)
        if first.start > last.start:
            first = periods.moved(first, -1)
    elif last.free and last.start < first.start:
        last = periods.moved(last, first.start.year - last.start.year)
        if last.start < first.start:
            last = periods.moved(last, 1)
    if last.end <= first.start:
        first, last = last, first
    return Period(first.start, last.end, "range")


def _measured(words: Words, date: Period) -> Period:
    """Return the unit so many units before or after a date; for one unit alone, the one next to it."""
    unit, count, vague = words.the("Uup").unit, words.get("cdny"), words.get("V")
    back = words.get("BAx") is not None
    edge = date.start if back or unit == "day" else date.end
    if unit == "weekend":
        return _weekend_beside(edge, back=back)
    if vague:
        far, near = (
            periods.shifted(edge, unit, -number if back else number) for number in (vague.high, vague.number)
        )
        return Period(min(far, near), max(far, near) + DAY, "fuzzy")
    number = count.number if count else 1
    if date.kind == unit != "day":
        return periods.around(date.start, unit, -number if back else number)
    if unit == "day":
        return periods.day(periods.midnight(edge), -number if back else number)
    if number == 1:
        other = periods.shifted(edge, unit, -1 if back else 1)
        return Period(min(edge, other), max(edge, other), "range")
    there = periods.shifted(date.start, unit, -number if back else number)
    return Period(there - _HALVES[unit] * DAY, there + (_HALVES[unit] + 1) * DAY, "range")


def _weekend_beside(edge: datetime, *, back: bool) -> Period:
    weekend = periods.around(edge - DAY if back else edge, "weekend")
    if back and weekend.end > edge:
        return periods.around(edge - DAY, "weekend", -1)
    return periods.around(edge, "weekend", 1) if not back and weekend.start < edge else weekend


def _around(words: Words, date: Period) -> Period | None:
    unit = words.the("Uur").unit
    return None if unit == "day" else periods.around(date.start, unit)


def _weekday_beside(words: Words, date: Period) -> Period:
    number = words.the("W").number
    if words.get("B"):
        return periods.weekday(number, date.start, -1)
    return periods.weekday(number, date.end - DAY, 1)


def _part_of_date(words: Words, date: Period) -> Period | None:
    if date.kind == "day":
        return periods.part_of_day(periods.day(date.start), words.the("H").number)
    return None


def _third_of_date(words: Words, date: Period) -> Period | None:
    if date.end - date.start < _SHORTEST_PARTED:
        return None
    return periods.third(date, words.the("Pg").number)


_Make = Callable[[Words, Period], Period | None]

_BEFORE_DATE: tuple[tuple[re.Pattern[str], _Make], ...] = (
    (re.compile("[Ll]?(?:[cdny]|Vo?)?[Uup]o?[BEx]"), _measured),
    (re.compile("[Uu]o"), _around),
    (re.compile("W[BE]"), _weekday_beside),
    (re.compile("Ho?[ia]?"), _part_of_date),
    (re.compile("P-?o?|go"), _third_of_date),
)
_AFTER_DATE: tuple[tuple[re.Pattern[str], _Make], ...] = (
    (re.compile("i?H"), _part_of_date),
    (re.compile("o?P"), _third_of_date),
    (re.compile("o?[AE]o?[cdnV][Uup]"), _measured),
    (re.compile("o?r"), _around),
)
_MEASURES = re.compile("|".join(pattern.pattern for pattern, _ in _BEFORE_DATE))  # any of them, to be quick
