"""Records and publishers for tests of anchors: only what an anchor looks at, and no more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from hippo_async.anchors import AnchoredDay, AnchorRun, Ledger, Publisher, Source, publish_due
from hippo_async.files import Files, Ops
from hippo_async.journal.proof import anchor_v2
from hippo_async.records import Novelty
from hippo_async.testing import FakeClock, Gate

AGENT = "агент-7"
JOURNAL = "5a" * 16


@dataclass(frozen=True)
class Noted:
    """A record, as far as anchors go."""

    record_id: str
    timestamp: str
    novelty: Novelty = Novelty.NOVEL
    seq: int = 0


def noted(*days: str) -> list[Noted]:
    """One record for each of the dates given, in this order; ids come from the place in the list."""
    return [
        Noted(
            sha256(str(place).encode()).hexdigest()[:32], f"{day}T10:00:00.000000Z", list(Novelty)[place % 3]
        )
        for place, day in enumerate(days)
    ]


def numbered(records: Iterable[Noted], *, after: int = -1) -> Iterator[Noted]:
    """The records with a seq above ``after``, each with the seq that its place in the journal gives it."""
    return (
        replace(record, seq=seq) for seq, record in enumerate(islice(records, after + 1, None), after + 1)
    )


def source(records: Iterable[Noted], *, journal_id: str = JOURNAL) -> Source:
    """A journal of these records."""
    return Source(journal_id, lambda after: numbered(records, after=after))


def anchored(day: str, records: Iterable[Noted] = ()) -> AnchoredDay:
    """The day as the format says it has to be."""
    return AnchoredDay.of(anchor_v2(records, agent_id=AGENT, date=date.fromisoformat(day))[0])


def noon(day: str) -> FakeClock:
    """A clock that stands at noon of a day."""
    return FakeClock(datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC))


def ledger_in(base: Path, ops: Ops | None = None) -> Ledger:
    return Ledger(base, agent_id=AGENT, files=Files(ops))


def run(
    records: Iterable[Noted], ledger: Ledger, clock: FakeClock, *publishers: Publisher, **options: Any
) -> AnchorRun:
    """One run on an event loop of its own."""
    return asyncio.run(publish_due(source(records), ledger, publishers, clock, **options))


@dataclass
class Kept:
    """A publisher that keeps what it was offered; it fails on the dates in ``refuses``."""

    name: str = "kept"
    refuses: set[str] = field(default_factory=set)
    returns: Mapping[str, Any] = field(default_factory=dict)
    offered: list[str] = field(default_factory=list)

    async def publish(self, day: AnchoredDay) -> Mapping[str, Any]:
        self.offered.append(day.date)
        await asyncio.sleep(0)
        if day.date in self.refuses:
            raise ConnectionError(f"no anchors on {day.date}")
        return self.returns


@dataclass
class Held:
    """A publisher that waits until it is let go, and keeps whom it let through."""

    name: str = "held"
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    taken: list[str] = field(default_factory=list)

    async def publish(self, day: AnchoredDay) -> Mapping[str, Any]:
        self.reached.set()
        await self.let_go.wait()
        self.taken.append(day.date)
        return {}


async def cancelled_at(gate: Gate, task: asyncio.Task[AnchorRun]) -> None:
    """Cancel a run that stands at a gate, then let it through."""
    await asyncio.to_thread(gate.wait_reached)
    task.cancel()
    await asyncio.sleep(0)
    gate.open()
    with pytest.raises(asyncio.CancelledError):
        await task
