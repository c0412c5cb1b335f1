"""Keeping what a recall returns within a number of tokens. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hippo_async.protocols import TokenCounter
from hippo_async.records import Hit, Record


def fit(hits: Sequence[Hit], *, max_tokens: int, count: TokenCounter) -> tuple[list[Hit], tuple[str, ...]]:
    """Return the hits whose texts fit, best first, and notes on what was left out for the budget.

    The first that does not fit ends the list. Each hit then keeps of the turns around it those that fit,
    nearest first. The texts of hits and turns, each counted wherever it stands, never exceed ``max_tokens``.
    """
    kept: list[Hit] = []
    left, unfit = max_tokens, 0
    for hit in hits:
        left -= count(hit.record.text)
        if left < 0:
            break
        around = _nearest(hit, left, count)
        left -= sum(count(turn.text) for turn in around)
        unfit += len(hit.around) - len(around)
        kept.append(replace(hit, around=around))
    return kept, tuple(_notes(len(hits) - len(kept), unfit, max_tokens))


def _nearest(hit: Hit, left: int, count: TokenCounter) -> tuple[Record, ...]:
    """The turns around a hit that fit, in their order; the nearest are fitted in first."""
    before = [turn for turn in hit.around if turn.seq < hit.record.seq]
    places = [(len(before) - place, place) for place in range(len(before))]
    places += [(place - len(before) + 1, place) for place in range(len(before), len(hit.around))]
    fitting = []
    for _, place in sorted(places):
        left -= count(hit.around[place].text)
        if left < 0:
            break
        fitting.append(place)
    return tuple(hit.around[place] for place in sorted(fitting))


def _notes(hits: int, turns: int, max_tokens: int) -> list[str]:
    budget = f"left out to keep to the budget of {max_tokens} tokens"
    notes = []
    if hits:
        notes.append(f"{hits} more {'memory was' if hits == 1 else 'memories were'} {budget}")
    if turns:
        notes.append(f"{turns} {'turn' if turns == 1 else 'turns'} around them {budget}")
    return notes
