"""``hippo diary``, ``semantic`` and ``trends``."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hippo_async import Hippocampus
from hippo_async.cli.app import build
from hippo_async.testing import FakeClock

MONDAY = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A memory that was told of sailing ten times on one day, and maintained."""

    async def fill() -> None:
        clock = FakeClock(MONDAY)
        async with Hippocampus(
            tmp_path, embedder="none", witness=None, clock=clock, maintenance=False
        ) as memory:
            for number in range(10):
                await memory.record(f"Trip {number}: we sail to Oslo.", role="user", tags=["sailing"])
            await memory.run_maintenance()

    asyncio.run(fill())
    return tmp_path


def hippo(store: Path, *arguments: str) -> Result:
    result = CliRunner().invoke(build(), [*arguments, "--data-dir", str(store)], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return result


def told(store: Path, *arguments: str) -> Any:
    return json.loads(hippo(store, *arguments, "--json").stdout)


def test_the_diary_of_a_day(store: Path) -> None:
    assert "2026-01-05, 10 told: sailing" in hippo(store, "diary", "2026-01-05").stdout
    [day] = told(store, "diary", "2026-01-01", "--to", "2026-01-31")
    assert (day["day"], day["told"], len(day["records"])) == ("2026-01-05", 10, 10)
    assert "we sail to Oslo" in day["text"]
    assert "nothing was told" in hippo(store, "diary").stdout


def test_what_was_made_of_memories(store: Path) -> None:
    summary, trend = sorted(told(store, "semantic"), key=lambda one: one["metadata"]["event"])
    assert summary["content"].startswith("sailing: ")
    assert trend["content"] == "“sailing” came up 10 times, most of it on 2026-01-05."
    assert "sailing, status:summary" in hippo(store, "semantic").stdout
    assert "nothing was made" in hippo(store, "semantic", "--scope", "ann").stdout


def test_what_came_up_long_ago_is_no_trend_any_more(store: Path) -> None:
    assert told(store, "trends") == []
    assert "nothing keeps coming up" in hippo(store, "trends").stdout
