"""Putting candidates in order. Pure: each score is the sum of what its ``why`` says, and nothing else.

The weights were chosen on five conversations of LoCoMo, by what each signal added to the share of the
evidence among the first ten (recall@10); ``hippo bench locomo`` measures them again.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from hippo_async.index.rows import Traits

WORDS = 0.5
MEANING = 0.2
"""What a full match by words counts, and the best by meaning. What the best match by words falls short of a
full one is meaning's to give: a question in other words, or in another language, is answered by that alone.
"""

FULL_SHARE = 0.7
"""How much of the score of a record with all words of a question, each once, is taken for a full match."""

BEFORE = 0.15
AFTER = 0.3
"""What a turn gains from the turns before and after it, per point of theirs: an answer stands beside its
question."""

SPEAKER = 0.2
"""What a turn gains for being said by the one person whom the question names."""

SESSION = 0.45
BEST_OF_SESSION = 2
"""What a turn gains from the company of its session, per point of the mean of the session's best two."""

SUBSTANCE = 0.1
FULL_SUBSTANCE = 30
"""What a turn gains for saying much: in full from that many content words on, by their logarithm below."""

ASKING = 0.18
"""What a turn loses for ending as a question: it rarely holds an answer."""

SECOND_HAND = 0.3
"""What a fold, a summary or a trend loses: it says again, in part, what its originals say."""

TIME = 0.5
"""What a turn gains for standing at the time that the question names."""

RECENCY = 0.02
"""How much of its score a turn of this moment gains, and one from long ago loses."""

AGAIN = 0.1
"""How much of its score a memory gains at most for having been remembered again or confirmed: half of it the
first time, half of what is left each time more."""

Scores = Sequence[tuple[int, float]]
"""Pairs of a seq and a score of which more is better."""

