"""A disk that fails: acknowledged or raised, and acknowledged ⊆ recovered = a prefix of tried."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from hippo_async.errors import HippoError, JournalPoisoned, WriteFailed
from hippo_async.records import Draft
from hippo_async.testing import ScriptedOps, each_failure

if TYPE_CHECKING:
    from conftest import Store

SECONDS = 20
LIVE = "seg-*.jsonl"
ROTATES = 1300  # bytes: two records a segment
ERRORS = [errno.EIO, errno.ENOSPC]
if os.environ.get("HIPPO_LONG") == "1":
    ERRORS += [errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EMFILE]


@dataclass
class Session:
    """What a program tried to append, and what it was told is durable."""

    store: Store
    tried: list[str] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    failed: bool = False

    def run(self, ops: ScriptedOps) -> None:
        """Open, append in groups of one and two over several segments, close. Faults end it early."""
        journal = self.store.journal(ops=ops)
        try:
            with self._noting():
                journal.open()
                for size in (1, 2, 1, 1):
                    self._append(journal.append, size)
        finally:
            with self._noting():
                journal.close()

    def _append(self, append: Callable[[list[Draft]], Future[Any]], size: int) -> None:
        texts = [f"text {len(self.tried) + number}" for number in range(size)]
        self.tried += texts
        append([Draft(text) for text in texts]).result(SECONDS)
        self.acknowledged += texts

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            raise AssertionError("somebody was left waiting") from None
        except OSError:
            self.failed = True

    def check(self) -> list[str]:
        """The promise: nothing acknowledged is missing, nothing is there that was not tried, and in order."""
        with self.store.opened(ops=ScriptedOps(syncing=False)) as journal:
            recovered = [record.text for record, _ in journal.scan()][1:]
        assert recovered[: len(self.acknowledged)] == self.acknowledged
        assert recovered == self.tried[: len(recovered)]
        return recovered


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("error", ERRORS, ids=errno.errorcode.get)
def test_whichever_call_fails_nothing_acknowledged_is_lost_and_the_journal_opens_again(
    store: Store, error: int, lasting: bool
) -> None:
    """F12, F14, F15, F18: every call of making, opening, appending, rotating and closing fails once.

    With two kinds of error; with all of them where ``HIPPO_LONG=1``.
    """
    runs = 0
    for ops in each_failure(error, lasting=lasting):
        session = Session(replace(store, base=store.base / str(runs), segment_bytes=ROTATES))
        session.run(ops)
        recovered = session.check()
        again = Session(session.store, tried=[*recovered], acknowledged=[*recovered])
        again.run(ScriptedOps(syncing=False))
        assert again.check() == again.tried
        runs += 1
    print("calls failed:", runs - 1)
    assert runs > 100, "the steps make more calls than that"


@pytest.mark.parametrize("error", [errno.EACCES, errno.EMFILE])
def test_whichever_call_of_reopening_fails_the_next_one_works(store: Store, error: int) -> None:
    small = replace(store, segment_bytes=ROTATES)
    written = Session(small)
    written.run(ScriptedOps(syncing=False))
    for ops in each_failure(error):
        journal = small.journal(ops=ops)
        with suppress(OSError):
            journal.open()
        with suppress(OSError):
            journal.close()
        written.check()
        with small.opened():
            pass


def test_no_fault_leaks_a_descriptor(store: Store) -> None:
    """F17, F49: whatever fails, in the end every file is closed, and closed once."""
    for number, ops in enumerate(each_failure(errno.EIO)):
        session = Session(replace(store, base=store.base / str(number), segment_bytes=ROTATES))
        session.run(ops)
        assert ops.descriptors == {}, f"call {number + 1}, {ops.calls[number]}"


def test_no_reader_leaks_a_descriptor(twenty: Store) -> None:
    for ops in each_failure(errno.EIO):
        journal = twenty.journal(ops=ops, read_only=True)
        with suppress(OSError):
            journal.open()
            list(journal.scan())
        journal.close()
        assert ops.descriptors == {}


def test_a_sync_that_fails_is_never_asked_for_again(store: Store) -> None:
    """F14: after the error the kernel calls the same pages clean; a second sync would say yes to a loss."""
    ops = ScriptedOps()
    with store.opened(ops=ops) as journal:
        store.append(journal, "before")
        ops.fail("sync_data", errno.EIO, name=LIVE)
        gate = ops.hold("write", name=LIVE)
        group = [journal.append([Draft("first of the group")])]
        gate.wait_reached()
        syncs = ops.count("sync_data", name=LIVE)
        gate.open()
        for future in group:
            with pytest.raises(WriteFailed) as caught:
                future.result(SECONDS)
            assert caught.value.__cause__.errno == errno.EIO  # type: ignore[union-attr]
        assert journal.poison is not None
        for _ in range(3):
            with pytest.raises(JournalPoisoned):
                journal.append([Draft("after")])
        assert ops.count("sync_data", name=LIVE) == syncs + 1
        writes = ops.count("write", name=LIVE)
    assert ops.count("sync_data", name=LIVE) == syncs + 1
    assert ops.count("write", name=LIVE) == writes

    assert store.write(["after reopening"])[0].text == "after reopening"
    assert store.read()[1].text == "before"


def test_a_failed_write_fails_the_whole_group_and_all_that_wait_behind_it(store: Store) -> None:
    ops = ScriptedOps()
    with store.opened(ops=ops) as journal:
        gate = ops.hold("sync_data", name=LIVE)
        held = journal.append([Draft("held")])
        gate.wait_reached()
        group = [journal.append([Draft(f"text {number}")]) for number in range(20)]
        ops.fail("write", errno.ENOSPC, name=LIVE)
        gate.open()
        assert held.result(SECONDS)
        for future in group:
            with pytest.raises((WriteFailed, JournalPoisoned)):
                future.result(SECONDS)
    assert [record.text for record in store.read()] == ["genesis", "held"]


def test_a_poisoned_journal_may_still_be_read_and_says_why(twenty: Store) -> None:
    ops = ScriptedOps()
    with twenty.opened(ops=ops) as journal:
        ops.fail("write", errno.EIO, name=LIVE)
        with pytest.raises(WriteFailed):
            twenty.append(journal, "lost")
        assert "Input/output error" in str(journal.poison)
        assert len(list(journal.scan())) == 20
        assert journal.verify_chain().intact


def test_a_poisoned_journal_is_clean_after_reopening_the_same_object(twenty: Store) -> None:
    ops = ScriptedOps()
    journal = twenty.journal(ops=ops)
    journal.open()
    ops.fail("sync_data", errno.EIO, name=LIVE)
    with pytest.raises(WriteFailed):
        twenty.append(journal, "unknown")
    journal.close()
    journal.open()
    assert journal.poison is None
    assert twenty.append(journal, "known").seq in (20, 21)
    journal.close()


@pytest.mark.parametrize("length", [1, 2, 7, 100, 533])
def test_short_writes_are_completed(store: Store, length: int) -> None:
    """F11: the file holds the same bytes as if every write had been whole."""
    ops = ScriptedOps(syncing=False)
    ops.shorten(length, lasting=True)
    with store.opened(ops=ops) as journal:
        for number in range(3):
            store.append(journal, f"text {number} " * 50)
        assert journal.verify_chain().intact
    assert len(store.read()) == 4
    assert ops.count("write", name=LIVE) > 3


@pytest.mark.parametrize("length", [0, 1, 200, 600])
def test_a_short_write_that_is_not_completed_is_a_torn_tail(twenty: Store, length: int) -> None:
    """F12: the disk is full in the middle of a record."""
    written = twenty.read()
    ops = ScriptedOps()
    with twenty.opened(ops=ops) as journal:
        if length:
            ops.shorten(length, name=LIVE)
        ops.fail("write", errno.ENOSPC, at=2 if length else 1, name=LIVE)
        with pytest.raises(WriteFailed):
            twenty.append(journal, "does not fit " * 100)
    report = twenty.report()
    assert (report.seq, report.torn_bytes) == (19, length)
    assert twenty.read() == written
    assert twenty.write(["fits again"])[0].seq == 20


def test_a_group_that_broke_off_between_two_records_is_recovered_as_a_prefix(twenty: Store) -> None:
    """Whole records of a group that was never acknowledged may stay: tried, not promised."""
    ops = ScriptedOps()
    with twenty.opened(ops=ops) as journal:
        ops.shorten(900, name=LIVE)
        ops.fail("write", errno.EIO, at=2, name=LIVE)
        with pytest.raises(WriteFailed):
            journal.append([Draft("one"), Draft("two")]).result(SECONDS)
    assert [record.text for record in twenty.read()][20:] == ["one"]
    assert twenty.report().torn_bytes > 0


@pytest.mark.parametrize("name", ["HEAD", "witness"])
def test_a_head_that_cannot_be_written_is_not_acknowledged(twenty: Store, name: str) -> None:
    """The record is durable by then; what is not promised may be there."""
    ops = ScriptedOps()
    with twenty.opened(ops=ops) as journal:
        target = name if name == "HEAD" else journal.journal_id
        ops.fail("pwrite", errno.EIO, name=target)
        with pytest.raises(WriteFailed):
            twenty.append(journal, "durable, not acknowledged")
        with pytest.raises(JournalPoisoned):
            journal.append([Draft("after")])
    assert len(twenty.read()) in (20, 21)
    assert twenty.write(["after"])


def test_a_head_that_cannot_be_settled_at_close_is_raised_and_nothing_lost(twenty: Store) -> None:
    ops = ScriptedOps()
    journal = twenty.journal(ops=ops)
    journal.open()
    record = twenty.append(journal, "acknowledged")
    ops.fail("sync_data", errno.EIO, name="HEAD")
    with pytest.raises(OSError, match="Input/output"):
        journal.close()
    assert ops.descriptors == {}
    assert twenty.read()[-1] == record
    twenty.write(["the lock was given back"])


def test_an_error_while_reading_is_an_error_of_the_disk_and_no_verdict(twenty: Store) -> None:
    """F16: scan, read and verify raise it; none calls the journal broken, or shorter than it is."""
    ops = ScriptedOps()
    with twenty.opened(ops=ops, read_only=True) as journal:
        [*_, (record, location)] = journal.scan()
        for read in (
            lambda: list(journal.scan()),
            lambda: journal.read(location, record.record_id),
            journal.verify_chain,
        ):
            ops.fail("pread", errno.EIO)
            with pytest.raises(OSError, match="Input/output") as caught:
                read()
            assert not isinstance(caught.value, HippoError)


@contextmanager
def interrupted() -> Iterator[list[int]]:
    """Send this process a signal each millisecond that it works, and handle it; yield those that came."""
    came: list[int] = []
    before = signal.signal(signal.SIGPROF, lambda number, _: came.append(number))
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
    try:
        yield came
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def test_signals_that_interrupt_the_system_calls_are_nobodys_error(store: Store) -> None:
    """F16: a call that a handled signal interrupts (EINTR) is made again."""
    texts = [f"text {number} " * 1000 for number in range(100)]
    with interrupted() as came:
        store.write(texts)
        found = [record.text for record in store.read()][1:]
        store.write(["and on"])
    assert came, "signals came meanwhile"
    assert found == texts
