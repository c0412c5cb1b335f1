"""Which index is the valid one, whatever happened to the files."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.errors import InvalidInput
from hippo_async.files import Files
from hippo_async.index import Index, Position, projection, schema
from hippo_async.index.generations import Generations
from hippo_async.records import Filters, Location, Record

Maker = Callable[..., Record]
Entries = Callable[[list[Record]], list[tuple[Record, Location]]]
NewIndex = Callable[..., Index]

EMPTY = Position(-1, "")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def filled(new_index: NewIndex, record: Maker, entries: Entries) -> Position:
    """An index of 300 records that was closed."""
    index = new_index()
    index.open()
    index.add(entries([record(seq, f"word{seq} shared") for seq in range(300)]))
    position = index.position
    index.close()
    return position


def database(root: Path) -> Path:
    return root / (root / "CURRENT").read_text().strip() / "index.sqlite"


def generations(root: Path) -> list[str]:
    return sorted(name for name in os.listdir(root) if name.startswith("gen-"))


# Opening


def test_making_an_index_touches_nothing(new_index: NewIndex, root: Path) -> None:
    new_index()
    assert not root.exists()


def test_a_closed_index_opens_where_it_was(new_index: NewIndex, filled: Position) -> None:
    index = new_index()
    assert index.open() == filled
    assert index.counts().total == 300


def test_an_open_index_may_be_opened_again(index: Index, record: Maker, entries: Entries) -> None:
    index.add(entries([record(0)]))
    assert index.open().seq == 0


def spoil_pointer(root: Path) -> None:
    (root / "CURRENT").write_bytes(b"\xff../../etc\n")


def point_elsewhere(root: Path) -> None:
    (root / "CURRENT").write_text("gen-77\n")


def remove_pointer(root: Path) -> None:
    (root / "CURRENT").unlink()


def remove_database(root: Path) -> None:
    database(root).unlink()


def empty_database(root: Path) -> None:
    database(root).write_bytes(b"")


def cut_database(root: Path) -> None:
    os.truncate(database(root), 5000)


def replace_database(root: Path) -> None:
    database(root).write_bytes(b"this is no database" * 1000)


def spoil_first_table(root: Path) -> None:
    with database(root).open("r+b") as file:
        file.seek(100)
        file.write(b"\xaa" * 8000)


def execute(root: Path, statement: str) -> None:
    db = sqlite3.connect(database(root))
    with db:
        db.execute(statement)
    db.close()


def raise_schema_version(root: Path) -> None:
    execute(root, f"PRAGMA user_version = {schema.VERSION + 1}")


def change_analyzer(root: Path) -> None:
    execute(root, "UPDATE origin SET analyzer = 'another'")


@pytest.mark.parametrize(
    "damage",
    [
        spoil_pointer, point_elsewhere, remove_pointer, remove_database, empty_database, cut_database,
        replace_database, spoil_first_table, raise_schema_version, change_analyzer,
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_left_for_a_new_and_empty_generation(
    new_index: NewIndex,
    filled: Position,
    root: Path,
    damage: Callable[[Path], None],
    record: Maker,
    entries: Entries,
) -> None:
    damage(root)
    index = new_index()
    assert index.open() == EMPTY
    index.add(entries([record(0, "shared")]))
    index.take_over_vectors()
    assert generations(root) == [database(root).parent.name]
    assert index.search_words(["share"], filters=Filters(), limit=9)[0][0] == 0


@pytest.fixture
def embedded(new_index: NewIndex, filled: Position) -> list[int]:
    """The seqs of the first ten of the 300, which have vectors."""
    index = new_index()
    index.open()
    index.put_vectors("model", [(seq, np.array([seq, 1], dtype=np.float32)) for seq in range(10)])
    index.close()
    return list(range(10))


@pytest.mark.parametrize("other", [raise_schema_version, change_analyzer])
def test_vectors_of_the_same_records_come_along_when_schema_or_analyzer_change(
    new_index: NewIndex,
    embedded: list[int],
    root: Path,
    other: Callable[[Path], None],
    record: Maker,
    entries: Entries,
) -> None:
    other(root)
    index = new_index()
    index.open()
    records = [record(seq, f"word{seq} shared") for seq in range(8)]
    records[3], records[5] = record(3, "another one"), records[5].without_text()
    index.add(entries(records))
    index.take_over_vectors()
    seqs, rows = index.page_of_vectors("model", after=-1, limit=20)
    assert seqs.tolist() == [0, 1, 2, 4, 6, 7]
    assert rows.tolist() == [[seq, 1] for seq in seqs]
    assert index.missing_vectors("model", 9) == [3]
    assert generations(root) == [database(root).parent.name]
    index.take_over_vectors()  # there is nothing left to take
    assert index.count_vectors("model") == 6


def make_vectors_otherwise(root: Path) -> None:
    execute(root, "UPDATE origin SET analyzer = 'another', vectors = vectors + 1")


def lose_vectors(root: Path) -> None:
    execute(root, "DROP TABLE vectors")
    change_analyzer(root)


@pytest.mark.parametrize(
    ("other", "foreign"),
    [
        (make_vectors_otherwise, {}),
        (lose_vectors, {}),
        (cut_database, {}),
        (remove_database, {}),
        (change_analyzer, {"generation": 1}),
        (change_analyzer, {"journal_id": "another"}),
    ],
)
def test_vectors_that_may_be_others_stay_behind(
    new_index: NewIndex,
    embedded: list[int],
    root: Path,
    other: Callable[[Path], None],
    foreign: dict[str, object],
    record: Maker,
    entries: Entries,
) -> None:
    other(root)
    index = new_index(**foreign)
    index.open()
    index.add(entries([record(seq, f"word{seq} shared") for seq in range(10)]))
    index.take_over_vectors()
    assert index.count_vectors("model") == 0
    assert generations(root) == [database(root).parent.name]
    index.put_vectors("model", [(0, np.array([1, 0, 0], dtype=np.float32))])  # and may be of another length


@pytest.mark.parametrize("foreign", [{"journal_id": "another"}, {"generation": 1}])
def test_an_index_of_another_journal_or_of_other_files_is_not_used(
    new_index: NewIndex, filled: Position, foreign: dict[str, object]
) -> None:
    assert new_index(**foreign).open() == EMPTY


def test_damage_found_in_use_is_raised_and_the_next_open_begins_anew(
    new_index: NewIndex, filled: Position, root: Path
) -> None:
    """The pages behind the first ones are not read by opening."""
    path = database(root)
    db = sqlite3.connect(path)
    [(page,)] = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'records'")
    [(size,)] = db.execute("PRAGMA page_size")
    db.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xaa" * size)
    index = new_index()
    assert index.open() == filled
    with pytest.raises(sqlite3.DatabaseError):
        index.rows([1, 299])
    assert index.open() == EMPTY


def test_a_lock_or_a_full_disk_is_no_damage() -> None:
    for code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_ERROR):
        error = sqlite3.OperationalError("refused")
        error.sqlite_errorcode = code
        assert not schema.is_damage(error)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT_VTAB
    assert schema.is_damage(error)


# Rebuilding


def test_the_old_generation_answers_until_the_new_one_is_whole(
    index: Index, root: Path, record: Maker, entries: Entries
) -> None:
    index.add(entries([record(seq, "shared") for seq in range(5)]))
    rebuild = index.begin_rebuild(journal_generation=0)
    rebuild.add(entries([record(seq, "shared") for seq in range(3)]))
    assert rebuild.position.seq == 2
    assert index.position.seq == 4
    assert index.counts().total == 5

    assert index.finish_rebuild(rebuild).seq == 2
    assert index.counts().total == 3
    assert generations(root) == ["gen-2"]

    index.add(entries([record(seq, "shared") for seq in range(5)]))
    assert index.open().seq == 4


def test_a_rebuild_that_a_crash_interrupted_never_becomes_valid(
    new_index: NewIndex, index: Index, root: Path, record: Maker, entries: Entries
) -> None:
    index.add(entries([record(0, "shared")]))
    rebuild = index.begin_rebuild(journal_generation=0)
    rebuild.add(entries([record(0, "half")]))
    rebuild.db.close()
    index.close()
    assert generations(root) == ["gen-1", "gen-2"]

    again = new_index()
    again.open()
    assert again.search_words(["share"], filters=Filters(), limit=1)
    assert generations(root) == ["gen-1"]


def test_an_abandoned_rebuild_leaves_nothing_behind(
    index: Index, root: Path, record: Maker, entries: Entries
) -> None:
    index.add(entries([record(0, "shared")]))
    rebuild = index.begin_rebuild(journal_generation=0)
    with pytest.raises(InvalidInput):
        rebuild.add(entries([record(7, "gap")]))
    rebuild.abandon()
    assert generations(root) == ["gen-1"]
    assert index.position.seq == 0


def test_missing_vectors_are_counted_afresh_after_a_rebuild(
    index: Index, record: Maker, entries: Entries
) -> None:
    index.add(entries([record(0, "x")]))
    assert index.missing_vectors("m", 1) == [0]
    index.put_vectors("m", [(0, np.ones(1, dtype=np.float32))])
    assert index.missing_vectors("m", 1) == []
    rebuild = index.begin_rebuild(journal_generation=0)
    rebuild.add(entries([record(0, "x")]))
    index.finish_rebuild(rebuild)
    assert index.missing_vectors("m", 1) == [0]


class FullDisk(Files):
    """Refuses to replace a file."""

    def write_atomic(self, path: Path, data: bytes) -> None:
        raise OSError("no space left on device")


def test_a_switch_that_fails_leaves_the_old_generation_valid(root: Path) -> None:
    whole = Generations(root, files=Files())
    old = whole.fresh()
    whole.switch(old)
    failing = Generations(root, files=FullDisk())
    with pytest.raises(OSError, match="no space"):
        failing.switch(failing.fresh())
    assert whole.current() == old


def test_numbers_are_never_used_twice_while_their_directory_is_there(root: Path) -> None:
    kept = Generations(root, files=Files())
    assert [kept.fresh().name for _ in range(11)][-2:] == ["gen-10", "gen-11"]
    assert kept.fresh().name == "gen-12"


# A rebuild is equal to what grew


turns = st.fixed_dictionaries(
    {
        "text": st.one_of(
            st.none(), st.sampled_from(["Berlin dog", "柏林", "foo_bar dog dog", ""]), st.text(max_size=9)
        ),
        "role": st.sampled_from(["user", "assistant", "tool"]),
        "session": st.sampled_from(["s", "t"]),
        "scope": st.sampled_from([[], ["a"]]),
        "tags": st.lists(st.sampled_from(["x", "y"]), max_size=2),
        "type": st.sampled_from(["record", "record", "record", "purge"]),
    }
)


def contents(db: sqlite3.Connection) -> list[list[tuple[object, ...]]]:
    """All that an index holds: its tables, and each occurrence of each term."""
    db.execute("CREATE VIRTUAL TABLE temp.occurrences USING fts5vocab(main, words, instance)")
    return [
        db.execute("SELECT * FROM origin").fetchall(),
        db.execute("SELECT * FROM records ORDER BY seq").fetchall(),
        db.execute("SELECT * FROM tags ORDER BY tag, seq").fetchall(),
        db.execute("SELECT * FROM threads ORDER BY session, scope").fetchall(),
        db.execute('SELECT term, doc, col, "offset" FROM occurrences ORDER BY 1, 2, 3, 4').fetchall(),
    ]


@given(turns=st.lists(turns, max_size=12), cuts=st.lists(st.integers(0, 12)))
def test_a_rebuild_is_equal_to_what_grew_in_any_batches(
    record: Maker, entries: Entries, turns: list[dict[str, object]], cuts: list[int]
) -> None:
    whole = entries(
        [record(seq, fields.pop("text"), **fields) for seq, fields in enumerate(map(dict, turns))]
    )
    grown = schema.create(Path(":memory:"), origin=schema.Origin("journal", 0))
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(whole)], strict=True):
        projection.add(grown, whole[start:end])
    rebuilt = schema.create(Path(":memory:"), origin=schema.Origin("journal", 0))
    projection.add(rebuilt, whole)
    assert contents(grown) == contents(rebuilt)
    grown.close()
    rebuilt.close()
