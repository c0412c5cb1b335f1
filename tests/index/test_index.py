"""What the index says about records, and what it refuses to take."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from hippo_async.errors import Closed, InvalidInput
from hippo_async.index import Index, Position
from hippo_async.records import Filters, Kind, Location, Novelty, Record

Maker = Callable[..., Record]
Entries = Callable[[list[Record]], list[tuple[Record, Location]]]


@pytest.fixture
def three(index: Index, record: Maker, entries: Entries) -> list[Record]:
    """Three records in the index."""
    records = [record(seq, f"word{seq}") for seq in range(3)]
    index.add(entries(records))
    return records


# Adding


def test_an_empty_index_stands_before_the_first_record(index: Index) -> None:
    assert index.position == Position(-1, "")


def test_the_position_is_that_of_the_last_record(index: Index, three: list[Record]) -> None:
    assert index.position == Position(2, three[-1].record_id)


def test_adding_nothing_changes_nothing(index: Index, three: list[Record]) -> None:
    index.add([])
    assert index.position.seq == 2


@pytest.mark.parametrize("seqs", [[4], [3, 5], [3, 4, 4, 6]])
def test_a_gap_is_refused_and_nothing_of_the_batch_is_kept(
    index: Index, three: list[Record], record: Maker, entries: Entries, seqs: list[int]
) -> None:
    with pytest.raises(InvalidInput, match="needs record"):
        index.add(entries([record(seq, "late") for seq in seqs]))
    assert index.position.seq == 2
    assert index.rows([3]) == []
    assert index.search_words(["late"], filters=Filters(), limit=1) == []


def test_records_already_there_are_passed_over(
    index: Index, three: list[Record], record: Maker, entries: Entries
) -> None:
    index.add(entries([*three[1:], record(3, "word3")]))
    assert index.position.seq == 3
    assert index.counts().total == 4


def test_another_record_under_a_known_seq_is_refused(
    index: Index, three: list[Record], record: Maker, entries: Entries
) -> None:
    with pytest.raises(InvalidInput, match="another record 2"):
        index.add(entries([record(2, "a different past"), record(3, "word3")]))
    assert index.position.seq == 2


def test_the_text_is_not_in_the_files(index: Index, record: Maker, entries: Entries, tmp_path: Path) -> None:
    """Neither as it was written nor as its terms in their order, but for the last turn of a session."""
    index.add(entries([record(0, "crimson walnuts dancing", role="user", session="s")]))
    index.add(entries([record(1, "next", role="user", session="s")]))
    index.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"next" in stored
    assert b"crimson walnut" not in stored
    assert b"walnuts" not in stored


def test_a_closed_index_says_so(index: Index) -> None:
    index.close()
    index.close()
    with pytest.raises(Closed):
        index.counts()


# Looking up


def test_a_row_says_where_a_record_is_and_what_it_is_labelled(
    index: Index, record: Maker, entries: Entries
) -> None:
    told = record(
        0,
        "ünï",
        kind=Kind.DECISION,
        novelty=Novelty.ROUTINE,
        role="user",
        session="s",
        scope=["a"],
        tags=["x", "y"],
    )
    index.add([(told, Location(segment=7, offset=11, length=13))])
    [row] = index.rows([0])
    assert row.location == Location(7, 11, 13)
    assert (row.seq, row.record_id, row.timestamp) == (0, told.record_id, told.timestamp)
    assert (row.kind, row.novelty) == (Kind.DECISION, Novelty.ROUTINE)
    assert (row.role, row.session, row.scope, row.tags) == ("user", "s", ("a",), ("x", "y"))
    assert row.length == 3


def test_rows_come_in_the_order_asked_for_without_the_unknown(index: Index, three: list[Record]) -> None:
    ids = [record.record_id for record in three]
    assert [row.seq for row in index.locate([ids[2], "unknown", ids[0]])] == [2, 0]
    assert [row.seq for row in index.rows([1, 99, 0, 1])] == [1, 0, 1]


def test_a_capture_key_leads_to_the_first_record_that_has_it(
    index: Index, record: Maker, entries: Entries
) -> None:
    records = [record(0, key="a"), record(1, key="b"), record(2, key="a"), record(3), record(4, key=5)]
    index.add(entries(records))
    assert index.known_keys(["a", "b", "c"]) == {"a": records[0].record_id, "b": records[1].record_id}


def test_neighbours_are_the_turns_around_it_in_the_same_session_and_scope(
    index: Index, record: Maker, entries: Entries
) -> None:
    turn = {"role": "user", "session": "s"}
    records = [
        record(0, "a", **turn),
        record(1, "b", role="user", session="t"),
        record(2, "c", **turn, scope=["x"]),
        record(3, "d", role="tool", session="s"),
        record(4, None),
        record(5, "e", role="assistant", session="s"),
        record(6, "f", **turn),
        record(7, "g", role="user"),
    ]
    index.add(entries(records))
    traits = index.traits([0, 1, 2, 3, 4, 5, 6, 7, 99])
    assert {seq: (trait.before, trait.after) for seq, trait in traits.items()} == {
        0: (None, 5),
        1: (None, None),
        2: (None, None),
        3: (None, None),
        4: (None, None),
        5: (0, 6),
        6: (5, None),
        7: (None, None),
    }


def test_traits_say_who_spoke_how_much_and_whether_it_asks(
    index: Index, record: Maker, entries: Entries
) -> None:
    said = {"session": "s", "speaker": "Ada"}
    index.add(
        entries(
            [
                record(0, "The cat sleeps on the blue sofa.", **said),
                record(1, "Does it?", **said),
                record(2, "真的吗？", speaker="Bo", scope=["x"]),
                record(3, "It was what it was.", speaker=7),
            ]
        )
    )
    traits = index.traits([0, 1, 2, 3])
    assert [(trait.session, trait.speaker, trait.asks) for trait in traits.values()] == [
        ("s", "Ada", False),
        ("s", "Ada", True),
        (None, "Bo", True),
        (None, None, False),
    ]
    assert traits[0].substance == 4
    assert traits[3].substance == 0
    assert index.speakers(()) == ["Ada"]
    assert index.speakers(("x",)) == ["Bo"]
    assert index.speakers(None) == ["Ada", "Bo"]


def test_the_newest_come_first_without_the_routine_unless_asked(
    index: Index, record: Maker, entries: Entries
) -> None:
    """J9 walks from the tail to the head."""
    novelties = [Novelty.NOVEL, Novelty.ROUTINE, Novelty.PREDICTION_ERROR]
    index.add(entries([record(seq, "text", novelty=novelty) for seq, novelty in enumerate(novelties)]))
    assert [row.seq for row in index.newest(filters=Filters())] == [2, 0]
    assert [row.seq for row in index.newest(filters=Filters(), include_routine=True)] == [2, 1, 0]


def test_the_newest_go_on_to_the_very_first_and_keep_to_the_filters(
    index: Index, record: Maker, entries: Entries
) -> None:
    index.add(entries([record(seq, "text", session=str(seq % 2)) for seq in range(1000)]))
    assert [row.seq for row in index.newest(filters=Filters(session="1"))] == list(range(999, 0, -2))


def test_records_added_during_a_walk_do_not_disturb_it(index: Index, record: Maker, entries: Entries) -> None:
    index.add(entries([record(seq, "text") for seq in range(600)]))
    walk = index.newest(filters=Filters())
    seen = [row.seq for row in islice(walk, 10)]
    index.add(entries([record(600, "text")]))
    assert seen + [row.seq for row in walk] == list(range(599, -1, -1))


def test_matching_gives_all_that_the_filters_let_through(
    index: Index, record: Maker, entries: Entries
) -> None:
    index.add(
        entries([record(0, "a", tags=["x"]), record(1, None), record(2, "b", scope=["s"]), record(3, "c")])
    )
    assert index.matching(Filters()).tolist() == [0, 3]
    assert index.matching(Filters(tags=("x",))).tolist() == [0]
    assert index.matching(Filters(scope=("t",))).tolist() == []
    assert index.matching(Filters()).dtype == np.int64


def test_counts_are_of_what_can_be_found(index: Index, record: Maker, entries: Entries) -> None:
    index.add(
        entries(
            [
                record(0, "x", type="genesis"),
                record(1, "x", kind=Kind.ERROR, novelty=Novelty.ROUTINE),
                record(2, "x", scope=["s"]),
                record(3, None),
            ]
        )
    )
    counts = index.counts()
    assert counts.total == 2
    assert counts.kinds == {**dict.fromkeys(Kind, 0), Kind.ERROR: 1, Kind.OBSERVATION: 1}
    assert counts.novelties == {Novelty.ROUTINE: 1, Novelty.NOVEL: 1, Novelty.PREDICTION_ERROR: 0}


# Vectors


def vector(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def test_vectors_come_back_bit_for_bit_in_order_and_per_model(index: Index, three: list[Record]) -> None:
    index.put_vectors("one", [(2, vector(0.1, 0.2)), (0, vector(0.3, 0.4))])
    index.put_vectors("two", [(1, vector(1, 2, 3))])
    seqs, matrix = index.page_of_vectors("one", after=-1, limit=9)
    assert seqs.tolist() == [0, 2]
    assert matrix.dtype == np.float32
    assert np.array_equal(matrix, np.stack([vector(0.3, 0.4), vector(0.1, 0.2)]))
    assert index.page_of_vectors("two", after=-1, limit=9)[0].tolist() == [1]


def test_a_model_without_vectors_loads_as_nothing(index: Index) -> None:
    seqs, matrix = index.page_of_vectors("none", after=-1, limit=9)
    assert (seqs.shape, matrix.shape) == ((0,), (0, 0))


def test_a_later_vector_takes_the_place_of_an_earlier_one(index: Index, three: list[Record]) -> None:
    index.put_vectors("m", [(1, vector(1, 0))])
    index.put_vectors("m", [(1, vector(0, 1))])
    assert index.page_of_vectors("m", after=-1, limit=9)[1].tolist() == [[0, 1]]


def test_a_vector_of_another_length_is_refused_with_its_whole_batch(
    index: Index, three: list[Record]
) -> None:
    index.put_vectors("m", [(0, vector(1, 0))])
    with pytest.raises(InvalidInput, match="2 dimensions"):
        index.put_vectors("m", [(1, vector(1, 0)), (2, vector(1, 0, 0))])
    assert index.page_of_vectors("m", after=-1, limit=9)[0].tolist() == [0]


def test_no_vector_is_kept_of_what_cannot_be_found(index: Index, record: Maker, entries: Entries) -> None:
    """A purge may come between reading a text and storing its vector."""
    index.add(entries([record(0, None), record(1, "x", type="genesis"), record(2, "x")]))
    index.put_vectors("m", [(seq, vector(1, 0)) for seq in (0, 1, 2, 77)])
    assert index.page_of_vectors("m", after=-1, limit=9)[0].tolist() == [2]


def test_missing_vectors_are_named_until_they_are_there(
    index: Index, record: Maker, entries: Entries
) -> None:
    index.add(entries([record(0, "x", type="genesis"), *(record(seq, "x") for seq in range(1, 6))]))
    assert index.missing_vectors("m", 3) == [1, 2, 3]
    index.put_vectors("m", [(1, vector(1)), (3, vector(1)), (5, vector(1))])
    assert index.missing_vectors("m", 3) == [2, 4]
    assert index.missing_vectors("other", 2) == [1, 2]
    index.put_vectors("m", [(2, vector(1)), (4, vector(1))])
    assert index.missing_vectors("m", 3) == []
    index.add(entries([record(6, "x")]))
    assert index.missing_vectors("m", 3) == [6]
