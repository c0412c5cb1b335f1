"""Topics of Chinese text: nouns and names, as ``rjieba`` cuts and marks them. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from types import ModuleType

from hippo_async.tagging.generic import CHINESE

TOPIC, NAME, UNLIKELY = 1.3, 3.0, 0.5

_RUN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_NAMES = ("nr", "ns", "nt", "nz")
_PERHAPS = frozenset({"v", "l", "i", "j"})
_NOT_IN_NAMES = re.compile("[一二三四五六七八九十百千万两几半每第我你您他她它这那的了]")
_VERBS_BEHIND = "换说在去来要想给买做是有会也都就和跟被把"


def topics(text: str) -> Iterator[tuple[str, float]]:
    """Yield words of two characters or more that name something, in order, names with more weight."""
    for run in _RUN.finditer(text):
        yield from _of_run(run[0])


@functools.lru_cache(maxsize=2048)
def _of_run(run: str) -> tuple[tuple[str, float], ...]:
    dictionary = _dictionary()
    found = []
    for marked, mark in dictionary.tag(run):
        known = dictionary.has_word(marked)
        word = marked if known else marked.rstrip(_VERBS_BEHIND)
        weight = _weight(word, mark, known=known)
        if weight and len(word) > 1 and word not in CHINESE:
            found.append((word, weight))
    return tuple(found)


def _weight(word: str, mark: str, *, known: bool) -> float:
    """Weigh a word by its mark. What is in no dictionary is a guess, good for names and nouns only."""
    if not known and _NOT_IN_NAMES.search(word):
        return 0.0
    if mark.startswith(_NAMES):
        return NAME
    if mark.startswith("n") or mark == "vn":
        return TOPIC
    return UNLIKELY if known and mark in _PERHAPS else 0.0


@functools.cache
def _dictionary() -> ModuleType:
    """Load it: 0.1 s and 30 MB, for those who meet a Chinese text only."""
    import rjieba

    return rjieba
