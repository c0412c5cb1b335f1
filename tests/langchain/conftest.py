"""A memory that is not open yet, without an embedder."""

from __future__ import annotations

from pathlib import Path

import pytest

from hippo_async import Hippocampus


@pytest.fixture
def memory(tmp_path: Path) -> Hippocampus:
    return Hippocampus(tmp_path / "store", agent_id="tester", embedder="none")
