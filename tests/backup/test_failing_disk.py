"""A disk that fails or loses power: a whole backup or none, and a source that nobody touched."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hippo_async.backup import backup, restore
from hippo_async.backup.checking import check_files
from hippo_async.backup.restoring import read_manifest
from hippo_async.errors import HippoError, NotFound
from hippo_async.files import Files
from hippo_async.journal import GivenKeys, Lineage
from hippo_async.place import Place
from hippo_async.raw import RawShards, RawTurn
from hippo_async.records import Draft
from hippo_async.testing import DiskState, FakeClock, ScriptedOps, SimulatedDisk, each_failure

if TYPE_CHECKING:
    from conftest import Home

SECONDS = 20
KEYS = (bytes(range(32)), bytes(range(1, 33)))


def contents(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def looks_like_a_store(data_dir: Path) -> bool:
    return (data_dir / "journal/CURRENT").exists()


@pytest.fixture
def small(home: Home) -> Home:
    """A store of few files, so that each call on them can fail once."""
    home.keep_raw("hello")
    home.keep_anchors()
    return home


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "for good"])
def test_whichever_call_of_a_backup_fails_there_is_a_whole_one_or_none(small: Home, lasting: bool) -> None:
    before = contents(small.data), contents(small.witness)
    runs = made = 0
    for number, ops in enumerate(each_failure(errno.EIO, lasting=lasting)):
        place = small.base / f"backup-{number}"
        try:
            backup(small.place, place, with_keys=True, files=Files(ops), clock=FakeClock())
            made += 1
        except OSError:
            if lasting and looks_like_a_store(place):  # it could not be taken away again, and it is whole
                restore(place, replace(small.at(f"restored-{number}").place, witness=None))
            else:
                assert not looks_like_a_store(place)
                assert lasting or not place.exists() or contents(place) == {}
        assert (contents(small.data), contents(small.witness)) == before, f"call {number + 1}"
        assert ops.descriptors == {}, f"call {number + 1}"
        runs += 1
    print("calls failed:", runs - 1)
    assert runs > 150
    assert made >= 1


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "for good"])
def test_whichever_call_of_a_restore_fails_there_is_a_whole_store_or_none(small: Home, lasting: bool) -> None:
    small.back_up(with_keys=True)
    before = contents(small.backup), contents(small.witness)
    runs = 0
    for number, ops in enumerate(each_failure(errno.EIO, lasting=lasting)):
        fresh = small.at(f"fresh-{number}")
        (fresh.data / "index").mkdir(parents=True)
        (fresh.data / "index/mine").write_text("mine")
        try:
            restore(small.backup, fresh.place, files=Files(ops))
        except OSError:
            if lasting and looks_like_a_store(fresh.data):
                assert fresh.records() == small.records()
            else:
                assert not looks_like_a_store(fresh.data)
                assert lasting or contents(fresh.data) == {"index/mine": b"mine"}, ops.calls[number]
        assert (contents(small.backup), contents(small.witness)) == before, f"call {number + 1}"
        runs += 1
    print("calls failed:", runs - 1)
    assert runs > 150


@dataclass(frozen=True)
class Bench:
    """A store of two key epochs, raw shards and all, on a disk whose power may fail."""

    mount: Path

    @property
    def place(self) -> Place:
        return Place(self.mount / "data", "agent", KEYS[1], None, None, (KEYS[0],))

    @property
    def copy(self) -> Path:
        return self.mount / "copy"

    def filled(self) -> SimulatedDisk:
        disk = SimulatedDisk(self.mount)
        with closing(self.lineage(self.place.data_dir, disk)) as journal:
            journal.open()
            for text in ("one", "two", "three"):
                journal.append([Draft(text)]).result(SECONDS)
            journal.rotate()
            journal.append([Draft("four")]).result(SECONDS)
        turn = RawTurn("t", FakeClock().now(), "user", "hello")
        RawShards(self.place.data_dir, files=Files(disk)).append([turn])
        return self.rested(disk)

    def rested(self, disk: SimulatedDisk) -> SimulatedDisk:
        """A disk after a power loss, which has nothing in flight."""
        return SimulatedDisk(self.mount, holds=next(disk.crash_states()))

    def lineage(self, data_dir: Path, disk: SimulatedDisk, *, read_only: bool = False) -> Lineage:
        return Lineage(
            data_dir,
            agent_id="agent",
            keys=GivenKeys(KEYS),
            witness=None,
            read_only=read_only,
            files=Files(disk),
            clock=FakeClock(),
            segment_bytes=1500,
        )

    def texts(self, disk: SimulatedDisk, data_dir: Path) -> list[str] | None:
        """What the store in a directory holds, ``None`` if it does not open."""
        with closing(self.lineage(data_dir, disk, read_only=True)) as journal:
            try:
                journal.open()
            except (HippoError, OSError):
                return None
            assert journal.verify_chain().intact
            return [record.text for record, _ in journal.scan() if record.type == "record"]

    def left(self, disk: SimulatedDisk) -> Iterator[tuple[int, SimulatedDisk]]:
        """What a power loss before each step may leave, each once, and after the last step again."""
        seen: set[DiskState] = set()
        for step in range(disk.steps + 1):
            for state in disk.crash_states(step, cuts=(1,)):
                if state not in seen or step == disk.steps:
                    yield step, SimulatedDisk(self.mount, holds=state)
                seen.add(state)


def test_a_power_loss_at_any_moment_of_a_backup_leaves_a_whole_one_or_none(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    disk = bench.filled()
    backup(bench.place, bench.copy, with_keys=True, files=Files(disk), clock=FakeClock())
    found = {True: 0, False: 0}
    for step, left in bench.left(disk):
        texts = bench.texts(left, bench.copy)
        assert texts in (None, ["one", "two", "three", "four"]), step
        assert step < disk.steps or texts is not None, "durable when it returns"
        if texts is not None:
            check_files(bench.copy, read_manifest(bench.copy, Files(left)), Files(left))
        found[texts is not None] += 1
    print("power losses:", found)
    assert all(found.values())


def test_a_power_loss_at_any_moment_of_a_restore_leaves_a_whole_store_or_none(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    disk = bench.filled()
    backup(bench.place, bench.copy, files=Files(disk), clock=FakeClock())
    disk = bench.rested(disk)
    fresh = replace(bench.place, data_dir=tmp_path / "fresh")
    restore(bench.copy, fresh, files=Files(disk))
    manifest = read_manifest(bench.copy, Files(disk))
    for step, left in bench.left(disk):
        texts = bench.texts(left, fresh.data_dir)
        assert texts in (None, ["one", "two", "three", "four"]), step
        assert step < disk.steps or texts is not None, "durable when it returns"
        if texts is not None:
            check_files(fresh.data_dir, manifest, Files(left))


def test_a_disk_that_is_full_leaves_no_backup_and_room_for_the_next_try(small: Home) -> None:
    ops = ScriptedOps(syncing=False)
    ops.fail("write", errno.ENOSPC, name="*.json*", at=2)
    with pytest.raises(OSError):
        small.back_up(ops=ops, with_keys=True)
    with pytest.raises(NotFound):
        small.restored_to("fresh")
    small.back_up(with_keys=True)
    assert small.copy.records() == small.records()
