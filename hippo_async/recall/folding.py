"""Folding what was said more than once into one hit, so that ten greetings do not fill a recall. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from hippo_async.language.plain import regular
from hippo_async.records import Hit, Record

Found = TypeVar("Found")

STOPS = " .!\u2026\u3002"
"""What a text may end with or not, and say the same: full-width ones too, which NFKC makes narrow. A question
mark is none, it says something else."""

LOOK_AHEAD = 20
"""So many of the best are looked through at least: of a single hit, too, one wants to know its repeats."""


def distinct(
    ranked: Sequence[Found], read: Callable[[Sequence[Found]], list[Hit]], *, limit: int
) -> list[Hit]:
    """Return up to ``limit`` hits that say different things, best first, each with its repeats.

    ``ranked`` are candidates, best first, and ``read`` makes hits of them. Two texts are the same if they are
    so in any case, width and white space, with or without a stop at the end, and if the same person says
    them: where Ada and Ben say the same, that both did is worth knowing. The best stands for all; its
    ``repeats`` tell when it was said again. Candidates are read only until enough hits are found, so repeats
    that rank below the last may be missing.
    """
    found: dict[tuple[str, str | None, str | None], list[Hit]] = {}
    page = max(limit, LOOK_AHEAD)
    for start in range(0, len(ranked), page):
        for hit in read(ranked[start : start + page]):
            found.setdefault(_said(hit.record), []).append(hit)
        if len(found) >= limit:
            break
    return [_folded(hits) for hits in list(found.values())[:limit]]


def _said(record: Record) -> tuple[str, str | None, str | None]:
    said = regular(record.text)
    return said.rstrip(STOPS) or said, record.role, record.speaker


def _folded(hits: Sequence[Hit]) -> Hit:
    best, *others = hits
    if not others:
        return best
    repeats = sorted((hit.record for hit in others), key=lambda record: record.seq)
    return replace(best, repeats=tuple(repeats))
