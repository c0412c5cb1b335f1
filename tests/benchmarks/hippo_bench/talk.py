"""What a great many conversations say: any number of them, each always the same, made in microseconds.

A word's frequency falls with its rank (Zipf's law) over 60,000 words, of which the first are English function
words. Each session has a topic, and half of its words are the topic's own, so that neither the words nor the
vectors made of them are spread evenly: some are near each other, most are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import chain, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hippo_bench import texts

if TYPE_CHECKING:
    from hippo_async.records import Draft

VOCABULARY = 60_000
TOPICS = 500
TURNS = 40
"""Turns of one session."""

WORDS = 24
"""Words of one turn: about as many characters as a message of :mod:`hippo_bench.texts`."""

ASKED = 7
SENSES = 8_191
BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
PAUSE = timedelta(minutes=2)

Ids = NDArray[np.int64]


def session(number: int) -> list[str]:
    """Return the turns of a session."""
    words = vocabulary()
    return [" ".join([words[word] for word in turn]) + "." for turn in _spoken(number, TURNS, WORDS).tolist()]


def question(number: int) -> str:
    """Return a short question about the topic of a session, such as a user types."""
    words = vocabulary()
    asked = _spoken(number + (1 << 32), 1, ASKED, topic=number % TOPICS)[0].tolist()
    return f"what did we say about {' '.join(words[word] for word in asked)}?"


def message(number: int) -> str:
    """Return a message of the usual length about the topic of a session: what a briefing searches for."""
    words = vocabulary()
    return " ".join(words[word] for word in _spoken(number + (1 << 33), 1, WORDS, topic=number % TOPICS)[0])


def drafts(start: int, count: int) -> list[Draft]:
    """Return ``count`` turns as the capture buffer writes them, numbered from ``start`` over all sessions."""
    from hippo_async.records import Draft

    numbers = range(start, start + count)
    said = {at: session(at) for at in {number // TURNS for number in numbers}}
    return [
        Draft(said[at // TURNS][at % TURNS], metadata=_metadata(at), timestamp=moment(at)) for at in numbers
    ]


def _metadata(turn: int) -> dict[str, str]:
    role = "assistant" if turn % 2 else "user"
    return {"role": role, "session": f"s{turn // TURNS}", "source": role, "turn_id": f"{turn:016x}"}


def moment(turn: int) -> datetime:
    """Return when the turn of this number, counted over all sessions, was said."""
    return BEGIN + turn * PAUSE


def _spoken(seed: int, turns: int, words: int, *, topic: int | None = None) -> Ids:
    random = np.random.default_rng(seed)
    said = np.searchsorted(_cumulative(), random.random((turns, words)))
    own = _first() + (seed if topic is None else topic) % TOPICS
    by_topic = own + TOPICS * np.searchsorted(_within_topic(), random.random((turns, words)))
    return np.where(random.random((turns, words)) < 0.25, by_topic, said)


@cache
def vocabulary() -> list[str]:
    """Return all words, the most frequent first."""
    syllables = ["".join(pair) for pair in product(texts.ONSETS, texts.RHYMES)]
    made = chain(product(syllables, repeat=2), product(syllables[:40], repeat=3))
    rare = ["".join(parts) for parts in made]
    shuffled = np.random.default_rng(0).permutation(len(rare)).tolist()
    frequent = texts.FREQUENT.split()
    return (frequent + [rare[at] for at in shuffled])[:VOCABULARY]


@cache
def _cumulative() -> NDArray[np.float64]:
    return _zipf(VOCABULARY)


@cache
def _within_topic() -> NDArray[np.float64]:
    return _zipf((VOCABULARY - _first()) // TOPICS)


def _zipf(count: int) -> NDArray[np.float64]:
    weights = np.cumsum(1 / np.arange(1, count + 1))
    weights /= weights[-1]
    return weights


def _first() -> int:
    """The first word that belongs to a topic: every one of the rare words does, in turn."""
    return len(texts.FREQUENT.split())


@dataclass(frozen=True, slots=True)
class WordVectors:
    """An embedder that costs next to nothing: the sum of a random vector for each word that means something.

    Texts that share rare words or a topic are near each other, as with a model; a real one takes a hundred
    times as long for each text, which is no part of what is measured.
    """

    dim: int = 384
    model_id: str = "bench-words"
    mean_similarity: float = 0.0
    multilingual: bool = True

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one normalised row per text."""
        return np.array([self._vector(text) for text in texts], dtype=np.float32).reshape(-1, self.dim)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Do the same."""
        return self.embed_documents(texts)

    def _vector(self, text: str) -> NDArray[np.float32]:
        ranks = _ranks()
        known = np.array([ranks.get(word, 0) for word in text.rstrip(".?").split()], dtype=np.int64)
        known = known[known >= _first()]
        own, topics = _directions(self.dim)
        summed = own[known % SENSES].sum(axis=0) + topics[(known - _first()) % TOPICS].sum(axis=0) + 1e-6
        return np.asarray(summed / np.linalg.norm(summed), dtype=np.float32)


@cache
def _ranks() -> dict[str, int]:
    return {word: rank for rank, word in enumerate(vocabulary())}


@cache
def _directions(dim: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What a word's vector is the sum of: a direction of its own (or nearly so), and that of its topic."""
    random = np.random.default_rng(2)
    own = random.standard_normal((SENSES, dim), dtype=np.float32)
    return own, random.standard_normal((TOPICS, dim), dtype=np.float32)
