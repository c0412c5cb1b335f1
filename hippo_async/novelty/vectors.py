"""Novelty by meaning (J7): how near the nearest recent record is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hippo_async.protocols import Vectors
from hippo_async.records import Novelty

LITERAL_THRESHOLDS = (0.50, 0.85)
THRESHOLDS = (0.38, 0.65)


class MeaningNovelty:
    """Classifies vectors of one model by their highest cosine to the last ``cache_size`` records.

    A bare cosine means different things under different models, so it is rescaled to ``(cosine - mean) / (1 -
    mean)`` with ``mean_similarity``, the model's mean cosine of unrelated texts: 0 is "unrelated", 1 "the
    same". Below 0.38 is a prediction error; for all-MiniLM-L6-v2 on English this is the cosine 0.50 of J7.
    From 0.65 on a record is routine: it says in other words what was said before. The 0.85 of J7 (0.815 here)
    finds word for word repeats only: 1 % of the turns of LoCoMo, so that to leave out the routine left out
    nothing. From 0.65 on it is 10 % with the light model and 17 % with all-MiniLM-L6-v2, and of these .11 and
    .21 hold the answer to a question, of the others .26. ``literal`` takes the numbers of J7 as they stand,
    on the bare cosine. ``thresholds`` replaces the two. A first record resembles nothing: a prediction error.
    """

    def __init__(
        self,
        mean_similarity: float,
        *,
        cache_size: int = 1000,
        literal: bool = False,
        thresholds: tuple[float, float] | None = None,
    ) -> None:
        self._mean = 0.0 if literal else mean_similarity
        self._thresholds = thresholds or (LITERAL_THRESHOLDS if literal else THRESHOLDS)
        self._cache_size = cache_size
        self._recent: Vectors = np.empty((0, 0), dtype=np.float32)
        self._seen = 0

    def classify(self, vector: NDArray[np.float32]) -> Novelty:
        """Return the class of a normalised vector, shape ``(dim,)``, and remember it. O(cache_size * dim)."""
        similarity = self._similarity(vector)
        self._remember(vector)
        return by_similarity(similarity, thresholds=self._thresholds)

    def seed(self, vectors: Vectors) -> None:
        """Remember the vectors of a reopened store, oldest first, shape ``(n, dim)``, without classifying."""
        for vector in vectors[-self._cache_size :]:
            self._remember(vector)

    def _similarity(self, vector: NDArray[np.float32]) -> float:
        filled = min(self._seen, self._cache_size)
        nearest = float(np.einsum("ij,j->i", self._recent[:filled], vector).max()) if filled else 0.0
        return (nearest - self._mean) / (1.0 - self._mean)

    def _remember(self, vector: NDArray[np.float32]) -> None:
        if not self._seen:
            self._recent = np.empty((self._cache_size, len(vector)), dtype=np.float32)
        self._recent[self._seen % self._cache_size] = vector
        self._seen += 1


def by_similarity(similarity: float, *, thresholds: tuple[float, float] = THRESHOLDS) -> Novelty:
    """Return the class of a record as near as ``similarity`` to one before it (J7); thresholds ascend."""
    surprising_below, novel_below = thresholds
    if similarity < surprising_below:
        return Novelty.PREDICTION_ERROR
    return Novelty.NOVEL if similarity < novel_below else Novelty.ROUTINE
