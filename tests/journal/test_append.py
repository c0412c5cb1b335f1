"""Appending: acknowledged once durable, in order, whole or not at all; whoever gives up changes nothing."""

from __future__ import annotations

import threading
from concurrent.futures import wait
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from hippo_async.errors import InvalidInput, RecordRejected
from hippo_async.journal.codec import MAX_LINE_BYTES
from hippo_async.records import Draft, Kind, Novelty
from hippo_async.testing import Call, FakeClock, ScriptedOps

if TYPE_CHECKING:
    from conftest import Store

SECONDS = 20
LIVE = "seg-*.jsonl"


def test_what_was_appended_comes_back_as_it_was_and_after_reopening_too(store: Store) -> None:
    drafts = [
        Draft("plain"),
        Draft("", Kind.DECISION, Novelty.ROUTINE, {}),
        Draft(
            "日本語 \u2028 \x85 😀 \x7f \x00 \\n",
            Kind.ERROR,
            Novelty.PREDICTION_ERROR,
            {"ключ": [1, 2.5, None]},
        ),
        Draft('"},"payload":null,"seal":"', Kind.TRANSFER, metadata={"nested": {"a": {"b": [True, {}]}}}),
        Draft("line\nbreaks\r\n" * 100, Kind.IDENTITY_CHANGE, timestamp=datetime(1969, 7, 20, tzinfo=UTC)),
        Draft("x" * 300_000, Kind.STATE),
    ]
    with store.opened() as journal:
        appended = [entry.record for entry in journal.append(drafts).result(SECONDS)]
    for draft, record, read in zip(drafts, appended, store.read()[1:], strict=True):
        assert record == read
        assert (read.content, read.kind, read.novelty) == (draft.content, draft.kind, draft.novelty)
        assert read.metadata == draft.metadata
        assert read.agent_id == "agent"


def test_each_record_links_to_the_one_before(twenty: Store) -> None:
    records = twenty.read()
    assert [record.seq for record in records] == list(range(20))
    assert [record.prev_id for record in records] == [None, *(record.record_id for record in records[:-1])]
    assert len({record.record_id for record in records}) == 20


def test_equal_texts_get_different_ids_and_commitments(store: Store) -> None:
    """The salt keeps a purged text from being guessed from its commitment."""
    store.write(["the same"] * 5)
    lines = store.live.read_bytes().splitlines()[1:]
    assert len({line[line.index(b"commitment") : line.index(b'","epoch')] for line in lines}) == 5


def test_a_record_is_stamped_by_the_clock_or_the_caller_in_utc(store: Store) -> None:
    clock = FakeClock(datetime(2026, 3, 4, 5, 6, 7, 8, tzinfo=UTC))
    moment = datetime(2024, 2, 29, 23, 0, tzinfo=timezone(timedelta(hours=-3)))
    with closing(store.journal(clock=clock)) as journal:
        journal.open()
        [by_clock] = journal.append([Draft("now")]).result(SECONDS)
        [by_caller] = journal.append([Draft("then", timestamp=moment)]).result(SECONDS)
        clock.set(datetime(1960, 1, 1, tzinfo=UTC))
        [earlier] = journal.append([Draft("the clock went back")]).result(SECONDS)
    assert by_clock.record.timestamp == "2026-03-04T05:06:07.000008Z"
    assert by_caller.record.timestamp == "2024-03-01T02:00:00.000000Z"
    assert earlier.record.timestamp == "1960-01-01T00:00:00.000000Z"
    assert [record.text for record in store.read()][1:] == ["now", "then", "the clock went back"]


def test_records_appended_together_stand_together(store: Store) -> None:
    with store.opened() as journal:
        groups = [journal.append([Draft(f"{group}.{n}") for n in range(5)]) for group in range(50)]
        wait(groups, SECONDS)
    assert [record.text for record in store.read()][1:] == [f"{g}.{n}" for g in range(50) for n in range(5)]


def test_appends_from_many_threads_are_all_there_once_and_in_order_of_each_thread(store: Store) -> None:
    with store.opened() as journal:
        start = threading.Barrier(8)

        def work(name: int) -> None:
            start.wait(SECONDS)
            for number in range(50):
                journal.append([Draft(f"{name}.{number}")]).result(SECONDS)

        threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
        assert journal.verify_chain().records == 401
    texts = [record.text for record in store.read()][1:]
    for name in range(8):
        assert [text for text in texts if text.startswith(f"{name}.")] == [f"{name}.{n}" for n in range(50)]


def test_waiting_records_are_made_durable_by_one_sync(store: Store) -> None:
    ops = ScriptedOps()
    with store.opened(ops=ops) as journal:
        gate = ops.hold("sync_data", name=LIVE)
        first = journal.append([Draft("first")])
        gate.wait_reached()
        others = [journal.append([Draft(f"text {number}")]) for number in range(100)]
        before = ops.count("sync_data", name=LIVE)
        assert not first.done()
        gate.open()
        wait(others, SECONDS)
        assert ops.count("sync_data", name=LIVE) == before + 1
        assert [future.result()[0].record.seq for future in others] == list(range(2, 102))


