"""Tags for a text, from its own words (L20). Pure, and the same for the same text."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator

from hippo_async.language.plain import regular
from hippo_async.tagging import chinese, english, russian
from hippo_async.tagging.form import LONGEST_TAG, is_topic
from hippo_async.tagging.names import names_in

LOOKED_AT = 4_000
"""Characters of a text that are looked at, from its beginning: what it is about is said early."""

NAME = 3.0
"""What a name weighs beside a topic, which weighs about one for each time that it is said."""

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_DATA = re.compile(r"\S{0,200}(?:://|www\.|\w@\w)\S*|[A-Za-z0-9+/_=.-]{40,}")
_BESIDE_HAN = re.compile("(?<=[\u3400-\u9fff])(?=[A-Za-z])|(?<=[A-Za-z])(?=[\u3400-\u9fff])")
_LATIN = re.compile("[A-Za-z]")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_HAN = re.compile("[\u3400-\u9fff]")


def suggest(text: str, *, most: int = 5) -> tuple[str, ...]:
    """Return at most ``most`` tags for a text: names first, then topics; none for one that says too
    little.

    English, Russian and Chinese are known; other languages give names only, where they are capitalised. Tags
    are regular (:func:`~hippo_async.language.plain.regular`), nouns in the singular or, in Russian, the
    nominative. Code, addresses, numbers and data give none. Only the first 4,000 characters are looked
    at. Deterministic for one version of the dictionaries; never raises. Takes a tenth of a millisecond, the
    first text in Russian and in Chinese 0.1 s more.
    """
    plain = _readable(text)
    weights: dict[str, float] = defaultdict(float)
    for name in _names(plain):
        weights[name] += NAME
    parts = {part for name in weights for word in name.split() for part in (word, english.base(word))}
    for topic, weight in _topics(plain):
        if topic not in parts:
            weights[regular(topic)] += weight
    ranked = sorted(weights, key=lambda tag: -weights[tag])
    return tuple(tag for tag in ranked if len(tag) <= LONGEST_TAG and is_topic(tag))[: max(most, 0)]


def _readable(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text[:LOOKED_AT])[:LOOKED_AT]
    return _BESIDE_HAN.sub(" ", _DATA.sub(" ", _CODE.sub(" ", plain)))


def _names(text: str) -> Iterator[str]:
    """Yield names in their regular form; those in Chinese are told by the dictionary, with the topics."""
    for name in names_in([text]):
        if _CYRILLIC.search(name):
            yield regular(russian.nominative(name))
        elif not _HAN.search(name) and any(english.base(word) for word in name.split()):
            yield regular(name)


def _topics(text: str) -> Iterator[tuple[str, float]]:
    if _LATIN.search(text):
        yield from english.topics(text)
    if _CYRILLIC.search(text):
        yield from russian.topics(text)
    if _HAN.search(text):
        yield from chinese.topics(text)
