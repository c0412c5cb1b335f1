"""Monthly memos for questions about a time that is longer than days (L19)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from hippo_async.index import Index
from hippo_async.index.company import carrying
from hippo_async.recall.dates import Span
from hippo_async.records import MONTH_TAG, Filters

LONG = timedelta(days=28)
"""A time shorter than that is asked for by its days, of which a memo says too little."""

MOST_MONTHS = 12


def months_of(spans: Sequence[Span]) -> list[str]:
    """Return the months, ``YYYY-MM``, that long spans touch, the latest first, twelve at most."""
    named = {month for span in spans if span.end - span.start >= LONG for month in _months(span)}
    return sorted(named, reverse=True)[:MOST_MONTHS]


def memos_of(index: Index, spans: Sequence[Span], *, filters: Filters) -> list[int]:
    """Return the seqs of the memos of the months that a question names, the latest month first."""
    found = (index.about(carrying, MONTH_TAG + month, filters=filters, limit=1) for month in months_of(spans))
    return [seq for seqs in found for seq in seqs]


def _months(span: Span) -> Iterator[str]:
    """Of a span that does not begin or end with a month, those months are named too."""
    day: datetime = span.start
    while day < span.end:
        yield day.strftime("%Y-%m")
        day = (day.replace(day=1) + timedelta(days=32)).replace(day=1, tzinfo=day.tzinfo or UTC)
