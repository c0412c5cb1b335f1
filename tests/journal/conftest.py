"""A journal and its witness in a directory of their own, and what happens to them."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import pytest
from homes import Home

from hippo_async.errors import FormatTooNew, IntegrityError, JournalError
from hippo_async.files import Files, Ops
from hippo_async.journal import Journal, Key, OpenReport, make_key
from hippo_async.journal.codec import encode_line, split_line
from hippo_async.journal.head import HeadState, read_head
from hippo_async.journal.recovery import Sealers
from hippo_async.journal.scan import PURGE
from hippo_async.records import Draft, Kind, Record
from hippo_async.testing import FakeClock

E = TypeVar("E", bound=JournalError)

SECONDS = 20  # how long a test waits for a thread before it fails; nothing waits that long when all is well


@dataclass(frozen=True)
class Store:
    """Where one agent's journal and its witness lie, and the key to them."""

    base: Path
    agent_id: str = "agent"
    key: Key = field(default_factory=lambda: Key(bytes(range(32))))
    segment_bytes: int = 1 << 20

    @property
    def root(self) -> Path:
        return self.base / "journal"

    @property
    def witness(self) -> Path:
        return self.base / "witness"

    @property
    def head(self) -> Path:
        return self.root / "HEAD"

    @property
    def segments(self) -> list[Path]:
        return sorted(self.root.glob("gen-*/seg-*.jsonl"))

    @property
    def live(self) -> Path:
        return self.segments[-1]

    def journal(
        self,
        *,
        ops: Ops | None = None,
        read_only: bool = False,
        witnessed: bool = True,
        clock: FakeClock | None = None,
    ) -> Journal:
        return Journal(
            self.root,
            agent_id=self.agent_id,
            key=self.key,
            witness=self.witness if witnessed else None,
            read_only=read_only,
            files=Files(ops),
            clock=clock or FakeClock(),
            segment_bytes=self.segment_bytes,
        )

    @contextmanager
    def opened(
        self, *, ops: Ops | None = None, read_only: bool = False, witnessed: bool = True
    ) -> Iterator[Journal]:
        with closing(self.journal(ops=ops, read_only=read_only, witnessed=witnessed)) as journal:
            journal.open()
            yield journal

    @staticmethod
    def append(journal: Journal, text: str) -> Record:
        """Append one text and wait until it is acknowledged."""
        [appended] = journal.append([Draft(text, metadata={"n": len(text)})]).result(SECONDS)
        return appended.record

    def write(self, texts: Iterable[str]) -> list[Record]:
        """Open, append one text after the other, each in a group of its own, and close."""
        with self.opened() as journal:
            return [self.append(journal, text) for text in texts]

    @staticmethod
    def purge(journal: Journal, *records: Record) -> Record:
        """Append the sealed record that names what is purged."""
        named = {"records": sorted(record.record_id for record in records)}
        draft = Draft("purge", Kind.STATE, metadata={"hippo": named})
        [appended] = journal.append([draft], record_type=PURGE).result(SECONDS)
        return appended.record

    def drop_payload(self, *records: Record) -> None:
        """Rewrite the segments with ``null`` in place of the records' payloads, as a purge does."""
        dropped = {record.record_id.encode() for record in records}
        for path in self.segments:
            lines = path.read_bytes().splitlines(keepends=True)
            for index, line in enumerate(lines):
                frame = split_line(line)
                assert frame is not None
                if frame.record_id in dropped:
                    lines[index] = encode_line(frame.header, b"null", frame.seal.decode())[1]
            path.write_bytes(b"".join(lines))

    def report(self, *, witnessed: bool = True) -> OpenReport:
        """What a read-only open reports; raises what it raises."""
        with closing(self.journal(read_only=True, witnessed=witnessed)) as journal:
            return journal.open()

    def read(self, *, witnessed: bool = True) -> list[Record]:
        with self.opened(read_only=True, witnessed=witnessed) as journal:
            return [record for record, _ in journal.scan()]

    def verdict(self, written: Sequence[Record], *, witnessed: bool = True) -> str:
        """How the store looks to who opens it: ``intact``, ``torn``, or the name of the refusal.

        Fails on the spot if anything else than ``written`` would be served.
        """
        with closing(self.journal(read_only=True, witnessed=witnessed)) as journal:
            try:
                report = journal.open()
            except (IntegrityError, FormatTooNew) as error:
                return type(error).__name__
            assert [record for record, _ in journal.scan()] == list(written), "other content passed as intact"
            return "torn" if report.torn_bytes else "intact"

    def check_refused(self, expected: type[E]) -> E:
        """Both kinds of open refuse, and leave every file as it was."""
        before = self.fingerprint()
        with pytest.raises(expected):
            self.report()
        with pytest.raises(expected) as caught:
            self.journal().open()
        assert self.fingerprint() == before
        return caught.value

    def fingerprint(self) -> dict[str, str]:
        """The digest of every file but the lock's, by path."""
        return {
            str(path.relative_to(self.base)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.base.rglob("*"))
            if path.is_file() and not path.name.startswith("LOCK")
        }

    def copy_to(self, base: Path) -> Store:
        shutil.copytree(self.base, base)
        return replace(self, base=base)

    def sealers(self) -> Sealers:
        return Sealers.derive(self.key, self.report().journal_id)

    def head_state(self) -> HeadState:
        state = read_head(Files(), self.head, self.sealers().head).state
        assert state is not None
        return state


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A place where no journal is yet."""
    return Store(tmp_path / "store")


@pytest.fixture(scope="session")
def twenty_once(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("twenty"))
    store.write(f"text {number}" for number in range(1, 20))
    return store


@pytest.fixture
def twenty(twenty_once: Store, tmp_path: Path) -> Store:
    """A journal of 20 records in one segment, closed."""
    return twenty_once.copy_to(tmp_path / "twenty")


@pytest.fixture(scope="session")
def purged_once(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("purged"))
    texts = store.write(f"text {number}" for number in range(1, 17))
    forgotten = [
        texts[2],
        texts[3],
        texts[10],
        texts[15],
    ]  # two in a row, one alone, the newest
    with store.opened() as journal:
        store.purge(journal, *forgotten[:3])
        store.purge(journal, forgotten[3])
        store.append(journal, "the last one")
    store.drop_payload(*forgotten)
    return store


@pytest.fixture
def purged(purged_once: Store, tmp_path: Path) -> Store:
    """A journal of 20 records in one segment, closed; four of them are purged, two name those."""
    return purged_once.copy_to(tmp_path / "purged")


@pytest.fixture(scope="session")
def segmented_once(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("segmented"), segment_bytes=3000)
    store.write(f"text {number}" for number in range(1, 20))
    return store


@pytest.fixture
def segmented(segmented_once: Store, tmp_path: Path) -> Store:
    """A journal of 20 records in four segments, closed."""
    return segmented_once.copy_to(tmp_path / "segmented")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A store with a key and no journal yet."""
    found = Home(tmp_path)
    make_key(Files(), found.data / "agent.key")
    return found
