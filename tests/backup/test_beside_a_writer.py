"""A backup beside an agent at work: one moment of the store, whatever happens to its files meanwhile."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hippo_async.backup import backup
from hippo_async.errors import IntegrityError, JournalCorrupt, JournalLocked
from hippo_async.files import Files
from hippo_async.journal import Lineage
from hippo_async.records import Record
from hippo_async.testing import ScriptedOps

if TYPE_CHECKING:
    from conftest import Home

SECONDS = 20
ROUNDS = 10
SECRET = "the text that is forgotten meanwhile"


@contextmanager
def aside(call: Callable[[], object]) -> Iterator[list[object]]:
    """Run a call in a thread; what it returned or raised is in the list afterwards."""
    outcome: list[object] = []

    def run() -> None:
        try:
            outcome.append(call())
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    yield outcome
    thread.join(SECONDS)
    assert not thread.is_alive()


@dataclass
class Busy:
    """A thread that appends one record after the other until it is told to stop."""

    home: Home
    forgets: bool = False
    acknowledged: list[Record] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        with aside(self._run) as outcome:
            try:
                yield
            finally:
                self._stop.set()
        assert outcome == [None]

    def rounds(self) -> Iterator[int]:
        """At least so many rounds, and as many as it takes to have done enough meanwhile."""
        for number in count():
            if number >= ROUNDS and len(self.acknowledged) > 100 and len(self.forgotten) >= 3 * self.forgets:
                return
            yield number

    def _run(self) -> None:
        with self.home.opened() as journal:
            while not self._stop.is_set():
                number = len(self.acknowledged)
                self.acknowledged += self.home.append(journal, f"{number}: " + "x" * (number * 7 % 900))
                if number % 20 == 0:
                    self.home.keep_raw(f"said at {number}")
                if self.forgets and number % 50 == 25:
                    self._forget(journal, self.acknowledged[number // 2])

    def _forget(self, journal: Lineage, record: Record) -> None:
        journal.purge([record.record_id])
        self.forgotten.append(record.text)


def test_beside_a_busy_writer_each_backup_opens_and_holds_all_that_was_acknowledged_before_it(
    home: Home,
) -> None:
    """Segments of two records each are closed all the time; nobody waits for anybody."""
    busy = Busy(home)
    taken: list[tuple[int, list[Record], set[bytes]]] = []
    with busy.at_work():
        for number in busy.rounds():
            before = len(busy.acknowledged)
            place = home.base / f"backup-{number}"
            backup(home.place, place, with_keys=True, files=Files(ScriptedOps(syncing=False)))
            shards = {path.read_bytes()[-1:] for path in place.glob("raw/*.jsonl")}
            taken.append((before, home.at(place.name, witnessed=False).records(), shards))
    final = home.records()
    for before, records, shards in taken:
        assert records == final[: len(records)], "a backup is a prefix of the journal"
        assert len(records) >= 4 + before, "the genesis, three records, and those acknowledged before"
        assert shards <= {b"\n"}


def test_beside_a_writer_that_forgets_too_a_backup_holds_nothing_that_was_forgotten_before_it(
    home: Home,
) -> None:
    """Every segment is rewritten again and again. A backup that cannot keep up says so."""
    busy = Busy(home, forgets=True)
    taken: list[tuple[list[str], Path]] = []
    with busy.at_work():
        for number in busy.rounds():
            forgotten = list(busy.forgotten)
            place = home.base / f"backup-{number}"
            try:
                backup(home.place, place, with_keys=True, files=Files(ScriptedOps(syncing=False)))
            except JournalLocked:
                assert list(place.iterdir()) == []
            else:
                taken.append((forgotten, place))
    final = [record.record_id for record in home.records()]
    assert taken
    for forgotten, place in taken:
        copied = home.at(place.name, witnessed=False).records()
        assert [record.record_id for record in copied] == final[: len(copied)]
        assert not {record.text for record in copied} & set(forgotten)


def test_segments_that_are_closed_while_it_reads_do_not_hold_it_up(home: Home) -> None:
    """SEGMENTS was read before, so the copy has closed segments that it does not list, as after a crash."""
    ops = ScriptedOps(syncing=False)
    gate = ops.hold("listdir", at=4, name="gen-000001")
    with home.opened() as journal:
        before = [record for record, _ in journal.scan()]
        with aside(lambda: home.back_up(ops=ops, with_keys=True)) as outcome:
            gate.wait_reached()
            home.append(journal, *(f"meanwhile {number}" for number in range(7)))
            gate.open()
    listed = (home.backup / "journal/gen-000001/SEGMENTS").read_bytes()
    segments = list((home.backup / "journal/gen-000001").glob("seg-*"))
    assert not isinstance(outcome[0], Exception), outcome
    assert listed.count(b'"first"') < len(segments) - 1, "the gate stood in the wrong place"
    copied = home.copy.records()
    assert copied[: len(before)] == before
    assert copied == home.records()[: len(copied)]
    home.copy.write("and it goes on")


@pytest.mark.parametrize("at", range(1, 7))
def test_wherever_a_purge_comes_in_between_it_begins_anew_and_holds_nothing_forgotten(
    home: Home, at: int
) -> None:
    """The files of the old generation go away while the source is checked, copied, or its copy is checked."""
    [secret] = home.write(SECRET)
    ops = ScriptedOps(syncing=False)
    gate = ops.hold("open", at=at, name="seg-000000000000.jsonl")
    with aside(lambda: home.back_up(ops=ops, with_keys=True)) as outcome:
        gate.wait_reached()
        home.purge(secret)
        gate.open()
    assert not isinstance(outcome[0], Exception), outcome
    copied = home.copy.records()
    assert copied == home.records()
    assert copied[secret.seq].purged
    assert not list((home.backup / "journal").glob("gen-000001"))
    assert not [path for path in home.backup.rglob("*.jsonl") if SECRET in path.read_text()]


def test_nor_does_a_purge_after_the_last_file_leave_the_forgotten_text_in_it(home: Home) -> None:
    """All of the old generation was copied, and would verify."""
    [secret] = home.write(SECRET)
    ops = ScriptedOps(syncing=False)
    gate = ops.hold("replace", name="BACKUP.json")
    with aside(lambda: home.back_up(ops=ops, with_keys=True)) as outcome:
        gate.wait_reached()
        home.purge(secret)
        gate.open()
    assert not isinstance(outcome[0], Exception), outcome
    assert home.copy.records()[secret.seq].purged


@pytest.mark.parametrize("at", range(1, 8))
def test_wherever_a_change_of_keys_comes_in_between_the_copy_is_whole(home: Home, at: int) -> None:
    ops = ScriptedOps(syncing=False)
    gate = ops.hold("open", at=at, name="seg-*.jsonl")
    with aside(lambda: home.back_up(ops=ops, with_keys=True)) as outcome:
        gate.wait_reached()
        with home.opened() as journal:
            journal.rotate()
            home.append(journal, "under the new key")
        gate.open()
    assert not isinstance(outcome[0], Exception), outcome
    assert home.copy.records() == home.records()


def test_a_store_that_is_rewritten_all_the_time_is_given_up_with_nothing_left(home: Home) -> None:
    texts = home.write(*(f"secret {number}" for number in range(6)))

    def purge_one(done: int, total: int) -> None:
        if done == total:
            home.purge(texts.pop())

    with pytest.raises(JournalLocked, match="try again"):
        home.back_up(progress=purge_one)
    assert len(texts) == 1, "five tries"
    assert list(home.backup.iterdir()) == []


def torn_tails() -> dict[str, bytes]:
    return {
        "half a line": b'{"header":{"agent_id":"agent","commi',
        "zeros": bytes(5000),
        "a block that never came to disk, and one that did": b'{"header":'
        + bytes(1600)
        + b'"}\n{"header":\n',
    }


@pytest.mark.parametrize("tail", torn_tails().values(), ids=torn_tails())
def test_a_torn_tail_is_left_out_of_the_copy_and_left_alone_in_the_source(home: Home, tail: bytes) -> None:
    records = home.records()
    whole = home.live.read_bytes()
    home.live.write_bytes(whole + tail)
    home.back_up(with_keys=True)
    [copied] = home.backup.glob(f"journal/gen-*/{home.live.name}")
    assert copied.read_bytes() == whole
    assert home.live.read_bytes() == whole + tail
    assert home.copy.records() == records


def test_a_tail_that_is_no_torn_write_is_damage(home: Home) -> None:
    home.live.write_bytes(home.live.read_bytes() + b'{"header":{}}\n')
    with pytest.raises(JournalCorrupt):
        home.back_up()
    assert not home.backup.exists()


def test_an_acknowledged_record_that_lost_its_end_is_no_torn_tail(home: Home) -> None:
    home.live.write_bytes(home.live.read_bytes()[:-1])
    with pytest.raises(IntegrityError, match="acknowledged"):
        home.back_up()
    assert not home.backup.exists()


def test_a_raw_line_that_is_being_written_is_left_out(home: Home) -> None:
    home.keep_raw("hello")
    shard = home.data / "raw/2026-01-01.jsonl"
    whole = shard.read_bytes()
    shard.write_bytes(whole + whole[:20])
    home.back_up()
    assert (home.backup / "raw/2026-01-01.jsonl").read_bytes() == whole


def test_an_interrupted_change_of_keys_is_finished_in_the_copy(home: Home) -> None:
    """The old journal is closed, and the new one was not made before the crash."""
    ops = ScriptedOps(syncing=False)
    ops.fail("mkdir", errno.EIO, name="journal.1", lasting=True)
    lineage = Lineage(
        home.data, agent_id="agent", keys=home.keys, witness=None, files=Files(ops), segment_bytes=1500
    )
    with closing(lineage) as journal:
        journal.open()
        with pytest.raises(OSError):
            journal.rotate()
    report = home.back_up(with_keys=True)
    assert [path.name for path in report.key_files] == ["agent.key", "agent.key.1"]
    home.copy.write("under the next key")
    assert [record.type for record in home.copy.records()][-3:] == ["close", "genesis", "record"]
