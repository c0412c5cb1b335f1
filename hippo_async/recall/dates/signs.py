"""What a word can say about time: one sign each, in one alphabet for all languages. Pure.

A sign's kind is one letter, so that a text becomes a string of kinds and the grammar is written in regular
expressions over that string. Each language is a table from its words to signs.

=====  ==========================================================================================
kind   says
=====  ==========================================================================================
``I``  a calendar day written in figures (``number`` is its ordinal); ``K`` a month (months since year 0)
``y``  a number that can be a year; ``Y`` a number that is one (2023年)
``d``  a number from 1 to 31; ``n`` any other; ``c`` one in words; ``V`` vague, from ``number`` to ``high``
``O``  a day of the month (8th, 8-го); ``h`` an ordinal in words; ``D`` the same in Chinese (8日)
``M``  a month; ``m`` one that needs company (May, April: names too); ``v`` one that is also a verb (may)
``W``  a weekday; ``w`` one that needs "on" before it (Sun, среду); ``G`` one of the week ``high`` weeks on
``U``  a ``unit``; ``u`` a year; ``p`` units, more than one
``L``  last or next, by ``number``; ``l`` this; ``J`` such a unit in one word (上周); ``j`` such a year (去年)
``Z``  the past, before a count and units; ``F`` recently, within ``number`` days
``A``  ago; ``B`` before; ``E`` after; ``k`` from then to now (以来)
``R``  a day ``number`` days on from today; ``H`` a part of the day; ``N`` both (昨晚)
``S``  a season; ``s`` one that needs company; ``Q`` a quarter; ``X`` a feast, ``number`` is month and day
``P``  a part of a period (early); ``g`` one that needs "of" after it (end); ``r`` the ``unit`` around a day
``i``  in; ``a`` on; ``o`` of; ``e`` since; ``f`` from; ``q`` from or since (с); ``t`` to; ``x`` to or before
       (до); ``b`` between; ``&`` and; ``z`` closes "between"; ``-`` ``,`` ``.`` themselves
``!``  every: what follows is no one time; ``#`` after it a number is no year; ``%`` after a number, the same
``_``  anything else
=====  ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

Unit = Literal["", "day", "week", "weekend", "month", "quarter", "year"]


class Sign(NamedTuple):
    """What a word says: its kind, and the values that the kind has."""

    kind: str
    number: int = 0
    unit: Unit = ""
    high: int = 0


Table = dict[str, tuple[Sign, ...]]
"""From words in lower case, one or several with single spaces, to what they say."""


def same(kind: str, words: str, number: int = 0, *, unit: Unit = "", high: int = 0) -> Table:
    """Return a table in which all the words say the same. See ``_forms`` for how words are written."""
    sign = Sign(kind, number, unit, high)
    return {form: (sign,) for word in words.split() for form in _forms(word)}


def numbered(kind: str, words: str, first: int = 0) -> Table:
    """Return a table in which each word says the next number, the first one ``first``."""
    return {
        form: (Sign(kind, number),)
        for number, word in enumerate(words.split(), first)
        for form in _forms(word)
    }


def phrases(signs: Mapping[str, Sign]) -> Table:
    """Return a table of phrases, alternatives between bars, each of which says one sign."""
    return {phrase: (sign,) for written, sign in signs.items() for phrase in written.split("|")}


def _forms(word: str) -> Iterator[str]:
    """Yield the forms of a word written ``stem+ending,ending`` or ``form,form``; ``~`` is a space in it."""
    stem, _, endings = word.rpartition("+")
    for ending in endings.split(","):
        yield (stem + ending).replace("~", " ")
