"""Putting candidates in order. Pure: each score is the sum of what its ``why`` says, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hippo_async.index.rows import Neighbours

LEG_WEIGHT = 0.5
"""What the best match by words counts, and the best by meaning; one alone counts twice that."""

NEIGHBOUR_WEIGHT = 0.2
"""What a turn gains from the turns before and after it, per point of theirs."""

Scores = Sequence[tuple[int, float]]
"""Pairs of a seq and a score of which more is better."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate. ``why`` maps each signal to what it added; ``score`` is the sum of its values."""

    seq: int
    score: float
    why: Mapping[str, float]


def rank(
    words: Scores, meaning: Scores, *, neighbours: Mapping[int, Neighbours] | None = None
) -> list[Ranked]:
    """Put the candidates of both searches in order, best first, newer ones first among equals.

    BM25 scores (not negative) are divided by the highest, cosines stretched to 0…1 within their list, and the
    two summed half and half; where one search found nothing the other counts alone. Then each turn gains from
    the ``neighbours`` in its session that are candidates too. Scores say which is better within one query;
    they mean nothing across queries.
    """
    legs = {"words": _by_highest(words), "meaning": _stretched(meaning)}
    found = {name: leg for name, leg in legs.items() if leg}
    weight = LEG_WEIGHT if len(found) == 2 else 2 * LEG_WEIGHT
    whys: dict[int, dict[str, float]] = {}
    for name, leg in found.items():
        for seq, score in leg.items():
            whys.setdefault(seq, {})[name] = weight * score
    _add_neighbours(whys, neighbours or {})
    ranked = [Ranked(seq, sum(why.values()), why) for seq, why in whys.items()]
    return sorted(ranked, key=lambda candidate: (-candidate.score, -candidate.seq))


def _by_highest(scores: Scores) -> dict[int, float]:
    highest = max((score for _, score in scores), default=0.0) or 1.0
    return {seq: score / highest for seq, score in scores}


def _stretched(scores: Scores) -> dict[int, float]:
    values = [score for _, score in scores]
    lowest, span = min(values, default=0.0), max(values, default=0.0) - min(values, default=0.0)
    return {seq: (score - lowest) / span if span else 1.0 for seq, score in scores}


def _add_neighbours(whys: dict[int, dict[str, float]], neighbours: Mapping[int, Neighbours]) -> None:
    """Add what each candidate gains from those beside it, by the scores they had before any such gain."""
    own = {seq: sum(why.values()) for seq, why in whys.items()}
    for seq, why in whys.items():
        beside = neighbours.get(seq, (None, None))
        gain = NEIGHBOUR_WEIGHT * sum(own.get(other, 0.0) for other in beside if other is not None)
        if gain:
            why["neighbours"] = gain
