"""Figures of retrieval: what of the evidence was found, and how far down. Pure.

``ranked`` is what was found, best first, without repeats; ``wanted`` is the evidence, never empty.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

DEPTHS = (5, 10, 20, 50)
"""Down to where the ranking is looked at."""

SESSIONS = 5
"""How many sessions count as the first ones."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one question found.

    ``found`` are ids of turns, best first, and ``sessions`` the session of each; ``evidence`` are the ids
    that hold the answer, ``evidence_sessions`` where they were said. ``seconds`` is how long it took.
    """

    category: int
    found: tuple[str, ...]
    sessions: tuple[str, ...]
    evidence: frozenset[str]
    evidence_sessions: frozenset[str]
    seconds: float


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over questions. ``recall`` and ``hit`` go by depth; all are zero for no questions."""

    questions: int
    recall: dict[int, float]
    hit: dict[int, float]
    mrr: float
    session_any: float


def recall_at(ranked: Sequence[str], wanted: Collection[str], depth: int) -> float:
    """The share of the evidence that stands among the first ``depth``."""
    return len(set(ranked[:depth]) & set(wanted)) / len(set(wanted))


def hit_at(ranked: Sequence[str], wanted: Collection[str], depth: int) -> float:
    """1 if any evidence stands among the first ``depth``, else 0."""
    return float(any(found in wanted for found in ranked[:depth]))


def reciprocal_rank(ranked: Sequence[str], wanted: Collection[str]) -> float:
    """One over the rank of the first evidence; 0 if none was found."""
    return next((1 / rank for rank, found in enumerate(ranked, start=1) if found in wanted), 0.0)


def any_session(sessions: Sequence[str], wanted: Collection[str], first: int = SESSIONS) -> float:
    """1 if an evidence session is among the ``first`` different sessions, in the order of their best turn.

    However many turns of one session stand at the top, it counts once: the list is read on until ``first``
    sessions were met or it ends.
    """
    return hit_at(list(dict.fromkeys(sessions)), wanted, first)


def summarize(answers: Sequence[Answer]) -> Summary:
    """Average the figures of many questions, each counting alike."""
    return Summary(
        questions=len(answers),
        recall={depth: mean(recall_at(a.found, a.evidence, depth) for a in answers) for depth in DEPTHS},
        hit={depth: mean(hit_at(a.found, a.evidence, depth) for a in answers) for depth in DEPTHS},
        mrr=mean(reciprocal_rank(a.found, a.evidence) for a in answers),
        session_any=mean(any_session(a.sessions, a.evidence_sessions) for a in answers),
    )


def by_category(answers: Sequence[Answer]) -> dict[int, Summary]:
    """Average each category's questions by themselves, in the order of their numbers."""
    return {
        category: summarize([answer for answer in answers if answer.category == category])
        for category in sorted({answer.category for answer in answers})
    }


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that at least ``share`` of them do not exceed (nearest rank); 0 for no values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def mean(values: Iterable[float]) -> float:
    """The mean; 0 for no values. Does not depend on their order."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else 0.0
