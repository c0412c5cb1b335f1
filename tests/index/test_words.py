"""Searching by words, through every wall and filter."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hippo_async.errors import InvalidInput
from hippo_async.index import Index, projection, schema, words
from hippo_async.index.analyzer import query_terms, terms
from hippo_async.index.held import Held
from hippo_async.records import Filters, Kind, Location, Record

Maker = Callable[..., Record]

IN_MEMORY = Path(":memory:")
ORIGIN = schema.Origin("journal", 0)


def fill(index: Index, *records: Record) -> None:
    index.add([(record, Location(0, 0, 1)) for record in records])


def found(index: Index, query: str, **filters: object) -> list[int]:
    hits = index.search_words(query_terms(query), filters=Filters(**filters), limit=10)
    return [seq for seq, _ in hits]


@given(text=st.text())
@example(text="柏林 état don't foo_bar a@b.c x-y 😀 🇷🇺 हिन्दी")
def test_each_term_of_a_document_is_stored_as_it_is_and_matches_it(record: Maker, text: str) -> None:
    db = schema.create(IN_MEMORY, origin=ORIGIN)
    projection.add(db, [(record(0, text), Location(0, 0, 1)), (record(1), Location(0, 1, 1))])
    db.execute("CREATE VIRTUAL TABLE temp.stored USING fts5vocab(main, words, row)")
    assert {term for (term,) in db.execute("SELECT term FROM stored")} == set(terms(text))
    for term in terms(text):
        assert [seq for seq, _ in words.search(db, [term], filters=Filters(), limit=2, held=Held())] == [0]
    db.close()


OPERATORS = [
    '"', '""', "'", "a AND b", "a OR", "NOT a", "NEAR(a b, 2)", "a*", "^a", "{terms}: a", "terms: a", "-a",
    "a + b", "(", ")", "a:b:c", "'; DROP TABLE words; --", "*", "words MATCH 'a'", "\x00", '" OR "b',
]  # fmt: skip


@given(query=st.one_of(st.text(), st.lists(st.sampled_from(OPERATORS)).map(" ".join)))
def test_no_query_is_read_as_syntax(record: Maker, query: str) -> None:
    """Whatever is asked, SQLite sees quoted terms: no error, and only records that share a term."""
    db = schema.create(IN_MEMORY, origin=ORIGIN)
    document = "zebra terms or near"
    projection.add(db, [(record(0, document), Location(0, 0, 1))])
    hits = words.search(db, query_terms(query), filters=Filters(), limit=2, held=Held())
    assert bool(hits) == bool(set(query_terms(query)) & set(terms(document)))
    db.close()


def test_a_quote_in_a_term_stays_inside_its_string() -> None:
    assert words.match_expression(['a" OR "b', "c"]) == '"a"" OR ""b" OR "c"'


def test_operators_are_words_like_others(index: Index, record: Maker) -> None:
    fill(index, record(0, "near and far"), record(1, "far"))
    assert found(index, "NEAR") == [0]


def test_better_matches_come_first_with_positive_scores(index: Index, record: Maker) -> None:
    fill(
        index, record(0, "the dog sleeps"), record(1, "a dog named Rex"), record(2, "nothing"), record(3, "x")
    )
    hits = index.search_words(["dog", "rex"], filters=Filters(), limit=10)
    assert [seq for seq, _ in hits] == [1, 0]
    assert hits[0][1] > hits[1][1] > 0


def test_equals_come_newest_first_and_the_limit_holds(index: Index, record: Maker) -> None:
    fill(index, *(record(seq, "same words") for seq in range(5)))
    assert index.search_words(["word"], filters=Filters(), limit=2)[0][0] == 4
    assert len(index.search_words(["word"], filters=Filters(), limit=2)) == 2


def test_no_terms_find_nothing(index: Index, record: Maker) -> None:
    fill(index, record(0, "something"))
    assert index.search_words([], filters=Filters(), limit=10) == []


def test_a_very_long_query_is_cut_to_its_longest_terms(index: Index, record: Maker) -> None:
    fill(index, record(0, "constantinople"), record(1, "w7"))
    query = [f"w{number}" for number in range(5000)] + ["constantinopl"]
    assert [seq for seq, _ in index.search_words(query, filters=Filters(), limit=10)] == [0]


# The turn before


def test_a_turn_is_found_by_the_words_of_the_turn_before_and_of_no_earlier_one(
    index: Index, record: Maker
) -> None:
    fill(
        index,
        record(0, "Where did you spend the holidays?", role="user", session="s"),
        record(1, "In Lisbon.", role="assistant", session="s"),
        record(2, "Nice.", role="user", session="s"),
    )
    assert sorted(found(index, "holidays")) == [0, 1]
    assert sorted(found(index, "Lisbon")) == [1, 2]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"session": "s"}, {"session": "t"}),
        ({"session": "s", "scope": ["a"]}, {"session": "s"}),
        ({}, {}),
        ({"session": "s", "role": "tool"}, {"session": "s"}),
        ({"session": "s"}, {"session": "s", "role": "tool"}),
        ({"session": "s", "type": "purge"}, {"session": "s"}),
    ],
    ids=["other session", "other scope", "no session", "tool before", "tool after", "not a memory"],
)
def test_words_reach_no_further_than_the_conversation(
    index: Index, record: Maker, before: dict[str, object], after: dict[str, object]
) -> None:
    fill(
        index,
        record(0, "holidays", **{"role": "user", **before}),
        record(1, "Lisbon", **{"role": "user", **after}),
    )
    assert 1 not in found(index, "holidays", scope=tuple(after.get("scope", ())))


def test_records_in_between_do_not_part_a_conversation(index: Index, record: Maker) -> None:
    fill(
        index,
        record(0, "holidays", role="user", session="s"),
        record(1, "noise", role="tool", session="s"),
        record(2, "other", role="user", session="t"),
        record(3, "Lisbon", role="assistant", session="s"),
    )
    assert found(index, "holidays") == [0, 3]


def test_a_long_answer_lends_its_last_terms_only(index: Index, record: Maker) -> None:
    answer = "opening " + "filler " * projection.CONTEXT_TERMS + "closing"
    fill(index, record(0, answer, role="assistant", session="s"), record(1, "yes", role="user", session="s"))
    assert sorted(found(index, "closing")) == [0, 1]
    assert found(index, "opening") == [0]


# Filters


def test_a_read_sees_its_own_scope_only(index: Index, record: Maker) -> None:
    fill(index, record(0, "dog"), record(1, "dog", scope=["anna"]), record(2, "dog", scope=["anna", "work"]))
    assert found(index, "dog") == [0]
    assert found(index, "dog", scope=("anna",)) == [1]
    assert found(index, "dog", scope=("anna", "work")) == [2]
    assert found(index, "dog", scope=("work",)) == []


scopes = st.lists(st.text(alphabet=',"\\[]/ ab', max_size=3), max_size=3).map(tuple)


@given(written=scopes, read=scopes)
@example(written=("a", "b"), read=('a","b',))
@example(written=(), read=("",))
@example(written=("a,b",), read=("a", "b"))
def test_no_scope_can_be_forged_from_another(
    record: Maker, written: tuple[str, ...], read: tuple[str, ...]
) -> None:
    db = schema.create(IN_MEMORY, origin=ORIGIN)
    projection.add(db, [(record(0, "dog", scope=list(written)), Location(0, 0, 1))])
    hits = words.search(db, ["dog"], filters=Filters(scope=read), limit=1, held=Held())
    db.close()
    assert bool(hits) == (written == read)


def test_all_tags_are_asked_for(index: Index, record: Maker) -> None:
    fill(index, record(0, "dog", tags=["a"]), record(1, "dog", tags=["b", "a"]), record(2, "dog"))
    assert found(index, "dog", tags=("a",)) == [1, 0]
    assert found(index, "dog", tags=("a", "b")) == [1]
    assert found(index, "dog", tags=("a", "c")) == []


def test_one_of_the_kinds_and_one_of_the_roles_is_asked_for(index: Index, record: Maker) -> None:
    fill(
        index,
        record(0, "dog", kind=Kind.STATE, role="user"),
        record(1, "dog", kind=Kind.DECISION, role="assistant"),
        record(2, "dog", kind=Kind.ERROR),
    )
    assert found(index, "dog", kinds=(Kind.STATE, Kind.ERROR)) == [2, 0]
    assert found(index, "dog", roles=("user", "assistant")) == [1, 0]
    assert found(index, "dog", roles=("user",), kinds=(Kind.DECISION,)) == []


def test_the_session_is_compared_whole(index: Index, record: Maker) -> None:
    fill(index, record(0, "dog", session="s"), record(1, "dog", session="s2"), record(2, "dog"))
    assert found(index, "dog", session="s") == [0]


def test_a_time_window_holds_its_start_and_not_its_end(index: Index, record: Maker) -> None:
    fill(index, *(record(day, "dog", timestamp=f"2026-01-0{day + 1}T00:00:00.000000Z") for day in range(4)))
    window = {"start": datetime(2026, 1, 2, tzinfo=UTC), "end": datetime(2026, 1, 4, tzinfo=UTC)}
    assert found(index, "dog", **window) == [2, 1]


def test_a_time_window_may_be_given_in_any_zone(index: Index, record: Maker) -> None:
    fill(index, record(0, "dog", timestamp="2026-01-01T23:00:00.000000Z"))
    east = timezone(timedelta(hours=2))
    assert found(index, "dog", start=datetime(2026, 1, 2, 1, tzinfo=east)) == [0]
    assert found(index, "dog", start=datetime(2026, 1, 2, 1, 1, tzinfo=east)) == []


def test_a_naive_moment_is_refused() -> None:
    with pytest.raises(InvalidInput, match="end"):
        Filters(end=datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point


def test_the_journals_own_records_and_purged_ones_are_located_but_not_found(
    index: Index, record: Maker
) -> None:
    records = [record(0, "dog", type="genesis"), record(1, None), record(2, "dog")]
    fill(index, *records)
    assert found(index, "dog") == [2]
    assert [row.seq for row in index.locate([record.record_id for record in records])] == [0, 1, 2]
