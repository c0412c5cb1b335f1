"""Reading: beside a writer, from any place on, one record at a time, and what verify_chain says (J6)."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest

from hippo_async.errors import Closed, JournalCorrupt, NotFound
from hippo_async.journal import Journal
from hippo_async.journal.codec import split_line
from hippo_async.records import Draft, Location
from hippo_async.testing import ScriptedOps

if TYPE_CHECKING:
    from conftest import Store

SECONDS = 20
LIVE = "seg-*.jsonl"
STEPS: dict[str, Callable[[Journal], object]] = {
    "open": Journal.open,
    "scan": lambda journal: list(journal.scan()),
    "verify_chain": lambda journal: journal.verify_chain().intact,
}


def test_a_reader_beside_a_writer_sees_what_is_acknowledged_and_touches_nothing(twenty: Store) -> None:
    with twenty.opened() as writer:
        twenty.append(writer, "written while open")
        before = twenty.fingerprint()
        names = {path.name for path in twenty.root.iterdir()}
        with twenty.opened(read_only=True) as reader:
            assert [record.text for record, _ in reader.scan()][20:] == ["written while open"]
            twenty.append(writer, "written later")
            assert [record.text for record, _ in reader.scan()][21:] == ["written later"]
            assert reader.verify_chain().records == 22
        assert twenty.fingerprint() != before
        assert {path.name for path in twenty.root.iterdir()} == names
        twenty.append(writer, "the writer was not disturbed")


def test_reading_changes_no_file(twenty: Store) -> None:
    with (twenty.live).open("ab") as file:
        file.write(b"torn")
    before = {path: path.stat().st_mtime_ns for path in twenty.base.rglob("*")}
    with twenty.opened(read_only=True) as reader:
        list(reader.scan())
        assert reader.verify_chain().intact
    assert {path: path.stat().st_mtime_ns for path in twenty.base.rglob("*")} == before


def test_a_reader_does_not_take_a_group_under_way_for_damage(twenty: Store) -> None:
    """Half a record behind the acknowledged ones is somebody writing."""
    ops = ScriptedOps()
    with twenty.opened(ops=ops) as writer, twenty.opened(read_only=True) as early:
        ops.shorten(200, name=LIVE)
        gate = ops.hold("write", at=2, name=LIVE)
        future = writer.append([Draft("under way")])
        gate.wait_reached()
        with twenty.opened(read_only=True) as late:
            for reader in (early, late):
                assert len(list(reader.scan())) == 20
                assert reader.verify_chain().intact
        gate.open()
        future.result(SECONDS)
        assert len(list(early.scan())) == 21


@pytest.mark.parametrize("read", ["open", "scan", "verify_chain"])
def test_a_reader_is_never_wrong_whatever_is_written_between_two_of_its_calls(
    store: Store, read: str
) -> None:
    """At each call of the reader in turn, the writer appends and begins two segments before it goes on."""
    once = replace(store, segment_bytes=1300)
    once.write(["text"])
    for at in count(1):
        beside = once.copy_to(store.base.with_name(f"call-{at}"))
        ops = ScriptedOps()
        with (
            beside.opened(ops=ScriptedOps(syncing=False)) as writer,
            closing(beside.journal(ops=ops, read_only=True)) as reader,
            ThreadPoolExecutor(1) as thread,
        ):
            if read != "open":
                reader.open()
            gate = ops.hold("*", at=at)
            reading = thread.submit(STEPS[read], reader)
            while not (gate.reached or reading.done()):
                wait([reading], 0.001)
            for number in range(5 * gate.reached):
                beside.append(writer, f"between the reader's calls, {number}")
            gate.open()
            assert reading.result(SECONDS), f"call {at}: {ops.calls[at - 1]}"
            assert len(list(reader.scan())) == writer.tail.seq + 1
        if not gate.reached:
            assert at > 5, "a reader makes more calls than that"
            break


def test_two_readers_and_a_closed_one(twenty: Store) -> None:
    with twenty.opened(read_only=True) as one, twenty.opened(read_only=True) as other:
        assert list(one.scan()) == list(other.scan())
        one.close()
        with pytest.raises(Closed):
            list(one.scan())
        assert other.verify_chain().intact


@pytest.mark.parametrize("after", [-1, 0, 1, 10, 18, 19, 20, 1000])
def test_a_scan_after_a_record_is_the_tail_of_the_scan(twenty: Store, after: int) -> None:
    with twenty.opened(read_only=True) as journal:
        assert list(journal.scan(after=after)) == list(journal.scan())[max(after + 1, 0) :]


def test_a_scan_after_a_record_checks_it_and_what_follows_and_leaves_what_is_before(twenty: Store) -> None:
    """What is before was checked when the journal was opened; a walk of the whole chain checks it again."""
    with twenty.opened(read_only=True) as journal:
        everything = list(journal.scan())
        whole = twenty.live.read_bytes()
        for record, location in everything:
            twenty.live.write_bytes(_flipped(whole, location.offset + 20))
            for after in range(record.seq + 1, 20):
                assert list(journal.scan(after=after)) == everything[after + 1 :]
            for after in range(-1, record.seq + 1):
                with pytest.raises(JournalCorrupt) as caught:
                    list(journal.scan(after=after))
                assert (caught.value.seq, caught.value.offset) == (record.seq, location.offset)
            assert not journal.verify_chain().intact


@pytest.mark.parametrize("change", ["a line more", "a line less"])
def test_a_scan_after_a_record_that_stands_in_another_line_says_where_the_chain_breaks(
    twenty: Store, change: str
) -> None:
    with twenty.opened(read_only=True) as journal:
        _, location = list(journal.scan())[3]
        whole = twenty.live.read_bytes()
        at = location.offset if change == "a line more" else location.offset - 1
        broken = whole[:at] + b"\n" + whole[at:] if change == "a line more" else _flipped(whole, at)
        twenty.live.write_bytes(broken)
        for after in (10, 19):
            with pytest.raises(JournalCorrupt) as caught:
                list(journal.scan(after=after))
            assert caught.value.seq == (3 if change == "a line more" else 2)


def _flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def test_the_place_an_append_returns_is_where_the_scan_finds_the_record(twenty: Store) -> None:
    with twenty.opened() as journal:
        appended = journal.append([Draft("one"), Draft("two")]).result(SECONDS)
        appended += journal.append([Draft("three")]).result(SECONDS)
        assert [tuple(entry) for entry in appended] == list(journal.scan(after=19))


def test_a_record_read_by_itself_equals_the_scanned_one(twenty: Store) -> None:
    with twenty.opened(read_only=True) as journal:
        for record, location in journal.scan():
            assert journal.read(location, record.record_id) == record


def test_a_record_is_not_served_once_a_byte_of_it_has_changed(twenty: Store) -> None:
    with twenty.opened(read_only=True) as journal:
        record, location = list(journal.scan())[9]
        with twenty.live.open("r+b", buffering=0) as file:
            for at in range(location.offset, location.offset + location.length):
                [byte] = os.pread(file.fileno(), 1, at)
                os.pwrite(file.fileno(), bytes([byte ^ 1 << at % 8]), at)
                with pytest.raises(JournalCorrupt) as caught:
                    journal.read(location, record.record_id)
                assert (caught.value.path, caught.value.offset) == (twenty.live, location.offset)
                os.pwrite(file.fileno(), bytes([byte]), at)
        assert journal.read(location, record.record_id) == record


def test_a_record_is_not_served_from_another_place(twenty: Store) -> None:
    with twenty.opened(read_only=True) as journal:
        [(first, at_first), (second, at_second), *_] = journal.scan()
        with pytest.raises(NotFound):
            journal.read(at_first, second.record_id)
        for wrong in (
            Location(0, at_second.offset + 1, at_second.length),
            Location(0, at_second.offset, at_second.length + 1),
            Location(0, 1 << 30, 100),
        ):
            with pytest.raises(JournalCorrupt):
                journal.read(wrong, second.record_id)
        assert journal.read(at_first, first.record_id) == first


def test_a_line_of_another_journal_in_a_record_s_place_is_not_served(twenty: Store) -> None:
    """Same agent, same key, same length: the key is the journal's own."""
    other = replace(twenty, base=twenty.base / "other")
    other.write(f"text {number}" for number in range(1, 20))
    lines = other.live.read_bytes().splitlines(keepends=True)
    with twenty.opened(read_only=True) as journal:
        record, location = list(journal.scan())[5]
        with twenty.live.open("r+b", buffering=0) as file:
            os.pwrite(file.fileno(), lines[5], location.offset)
        with pytest.raises(JournalCorrupt):
            journal.read(location, record.record_id)


