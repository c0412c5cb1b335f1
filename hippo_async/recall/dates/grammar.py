"""What is one date: rules over a string of kinds (see ``signs``), each with what makes a period of it. Pure.

Every pattern is of bounded length, so that reading a text takes time that grows with the text only. The
rules are tried in order, the longer ones first; one whose date the calendar does not have is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from hippo_async.recall.dates import periods
from hippo_async.recall.dates.lexing import Atom
from hippo_async.recall.dates.periods import Period
from hippo_async.recall.dates.signs import Sign

# What names a year after or before a month; and what a lone month or weekday needs before it to be one.
_YEAR = "(?:o?[yY]u?(?![%p])|o?[Ll]u|o?j)"
_BEFORE = f"{_YEAR},?o?"
_UNIT = "[Uup]"
_COUNT = "(?:[cdny]|Vo?)"
_MONTH = r"[Mmv]\.?"
_AFTER_IN = "(?:(?<=[ieqfbPEBx])|(?<=go)|(?<=b[Mm]&)|(?<=[Mm][tx-]))"
_FLEXIBLE_YEARS = 1  # a year that nothing introduces is one up to the next
_SOME = Sign("V", 2, high=6)


class Words:
    """The signs that a rule matched, by kind."""

    def __init__(self, matched: Sequence[Atom]) -> None:
        self.signs = [atom.sign for atom in matched]

    def get(self, kinds: str) -> Sign | None:
        """Return the first sign of one of the kinds."""
        return next((sign for sign in self.signs if sign.kind in kinds), None)

    def the(self, kinds: str) -> Sign:
        """Return the first sign of one of the kinds, which the rule's pattern makes sure of."""
        found = self.get(kinds)
        assert found is not None, f"a rule without {kinds!r} asks for one"  # noqa: S101
        return found

    def all(self, kinds: str) -> list[Sign]:
        """Return the signs of one of the kinds in order."""
        return [sign for sign in self.signs if sign.kind in kinds]

    def year(self, now: datetime) -> int | None:
        """Return the year that the words name, by number or seen from now."""
        if named := self.get("yY"):
            return named.number
        if word := self.get("j") or self.get("Ll"):
            return now.year + word.number
        return None


Make = Callable[[Words, datetime], Period | None]


def _yearly(words: Words, now: datetime, candidate: Callable[[int], Period]) -> Period:
    named = words.year(now)
    return periods.latest(candidate, now) if named is None else candidate(named)


def _figures(words: Words, now: datetime) -> Period:
    return periods.day(datetime.fromordinal(words.the("I").number))


def _month_figures(words: Words, now: datetime) -> Period:
    number, month = divmod(words.the("K").number, 12)
    return periods.months(number, month + 1, 1, "month")


def _day_of_month(words: Words, now: datetime) -> Period:
    month, number = words.the("Mmv").number, words.the("dDOh").number
    return _yearly(words, now, lambda year: periods.day(datetime(year, month, number)))  # noqa: DTZ001


def _days_of_month(words: Words, now: datetime) -> Period | None:
    month = words.the("Mmv").number
    first, last = (sign.number for sign in words.all("dDO"))
    if first > last:
        return None

    def candidate(year: int) -> Period:
        start, end = (periods.day(datetime(year, month, number)) for number in (first, last))  # noqa: DTZ001
        return Period(start.start, end.end, "range")

    return _yearly(words, now, candidate)


def _day_of_near_month(words: Words, now: datetime) -> Period | None:
    month = _near_unit(words, now)
    if month is None or month.kind != "month":
        return None
    return periods.day(month.start.replace(day=words.the("dDO").number))


def _week_of_month(words: Words, now: datetime) -> Period | None:
    """Return the nth seven days of a month, or its last seven."""
    unit, month, ordinal = words.the("U"), words.the("Mmv").number, words.get("h")
    if unit.unit != "week" or (ordinal is None and words.the("L").number != -1):
        return None
    named = words.get("yYj")
    number = None if named is None else named.number + (now.year if named.kind == "j" else 0)

    def candidate(year: int) -> Period:
        whole = periods.months(year, month, 1, "range")
        if ordinal is None:
            return whole._replace(start=whole.end - 7 * periods.DAY)
        start = whole.start + 7 * (ordinal.number - 1) * periods.DAY
        return whole._replace(start=start, end=min(start + 7 * periods.DAY, whole.end))

    return periods.latest(candidate, now) if number is None else candidate(number)


