"""Callers that give up and journals that close: all or nothing, an answer for everybody, no loss."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, Future, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from hippo_async.errors import Closed
from hippo_async.journal.scan import CLOSE
from hippo_async.records import Draft, Kind
from hippo_async.testing import FakeClock, ScriptedOps

if TYPE_CHECKING:
    from conftest import Store

SECONDS = 20
LIVE = "seg-*.jsonl"


def test_a_cancelled_append_that_has_not_begun_is_taken_back(store: Store) -> None:
    ops = ScriptedOps()
    with store.opened(ops=ops) as journal:
        gate = ops.hold("sync_data", name=LIVE)
        journal.append([Draft("first")])
        gate.wait_reached()
        cancelled = journal.append([Draft("cancelled")])
        after = journal.append([Draft("after")])
        assert cancelled.cancel()
        gate.open()
        assert after.result(SECONDS)[0].record.seq == 2
        with pytest.raises(CancelledError):
            cancelled.result(SECONDS)
    assert [record.text for record in store.read()] == ["genesis", "first", "after"]


@pytest.mark.parametrize("operation", ["write", "sync_data"])
def test_an_append_that_has_begun_is_finished_and_not_mixed_with_the_next(
    store: Store, operation: str
) -> None:
    """F33: the caller that gives up waiting neither stops the writer nor lets another write in between."""
    ops = ScriptedOps()
    with store.opened(ops=ops) as journal:
        gate = ops.hold(operation, name=LIVE)
        begun = journal.append([Draft("begun " * 10_000)])
        gate.wait_reached()
        assert not begun.cancel()
        following = journal.append([Draft("following")])
        assert not following.done()
        gate.open()
        assert following.result(SECONDS)[0].record.seq == 2
    texts = [record.text[:9] for record in store.read()]
    assert texts == ["genesis", "begun beg", "following"]


def test_a_group_of_cancelled_appends_writes_nothing(store: Store) -> None:
    ops = ScriptedOps()
    with store.opened(ops=ops) as journal:
        gate = ops.hold("sync_data", name=LIVE)
        journal.append([Draft("first")])
        gate.wait_reached()
        futures = [journal.append([Draft("cancelled")]) for _ in range(10)]
        assert [future.cancel() for future in futures] == [True] * 10
        gate.open()
    assert len(store.read()) == 2


def test_what_is_queued_when_the_journal_closes_is_written(store: Store) -> None:
    """New segments included: closing must not take away what a rotation needs."""
    small = replace(store, segment_bytes=600)
    ops = ScriptedOps()
    journal = small.journal(ops=ops)
    journal.open()
    gate = ops.hold("sync_data", name=LIVE)
    futures = [journal.append([Draft("first")])]
    gate.wait_reached()
    for number in range(2000):  # more than one group takes
        futures.append(journal.append([Draft(f"text {number}")]))
    closing_thread = threading.Thread(target=journal.close)
    closing_thread.start()
    gate.open()
    closing_thread.join(SECONDS)
    done, waiting = wait(futures, SECONDS)
    assert not waiting
    assert [future.exception() for future in done if future.exception()] == []
    assert len(small.read()) == 2002


def test_a_clock_that_moves_while_the_journal_closes_costs_nothing(store: Store) -> None:
    """The wake-up that a passed deadline leaves in the queue is not the sign to end."""
    ops, clock = ScriptedOps(), FakeClock()
    journal = store.journal(ops=ops, clock=clock)
    journal.open()
    store.append(journal, "a deadline to settle HEAD is set after this")
    gate = ops.hold("sync_data", name=LIVE)
    held = journal.append([Draft("held")])
    gate.wait_reached()
    clock.advance(5)
    queued = journal.append([Draft("queued")])
    closing_thread = threading.Thread(target=journal.close)
    closing_thread.start()
    closing_thread.join(0.2)  # time to give the sign to end; were it too short, the test would just pass
    gate.open()
    closing_thread.join(SECONDS)
    assert held.result(SECONDS)
    assert queued.result(SECONDS)
    assert store.read()[-1].text == "queued"


def test_appends_that_race_with_closing_are_written_or_refused(store: Store) -> None:
    """F26: each waiter gets an answer, none hangs, and nothing acknowledged is missing."""
    for _ in range(20):
        journal = store.journal()
        start = journal.open().seq
        futures: list[Future[Any]] = []
        ready = threading.Barrier(2)

        def work(journal: Any = journal, futures: Any = futures, ready: Any = ready) -> None:
            ready.wait(SECONDS)
            try:
                while True:
                    futures.append(journal.append([Draft("racing")]))
            except Closed:
                pass

        thread = threading.Thread(target=work)
        thread.start()
        ready.wait(SECONDS)
        journal.close()
        thread.join(SECONDS)
        assert not thread.is_alive()
        done, waiting = wait(futures, SECONDS)
        assert not waiting
        acknowledged = sum(future.exception() is None for future in done)
        assert store.report().seq == start + acknowledged


def test_a_closed_journal_takes_nothing(store: Store) -> None:
    journal = store.journal()
    with pytest.raises(Closed):
        journal.append([Draft("before open")])
    journal.open()
    journal.close()
    with pytest.raises(Closed):
        journal.append([Draft("after close")])
    with pytest.raises(Closed):
        _ = journal.tail
    with store.opened(read_only=True) as reader, pytest.raises(Closed):
        reader.append([Draft("read-only")])


def test_nothing_is_appended_after_the_closing_record(store: Store) -> None:
    """J13: the old chain ends with it, also after reopening."""
    with store.opened() as journal:
        journal.append([Draft("closed for good", Kind.IDENTITY_CHANGE)], record_type=CLOSE).result(SECONDS)
        with pytest.raises(Closed):
            journal.append([Draft("more")]).result(SECONDS)
    with store.opened() as journal, pytest.raises(Closed):
        journal.append([Draft("more")]).result(SECONDS)
    assert [record.type for record in store.read()] == ["genesis", "close"]


def test_what_is_appended_in_one_group_with_the_closing_record_is_refused_behind_it(store: Store) -> None:
    ops = ScriptedOps()
    with store.opened(ops=ops) as journal:
        gate = ops.hold("sync_data", name=LIVE)
        journal.append([Draft("first")])
        gate.wait_reached()
        before = journal.append([Draft("before")])
        last = journal.append([Draft("closed for good", Kind.IDENTITY_CHANGE)], record_type=CLOSE)
        after = journal.append([Draft("after")])
        gate.open()
        assert [future.result(SECONDS)[0].record.seq for future in (before, last)] == [2, 3]
        with pytest.raises(Closed):
            after.result(SECONDS)
    assert store.report().seq == 3