def test_verify_chain_says_intact_with_the_number_of_records(segmented: Store) -> None:
    with segmented.opened(read_only=True) as journal:
        report = journal.verify_chain()
        assert (report.intact, report.records, report.seq) == (True, 20, 19)
        assert report.record_id == journal.tail.record_id
        assert report.as_dict()["reason"] is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda line: line.replace(b'"text 9"', b'"text 8"'), "payload"),
        (lambda line: line.replace(b'"novel"', b'"routine"'), "seal"),
        (lambda line: line[:-10] + (b"00" if line[-10:-8] != b"00" else b"11") + line[-8:], "seal"),
        (lambda line: line[:-67] + line[-67:].upper(), "seal"),
    ],
    ids=["content", "novelty", "seal", "upper-case seal"],
)
def test_verify_chain_names_a_record_that_was_changed(
    segmented: Store, change: Callable[[bytes], bytes], reason: str
) -> None:
    """J6: by its id, with the place and the reason."""
    with segmented.opened(read_only=True) as journal:
        record, location = list(journal.scan())[9]
        path = segmented.segments[1]
        data = path.read_bytes()
        line = data[location.offset : location.offset + location.length]
        path.write_bytes(data[: location.offset] + change(line) + data[location.offset + location.length :])
        report = journal.verify_chain()
    assert (report.intact, report.record_id, report.seq) == (False, record.record_id, 9)
    assert (report.path, report.offset) == (path, location.offset)
    assert reason in str(report.reason)