Whys = dict[int, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate. ``why`` maps each signal to what it added; ``score`` is the sum of its values."""

    seq: int
    score: float
    why: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Asked:
    """What of a question and its moment bears on the order: by when half of a turn's recency is gone, the one
    person the question names, how near a moment is to the times it names (0 to 1)."""

    now: datetime
    half_life: timedelta
    speaker: str | None = None
    nearness: Callable[[datetime], float] | None = None


def rank(
    words: Scores,
    meaning: Scores,
    *,
    full_match: float = 0.0,
    traits: Mapping[int, Traits] | None = None,
    asked: Asked | None = None,
    unembedded: Collection[int] = (),
    echoes: Collection[int] = (),
) -> list[Ranked]:
    """Put the candidates of both searches in order, best first, newer ones first among equals.

    BM25 scores (not negative) are divided by the highest, or by a share of ``full_match`` where not even the
    best comes near it; cosines are stretched to 0…1 within their list; and the two are summed by weight.
    Where there are no cosines words count for both, and so they do for the ``unembedded``, which have no
    vector yet that meaning could find. To that come the signals named above, as far as ``traits`` and what is
    ``asked`` say anything. Scores say which is better within one query; they mean nothing across queries.

    ``echoes`` say what the question says, word for word, as the turn that asked it does. They match like
    nothing else can, so the others are measured without them; they get the full score themselves.
    """
    by_words = _by_highest(words, echoes, at_least=FULL_SHARE * full_match)
    whys = _matches(by_words, _stretched(meaning, echoes), unembedded, echoes)
    known = {seq: trait for seq, trait in (traits or {}).items() if seq in whys}
    _add_neighbours(whys, known)
    if asked is not None and asked.speaker is not None:
        said = [seq for seq, trait in known.items() if trait.speaker == asked.speaker]
        _add(whys, "speaker", dict.fromkeys(said, SPEAKER))
    _add_session(whys, known)
    _add(whys, "substance", {seq: SUBSTANCE * _substance(trait) for seq, trait in known.items()})
    _add(whys, "question", {seq: -ASKING for seq, trait in known.items() if trait.asks})
    _add(whys, "second_hand", {seq: -SECOND_HAND for seq, trait in known.items() if trait.derived})
    if asked is not None:
        _add_time(whys, known, asked)
    _add_again(whys, known)
    ranked = [Ranked(seq, sum(why.values()), why) for seq, why in whys.items()]
    return sorted(ranked, key=lambda candidate: (-candidate.score, -candidate.seq))


def _matches(
    words: Mapping[int, float],
    meaning: Mapping[int, float],
    unembedded: Collection[int],
    echoes: Collection[int],
) -> Whys:
    best = max((score for seq, score in words.items() if seq not in echoes), default=0.0)
    by_meaning = MEANING + WORDS * (1.0 - best)
    whys: Whys = {}
    for seq, score in words.items():
        alone = not meaning or seq in unembedded
        whys.setdefault(seq, {})["words"] = (WORDS + MEANING if alone else WORDS) * score
    for seq, score in meaning.items():
        whys.setdefault(seq, {})["meaning"] = by_meaning * score
    return whys


def _by_highest(scores: Scores, echoes: Collection[int], *, at_least: float) -> dict[int, float]:
    highest = max((score for seq, score in scores if seq not in echoes), default=0.0)
    whole = max(highest, at_least) or 1.0
    return {seq: 1.0 if seq in echoes else score / whole for seq, score in scores}


def _stretched(scores: Scores, echoes: Collection[int]) -> dict[int, float]:
    values = [score for seq, score in scores if seq not in echoes]
    lowest, span = min(values, default=0.0), max(values, default=0.0) - min(values, default=0.0)
    return {seq: 1.0 if seq in echoes or not span else (score - lowest) / span for seq, score in scores}


def _add(whys: Whys, signal: str, gains: Mapping[int, float]) -> None:
    for seq, gain in gains.items():
        if gain:
            whys[seq][signal] = gain


def _totals(whys: Whys) -> dict[int, float]:
    return {seq: sum(why.values()) for seq, why in whys.items()}


def _add_neighbours(whys: Whys, traits: Mapping[int, Traits]) -> None:
    """Add what each candidate gains from those beside it, by the scores they had before any such gain."""
    own = _totals(whys)

    for seq, trait in traits.items():
        before = 0.0 if trait.before is None else own.get(trait.before, 0.0)
        after = 0.0 if trait.after is None else own.get(trait.after, 0.0)
        _add(whys, "neighbours", {seq: BEFORE * before + AFTER * after})


def _add_session(whys: Whys, traits: Mapping[int, Traits]) -> None:
    """Add what a turn gains from the best of its session: where much was found, the rest is worth more."""
    sessions: dict[str, list[int]] = defaultdict(list)
    for seq, trait in traits.items():
        if trait.session is not None:
            sessions[trait.session].append(seq)
    own = _totals(whys)
    for seqs in sessions.values():
        best = sorted((own[seq] for seq in seqs), reverse=True)[:BEST_OF_SESSION]
        _add(whys, "session", dict.fromkeys(seqs, SESSION * sum(best) / BEST_OF_SESSION))


def _substance(trait: Traits) -> float:
    return min(1.0, math.log1p(trait.substance) / math.log(FULL_SUBSTANCE))


def _add_again(whys: Whys, traits: Mapping[int, Traits]) -> None:
    """Add what a memory is worth for having been remembered again or confirmed, as a share of its score."""
    own = _totals(whys)
    shares = {seq: AGAIN * (1 - 0.5**trait.again) for seq, trait in traits.items()}
    _add(whys, "again", {seq: share * max(0.0, own[seq]) for seq, share in shares.items()})


def _add_time(whys: Whys, traits: Mapping[int, Traits], asked: Asked) -> None:
    """Add what the time of a turn is worth: that the question names it, and that it is not long ago."""
    moments = {seq: datetime.fromisoformat(trait.timestamp) for seq, trait in traits.items()}
    if asked.nearness is not None:
        _add(whys, "time", {seq: TIME * asked.nearness(moment) for seq, moment in moments.items()})
    own = _totals(whys)
    for seq, moment in moments.items():
        age = max(0.0, (asked.now - moment) / asked.half_life)
        _add(whys, "recency", {seq: RECENCY * (2 * 0.5**age - 1) * own[seq]})
