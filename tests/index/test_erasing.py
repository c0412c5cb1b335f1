"""An index from which records were taken out is the same as one that is made anew of what is left."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from index_tables import scores_of, tables_of
from told_lives import written

from hippo_async.index import Purged, analyzer, erasing, projection, schema, vectors
from hippo_async.records import OPERATION, Location, Record

Maker = Callable[..., Record]
Entry = tuple[Record, Location]

ORIGIN = schema.Origin("journal", 1)
WORDS = ("sailing", "chess", "Müller", "北京大学", "кошка", "getUserName", "ok?", "a b c d e")

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
scopes = st.sampled_from([[], ["a"]])
targets = st.integers(0, 15)
turns = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "tool"]),
        "session": st.sampled_from(["s", "t"]),
        "speaker": st.sampled_from(["Ann", "Bob"]),
        "scope": scopes,
        "tags": st.lists(st.sampled_from(["Café", "tea"]), max_size=2),
        "key": st.sampled_from(["k", "l"]),
    }
)
remembered = st.fixed_dictionaries(
    {"event": st.just("remembered"), "identity": st.just({"event_id": "e" * 32}), "scope": scopes}
)
checkpoints = st.fixed_dictionaries(
    {
        "event": st.just("checkpoint"),
        "task": st.fixed_dictionaries({"id": st.just("move"), "progress": st.sampled_from([0, 100])}),
    }
)
layers = st.fixed_dictionaries(
    {
        "event": st.sampled_from(["folded_summary", "trend"]),
        "originals": st.lists(targets, max_size=3),
        "subject": st.fixed_dictionaries(
            {"layer": st.sampled_from(["topic", "trend"]), "name": st.just("tea"), "seen": st.just(3)}
        ),
    }
)
folds = st.fixed_dictionaries(
    {"event": st.just("folded_summary"), "originals": st.lists(targets, max_size=3), "session": st.just("s")}
)
operations = st.fixed_dictionaries(
    {
        "act": st.sampled_from(["repeated", "reinforced", "demoted", "forgotten", "restored", "erased"]),
        "target": targets,
        "marks": st.just(["m"]),
    }
).map(lambda fields: {OPERATION: fields})
lives = st.lists(
    st.tuples(texts, st.one_of(turns, turns, turns, remembered, checkpoints, folds, layers, operations)),
    max_size=16,
)
purges = st.lists(st.frozensets(targets, min_size=1, max_size=4), min_size=1, max_size=3)


def with_derived(records: Sequence[Record], wanted: frozenset[int]) -> frozenset[int]:
    """What goes with these: folds of them, and folds of those. No operation goes."""
    gone = {seq for seq in wanted if seq < len(records) and OPERATION not in records[seq].metadata}
    names = {records[seq].record_id for seq in gone}
    while True:
        more = {one.seq for one in records if one.is_fold and names & set(one.metadata["originals"])} - gone
        if not more:
            return frozenset(gone)
        gone |= more
        names |= {records[seq].record_id for seq in more}


def placed(records: Sequence[Record], gone: frozenset[int] = frozenset()) -> list[Entry]:
    """The records in their places, five lines a segment, the texts of some purged."""
    entries: list[Entry] = []
    for record in records:
        segment = record.seq - record.seq % 5
        after = entries[-1][1] if entries and entries[-1][1].segment == segment else Location(segment, 0, 0)
        purged = record.seq in gone
        length = 100 if purged else 100 + 10 * len(record.text)
        entries.append(
            (
                record.without_text() if purged else record,
                Location(segment, after.offset + after.length, length),
            )
        )
    return entries


def tables(db: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    terms = sorted({term for word in WORDS for term in analyzer.terms(word)})
    return {**tables_of(db), **{term: scores_of(db, term) for term in terms}}


def made_of(entries: Sequence[Entry], *, generation: int) -> dict[str, list[tuple[Any, ...]]]:
    db = schema.create(Path(":memory:"), origin=schema.Origin("journal", generation))
    projection.add(db, entries)
    found = tables(db)
    db.close()
    return found


def take_out(db: sqlite3.Connection, records: Sequence[Record], gone: Sequence[int], generation: int) -> None:
    neighbours = [records[seq] for seq in erasing.neighbours(db, gone)]
    purged = [Purged(records[seq], 100) for seq in gone]
    erasing.erase(db, purged, neighbours, embedded_with=[], generation=generation)


TOPIC = {"event": "folded_summary", "originals": [], "subject": {"layer": "topic", "name": "tea", "seen": 3}}


TURN = {"role": "user", "session": "s", "speaker": "Ann", "scope": [], "tags": [], "key": "k"}


@example(life=[("sailing", TURN), ("chess", TURN), ("ok?", TURN)], purges=[frozenset([1, 2])], behind=0)
@example(life=[("tea", TOPIC), ("tea", TOPIC)], purges=[frozenset([1])], behind=0)
@given(life=lives, purges=purges, behind=st.integers(0, 16))
def test_what_is_taken_out_leaves_what_an_index_made_anew_has(
    record: Maker, life: list[tuple[str, dict[str, Any]]], purges: list[frozenset[int]], behind: int
) -> None:
    records = written(record, life)
    db = schema.create(Path(":memory:"), origin=ORIGIN)
    first = len(records) - min(behind, len(records))
    projection.add(db, placed(records)[:first])
    gone: frozenset[int] = frozenset()
    generation = 1
    for wanted in purges:
        now = with_derived(records[:first], wanted) - gone
        gone |= now
        generation += 1
        take_out(db, records, sorted(now), generation)
        assert tables(db) == made_of(placed(records, gone)[:first], generation=generation)
    projection.add(db, placed(records, gone)[first:])
    assert tables(db) == made_of(placed(records, gone), generation=generation)
    db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    db.close()


def test_no_byte_of_the_file_or_its_log_says_what_was_taken_out(tmp_path: Path, record: Maker) -> None:
    told = {"role": "user", "session": "s", "speaker": "Quimby", "tags": ["zanzibar"]}
    words = [hashlib.sha256(str(seq).encode()).hexdigest()[:12] for seq in range(200)]  # no common beginning
    records = [record(seq, f"{words[seq]} and oatcakes", **told) for seq in range(200)]
    db = schema.create(tmp_path / "index.sqlite", origin=ORIGIN)
    projection.add(db, placed(records))
    vectors.put(db, "model", [(seq, np.full(4, seq + 0.123, dtype=np.float32)) for seq in range(200)])
    gone = list(range(50, 60))
    purged = [Purged(records[seq], 100) for seq in gone]
    neighbours = [records[seq] for seq in erasing.neighbours(db, gone)]
    erasing.erase(db, purged, neighbours, embedded_with=[60], generation=2)
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert words[61].encode() in held
    for seq in gone:
        assert words[seq][2:].encode() not in held
    for seq in (*gone, 60):
        assert np.full(4, seq + 0.123, dtype="<f4").tobytes() not in held
    assert np.full(4, 61.123, dtype="<f4").tobytes() in held
    db.close()


def test_what_fails_on_the_way_takes_nothing_out(record: Maker) -> None:
    records = [record(seq, "sailing", role="user", session="s") for seq in range(3)]
    db = schema.create(Path(":memory:"), origin=ORIGIN)
    projection.add(db, placed(records))
    before = tables(db)
    db.execute("CREATE TRIGGER refuse BEFORE UPDATE ON origin BEGIN SELECT raise(ABORT, 'full'); END")
    with pytest.raises(sqlite3.Error, match="full"):
        take_out(db, records, [1], 2)
    assert tables(db) == before
    db.close()