def test_verify_chain_names_the_record_behind_a_gap(segmented: Store) -> None:
    """J6: a link that does not match is a break, named by the record that does not follow."""
    with segmented.opened(read_only=True) as journal:
        records = [record for record, _ in journal.scan()]
        path = segmented.segments[1]
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:2] + lines[3:]))
        report = journal.verify_chain()
    assert (report.intact, report.record_id, report.seq) == (False, records[9].record_id, 8)


def test_verify_chain_notices_that_acknowledged_records_are_gone(segmented: Store) -> None:
    with segmented.opened(read_only=True) as journal:
        os.truncate(segmented.live, 0)
        emptied = journal.verify_chain()
        segmented.live.unlink()
        missing = journal.verify_chain()
        for path in segmented.segments:
            path.unlink()
        nothing = journal.verify_chain()
    assert (emptied.intact, emptied.seq) == (missing.intact, missing.seq) == (False, 18)
    assert (nothing.intact, nothing.seq) == (False, 0)
    assert "missing" in str(emptied.reason)


def test_verify_chain_and_scan_of_a_writer_notice_what_was_done_behind_its_back(twenty: Store) -> None:
    with twenty.opened() as journal:
        lines = twenty.live.read_bytes().splitlines(keepends=True)
        twenty.live.write_bytes(b"".join([*lines[:5], lines[6], lines[5], *lines[7:]]))
        report = journal.verify_chain()
        assert (report.intact, report.seq) == (False, 5)
        with pytest.raises(JournalCorrupt) as caught:
            list(journal.scan())
        assert caught.value.seq == 5


def test_a_finding_shows_no_content(twenty: Store) -> None:
    """Reports and messages may end in logs: positions and reasons only."""
    twenty.write(["the secret text"])
    with twenty.opened(read_only=True) as journal:
        twenty.live.write_bytes(twenty.live.read_bytes().replace(b"secret text", b"secret test"))
        report = journal.verify_chain()
        with pytest.raises(JournalCorrupt) as caught:
            list(journal.scan())
    assert not report.intact
    assert "secret" not in f"{report.as_dict()} {caught.value}"


def test_a_stored_line_has_the_one_shape_and_nothing_else(twenty: Store) -> None:
    for line in twenty.live.read_bytes().splitlines(keepends=True):
        assert split_line(line) is not None
        assert split_line(line[:-1]) is None
        assert split_line(b" " + line) is None
        assert split_line(line.replace(b'"seal":', b'"Seal":')) is None
