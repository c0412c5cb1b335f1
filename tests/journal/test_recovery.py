"""Opening: what a crash leaves is repaired and reported; anything else is refused and nothing changed."""

from __future__ import annotations

import errno
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippo_async.errors import (
    AcknowledgedLoss,
    InvalidInput,
    JournalCorrupt,
    JournalError,
    NotFound,
)
from hippo_async.journal.scan import Chain, ChainBroken, walk
from hippo_async.testing import ScriptedOps, each_failure

if TYPE_CHECKING:
    from conftest import Store


def cut_lines(store: Store, keep: int) -> None:
    lines = store.live.read_bytes().splitlines(keepends=True)
    store.live.write_bytes(b"".join(lines[:keep]))


def grow(store: Store, tail: bytes) -> None:
    with store.live.open("ab") as file:
        file.write(tail)


def unacknowledged_line(store: Store) -> bytes:
    """The line that a process would have written next, had it not died."""
    ahead = store.copy_to(store.base.with_name("ahead"))
    size = ahead.live.stat().st_size
    ahead.write(["never acknowledged, " + "long enough for two sectors " * 50])
    return ahead.live.read_bytes()[size:]


def test_a_new_journal_begins_with_a_genesis_record(store: Store) -> None:
    with store.opened() as journal:
        [(genesis, _)] = journal.scan()
        assert (genesis.seq, genesis.type, genesis.prev_id) == (0, "genesis", None)
        assert journal.tail.record_id == genesis.record_id
    assert store.report().seq == 0


def test_opening_reports_what_it_made_and_what_it_found(store: Store) -> None:
    journal = store.journal()
    first = journal.open()
    journal.close()
    assert (first.created, first.seq, first.torn_bytes, first.notes) == (True, 0, 0, ())

    store.write(["text"])
    again = store.journal()
    report = again.open()
    again.close()
    assert (report.created, report.seq, report.journal_id) == (False, 1, first.journal_id)


def test_a_journal_object_may_be_opened_again(twenty: Store) -> None:
    journal = twenty.journal()
    for _ in range(3):
        assert journal.open().seq == 19
        journal.close()
        journal.close()


def test_a_read_only_open_of_nothing_makes_nothing(store: Store) -> None:
    with pytest.raises(NotFound):
        store.report()
    assert not store.root.exists()


@pytest.mark.parametrize("agent_id", ["", "x" * 257])
def test_an_agent_id_out_of_bounds_is_refused(store: Store, agent_id: str) -> None:
    with pytest.raises(InvalidInput):
        replace(store, agent_id=agent_id).journal()


@pytest.mark.parametrize("agent_id", ["агент 007", 'q"uo}te,"id":"', "\u2028\u0000\\", "😀" * 256])
def test_any_text_is_an_agent_id(store: Store, agent_id: str) -> None:
    named = replace(store, agent_id=agent_id)
    named.write(["text"])
    assert [record.agent_id for record in named.read()] == [agent_id, agent_id]


def test_a_torn_tail_is_cut_kept_aside_and_reported_at_every_length(twenty: Store) -> None:
    """F01: recovered is the longest prefix of whole records, appending goes on and the chain verifies."""
    written = twenty.read()
    line = unacknowledged_line(twenty)
    whole = twenty.live.read_bytes()
    for length in [1, 2, 9, 10, 100, *range(111, len(line), 111), len(line) - 2, len(line) - 1]:
        grow(twenty, line[:length])
        journal = twenty.journal()
        report = journal.open()
        assert report.torn_bytes == length
        assert report.torn_copy is not None
        assert report.torn_copy.read_bytes() == line[:length]
        assert twenty.live.read_bytes() == whole
        assert [record for record, _ in journal.scan()] == written
        journal.close()

    [after] = twenty.write(["goes on"])
    assert (after.seq, after.prev_id) == (20, written[-1].record_id)
    with twenty.opened() as journal:
        assert journal.verify_chain().intact


def test_a_whole_record_behind_the_last_acknowledged_one_is_kept(twenty: Store) -> None:
    """Tried, durable and not acknowledged: the process died between the sync and the answer."""
    grow(twenty, unacknowledged_line(twenty))
    found = twenty.read()
    assert len(found) == 21
    assert found[-1].text.startswith("never acknowledged")
    assert twenty.write(["next"])[0].seq == 21


@pytest.mark.parametrize("size", [1, 511, 512, 4096, 4 << 20])
def test_zeros_behind_the_last_record_are_torn(twenty: Store, size: int) -> None:
    """F07: what a file system leaves of a write whose size was kept and whose data was not."""
    grow(twenty, bytes(size))
    with closing(twenty.journal()) as journal:
        report = journal.open()
        assert (report.seq, report.torn_bytes) == (19, size)
        assert journal.verify_chain().intact
    assert twenty.report().torn_bytes == 0


def test_a_last_line_with_a_sector_of_zeros_is_torn(twenty: Store) -> None:
    written = twenty.read()
    line = bytearray(unacknowledged_line(twenty))
    start = twenty.live.stat().st_size
    first = -start % 512
    line[first : first + 512] = bytes(512)
    grow(twenty, bytes(line))
    assert twenty.report().torn_bytes == len(line)
    with twenty.opened():
        assert twenty.read() == written


