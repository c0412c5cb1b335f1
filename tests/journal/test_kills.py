"""kill -9 at random moments: no acknowledged record is lost, what is there is a prefix of what was tried.

``HIPPO_LONG=1`` does it to 14 journals of each kind instead of one: over 200 kills amid records of 300 KB.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from nursery import Nursery, running_nursery

from hippo_async.errors import RolledBack

if TYPE_CHECKING:
    from conftest import Store

pytestmark = pytest.mark.process

CHILD = Path(__file__).with_name("child.py")
LONG = os.environ.get("HIPPO_LONG") == "1"
JOURNALS = range(14 if LONG else 1)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with running_nursery(CHILD, "nursery", "for_ever") as nursery:
        yield nursery


@pytest.mark.parametrize("seed", JOURNALS)
@pytest.mark.parametrize(
    ("rounds", "size", "longest"), [(45, 20, 0.02), (15, 300_000, 0.01)], ids=["small records", "300 KB"]
)
def test_no_acknowledged_record_is_lost_to_a_kill(
    nursery: Nursery, store: Store, rounds: int, size: int, longest: float, seed: int
) -> None:
    """F24: in the midst of opening, writing or rotating; the next round goes on with the same journal."""
    moments = random.Random(1000 * seed + rounds)
    known: list[str] = []
    total = 0
    for number in range(rounds):
        acknowledged = len(
            nursery.kill_one(
                store.base,
                f"r{number}",
                size,
                awaited=moments.randrange(12),
                after=moments.uniform(0, longest),
            )
        )
        with store.opened() as journal:
            found = [record.text.rstrip("x").rstrip() for record, _ in journal.scan()][1:]
        tried = [f"r{number} {n}" for n in range(len(found) - len(known))]
        assert found == known + tried, "a gap, or something that was never tried"
        assert len(tried) >= acknowledged, f"round {number}: acknowledged records are missing"
        known = found
        total += acknowledged
    torn = len(list(store.root.glob("torn/*")))
    print(f"{rounds} kills: {total} acknowledged, {len(known)} recovered, {torn} torn tails")
    assert total > rounds


def test_a_store_put_back_from_before_a_kill_is_refused(nursery: Nursery, store: Store) -> None:
    """The witness was written before the acknowledgement, so it needs no orderly end."""
    store.write(["before the copy"])
    older = store.copy_to(store.base.with_name("older"))
    assert nursery.kill_one(store.base, "r0", 20, awaited=1, after=0)
    store.root.rename(store.base / "newest")
    older.root.rename(store.root)
    with pytest.raises(RolledBack):
        store.journal().open()