def test_nothing_is_acknowledged_before_it_is_synced_and_then_noted_in_head_and_witness(store: Store) -> None:
    """In this order: HEAD must never know of a record that a power loss could take."""
    ops = ScriptedOps()
    with store.opened(ops=ops) as journal:
        for operation, name in [("sync_data", LIVE), ("pwrite", "HEAD"), ("pwrite", journal.journal_id)]:
            gate = ops.hold(operation, name=name)
            future = journal.append([Draft("text")])
            gate.wait_reached()
            assert not future.done()
            gate.open()
            future.result(SECONDS)
        live, heads = store.live, (store.head, store.witness / journal.journal_id)
        assert ops.calls[-5:] == [
            Call("identity", live),
            Call("write", live),
            Call("sync_data", live),
            *(Call("pwrite", head) for head in heads),
        ]


def test_what_is_acknowledged_is_what_head_says_once_closed(store: Store) -> None:
    records = store.write(["one", "two"])
    state = store.head_state()
    assert (state.seq, state.record_id) == (2, records[-1].record_id)


def test_head_only_moves_forward(store: Store) -> None:
    numbers = []
    for _ in range(3):
        store.write(["text"])
        numbers.append(store.head_state().number)
    assert numbers == sorted(set(numbers))


def test_an_idle_journal_settles_its_head(store: Store) -> None:
    """Within a second of the last record, so that a power loss finds HEAD at most that much behind."""
    ops, clock = ScriptedOps(), FakeClock()
    with closing(store.journal(ops=ops, clock=clock)) as journal:
        journal.open()
        store.append(journal, "text")
        gate = ops.hold("sync_data", name="HEAD")
        while not gate.reached:
            clock.advance(0.5)
        gate.open()


@pytest.mark.parametrize(
    ("draft", "at"),
    [
        (Draft("x", metadata={"a": [1, float("nan")]}), "$.metadata.a[1]"),
        (Draft("x", metadata={"a": {"b": 2**53}}), "$.metadata.a.b"),
        (Draft("x", metadata={"a": ("t", "uple")}), "$.metadata.a"),
        (Draft("x", metadata={"a": datetime(2026, 1, 1, tzinfo=UTC)}), "$.metadata.a"),
        (Draft("lone \ud800 surrogate"), "$.content"),
        (Draft(b"bytes"), "$.content"),  # type: ignore[arg-type]
        (Draft("x" * MAX_LINE_BYTES), "$"),
        (Draft("x", kind="rumour"), "$.kind"),  # type: ignore[arg-type]
        (Draft("x", kind='"'), "$.kind"),  # type: ignore[arg-type]
        (Draft("x", novelty="boring"), "$.novelty"),  # type: ignore[arg-type]
    ],
    ids=["nan", "big", "tuple", "datetime", "surrogate", "bytes", "too long", "kind", "quote", "novelty"],
)
def test_a_record_that_cannot_be_written_down_is_refused_with_its_place(
    store: Store, draft: Draft, at: str
) -> None:
    """J3 for kind and novelty. Nothing is stored, and the journal goes on."""
    with store.opened() as journal:
        with pytest.raises(RecordRejected) as caught:
            journal.append([draft]).result(SECONDS)
        assert caught.value.at == at
        assert store.append(journal, "goes on").seq == 1
    assert [record.text for record in store.read()] == ["genesis", "goes on"]


@pytest.mark.parametrize("metadata", [None, 7, "text", [1]])
def test_metadata_that_is_no_object_is_refused(store: Store, metadata: Any) -> None:
    with store.opened() as journal:
        with pytest.raises((TypeError, ValueError)):
            journal.append([Draft("x", metadata=metadata)]).result(SECONDS)
        assert store.append(journal, "goes on").seq == 1


def test_one_rejected_record_fails_alone_and_leaves_no_gap(store: Store) -> None:
    """F35: those that wait with it in the same group are written."""
    ops = ScriptedOps()
    with store.opened(ops=ops) as journal:
        gate = ops.hold("sync_data", name=LIVE)
        journal.append([Draft("first")])
        gate.wait_reached()
        before = journal.append([Draft("before")])
        bad = journal.append([Draft("fine by itself"), Draft("bad", metadata={"x": {1, 2}})])
        no_text = journal.append([Draft(7)])  # type: ignore[arg-type] - the point
        naive = journal.append([Draft("naive", timestamp=datetime(2026, 1, 1))])  # noqa: DTZ001 - the point
        after = journal.append([Draft("after")])
        gate.open()
        assert before.result(SECONDS)[0].record.seq == 2
        assert after.result(SECONDS)[0].record.seq == 3
        for rejected in (bad, no_text):
            with pytest.raises(RecordRejected):
                rejected.result(SECONDS)
        with pytest.raises(ValueError, match="time zone"):
            naive.result(SECONDS)
    assert [record.text for record in store.read()] == ["genesis", "first", "before", "after"]


def test_what_is_no_draft_is_refused_on_the_spot(store: Store) -> None:
    with store.opened() as journal:
        with pytest.raises(AttributeError):
            journal.append(["text"])  # type: ignore[list-item] - the point
        assert store.append(journal, "goes on").seq == 1


def test_an_append_of_nothing_resolves_to_nothing(store: Store) -> None:
    with store.opened() as journal:
        assert journal.append([]).result(SECONDS) == []
        assert store.append(journal, "text").seq == 1


@pytest.mark.parametrize("type_", ["genesis", "rumour", ""])
def test_a_type_that_cannot_follow_is_refused(store: Store, type_: str) -> None:
    """Once written, it would keep the journal from ever opening again."""
    with store.opened() as journal, pytest.raises(InvalidInput):
        journal.append([Draft("text")], record_type=type_).result(SECONDS)
    assert store.report().seq == 0
