"""A memory whose clock is in the test's hand, and which keeps every turn in the raw layer."""

from __future__ import annotations

from pathlib import Path

import pytest
from living import ALL_RAW, MORNING, MakeMemory, memories_in

from hippo_async.testing import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(MORNING)


@pytest.fixture
def make_memory(tmp_path: Path, clock: FakeClock) -> MakeMemory:
    return memories_in(tmp_path, clock, always=ALL_RAW)