def _month(words: Words, now: datetime) -> Period:
    return _yearly(words, now, partial(_months_of, words.the("Mmv").number))


def _months_of(month: int, year: int) -> Period:
    return periods.months(year, month, 1, "month")


def _season(words: Words, now: datetime) -> Period:
    return _yearly(words, now, partial(periods.season, words.the("Ss").number))


def _turned(words: Words, now: datetime) -> Period:
    """Return last, this or next May or summer: last is over by now, next has not begun."""
    sign, turn = words.the("MmvSs"), words.the("Ll")
    candidate = partial(periods.season if sign.kind in "Ss" else _months_of, sign.number)
    period = periods.latest(candidate, now)
    running = period.end > now
    if turn.kind == "l":
        return period if running else candidate(now.year)
    if turn.number > 0:
        return candidate(period.start.year + turn.number)
    return candidate(period.start.year + turn.number + (not running))


def _quarter(words: Words, now: datetime) -> Period | None:
    named, unit = words.get("Q"), words.get("U")
    index = named.number if named else words.the("h").number - 1
    if index > 3 or (unit and unit.unit != "quarter"):
        return None
    return _yearly(words, now, lambda year: periods.months(year, 3 * index + 1, 3, "range"))


def _feast(words: Words, now: datetime) -> Period:
    month, number = divmod(words.the("X").number, 100)
    return _yearly(words, now, lambda year: periods.day(datetime(year, month, number)))  # noqa: DTZ001


def _weekday(words: Words, now: datetime) -> Period | None:
    number, turn, unit = words.the("Ww").number, words.get("LlJ"), words.get("U")
    if turn is None:
        return periods.weekday(number, now)
    if unit or turn.kind == "J":
        week = unit or turn
        if week.unit != "week":
            return None
        return periods.day(periods.around(now, "week", turn.number).start, number)
    if turn.kind == "l":
        return periods.day(periods.around(now, "week").start, number)
    return periods.weekday(number, now, turn.number)


def _weekday_of_week(words: Words, now: datetime) -> Period:
    sign = words.the("G")
    return periods.day(periods.around(now, "week", sign.high).start, sign.number)


def _day_word(words: Words, now: datetime) -> Period:
    return periods.day(now, words.the("RN").number)


def _day_and_part(words: Words, now: datetime) -> Period:
    sign = words.the("N")
    return periods.part_of_day(periods.day(now, sign.number), sign.high)


def _near_part(words: Words, now: datetime) -> Period | None:
    turn = words.the("Ll").number
    return None if turn > 0 else periods.part_of_day(periods.day(now, turn), words.the("H").number)


def _ago(words: Words, now: datetime) -> Period | None:
    unit, count, vague = words.the("Uup"), words.get("cdny"), words.get("V")
    if unit.kind == "p" and count is None and vague is None:
        vague = _SOME
    if vague:
        start, end = (periods.shifted(now, unit.unit, -number) for number in (vague.high, vague.number))
        return Period(periods.midnight(start), periods.day(end, 1).end, "fuzzy")
    return periods.around(now, unit.unit, -(count.number if count else 1))


def _rolling(words: Words, now: datetime) -> Period:
    """Return the last or next N units up to or from today, today with them."""
    unit, count, turn = words.the("Uup"), words.get("cdnyV"), words.get("L")
    if unit.unit == "weekend" and count is None:
        return periods.around(now, "weekend", -1)
    today = periods.day(now)
    if count is None and unit.kind == "p":
        count = _SOME
    number = max(count.number, count.high) if count else 1
    kind: periods.Kind = "fuzzy" if count and count.kind == "V" else "range"
    if turn and turn.number > 0:
        return Period(today.start, periods.shifted(today.end, unit.unit, number), kind)
    return Period(periods.shifted(today.start, unit.unit, -number), today.end, kind)


def _near_unit(words: Words, now: datetime) -> Period | None:
    turn = words.the("LlJj")
    unit = turn if turn.unit else words.the("Uu")
    if unit.unit == "day":
        return None
    return periods.around(now, unit.unit, turn.number)


def _weekend(words: Words, now: datetime) -> Period | None:
    if words.the("U").unit != "weekend":
        return None
    return periods.around(now, "weekend", 0 if now.weekday() >= 5 else -1)


