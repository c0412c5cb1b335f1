"""Novelty by words (J8), for a memory without an embedder: how many of a record's words are new."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence

from hippo_async.records import Novelty

THRESHOLDS = (0.5, 0.2)
WINDOW = 40


class WordNovelty:
    """Classifies records by the share of their distinct terms that recent records did not have.

    More than half new is a prediction error, more than a fifth novel, else routine. ``thresholds`` replaces
    the two numbers.

    A term is new when none of the last ``window`` records has it. The literal rule of J8 (``literal``) never
    forgets a word, and so comes to call everything routine: 96 % of turns after the 200th in the LoCoMo
    development conversations. A window of 40 keeps to 49 % from the 50th turn on, and the turns that it calls
    novel hold the answer to a question 2.7 times as often as the routine ones. Windows of 30 and 50 give 39
    and 58 %: nothing hangs on 40 exactly.

    Terms come analysed: case folded, stemmed, without punctuation, and Chinese as characters and pairs.
    """

    def __init__(
        self,
        *,
        window: int = WINDOW,
        literal: bool = False,
        thresholds: tuple[float, float] = THRESHOLDS,
    ) -> None:
        self._window = None if literal else window
        self._thresholds = thresholds
        self._recent: deque[frozenset[str]] = deque()
        self._vocabulary: Counter[str] = Counter()

    def classify(self, terms: Sequence[str]) -> Novelty:
        """Return the class of a record with these terms, and remember them. O(number of terms)."""
        distinct = frozenset(terms)
        new = sum(1 for term in distinct if term not in self._vocabulary)
        self._remember(distinct)
        return by_new_words(new / len(distinct) if distinct else 0.0, thresholds=self._thresholds)

    def seed(self, records: Iterable[Sequence[str]]) -> None:
        """Remember the terms of a reopened store's records, oldest first, without classifying."""
        for terms in records:
            self._remember(frozenset(terms))

    def _remember(self, terms: frozenset[str]) -> None:
        self._vocabulary.update(terms)
        if self._window is None:
            return
        self._recent.append(terms)
        if len(self._recent) > self._window:
            self._forget(self._recent.popleft())

    def _forget(self, terms: frozenset[str]) -> None:
        for term in terms:
            self._vocabulary[term] -= 1
            if not self._vocabulary[term]:
                del self._vocabulary[term]


def by_new_words(share: float, *, thresholds: tuple[float, float] = THRESHOLDS) -> Novelty:
    """Return the class of a record of whose distinct words this share is new (J8); thresholds descend."""
    surprising_above, novel_above = thresholds
    if share > surprising_above:
        return Novelty.PREDICTION_ERROR
    return Novelty.NOVEL if share > novel_above else Novelty.ROUTINE
