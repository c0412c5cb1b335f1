"""A journal may be larger than memory: opening and reading it take what a segment takes (F47).

``HIPPO_LONG=1`` does it with a million records, half a gigabyte.
"""

from __future__ import annotations

import os
import time
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from hippo_async.records import Draft

if TYPE_CHECKING:
    from conftest import Store

LONG = os.environ.get("HIPPO_LONG") == "1"
RECORDS = 1_000_000 if LONG else 25_000
SEGMENT_BYTES = 8 << 20 if LONG else 1 << 18
GROUP = 500
BOUND = 6 * SEGMENT_BYTES + (2 << 20)  # a segment and what is made of it; the pieces that digests are read in


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory, twenty_once: Store) -> Store:
    """A journal of many segments, closed."""
    store = replace(twenty_once, base=tmp_path_factory.mktemp("large"), segment_bytes=SEGMENT_BYTES)
    with store.opened() as journal:
        for start in range(0, RECORDS, GROUP * 10):
            texts = [f"text {number}" for number in range(start, start + GROUP * 10)]
            groups = [texts[at : at + GROUP] for at in range(0, len(texts), GROUP)]
            wait([journal.append([Draft(text) for text in group]) for group in groups])
    return store


@contextmanager
def measured(what: str) -> Iterator[None]:
    """Fail if what is done takes more memory than a few segments."""
    started = time.monotonic()
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    print(f"{what} of {RECORDS:,} records: {peak >> 20} MB, {time.monotonic() - started:.1f} s (traced)")
    assert peak < BOUND


@pytest.mark.timeout(600)
def test_what_opening_and_reading_take_is_bounded_by_a_segment_and_not_by_the_journal(large: Store) -> None:
    size = sum(path.stat().st_size for path in large.segments)
    assert size > 3 * BOUND, "else it would fit as a whole, and nothing would be shown"
    with measured("opening"), large.opened() as journal:
        assert journal.tail.seq == RECORDS
    with large.opened(read_only=True) as journal:
        with measured("scan"):
            assert sum(1 for _ in journal.scan()) == RECORDS + 1
        with measured("verify_chain"):
            assert journal.verify_chain().intact
