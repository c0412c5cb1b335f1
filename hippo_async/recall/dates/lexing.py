"""Text into signs of time, each with its place. Pure; one pass, in time that grows with the text only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from hippo_async.recall.dates import chinese, english, russian
from hippo_async.recall.dates.signs import Sign, Table

# One character for one, so that places stay the same: full-width figures, ё, the curly apostrophe.
_EVEN = {
    **chinese.SIMPLIFIED,
    **{0xFF10 + figure: ord("0") + figure for figure in range(10)},
    **str.maketrans("ёЁ’，。、", "еЕ',.,"),
}

_WORDS: Table = english.WORDS | russian.WORDS
_SKIPPED = english.SKIPPED | russian.SKIPPED
_MARKS: Table = {
    **dict.fromkeys("-–—~〜～", (Sign("-"),)),
    **dict.fromkeys("$€£¥₽#№", (Sign("#"),)),
    ",": (Sign(","),),
    ".": (Sign("."),),
    "%": (Sign("%"),),
}
_NOTHING = (Sign("_"),)

_HAN = "\u3007\u3400-\u9fff"
_LETTER = "A-Za-z\u00c0-\u024f\u0400-\u052f"
_TOKEN = re.compile(
    rf"""(?P<space>\s+)
    |(?P<date>[0-9]{{4}}([-./])[0-9]{{1,2}}\3[0-9]{{1,2}}|[0-9]{{1,2}}([-./])[0-9]{{1,2}}\4[0-9]{{4}}
        |[0-9]{{4}}[-/][0-9]{{1,2}}|[0-9]{{1,2}}/[0-9]{{4}})(?![0-9]|[-./:][0-9]|[A-SU-Za-z_])
    |(?P<ordinal>[0-9]{{1,2}})(?:st|nd|rd|th|-?го)(?![0-9_{_LETTER}])
    |(?P<number>[0-9]+(?:[.:][0-9]+|,[0-9]{{3}}(?![0-9]))*)(?![0-9_{_LETTER}])
    |(?P<word>[{_LETTER}][0-9_{_LETTER}]*(?:'[a-z]{{1,2}}(?![a-z]))?)
    |(?P<han>[{_HAN}])
    |(?P<junk>[0-9_{_LETTER}]+)
    |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)
_PHRASES: dict[str, re.Pattern[str]] = {
    first: re.compile(
        "|".join(
            re.escape(phrase).replace(r"\ ", r"\s{1,3}")
            for phrase in sorted(_WORDS, key=len, reverse=True)
            if phrase.startswith(f"{first} ")
        )
        + rf"(?![0-9_{_LETTER}])",
        re.IGNORECASE,
    )
    for first in {phrase.split()[0] for phrase in _WORDS if " " in phrase}
}
_COUNTED = re.compile(f"[0-9]{{1,4}} ?[{_HAN}]")
_LONGEST_HAN = max(map(len, chinese.WORDS))
_HAN_STARTS = frozenset(word[0] for word in chinese.WORDS) | chinese.STARTS

_DATE_ORDERS = (
    re.compile(r"(?P<y>[0-9]{4})([-./])(?P<m>[0-9]{1,2})\2(?P<d>[0-9]{1,2})"),
    re.compile(r"(?P<d>[0-9]{1,2})([-.])(?P<m>[0-9]{1,2})\2(?P<y>[0-9]{4})"),
    re.compile(r"(?P<m>[0-9]{1,2})/(?P<d>[0-9]{1,2})/(?P<y>[0-9]{4})"),
    re.compile(r"(?P<d>[0-9]{1,2})/(?P<m>[0-9]{1,2})/(?P<y>[0-9]{4})"),
    re.compile(r"(?P<y>[0-9]{4})[-/](?P<m>[0-9]{1,2})"),
    re.compile(r"(?P<m>[0-9]{1,2})/(?P<y>[0-9]{4})"),
)
"""Days and months in figures. Of two that fit with slashes, the American one is taken."""


class Atom(NamedTuple):
    """A sign and where the text says it."""

    sign: Sign
    begin: int
    end: int


def atoms(text: str) -> list[Atom]:
    """Return what a text says that may have to do with time, in order; the rest between is one ``_``."""
    found: list[Atom] = []
    for signs, begin, end in _read(text.translate(_EVEN)):
        for sign in signs:
            if sign.kind != "_" or not found or found[-1].sign.kind != "_":
                found.append(Atom(sign, begin, end))
    return found


def _read(text: str) -> Iterator[tuple[tuple[Sign, ...], int, int]]:
    place = 0
    while match := _TOKEN.match(text, place):
        place = match.end()
        group = match.lastgroup
        if group == "space":
            continue
        signs: tuple[Sign, ...] = _NOTHING
        if match[0][0] in _HAN_STARTS or _COUNTED.match(text, match.start()):
            signs, place = _han(text, match.start(), place)
        if signs is not _NOTHING:
            pass
        elif group == "word":
            signs, place = _word(text, match)
        elif group == "number":
            signs = (_number(match[0]),)
        elif group == "date":
            signs = (_date(match["date"]),)
        elif group == "ordinal":
            signs = (Sign("O", int(match["ordinal"])),)
        elif group == "mark":
            signs = _MARKS.get(match[0], _NOTHING)
        if signs:
            yield signs, match.start(), place


def _han(text: str, start: int, end: int) -> tuple[tuple[Sign, ...], int]:
    """Return the longest Chinese word there, and its end: one of the table, or one with a number in it."""
    for form, signs_of in chinese.FORMS:
        if match := form.match(text, start):
            return signs_of(match), match.end()
    for length in range(_LONGEST_HAN, 0, -1):
        if signs := chinese.WORDS.get(text[start : start + length]):
            return signs, min(start + length, len(text))
    return _NOTHING, end


def _word(text: str, match: re.Match[str]) -> tuple[tuple[Sign, ...], int]:
    """Return what a word, or the phrase that begins with it, says, and where that ends."""
    written = match[0]
    folded = written.casefold()
    if (phrases := _PHRASES.get(folded)) and (phrase := phrases.match(text, match.start())):
        return _WORDS.get(" ".join(phrase[0].casefold().split()), _NOTHING), phrase.end()
    if folded in _SKIPPED:
        return (), match.end()
    signs = english.CASED.get(written) or _WORDS.get(folded) or _WORDS.get(folded.removesuffix("'s"))
    return signs or _NOTHING, match.end()


def _number(written: str) -> Sign:
    if not written.isdecimal() or len(written) > 4:
        return _NOTHING[0]
    number = int(written)
    if len(written) == 4 and 1900 <= number <= 2100:
        return Sign("y", number)
    return Sign("d" if 1 <= number <= 31 and len(written) <= 2 else "n", number)


def _date(written: str) -> Sign:
    """Return the day or the month that figures say; ``_`` if they say neither."""
    for order in _DATE_ORDERS:
        if (match := order.fullmatch(written)) and 1900 <= int(match["y"]) <= 2100:
            figures = {name: int(figure) for name, figure in match.groupdict().items()}
            try:
                first = datetime(figures["y"], figures["m"], figures.get("d", 1))  # noqa: DTZ001 (no zone yet)
            except ValueError:
                continue
            return (
                Sign("I", first.toordinal())
                if "d" in figures
                else Sign("K", first.year * 12 + first.month - 1)
            )
    return _NOTHING[0]
