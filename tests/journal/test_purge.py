"""Forgetting for good: the text is in no file any more, and the chain and its anchors are as they were."""

from __future__ import annotations

import datetime
import errno
import shutil
import threading
from contextlib import closing, suppress
from pathlib import Path

import pytest
from homes import Home, say

from hippo_async.errors import IntegrityError, NotFound, WriteFailed
from hippo_async.journal import Lineage
from hippo_async.journal.anchor import daily_anchor
from hippo_async.records import Draft, Record
from hippo_async.testing import ScriptedOps, each_failure

SECRET = "the number of the safe is 4711"
SECONDS = 20


def holding(base: Path, text: str) -> list[str]:
    """The files below a directory in which a text stands."""
    return [
        str(path.relative_to(base))
        for path in base.rglob("*")
        if path.is_file() and text.encode() in path.read_bytes()
    ]


def anchored(journal: Lineage, upto: int) -> bytes:
    records = [record for record, _ in journal.scan() if record.seq <= upto]
    day = datetime.date.fromisoformat(records[0].timestamp[:10])
    return daily_anchor(records, agent_id="agent", date=day).anchor_payload_hash


def secret_among(journal: Lineage, others: int = 12) -> Record:
    """Write enough around a secret for several segments."""
    say(journal, *(f"before {number}" for number in range(others)))
    [secret] = say(journal, SECRET)
    say(journal, *(f"after {number}" for number in range(others)))
    return secret


def test_a_purged_text_is_in_no_file_and_the_chain_is_as_whole_as_before(home: Home) -> None:
    with closing(home.lineage()) as journal:
        journal.open()
        secret = secret_among(journal)
        before = [record for record, _ in journal.scan()]
        anchor = anchored(journal, before[-1].seq)

        purge = journal.purge([secret.record_id])

        after = [record for record, _ in journal.scan()]
        assert journal.verify_chain().intact
        assert [record.record_id for record in after[:-1]] == [record.record_id for record in before]
        assert [record for record in after[:-1] if not record.purged] == [
            record for record in before if record.seq != secret.seq
        ]
        assert after[secret.seq].purged
        assert after[-1].metadata == purge.metadata == {"hippo": {"records": [secret.record_id]}}
        assert anchored(journal, before[-1].seq) == anchor
        assert holding(home.base, SECRET) == []
        say(journal, "it goes on")
    assert home.texts()[-1] == "it goes on"
    assert home.second_verdict()[0] == "intact"


def test_a_new_generation_takes_the_place_of_the_old_one(home: Home) -> None:
    with closing(home.lineage()) as journal:
        journal.open()
        secret = secret_among(journal)
        (home.data / "journal" / "torn").mkdir()
        (home.data / "journal" / "torn" / "copy").write_text(SECRET)
        assert journal.generation == 1
        journal.purge([secret.record_id])
        assert journal.generation == 2
    assert sorted(path.name for path in (home.data / "journal").iterdir() if path.name != "LOCK") == [
        "CURRENT",
        "HEAD",
        "gen-000002",
    ]


def test_the_generation_with_the_text_is_not_put_in_force_again(home: Home) -> None:
    with closing(home.lineage()) as journal:
        journal.open()
        secret = secret_among(journal)
        shutil.copytree(home.data / "journal" / "gen-000001", home.base / "gen-000001")
        journal.purge([secret.record_id])
    shutil.copytree(home.base / "gen-000001", home.data / "journal" / "gen-000001")
    (home.data / "journal" / "CURRENT").write_text("gen-000001\n")
    for read_only in (True, False):
        with pytest.raises(IntegrityError):
            home.lineage(read_only=read_only).open()


def test_what_is_not_there_cannot_be_purged_and_nothing_is_done(home: Home) -> None:
    with closing(home.lineage()) as journal:
        journal.open()
        secret = secret_among(journal)
        for ids in ([secret.record_id, "ab" * 16], [next(journal.scan())[0].record_id]):
            with pytest.raises(NotFound):
                journal.purge(ids)
        assert (
            journal.read(*next((place, r.record_id) for r, place in journal.scan() if r == secret)).text
            == SECRET
        )
        assert journal.tail.seq == 25


