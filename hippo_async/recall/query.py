"""What a question asks for, once the people it names are taken out of it. Pure."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field

from hippo_async.index import analyzer
from hippo_async.records import Filters


@dataclass(frozen=True, slots=True)
class Query:
    """A question, ready to be searched for.

    ``text`` is what was asked. ``meaning`` is what to embed: the text without the names of known people,
    which pull up everything these people said alike (design §7). ``terms`` is what to look for by words.
    ``names`` are the known people that the text names.
    """

    text: str
    meaning: str
    terms: tuple[str, ...]
    names: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)


def understand(text: str, *, names: Sequence[str] = (), filters: Filters | None = None) -> Query:
    """Read a question. ``names`` are the people known to the store, such as its speakers and users.

    A name is known in any case, with ``'s``, inflected as far as the stemmer goes, and by one of its words.
    A question that has no other words keeps its names.
    """
    spoken = {_stems(word) for word in text.split()}
    named = tuple(name for name in dict.fromkeys(names) if _is_named(name, text, spoken))
    meaning = _without(text, named)
    if not analyzer.terms(meaning):
        meaning = text
    return Query(
        text=text,
        meaning=meaning,
        terms=tuple(analyzer.query_terms(meaning)),
        names=named,
        filters=filters or Filters(),
    )


def _is_named(name: str, text: str, spoken: set[tuple[str, ...]]) -> bool:
    if analyzer.is_unspaced(name):
        return name in text
    return not spoken.isdisjoint(_name_stems(name))


def _without(text: str, names: Sequence[str]) -> str:
    stems: set[tuple[str, ...]] = set()
    for name in names:
        if analyzer.is_unspaced(name):
            text = text.replace(name, " ")
        stems |= _name_stems(name)
    return " ".join(word for word in text.split() if _stems(word) not in stems)


def _name_stems(name: str) -> set[tuple[str, ...]]:
    return {_stems(word) for word in name.split()} - {()}


@functools.lru_cache(maxsize=4096)
def _stems(word: str) -> tuple[str, ...]:
    """Return a word's terms, which are the same whatever its case, ending and punctuation."""
    return tuple(analyzer.terms(word))
