"""How close a moment is to the spans of time that a question names. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise

from hippo_async.recall.dates.reading import Span

_SECONDS = 86400.0

_REACHES = ((1.0, 10.0), (31.0, 30.0), (366.0, 90.0))
"""For spans of so many days, how many days outside closeness is gone; in proportion between these."""


def near(moment: datetime, spans: Iterable[Span]) -> float:
    """Return how close an aware moment is to the closest of the spans: 1 inside, 0 far away or without any.

    Outside a span closeness falls in a straight line, to 0 at ten days from a day, thirty from a month and
    ninety from a year: who names a year is further off than who names a day.
    """
    return max((_to_one(moment, span) for span in spans), default=0.0)


def _to_one(moment: datetime, span: Span) -> float:
    if span.start <= moment < span.end:
        return 1.0
    outside = max(span.start - moment, moment - span.end).total_seconds() / _SECONDS
    return max(0.0, 1.0 - outside / _reach((span.end - span.start).total_seconds() / _SECONDS))


def _reach(days: float) -> float:
    for (shorter, near_reach), (longer, far_reach) in pairwise(_REACHES):
        if days <= longer:
            share = max(0.0, (days - shorter) / (longer - shorter))
            return near_reach + share * (far_reach - near_reach)
    return _REACHES[-1][1]
