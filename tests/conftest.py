"""What every test gets: no blocking of the event loop, no state outside its own folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

OURS = ["hippo_async", "hippo_langchain"]


@pytest.fixture(autouse=True)
def _loop_is_never_blocked() -> Iterator[None]:
    """Fail a test in which code of ours makes a blocking call on an event loop."""
    with blockbuster_ctx(OURS):
        yield


@pytest.fixture(autouse=True)
def _state_stays_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep default folders (store, witness) inside the test's own folder."""
    monkeypatch.setenv("HIPPO_DATA_DIR", str(tmp_path / "default-store"))
    monkeypatch.setenv("HIPPO_WITNESS_DIR", str(tmp_path / "witness"))
