"""Segments: closed under their digest at a size, and sound wherever a crash stops the change."""

from __future__ import annotations

import errno
import json
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest
from two_verifiers import second

from hippo_async.errors import JournalCorrupt, JournalPoisoned, WriteFailed
from hippo_async.files import Files
from hippo_async.journal.layout import Layout, read_closed
from hippo_async.journal.sealed import seal_document
from hippo_async.records import Draft
from hippo_async.testing import ScriptedOps

if TYPE_CHECKING:
    from conftest import Store


def test_a_segment_is_closed_once_it_has_reached_its_size(segmented: Store) -> None:
    names = [path.name for path in segmented.segments]
    sizes = [path.stat().st_size for path in segmented.segments]
    assert names == [f"seg-{first:012d}.jsonl" for first in (0, 6, 12, 18)]
    assert all(size >= segmented.segment_bytes for size in sizes[:-1])
    assert sizes[-1] < segmented.segment_bytes


def test_closed_segments_are_listed_with_their_digests(segmented: Store) -> None:
    sealer = segmented.sealers().segments
    journal_id = segmented.report().journal_id
    closed = read_closed(Files(), Layout(segmented.root), 1, journal_id=journal_id, sealer=sealer)
    records = segmented.read()
    assert [(entry.first, entry.last) for entry in closed] == [(0, 5), (6, 11), (12, 17)]
    for entry, path in zip(closed, segmented.segments, strict=False):
        assert (entry.size, entry.sha256) == (path.stat().st_size, Files().sha256(path))
        assert entry.last_id == records[entry.last].record_id


@pytest.mark.parametrize(
    "change",
    [{"first": "0"}, {"size": True}, {"last_id": None}, {"more": 1}],
    ids=["text for a number", "a truth for a number", "nothing for an id", "a field more"],
)
def test_a_sealed_list_of_other_types_than_the_format_has_is_refused(
    segmented: Store, change: dict[str, object]
) -> None:
    """Only who holds the key can make one; it is refused with its place all the same."""
    path = segmented.root / "gen-000001" / "SEGMENTS"
    document = json.loads(path.read_bytes().rpartition(b" ")[0])
    document["segments"][0] |= change
    sealer = segmented.sealers().segments
    path.write_bytes(seal_document(document, sealer) + b"\n")
    assert segmented.check_refused(JournalCorrupt).path == path
    asked = {"agent_id": segmented.agent_id, "key": segmented.key.secret, "witness": segmented.witness}
    found = second.verify(segmented.root, **asked)
    assert (found.name, found.path) == ("corrupt", "gen-000001/SEGMENTS")


def test_the_chain_goes_on_over_segments(segmented: Store) -> None:
    records = segmented.read()
    assert [record.text for record in records[1:]] == [f"text {number}" for number in range(1, 20)]
    assert [record.prev_id for record in records[1:]] == [record.record_id for record in records[:-1]]
    with segmented.opened() as journal:
        assert journal.verify_chain().records == 20


def test_a_scan_from_any_record_on_is_the_tail_of_the_whole_scan(segmented: Store) -> None:
    """Whole segments before it are not read."""
    ops = ScriptedOps()
    with segmented.opened(ops=ops) as journal:
        everything = list(journal.scan())
        for after in range(-1, 22):
            assert list(journal.scan(after=after)) == everything[after + 1 :], f"after {after}"
        before = ops.count("open", name="seg-000000000000.jsonl")
        list(journal.scan(after=17))
        assert ops.count("open", name="seg-000000000000.jsonl") == before


def test_every_record_is_read_where_it_was_said_to_stand(segmented: Store) -> None:
    with segmented.opened() as journal:
        appended = [journal.append([Draft(f"more {number}")]).result(20)[0] for number in range(9)]
        for record, location in [*journal.scan(), *appended]:
            assert journal.read(location, record.record_id) == record


def test_a_group_is_never_split_over_segments(store: Store) -> None:
    small = replace(store, segment_bytes=1)
    with small.opened() as journal:
        journal.append([Draft(f"text {number}") for number in range(7)]).result(20)
        journal.append([]).result(20)
        journal.append([Draft("one more")]).result(20)
    assert [path.name for path in small.segments] == [f"seg-{first:012d}.jsonl" for first in (0, 1, 8)]
    assert len(small.read()) == 9


def test_a_journal_of_one_record_a_segment_holds(store: Store) -> None:
    single = replace(store, segment_bytes=1)
    single.write(f"text {number}" for number in range(30))
    single.write(["and on"])
    assert len(single.segments) == 32
    assert [record.seq for record in single.read()] == list(range(32))


@pytest.mark.parametrize("lasting", [True, False], ids=["crash", "one error"])
def test_a_rotation_that_stops_at_any_step_loses_nothing(segmented: Store, lasting: bool) -> None:
    """After a ``lasting`` failure nothing more reaches the disk: that is a crash at this step."""
    fill_live_segment(segmented)
    for step in count(1):
        store = segmented.copy_to(segmented.base.with_name(f"step-{step}"))
        ops = ScriptedOps(syncing=False)
        journal = store.journal(ops=ops)
        journal.open()
        written = [record for record, _ in journal.scan()]
        rule = ops.fail("*", errno.EIO, at=step, lasting=lasting)
        try:
            written.append(store.append(journal, "the one that rotates"))
        except WriteFailed:
            with pytest.raises(JournalPoisoned):
                journal.append([Draft("after the failure")])
        with suppress(OSError):
            journal.close()

        found = store.read()
        assert found[: len(written)] == written
        assert [record.text for record in found[len(written) :]] in ([], ["the one that rotates"])
        assert store.write(["goes on"])[0].seq == len(found)
        if not rule.fired:
            print("steps:", step - 1)
            assert step > 20, "a rotation makes more calls than that"
            break


def fill_live_segment(store: Store) -> None:
    with store.opened() as journal:
        while store.live.stat().st_size < store.segment_bytes:
            store.append(journal, "filling up")


def test_a_rotation_that_fails_is_not_acknowledged(segmented: Store) -> None:
    fill_live_segment(segmented)
    ops = ScriptedOps()
    with segmented.opened(ops=ops) as journal:
        ops.fail("replace", errno.ENOSPC, name="SEGMENTS")
        with pytest.raises(WriteFailed):
            journal.append([Draft("the one that rotates")]).result(20)
        assert journal.poison is not None
    assert segmented.read()[-1].text == "filling up"
