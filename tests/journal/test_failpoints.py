"""Processes that die at a chosen call: what they were told is there, and HEAD never knows more than that."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from nursery import Nursery, running_nursery

if TYPE_CHECKING:
    from conftest import Store

pytestmark = pytest.mark.process

CHILD = Path(__file__).with_name("child.py")
TEXTS = [f"text {number}" for number in range(5)]
LIVE = "seg-*.jsonl"
STRIDE = 1 if os.environ.get("HIPPO_LONG") == "1" else 3


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with running_nursery(CHILD, "nursery", "and_die") as nursery:
        yield nursery


@dataclass(frozen=True)
class Death:
    """What the process knew, what the next one found, and what HEAD said in between."""

    told: int
    found: int
    head: int
    killed: bool


def die(nursery: Nursery, store: Store, operation: str, name: str, at: int) -> Death:
    """Let a process die, and open what it leaves: acknowledged ⊆ recovered = a prefix of what was tried."""
    acknowledged, killed = nursery.let_die(store.base, operation, name, at)
    told = max((int(line.split()[1]) for line in acknowledged), default=0)
    created = (store.root / "CURRENT").exists()
    head = store.head_state().seq if created else 0
    with store.opened() as journal:
        texts = [record.text for record, _ in journal.scan()][1:]
        assert journal.verify_chain().intact
    assert texts == TEXTS[: len(texts)], "a gap, or something that was never tried"
    assert told <= len(texts), "acknowledged records are missing"
    assert told <= head <= len(texts), "HEAD lags behind what was answered, or knows more than is there"
    return Death(told, len(texts), head, killed)


def test_a_process_that_dies_before_any_of_its_calls_keeps_what_it_promised(
    nursery: Nursery, store: Store
) -> None:
    """Making, opening, appending, rotating, settling and closing: every third call in turn is the last one.

    With ``HIPPO_LONG=1``, every call.
    """
    deaths = []
    for at in count(1, STRIDE):
        deaths.append(die(nursery, replace(store, base=store.base / str(at)), "*", "*", at))
        if not deaths[-1].killed:
            break
    print(f"died at {len(deaths) - 1} calls, {sum(death.told for death in deaths)} answers kept")
    assert (deaths[-1].told, deaths[-1].found) == (5, 5)
    assert STRIDE * len(deaths) > 100, "the program makes more calls than that"


@pytest.mark.parametrize(
    ("operation", "name", "at", "expected"),
    [
        ("write", LIVE, 1, Death(told=0, found=0, head=0, killed=True)),
        ("sync_data", LIVE, 1, Death(told=0, found=1, head=0, killed=True)),
        ("pwrite", "HEAD", 3, Death(told=0, found=1, head=0, killed=True)),
        ("pwrite", "[0-9a-f]*", 3, Death(told=0, found=1, head=1, killed=True)),
        ("answer", "-", 1, Death(told=1, found=1, head=1, killed=True)),
        ("write", LIVE, 2, Death(told=1, found=1, head=1, killed=True)),
        ("answer", "-", 3, Death(told=4, found=4, head=4, killed=True)),
    ],
    ids=[
        "before the write",
        "after the write",
        "after the sync, before HEAD",
        "after HEAD, before the witness",
        "after the answer",
        "before the next write",
        "after a rotation",
    ],
)
def test_what_is_there_after_a_death_at_a_named_point(
    nursery: Nursery, store: Store, operation: str, name: str, at: int, expected: Death
) -> None:
    """F25: a kill takes nothing out of the system's cache, so a record is there from its write on."""
    store.write([])
    assert die(nursery, store, operation, name, at) == expected


def test_deaths_of_one_opening_after_the_other_add_up_to_nothing(nursery: Nursery, store: Store) -> None:
    """F22: each of the first calls of whoever opens the journal is the last one, and it stays one journal."""
    written = store.write(TEXTS[:2])
    for at in range(1, 50):
        _, killed = nursery.let_die(store.base, "*", "*", at)
        assert killed
        assert store.read()[1:3] == written
    assert store.write(["goes on"])
