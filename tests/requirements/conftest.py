"""A memory as it comes out of the box, without a model, and with its clock in the test's hand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hippo_async import Hippocampus, Settings
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]
MORNING = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(MORNING)


@pytest.fixture
def make_memory(tmp_path: Path, clock: FakeClock) -> MakeMemory:
    """Build memories over one store; the first argument is what is set."""

    def make(settings: dict[str, Any] | None = None, **options: Any) -> Hippocampus:
        usual: dict[str, Any] = {
            "agent_id": "tester",
            "embedder": "none",
            "clock": clock,
            "maintenance": False,
            "settings": Settings.from_mapping(settings or {}),
        }
        return Hippocampus(tmp_path / "store", **(usual | options))

    return make
