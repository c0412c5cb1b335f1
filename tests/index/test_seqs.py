"""Seqs in great numbers: read without a loop, held between questions, and right all the same."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.index import Index, Misled, held, lookup, projection, schema, seqs, words
from hippo_async.records import Filters, Kind, Location, Record, utc_timestamp

Maker = Callable[..., Record]
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


@given(numbers=st.sets(st.integers(0, 2**62)), piece=st.integers(1, 30))
def test_every_seq_comes_back_once_and_in_order(numbers: set[int], piece: int) -> None:
    db = numbered(numbers, last=2**62)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seqs, "PIECE", piece)
        found = seqs.read_seqs(db, "SELECT seq FROM numbers", {})
    db.close()
    assert found.tolist() == sorted(numbers)
    assert found.dtype.kind == "i"


@pytest.mark.parametrize("strange", [-1, 8, 2**40])
def test_a_seq_that_no_record_has_is_damage_not_a_table_of_its_length(strange: int) -> None:
    db = numbered({3, strange}, last=7)
    with pytest.raises(Misled, match="of 0 to 7"):
        seqs.read_seqs(db, "SELECT seq FROM numbers", {})
    db.close()


def numbered(numbers: set[int], *, last: int) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE numbers (seq INTEGER)")
    db.executemany("INSERT INTO numbers VALUES (?)", [(number,) for number in numbers])
    db.execute("CREATE TABLE origin AS SELECT ? AS seq, '' AS record_id", (last,))
    return db


labels = st.fixed_dictionaries(
    {
        "text": st.lists(st.sampled_from(["dog", "cat", "bird", "fish", "the"]), max_size=4).map(" ".join),
        "type": st.sampled_from(["record", "record", "record", "purge"]),
        "scope": st.sampled_from([[], ["anna"]]),
        "session": st.sampled_from([None, "s", "t"]),
        "role": st.sampled_from(["user", "assistant"]),
        "kind": st.sampled_from([Kind.STATE, Kind.ERROR]),
        "tags": st.lists(st.sampled_from("ab"), max_size=2),
        "day": st.integers(0, 5),
    }
)
moments = st.none() | st.integers(0, 6).map(lambda day: BEGIN + timedelta(days=day))
filters = st.builds(
    Filters,
    scope=st.sampled_from([(), ("anna",), None]),
    session=st.sampled_from([None, None, "s"]),
    roles=st.sampled_from([(), ("user",)]),
    kinds=st.sampled_from([(), (Kind.STATE,)]),
    tags=st.sampled_from([(), ("a",), ("a", "b")]),
    start=moments,
    end=moments,
)


def passes(record: Record, asked: Filters) -> bool:
    return (
        record.type == "record"
        and (asked.scope is None or record.scope == asked.scope)
        and asked.session in (None, record.session)
        and (not asked.roles or record.role in asked.roles)
        and (not asked.kinds or record.kind in asked.kinds)
        and set(asked.tags) <= set(record.tags)
        and (asked.start is None or record.timestamp >= utc_timestamp(asked.start))
        and (asked.end is None or record.timestamp < utc_timestamp(asked.end))
    )


def made(record: Maker, drawn: list[dict[str, object]], first: int = 0) -> list[Record]:
    records = []
    for seq, fields in enumerate(drawn, start=first):
        own = dict(fields)
        timestamp = utc_timestamp(BEGIN + timedelta(days=own.pop("day")))
        records.append(record(seq, own.pop("text"), timestamp=timestamp, **own))
    return records


@given(
    drawn=st.lists(labels, max_size=25),
    more=st.lists(labels, max_size=10),
    asked=filters,
    terms=st.sets(st.sampled_from(["dog", "cat", "bird", "fish"]), min_size=1),
    most_seqs=st.sampled_from([0, 8, 10_000]),
)
def test_filters_let_through_what_they_say_and_nothing_else_however_large_the_index(
    record: Maker,
    drawn: list[dict[str, object]],
    more: list[dict[str, object]],
    asked: Filters,
    terms: set[str],
    most_seqs: int,
) -> None:
    """By words both ways, that of small and that of large indexes, and while records come in."""
    db = schema.create(Path(":memory:"), origin=schema.Origin("journal", 0))
    kept = held.Held()
    records: list[Record] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held, "LEAST_SEQS", 1)
        patch.setattr(held, "MOST_SEQS", most_seqs)
        for batch in (drawn, more):
            fresh = made(record, batch, first=len(records))
            records += fresh
            projection.add(db, [(one, Location(0, 0, 1)) for one in fresh])
            expected = [one.seq for one in records if passes(one, asked)]
            allowed = lookup.allowed(db, asked, held=kept)
            assert allowed.tolist() == expected
            found = {}
            for scored in (0, 10_000):
                patch.setattr(words, "SCORED", scored)
                found[scored] = words.search(db, sorted(terms), filters=asked, limit=100, held=kept)
            assert {seq for seq, _ in found[0]} == {seq for seq, _ in found[10_000]} <= set(expected)
    db.close()


def test_a_large_search_by_words_finds_what_scoring_everything_finds(
    index: Index, record: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it goes by the rare words and only counts the common ones."""
    texts = [f"common {'often ' * (seq % 2)}{'seldom ' * (seq % 50 == 7)}x{seq % 300}" for seq in range(600)]
    index.add([(record(seq, text), Location(0, 0, 1)) for seq, text in enumerate(texts)])
    asked = ["common", "often", "seldom", "x7"]
    whole = index.search_words(asked, filters=Filters(), limit=12)
    monkeypatch.setattr(words, "SCORED", 50)
    monkeypatch.setattr(words, "CANDIDATES", 40)
    assert index.search_words(asked, filters=Filters(), limit=12) == whole
    monkeypatch.setattr(words, "COUNTED", 50)
    assert {seq for seq, _ in index.search_words(asked, filters=Filters(), limit=12)} == {
        seq for seq, _ in whole
    }
    assert [seq for seq, _ in index.search_words(asked, filters=Filters(), limit=2)] == [
        seq for seq, _ in whole[:2]
    ]


def test_of_equals_the_newest_are_candidates(
    index: Index, record: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add([(record(seq, "dog"), Location(0, 0, 1)) for seq in range(100)])
    monkeypatch.setattr(words, "SCORED", 10)
    monkeypatch.setattr(words, "CANDIDATES", 5)
    found = index.search_words(["dog"], filters=Filters(), limit=9)
    assert [seq for seq, _ in found] == [99, 98, 97, 96, 95]


def test_a_full_match_scores_what_a_record_of_usual_length_does(index: Index, record: Maker) -> None:
    index.add([(record(seq, f"word{seq} other{seq}"), Location(0, 0, 1)) for seq in range(9)])
    [(_, score)] = index.search_words(["word3"], filters=Filters(), limit=1)
    assert index.full_match(["word3"]) == pytest.approx(score, rel=0.01)
    assert index.full_match(["word3", "other3"]) == pytest.approx(2 * score, rel=0.01)
