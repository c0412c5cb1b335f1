"""A memory in a temporary folder, and ways to make its disk fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hippo_async import Hippocampus, Settings

MakeMemory = Callable[..., Hippocampus]
PROMPT = Settings.from_mapping({"capture": {"flush_seconds": 0.01}})


@pytest.fixture
def make_memory(tmp_path: Path) -> MakeMemory:
    """Build memories over one store: by words only, and written at once, unless a test says otherwise."""

    def make(**options: Any) -> Hippocampus:
        usual = {
            "agent_id": "tester",
            "embedder": "none",
            "settings": PROMPT,
            "maintenance": False,
            "witness": tmp_path / "witness",
        }
        return Hippocampus(tmp_path / "store", **(usual | options))

    return make
