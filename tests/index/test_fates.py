"""What became of memories comes out the same however it is made: in any batches, at once, or without what was
purged."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from index_tables import Tables, tables_of
from told_lives import written

from hippo_async.index import projection, schema
from hippo_async.records import Location, Record

Maker = Callable[..., Record]
Entries = Callable[[list[Record]], list[tuple[Record, Location]]]

SCOPES = st.sampled_from([[], ["a"]])
TARGETS = st.integers(0, 15)

remembered = st.fixed_dictionaries(
    {"event": st.just("remembered"), "identity": st.just({"event_id": "e" * 32}), "scope": SCOPES}
)
checkpoints = st.fixed_dictionaries(
    {
        "event": st.just("checkpoint"),
        "task": st.fixed_dictionaries(
            {"id": st.sampled_from(["move", "tax"]), "progress": st.sampled_from([0, 100])}
        ),
        "scope": SCOPES,
    }
)
turns = st.fixed_dictionaries({"role": st.just("user"), "session": st.just("s"), "speaker": st.just("Ann")})
folds = st.fixed_dictionaries(
    {"event": st.just("folded_summary"), "originals": st.lists(TARGETS, max_size=3), "session": st.just("s")}
)
operations = st.fixed_dictionaries(
    {
        "act": st.sampled_from(
            ["repeated", "reinforced", "demoted", *["forgotten", "restored", "erased"] * 2]
        ),
        "target": TARGETS,
        "marks": st.just(["m1", "m2"]),
    }
).map(lambda fields: {"hippo_operation": fields})
lives = st.lists(st.one_of(remembered, checkpoints, turns, folds, operations, operations), max_size=16)


def built(maker: Maker, life: list[dict[str, Any]], *, purged: frozenset[int] = frozenset()) -> list[Record]:
    """Make the records of a life, some of them without their texts."""
    records = written(maker, [(f"text {seq}", fields) for seq, fields in enumerate(life)])
    return [record.without_text() if record.seq in purged else record for record in records]


def indexed(batches: list[list[tuple[Record, Location]]]) -> Tables:
    """All that an index says that was fed so."""
    db = schema.create(Path(":memory:"), origin=schema.Origin("journal", 0))
    for batch in batches:
        projection.add(db, batch)
    found = tables_of(db)
    db.close()
    return found


@given(life=lives, cuts=st.lists(st.integers(0, 16)))
def test_the_tables_are_the_same_in_any_batches(
    record: Maker, entries: Entries, life: list[dict[str, Any]], cuts: list[int]
) -> None:
    whole = entries(built(record, life))
    edges = [0, *sorted(cuts), len(whole)]
    assert indexed([whole[start:end] for start, end in pairwise(edges)]) == indexed([whole])


@given(life=lives)
def test_a_purge_changes_nothing_of_what_others_are(
    record: Maker, entries: Entries, life: list[dict[str, Any]]
) -> None:
    """A record that is hidden until it is purged counts before as after: as if it had never been written."""
    before = indexed([entries(built(record, life))])
    forgotten = {name for name, *_ in before["forgotten"]}
    made = {seq for original, seq in before["sources"] if original in forgotten}
    gone = {row[0] for row in before["records"] if row[1] in forgotten or row[0] in made}
    purged = frozenset(seq for seq in gone if "hippo_operation" not in life[seq])
    after = indexed([entries(built(record, life, purged=purged))])
    for table, seq in (("records", 0), ("memories", 0), ("checkpoints", 0), ("sources", 1)):
        kept = [row for row in before[table] if row[seq] not in purged]
        assert [row for row in after[table] if row[seq] not in purged] == kept
    assert after["marks"] == before["marks"]
    assert after["forgotten"] == before["forgotten"]


def test_a_fold_that_names_itself_or_what_comes_later_is_hidden_with_it(
    record: Maker, entries: Entries
) -> None:
    life: list[dict[str, Any]] = [
        {"event": "folded_summary", "originals": [0, 1]},
        {"role": "user", "session": "s"},
        {"hippo_operation": {"act": "forgotten", "target": 1}},
    ]
    whole = built(record, life)
    db: sqlite3.Connection = schema.create(Path(":memory:"), origin=schema.Origin("journal", 0))
    projection.add(db, entries(whole))
    assert db.execute("SELECT seq FROM records WHERE searchable").fetchall() == []
    db.close()