def test_texts_of_closed_journals_are_purged_too(home: Home) -> None:
    """The purge stands in the journal in use, and names records of those that it continues."""
    with closing(home.lineage()) as journal:
        journal.open()
        old = secret_among(journal)
        journal.rotate()
        [new] = say(journal, f"again: {SECRET}")
        journal.purge([old.record_id, new.record_id])
        assert journal.verify_chain().intact
    assert holding(home.base, SECRET) == []
    assert SECRET not in "".join(home.texts())
    assert home.second_verdict()[0] == "intact"


def test_records_that_others_append_meanwhile_are_kept_in_order(home: Home) -> None:
    with closing(home.lineage()) as journal:
        journal.open()
        secret = secret_among(journal)
        stop = threading.Event()
        written: list[str] = []

        def write() -> None:
            while not stop.is_set():
                written.append(f"meanwhile {len(written)}")
                journal.append([Draft(written[-1])]).result(SECONDS)

        writer = threading.Thread(target=write)
        writer.start()
        journal.purge([secret.record_id])
        stop.set()
        writer.join(SECONDS)
        kept = [record.text for record, _ in journal.scan() if record.text.startswith("meanwhile")]
        assert kept == written
        assert journal.verify_chain().intact


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
def test_a_purge_that_breaks_off_anywhere_is_finished_by_the_next_start(home: Home, error: int) -> None:
    """Once the purge record is durable, the text goes, whatever comes in between."""
    with closing(home.lineage()) as journal:
        journal.open()
        secret = secret_among(journal, others=6)
        journal.rotate()
        [newer] = say(journal, f"again: {SECRET}")
    finished = 0
    for number, ops in enumerate(each_failure(error, lasting=True)):
        place = Home(home.base / str(number))
        shutil.copytree(home.data, place.data)
        shutil.copytree(home.witness, place.witness)
        with suppress(OSError, WriteFailed), closing(place.lineage(ops=ops)) as journal:
            journal.open()
            journal.purge([secret.record_id, newer.record_id])
        with closing(place.lineage()) as journal:
            journal.open()
            kinds = [record.type for record, _ in journal.scan()]
            assert journal.verify_chain().intact
        if "purge" in kinds:
            assert holding(place.base, SECRET) == []
            finished += 1
        assert place.second_verdict()[0] == "intact"
        shutil.rmtree(place.base)
    assert finished > 20


def inodes(home: Home) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in (home.data / "journal").glob("gen-*/seg-*")}


def test_only_the_segments_that_hold_it_or_grow_are_written_anew(home: Home) -> None:
    with closing(home.lineage()) as journal:
        journal.open()
        secret = secret_among(journal)
        [holder] = [location.segment for record, location in journal.scan() if record.seq == secret.seq]
        before = inodes(home)
        journal.purge([secret.record_id])
        after = inodes(home)
        live = max(after)
        assert len(after) >= 4
        anew = {name for name, inode in after.items() if before.get(name) != inode}
        assert anew == {f"seg-{holder:012}.jsonl", live}
        assert journal.verify_chain().intact
        say(journal, *(f"more {number}" for number in range(12)))
    assert home.second_verdict()[0] == "intact"


@pytest.mark.parametrize("error", [errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK])
def test_where_a_file_cannot_have_two_names_it_is_copied(home: Home, error: int) -> None:
    ops = ScriptedOps(syncing=False)
    with closing(home.lineage(ops=ops)) as journal:
        journal.open()
        secret = secret_among(journal)
        before = inodes(home)
        ops.fail("link", error, name="seg-*", lasting=True)
        journal.purge([secret.record_id])
        assert not set(before.values()) & set(inodes(home).values())
        assert journal.verify_chain().intact
        assert holding(home.base, SECRET) == []
    assert home.second_verdict()[0] == "intact"


def test_a_purge_costs_one_segment_of_memory_at_a_time(home: Home) -> None:
    """Segments are read, written and let go one after the other."""
    ops = ScriptedOps(syncing=False)
    with closing(home.lineage(ops=ops)) as journal:
        journal.open()
        secret = secret_among(journal)
        segments = len(list((home.data / "journal" / "gen-000001").glob("seg-*")))
        assert segments > 3
        start = len(ops.calls)
        journal.purge([secret.record_id])
        opened = [
            call.path.parent.name
            for call in ops.calls[start:]
            if call.operation == "open" and call.path.name.startswith("seg-")
        ]
    first_written = opened.index("gen-000002")
    assert "gen-000001" in opened[first_written:], "every segment was read before the first was written"