def test_a_complete_last_line_that_does_not_verify_is_damage_and_not_torn(twenty: Store) -> None:
    line = bytearray(unacknowledged_line(twenty))
    line[600] ^= 1
    grow(twenty, bytes(line))
    twenty.check_refused(JournalCorrupt)


def test_a_torn_line_with_a_whole_one_behind_it_is_damage(twenty: Store) -> None:
    line = unacknowledged_line(twenty)
    grow(twenty, line[:700] + b"\n" + line)
    twenty.check_refused(JournalCorrupt)


def test_a_torn_tail_in_front_of_acknowledged_records_is_a_loss(twenty: Store) -> None:
    lines = twenty.live.read_bytes().splitlines(keepends=True)
    twenty.live.write_bytes(b"".join(lines[:18]) + lines[18][:200])
    twenty.check_refused(AcknowledgedLoss)


def test_damage_in_the_middle_is_refused_with_its_place(twenty: Store) -> None:
    """F08: path, offset, seq; and nothing is cut."""
    lines = twenty.live.read_bytes().splitlines(keepends=True)
    offset = sum(map(len, lines[:7]))
    lines[7] = lines[7].replace(b"text 7", b"text 8")
    twenty.live.write_bytes(b"".join(lines))

    error = twenty.check_refused(JournalCorrupt)

    assert (error.path, error.offset, error.seq) == (twenty.live, offset, 7)
    assert "text" not in str(error.reason)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: b"\n",
        lambda data: data[:300],
        lambda data: bytes(len(data)),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.decode().encode("utf-16"),
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"[" * 100_000 + b"\n",
        lambda data: b'{"header":' + b"9" * 10_000 + b"\n",
        lambda data: data[: len(data) // 2] + b"\xff\xfe\n" + data[len(data) // 2 :],
        lambda data: b"\n".join(data.split(b"\n")[::-1]),
    ],
    ids=[
        "empty",
        "newline",
        "half genesis",
        "zeros",
        "bom",
        "utf-16",
        "crlf",
        "deep",
        "digits",
        "utf-8",
        "reversed",
    ],
)
def test_a_segment_of_anything_else_is_refused(twenty: Store, spoil: Callable[[bytes], bytes]) -> None:
    """F09, F10: bounded, and never an error of the parser's own."""
    twenty.live.write_bytes(spoil(twenty.live.read_bytes()))
    twenty.check_refused(JournalError)


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=700), at=st.integers(0, 12_000))
def test_garbage_never_walks(twenty_once: Store, data: bytes, at: int) -> None:
    """Whatever is written over the lines, the walk yields untouched records only, then breaks."""
    original = twenty_once.live.read_bytes()
    changed = original[:at] + data + original[at + len(data) :]
    chain = Chain(twenty_once.report().journal_id, twenty_once.agent_id)
    end = 0
    try:
        for step in walk(changed, chain, twenty_once.sealers().record):
            end = step.offset + step.length
    except ChainBroken:
        pass
    assert original[:end] == changed[:end]
    assert changed == original or end < len(changed)


def test_opening_needs_no_free_space(twenty: Store) -> None:
    """F13: the torn tail is cut, the copy of it is what a full disk costs."""
    grow(twenty, unacknowledged_line(twenty)[:-1])
    ops = ScriptedOps()
    ops.fail("write", errno.ENOSPC, lasting=True)
    journal = twenty.journal(ops=ops)
    report = journal.open()
    journal.close()
    assert (report.seq, report.torn_copy) == (19, None)
    assert report.torn_bytes > 0


def test_what_is_served_after_a_recovery_was_synced_first(twenty: Store) -> None:
    grow(twenty, unacknowledged_line(twenty))
    ops = ScriptedOps()
    with twenty.opened(ops=ops):
        assert ops.count("sync", name=twenty.live.name) == 1


@pytest.mark.parametrize("operation", ["sync", "pread", "truncate", "*"])
def test_a_recovery_that_fails_changes_nothing_for_the_next(twenty: Store, operation: str) -> None:
    """F15, F16: every call fails once; a read that fails is an I/O error, never a verdict."""
    written = twenty.read()
    grow(twenty, unacknowledged_line(twenty)[:-1])
    damaged = twenty.live.read_bytes()
    for ops in each_failure(errno.EIO, operation=operation):
        journal = twenty.journal(ops=ops)
        try:
            journal.open()
        except OSError as error:
            assert error.errno == errno.EIO
        finally:
            try_closing(journal.close)
        assert twenty.read() == written
        twenty.live.write_bytes(damaged)


def test_recovering_twice_is_recovering_once(twenty: Store) -> None:
    grow(twenty, unacknowledged_line(twenty)[:-1])
    with twenty.opened():
        pass
    once = twenty.live.read_bytes()
    with twenty.opened():
        pass
    assert twenty.live.read_bytes() == once
    assert len(list((twenty.root / "torn").iterdir())) == 1


def try_closing(close: Callable[[], None]) -> None:
    try:
        close()
    except OSError as error:
        assert error.errno == errno.EIO
