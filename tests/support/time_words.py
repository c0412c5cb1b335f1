"""What a text says about time, as the tests of each language ask for it."""

from __future__ import annotations

from datetime import UTC, datetime

from hippo_async.recall.dates import time_spans

NOW = datetime(2023, 11, 15, 13, 0, tzinfo=UTC)  # a Wednesday


def assert_said(marked: str, expected: str) -> None:
    """Check what the words in brackets say: the first day, the day after the last, and in what way."""
    (span,) = time_spans(marked.replace("[", "").replace("]", ""), now=NOW)
    start, end, kind = expected.split()
    assert span.start == datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert span.end == datetime.fromisoformat(end).replace(tzinfo=UTC)
    assert span.kind == kind
    assert f"[{span.text}]" in marked
