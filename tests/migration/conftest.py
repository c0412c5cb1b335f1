"""A memory with everything that a memory can have, and ways to look at where it is."""

from __future__ import annotations

from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from homes import Home, say

from hippo_async import Hippocampus, blocking
from hippo_async.anchors import Ledger
from hippo_async.files import Files
from hippo_async.journal import make_key
from hippo_async.journal.proof import anchor_v2
from hippo_async.migration import MigrationReport, migrate
from hippo_async.place import Place
from hippo_async.raw import RawShards, RawTurn
from hippo_async.testing import FakeClock, ScriptedOps


class Old(Home):
    """An agent's old data directory, with the one it is to move to beside it."""

    @property
    def target(self) -> Path:
        return self.base / "new"

    @property
    def place(self) -> Place:
        return Place(self.data, "agent", None, None, self.witness)

    def move(self, *, ops: ScriptedOps | None = None, **options: Any) -> MigrationReport:
        options = {"clock": FakeClock(), "files": Files(ops or ScriptedOps(syncing=False))} | options
        return migrate(self.place, self.target, **options)

    def moved(self) -> Moved:
        return Moved(self.base)

    def add(self, *texts: str) -> None:
        with closing(self.lineage()) as journal:
            journal.open()
            say(journal, *texts)

    def anchor(self, day: str) -> None:
        ledger = Ledger(self.data, agent_id="agent")
        ledger.acquire()
        ledger.add(anchor_v2([], agent_id="agent", date=date.fromisoformat(day))[0])
        ledger.release()

    def recalled(self, query: str) -> list[str]:
        place = self.place
        with Hippocampus(place.data_dir, embedder="none", witness=self.witness) as memory:
            assert blocking(memory.verify_chain)().intact
            return [hit.record.text for hit in blocking(memory.recall)(query)]


class Moved(Old):
    """The memory where it moved to."""

    @property
    def data(self) -> Path:
        return self.base / "new"


@pytest.fixture
def small(tmp_path: Path) -> Old:
    """One journal of one segment, an index and settings, so that each call on them can fail once."""
    found = Old(tmp_path)
    make_key(Files(), found.data / "agent.key")
    assert found.recalled("kettle") == []
    (found.data / "config.toml").write_text("briefing = false\n")
    return found


@pytest.fixture
def old(tmp_path: Path) -> Old:
    """Two key epochs, several segments, an index, raw shards, an anchor and settings."""
    found = Old(tmp_path)
    make_key(Files(), found.data / "agent.key")
    found.add("The kettle is blue.", "The pan is small.", "Three.", "Four.", "Five.")
    with closing(found.lineage()) as journal:
        journal.open()
        journal.rotate()
    RawShards(found.data, files=Files()).append([RawTurn("t", FakeClock().now(), "user", "hello")])
    found.anchor("2026-01-01")
    (found.data / "config.toml").write_text("briefing = false\n")
    assert found.recalled("kettle") == ["The kettle is blue."]
    return found
