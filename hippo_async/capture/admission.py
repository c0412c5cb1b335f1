"""How new a turn is when it comes in: by meaning if there is an embedder, by words if not (J7, J8)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from hippo_async.novelty import MeaningNovelty, WordNovelty
from hippo_async.novelty.words import WINDOW
from hippo_async.protocols import Embedder
from hippo_async.recall.meaning import embeddable
from hippo_async.records import Novelty

logger: logging.Logger = logging.getLogger("hippo_async.capture")

KNOWN_BY_THE_LETTER = 1000


class NoveltyJudge:
    """Classifies texts in the order in which they come, for one thread; ``literal``: by the letter of J7, J8.

    An embedder that fails is done without for that batch: a turn is never lost for want of its vector.
    """

    def __init__(self, analyze: Callable[[str], Sequence[str]], *, literal: bool = False) -> None:
        self._analyze = analyze
        self._literal = literal
        self._words = WordNovelty(literal=literal)
        self._by_meaning: tuple[Embedder, MeaningNovelty] | None = None
        self.failures: int = 0

    @property
    def known(self) -> int:
        """How many of a store's last texts :meth:`seed` wants to see; by the letter, no word is forgotten."""
        return KNOWN_BY_THE_LETTER if self._literal else WINDOW

    def seed(self, texts: Sequence[str]) -> None:
        """Take up where a store left off: its last texts, oldest first."""
        self._words.seed(self._analyze(text) for text in texts)

    def adopt(self, embedder: Embedder, texts: Sequence[str]) -> None:
        """Go by meaning from now on, with a loaded model; ``texts`` are the store's last, oldest first.

        Embeds them, and raises what the model raises; until it returns, texts are judged as before.
        """
        novelty = MeaningNovelty(embedder.mean_similarity, literal=self._literal)
        if texts:
            novelty.seed(embedder.embed_documents([embeddable(text) for text in texts]))
        self._by_meaning = (embedder, novelty)

    def classify(self, texts: Sequence[str]) -> list[Novelty]:
        """Return the class of each text and remember them all."""
        by_words = [self._words.classify(self._analyze(text)) for text in texts]
        if self._by_meaning is None or not texts:
            return by_words
        embedder, novelty = self._by_meaning
        try:
            vectors = embedder.embed_documents([embeddable(text) for text in texts])
        except Exception:
            self.failures += 1
            logger.exception("the embedder failed; novelty goes by words for this batch")
            return by_words
        return [novelty.classify(vector) for vector in vectors]
