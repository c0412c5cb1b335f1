"""Putting candidates in order. Pure: each score is the sum of what its ``why`` says, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
    words: Scores,
    meaning: Scores,
    *,
    neighbours: Mapping[int, Neighbours] | None = None,
    unembedded: Collection[int] = (),
    echoes: Collection[int] = (),
) -> list[Ranked]:
    """Put the candidates of both searches in order, best first, newer ones first among equals.

    BM25 scores (not negative) are divided by the highest, cosines stretched to 0…1 within their list, and the
    two summed half and half; where one search found nothing the other counts alone, and so do words for the
    ``unembedded``, which have no vector yet that meaning could find. Then each turn gains from the
    ``neighbours`` in its session that are candidates too. Scores say which is better within one query; they
    mean nothing across queries.

    ``echoes`` say what the question says, word for word, as the turn that asked it does. They match like
    nothing else can, so the others are measured without them; they get the full score themselves.
    """
    legs = {"words": _by_highest(words, echoes), "meaning": _stretched(meaning, echoes)}
    found = {name: leg for name, leg in legs.items() if leg}
    whys: dict[int, dict[str, float]] = {}
    for name, leg in found.items():
        for seq, score in leg.items():
            alone = len(found) == 1 or (name == "words" and seq in unembedded)
            whys.setdefault(seq, {})[name] = (2 * LEG_WEIGHT if alone else LEG_WEIGHT) * score
    _add_neighbours(whys, neighbours or {})
    ranked = [Ranked(seq, sum(why.values()), why) for seq, why in whys.items()]
    return sorted(ranked, key=lambda candidate: (-candidate.score, -candidate.seq))


def _by_highest(scores: Scores, echoes: Collection[int]) -> dict[int, float]:
    highest = max((score for seq, score in scores if seq not in echoes), default=0.0) or 1.0
    return {seq: 1.0 if seq in echoes else score / highest for seq, score in scores}


def _stretched(scores: Scores, echoes: Collection[int]) -> dict[int, float]:
    values = [score for seq, score in scores if seq not in echoes]
    lowest, span = min(values, default=0.0), max(values, default=0.0) - min(values, default=0.0)
    return {seq: 1.0 if seq in echoes or not span else (score - lowest) / span for seq, score in scores}


def _add_neighbours(whys: dict[int, dict[str, float]], neighbours: Mapping[int, Neighbours]) -> None:
    """Add what each candidate gains from those beside it, by the scores they had before any such gain."""
    own = {seq: sum(why.values()) for seq, why in whys.items()}
    for seq, why in whys.items():
        beside = neighbours.get(seq, (None, None))
        gain = NEIGHBOUR_WEIGHT * sum(own.get(other, 0.0) for other in beside if other is not None)
        if gain:
            why["neighbours"] = gain
