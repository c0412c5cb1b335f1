"""A store with everything that a store can have, and ways to copy it, change it and look at it."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from hippo_async.anchors import Ledger
from hippo_async.backup import BackupReport, RestoreReport, backup, restore
from hippo_async.files import Files, Ops
from hippo_async.journal import KeyFiles, Lineage, make_key
from hippo_async.journal.proof import anchor_v2
from hippo_async.journal.recovery import Objection
from hippo_async.place import Place
from hippo_async.raw import RawShards, RawTurn
from hippo_async.records import Draft, Record
from hippo_async.testing import FakeClock, ScriptedOps

SECONDS = 20
SEGMENT = 1500  # bytes: two records a segment
SECRET = "the text that was forgotten for good"
DAYS = (date(2026, 1, 1), date(2026, 1, 2))


@dataclass(frozen=True)
class Home:
    """An agent's data directory, with its witness and a place for backups beside it."""

    base: Path
    name: str = "data"
    witnessed: bool = True

    @property
    def data(self) -> Path:
        return self.base / self.name

    @property
    def witness(self) -> Path:
        return self.base / "witness"

    @property
    def backup(self) -> Path:
        return self.base / "backup"

    @property
    def place(self) -> Place:
        return Place(self.data, "agent", None, None, self.witness if self.witnessed else None)

    @property
    def keys(self) -> KeyFiles:
        return KeyFiles(Files(), self.data / "agent.key")

    @property
    def live(self) -> Path:
        """The last segment of the newest journal."""
        newest = max(self.data.glob("journal*"))
        return max(newest.glob("gen-*/seg-*"))

    @property
    def copy(self) -> Home:
        """The backup as a store of its own, of which the witness knows nothing."""
        return self.at("backup", witnessed=False)

    def at(self, name: str, *, witnessed: bool = True) -> Home:
        """Another data directory beside this one."""
        return replace(self, name=name, witnessed=witnessed)

    @contextmanager
    def opened(
        self, *, read_only: bool = False, accepting: Collection[type[Objection]] = ()
    ) -> Iterator[Lineage]:
        lineage = Lineage(
            self.data,
            agent_id="agent",
            keys=self.keys,
            witness=self.place.witness,
            read_only=read_only,
            files=Files(ScriptedOps(syncing=False)),
            clock=FakeClock(datetime(2026, 1, 1, 12, tzinfo=UTC)),
            segment_bytes=SEGMENT,
        )
        with closing(lineage) as journal:
            journal.open(accepting=accepting)
            yield journal

    @staticmethod
    def append(journal: Lineage, *texts: str) -> list[Record]:
        """Append each text in a group of its own, and wait until it is acknowledged."""
        return [journal.append([Draft(text)]).result(SECONDS)[0].record for text in texts]

    def write(self, *texts: str) -> list[Record]:
        with self.opened() as journal:
            return self.append(journal, *texts)

    def records(self) -> list[Record]:
        with self.opened(read_only=True) as journal:
            assert journal.verify_chain().intact
            return [record for record, _ in journal.scan()]

    def keep_raw(self, *texts: str) -> None:
        """Put a line into the raw shard of each day, as a memory does."""
        moments = [datetime(day.year, day.month, day.day, 9, tzinfo=UTC) for day in DAYS]
        turns = [RawTurn(f"t{n}", moment, "user", text) for n, text in enumerate(texts) for moment in moments]
        RawShards(self.data, files=Files()).append(turns)

    def keep_anchors(self) -> None:
        ledger = Ledger(self.data, agent_id="agent")
        Files().mkdir(ledger.folder)
        for day in DAYS:
            ledger.add(anchor_v2(self.records(), agent_id="agent", date=day)[0])

    def purge(self, *records: Record) -> None:
        """Forget the texts of records."""
        with self.opened() as journal:
            journal.purge([record.record_id for record in records])

    def back_up(self, *, ops: Ops | None = None, **options: Any) -> BackupReport:
        files = Files(ops or ScriptedOps(syncing=False))
        return backup(self.place, self.backup, files=files, clock=FakeClock(), **options)

    def restored_to(self, name: str, *, ops: Ops | None = None, **options: Any) -> RestoreReport:
        """Restore the backup into another data directory beside this one."""
        files = Files(ops or ScriptedOps(syncing=False))
        place = replace(self.at(name).place, key_file=self.data / "agent.key")
        return restore(self.backup, replace(place, **options), files=files)

    def copy_to(self, base: Path) -> Home:
        shutil.copytree(self.base, base)
        return replace(self, base=base)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A store with a key and three records in two segments."""
    found = Home(tmp_path)
    make_key(Files(), found.data / "agent.key")
    found.write("one", "two", "three")
    return found


@pytest.fixture(scope="session")
def full_once(tmp_path_factory: pytest.TempPathFactory) -> Home:
    found = Home(tmp_path_factory.mktemp("full"))
    make_key(Files(), found.data / "agent.key")
    secret = found.write("one", "two", SECRET, "four", "five")[2]
    found.purge(secret)
    with found.opened() as journal:
        journal.rotate()
        found.append(journal, *(f"text {number}" for number in range(5)))
    found.keep_raw("hello", "привет, 你好", "bye")
    found.keep_anchors()
    return found


@pytest.fixture
def full(full_once: Home, tmp_path: Path) -> Home:
    """Two key epochs of several segments each, a purged record, raw shards and anchors; closed."""
    return full_once.copy_to(tmp_path / "full")
