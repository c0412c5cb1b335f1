"""Records to index."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from hippo_async.files import Files
from hippo_async.index import Index
from hippo_async.records import Kind, Location, Novelty, Record

Entry = tuple[Record, Location]


def make_record(seq: int, text: str | None = "", **fields: object) -> Record:
    """A record with what a test cares about; other keywords than the record's own become metadata."""
    own = {
        "timestamp": "2026-01-01T00:00:00.000000Z",
        "kind": Kind.OBSERVATION,
        "novelty": Novelty.NOVEL,
        "type": "record",
    }
    own |= {name: fields.pop(name) for name in list(fields) if name in own}
    record_id = hashlib.sha256(repr((seq, text)).encode()).hexdigest()[:32]
    return Record(
        seq=seq, record_id=record_id, agent_id="agent", content=text, metadata=fields, prev_id=None, **own
    )


@pytest.fixture(scope="session")
def record() -> Callable[..., Record]:
    return make_record


@pytest.fixture(scope="session")
def entries() -> Callable[[Sequence[Record]], list[Entry]]:
    """Gives each record a place of its own in the journal."""
    return lambda records: [(record, Location(0, 100 * record.seq, 100)) for record in records]


@pytest.fixture
def new_index(tmp_path: Path) -> Iterator[Callable[..., Index]]:
    """Makes indexes over one directory, which are closed at the end."""
    made: list[Index] = []

    def make(*, journal_id: str = "journal", generation: int = 0) -> Index:
        made.append(Index(tmp_path / "index", journal_id=journal_id, generation=generation, files=Files()))
        return made[-1]

    yield make
    for index in made:
        index.close()


@pytest.fixture
def index(new_index: Callable[..., Index]) -> Index:
    """An open, empty index."""
    opened = new_index()
    opened.open()
    return opened
