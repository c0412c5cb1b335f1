"""A memory as it comes out of the box, without a model, and with its clock in the test's hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from living import MORNING, MakeMemory, memories_in

from hippo_async.testing import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(MORNING)


@pytest.fixture
def make_memory(tmp_path: Path, clock: FakeClock) -> MakeMemory:
    return memories_in(tmp_path, clock)
