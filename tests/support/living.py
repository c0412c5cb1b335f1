"""Living with a memory whose clock is in the test's hand: opening it, letting time pass, asking it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hippo_async import Hippocampus, Settings
from hippo_async.lifecycle.maintenance import MaintenanceReport
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]
"""Builds a memory; the first argument is what is set, the others are options of the memory."""

MORNING = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAY = timedelta(days=1)
ALL_RAW = {"raw": {"mode": "all"}}


def memories_in(folder: Path, clock: FakeClock, always: dict[str, Any] | None = None) -> MakeMemory:
    """Build memories over one store: by words only, and looked after by hand, unless a test says otherwise.

    ``always`` is set in each of them, if a test does not set it otherwise.
    """

    def make(settings: dict[str, Any] | None = None, **options: Any) -> Hippocampus:
        usual: dict[str, Any] = {
            "agent_id": "tester",
            "embedder": "none",
            "witness": folder / "witness",
            "clock": clock,
            "maintenance": False,
            "settings": Settings.from_mapping({**(always or {}), **(settings or {})}),
        }
        return Hippocampus(folder / "store", **(usual | options))

    return make


def pass_time(clock: FakeClock, time: timedelta) -> None:
    clock.advance(time.total_seconds())


async def texts(memory: Hippocampus, query: str, **filters: Any) -> list[str | None]:
    """What a memory finds of a query, the best first."""
    return [hit.record.content for hit in await memory.recall(query, **filters)]


async def quoted(memory: Hippocampus, query: str, clock: FakeClock) -> list[str]:
    """What a deep look finds of a query in the last days, word by word."""
    window = {"start": clock.now() - 9 * DAY, "end": clock.now() + DAY}
    return [hit.snippet for hit in (await memory.recall(query, mode="deep_raw", **window)).raw]


def did(report: MaintenanceReport, name: str) -> dict[str, Any]:
    """What a step of a round of maintenance did; it must not have failed."""
    [step] = [step for step in report.steps if step.name == name]
    assert step.error is None
    return dict(step.did)