def _recently(words: Words, now: datetime) -> Period:
    today = periods.day(now)
    return today._replace(start=today.start - words.the("F").number * periods.DAY, kind="fuzzy")


def _year(words: Words, now: datetime) -> Period:
    return periods.year(words.the("yY").number)


def _lone_year(words: Words, now: datetime) -> Period | None:
    number = words.the("y").number
    return periods.year(number) if number % 1000 and number <= now.year + _FLEXIBLE_YEARS else None


_RULES: tuple[tuple[str, Make], ...] = (
    ("(?:[Ww],?)?IW?", _figures),
    ("K", _month_figures),
    (rf"[fqb]?{_MONTH}[dO][tx&-][dO](?![%p])(?:,?{_YEAR})?", _days_of_month),
    (rf"[fqb]?[dO][tx&-][dO]o?[Mm]\.?(?:,?{_YEAR})?", _days_of_month),
    (rf"f?(?:{_BEFORE})?M[dD][t-]D", _days_of_month),
    (rf"(?:{_BEFORE})?MD(?:,?W)?", _day_of_month),
    (rf"{_BEFORE}[Mm][dO](?![%Uup])", _day_of_month),
    (rf"(?:[Ww],?)?{_MONTH}[dO](?![%Uup])(?:,?{_YEAR})?", _day_of_month),
    (rf"(?:[Ww],?)?(?:[dO]o?[Mm]|[Oh]o[Mmv]|Ov|(?<=[aifqx])dv)\.?(?:,?{_YEAR})?", _day_of_month),
    (rf"(?:[Ww],?)?dv,?{_YEAR}", _day_of_month),
    ("[OD]o?[Ll]U|JD", _day_of_near_month),
    (rf"[Lh]Uo{_MONTH}(?:,?o?(?:[yY]u?|j))?", _week_of_month),
    (rf"{_MONTH},?{_YEAR}", _month),
    (rf"{_BEFORE}[Mm]", _month),
    ("L[Mmv]|l[Mm]", _turned),
    (rf"M|{_AFTER_IN}[mv]|(?<=[otB])m|m(?=[tx-][Mmv])", _month),
    (rf"[Ss]{_YEAR}", _season),
    (rf"{_BEFORE}[Ss]", _season),
    ("[Ll][Ss]", _turned),
    ("S|(?<=[iefqb])s", _season),
    (rf"{_BEFORE}Q|(?:Q|hU)(?:,?{_YEAR})?", _quarter),
    (rf"X(?:,?{_YEAR})?|[Ll]X|{_BEFORE}X", _feast),
    ("[Ll]H", _near_part),
    ("N", _day_and_part),
    ("R", _day_word),
    ("W[ia]?[Ll]U|(?:[Ll]U|J)[ia]?W", _weekday),
    ("[Ll]?W|(?:(?<=[iatqx])|[Ll])w(?!#)", _weekday),
    ("G", _weekday_of_week),
    (rf"{_COUNT}?{_UNIT}o?A|{_UNIT}[cd]A", _ago),
    (rf"(?:Z|F){_COUNT}o?{_UNIT}(?!o?A)|Z{_UNIT}|L{_COUNT}p", _rolling),
    ("[Ll][Uu]|[Jj]", _near_unit),
    ("(?<=[ia])U", _weekend),
    ("F", _recently),
    ("yu(?!p)|(?<=[ieqfx])y(?![%p-])|Y", _year),
    ("(?<![#-])y(?![%p])|(?<=y-)y(?![%p])", _lone_year),
)

# Of all rules the first that matches, in one go; and those after each, for when it has no date to give.
_FIRST = re.compile("|".join(f"({pattern})" for pattern, _ in _RULES))
_EACH = tuple((re.compile(pattern), make) for pattern, make in _RULES)


def date(found: Sequence[Atom], kinds: str, place: int, now: datetime) -> tuple[Period, int] | None:
    """Return the period of the date that begins at a place among the signs, and the place after it."""
    first = _FIRST.match(kinds, place)
    if first is None or first.lastindex is None:
        return None
    for pattern, make in _EACH[first.lastindex - 1 :]:
        if match := pattern.match(kinds, place):
            try:
                period = make(Words(found[place : match.end()]), now)
            except (ValueError, OverflowError):  # the calendar has no such date
                continue
            if period is not None:
                return period, match.end()
    return None
