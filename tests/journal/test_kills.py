"""kill -9 at random moments: no acknowledged record is lost, what is there is a prefix of what was tried."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest

from hippo_async.errors import RolledBack

if TYPE_CHECKING:
    from conftest import Store

pytestmark = pytest.mark.process

CHILD = Path(__file__).with_name("child.py")


@dataclass
class Nursery:
    """A process with the library loaded that forks the ones to be killed, so that a round takes moments."""

    said: IO[str]
    told: IO[str]

    def kill_one(self, store: Store, name: str, *, size: int, awaited: int, after: float) -> int:
        """Kill a process ``after`` seconds from its ``awaited``-th acknowledgement; count all it gave."""
        self.told.write(f"{store.base} {name} {size}\n")
        self.told.flush()
        heard = [self.said.readline()]
        while sum(map(_is_acknowledgement, heard)) < awaited or not any(map(_pid, heard)):
            heard.append(self.said.readline())
        time.sleep(after)
        os.kill(sum(map(_pid, heard)), signal.SIGKILL)
        while heard[-1] != "dead\n":
            heard.append(self.said.readline())
        return sum(map(_is_acknowledgement, heard))


def _is_acknowledgement(line: str) -> bool:
    return line.startswith("acknowledged ")


def _pid(line: str) -> int:
    return int(line.split()[1]) if line.startswith("pid ") else 0


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    process = subprocess.Popen(
        [sys.executable, str(CHILD), "nursery"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    yield Nursery(process.stdout, process.stdin)
    process.communicate(timeout=30)


@pytest.mark.parametrize(
    ("rounds", "size", "longest"), [(45, 20, 0.02), (15, 300_000, 0.01)], ids=["small records", "300 KB"]
)
def test_no_acknowledged_record_is_lost_to_a_kill(
    nursery: Nursery, store: Store, rounds: int, size: int, longest: float
) -> None:
    """F24: in the midst of opening, writing or rotating; the next round goes on with the same journal."""
    moments = random.Random(rounds)
    known: list[str] = []
    total = 0
    for number in range(rounds):
        acknowledged = nursery.kill_one(
            store, f"r{number}", size=size, awaited=moments.randrange(12), after=moments.uniform(0, longest)
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
    assert nursery.kill_one(store, "r0", size=20, awaited=1, after=0) > 0
    store.root.rename(store.base / "newest")
    older.root.rename(store.root)
    with pytest.raises(RolledBack):
        store.journal().open()
