"""The simulated disk: what programs see, and what a power loss may leave."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.files import AppendFile, Files
from hippo_async.testing import DiskState, SimulatedDisk

TOP = Path("/disk")
FILE = TOP / "file"


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk(TOP)


@pytest.fixture
def kept() -> SimulatedDisk:
    """A disk with one file of three bytes, durable."""
    return SimulatedDisk(TOP, holds=frozenset({(FILE, b"old")}))


def contents(disk: SimulatedDisk, path: Path = FILE, *, cuts: tuple[int, ...] = ()) -> set[bytes | None]:
    """What a power loss may leave in a file; ``None`` if it may be gone."""
    return {dict(state).get(path) for state in disk.crash_states(cuts=cuts)}


def test_programs_see_what_was_written_at_once(disk: SimulatedDisk) -> None:
    files = Files(disk)
    files.append(FILE, b"one ")
    files.append(FILE, b"two")
    assert files.read(FILE) == b"one two"
    assert files.read_at(FILE, 4, 100) == b"two"
    assert files.list(TOP) == ["file"]
    assert files.size(FILE) == 7


def test_a_synced_file_without_a_synced_entry_is_whole_or_gone(
    disk: SimulatedDisk,
) -> None:
    Files(disk).append(FILE, b"text")
    Files(disk).sync_file(FILE)
    assert contents(disk) == {b"text", None}


def test_a_synced_entry_without_a_synced_content_may_lead_to_nothing(disk: SimulatedDisk) -> None:
    Files(disk).append(FILE, b"text")
    Files(disk).sync_dir(TOP)
    assert contents(disk) == {b"text", b"", b"\0\0\0\0"}


def test_what_is_synced_with_its_entry_is_certain(disk: SimulatedDisk) -> None:
    files = Files(disk)
    files.mkdir(TOP / "a" / "b")
    files.write_atomic(TOP / "a" / "b" / "file", b"text")
    assert list(disk.crash_states()) == [
        frozenset({(TOP / "a", None), (TOP / "a" / "b", None), (TOP / "a" / "b" / "file", b"text")})
    ]


def test_a_directory_is_certain_although_who_made_it_was_killed_at_any_step(disk: SimulatedDisk) -> None:
    place = TOP / "a" / "b" / "c"
    Files(disk).mkdir(place)
    for at in range(disk.steps + 1):
        killed = disk.killed(at)
        Files(killed).mkdir(place)
        [state] = killed.crash_states()
        assert (place, None) in state


def test_any_subset_of_a_few_writes_may_survive_with_holes_between(
    kept: SimulatedDisk,
) -> None:
    file = AppendFile(Files(kept), FILE)
    file.write(b"A")
    file.write(b"B")
    assert contents(kept) >= {b"oldAB", b"oldA", b"old\0B", b"old"}


def test_of_many_writes_one_may_be_missing_or_alone(kept: SimulatedDisk) -> None:
    file = AppendFile(Files(kept), FILE)
    for letter in b"ABCDEFG":
        file.write(bytes([letter]))
    assert contents(kept) >= {b"oldABCDEFG", b"old", b"oldABC\0EFG", b"old\0\0\0D"}


def test_the_last_write_may_be_torn_with_the_size_before_or_after(kept: SimulatedDisk) -> None:
    AppendFile(Files(kept), FILE).write(b"text")
    assert contents(kept, cuts=(1, 3)) == {
        b"old", b"oldt", b"oldtex", b"oldtext", b"oldt\0\0\0", b"oldtex\0", b"old\0\0\0\0",
    }  # fmt: skip


def test_an_overwritten_part_may_be_old_new_or_torn(kept: SimulatedDisk) -> None:
    kept.pwrite(kept.open(FILE, os.O_RDWR), b"NEW", 0)
    assert contents(kept, cuts=(1,)) == {b"old", b"NEW", b"Nld", b"N\0\0", b"\0\0\0"}


def test_a_cut_that_is_not_synced_may_be_undone(kept: SimulatedDisk) -> None:
    kept.truncate(kept.open(FILE, os.O_WRONLY), 1)
    assert contents(kept) == {b"old", b"o"}


def test_a_rename_that_is_not_synced_leads_to_the_old_file_or_the_new(kept: SimulatedDisk) -> None:
    fresh = TOP / "fresh"
    Files(kept).append(fresh, b"new")
    Files(kept).sync_file(fresh)
    kept.replace(fresh, FILE)
    assert contents(kept) == {b"old", b"new"}
    Files(kept).sync_dir(TOP)
    assert contents(kept) == {b"new"}


def test_operations_on_a_directory_survive_in_their_order(disk: SimulatedDisk) -> None:
    for name in "abc":
        disk.close(disk.open(TOP / name, os.O_CREAT | os.O_WRONLY))
    names = [sorted(path.name for path, _ in state) for state in disk.crash_states()]
    assert names == [[], ["a"], ["a", "b"], ["a", "b", "c"]]


def test_removed_names_may_come_back_until_their_directory_is_synced(kept: SimulatedDisk) -> None:
    kept.unlink(FILE)
    assert contents(kept) == {b"old", None}
    Files(kept).sync_dir(TOP)
    assert contents(kept) == {None}


def test_a_removed_tree_is_gone_for_programs(disk: SimulatedDisk) -> None:
    files = Files(disk)
    files.mkdir(TOP / "a" / "b")
    files.append(TOP / "a" / "b" / "file", b"text")
    files.remove_tree(TOP / "a")
    assert files.list(TOP) == []


def test_a_crash_before_a_step_knows_nothing_of_it(kept: SimulatedDisk) -> None:
    before = kept.steps
    Files(kept).append(FILE, b"!")
    assert list(kept.crash_states(before)) == [frozenset({(FILE, b"old")})]


def test_a_kill_keeps_what_was_written_and_a_power_loss_may_still_take_it(kept: SimulatedDisk) -> None:
    Files(kept).append(FILE, b"!")
    killed = kept.killed()
    assert Files(killed).read(FILE) == b"old!"
    assert b"old" in contents(killed)
    Files(killed).sync_file(FILE)
    assert contents(killed) == {b"old!"}
    assert b"old" in contents(kept), "the first disk is not touched"


def test_a_sync_that_lies_keeps_nothing() -> None:
    disk = SimulatedDisk(TOP, holds=frozenset({(FILE, b"old")}), lies=lambda path: path == FILE)
    Files(disk).append(FILE, b"!")
    Files(disk).sync_file(FILE)
    assert b"old" in contents(disk)


def test_a_disk_holds_what_a_crash_left(disk: SimulatedDisk) -> None:
    state: DiskState = frozenset({(TOP / "a", None), (TOP / "a" / "file", b"text")})
    assert list(SimulatedDisk(TOP, holds=state).crash_states()) == [state]


def test_two_disks_are_two_devices(disk: SimulatedDisk) -> None:
    assert disk.identity(TOP) != SimulatedDisk(TOP).identity(TOP)


@pytest.mark.parametrize(
    ("call", "number"),
    [
        (lambda disk: disk.open(TOP / "none", os.O_RDONLY), errno.ENOENT),
        (lambda disk: disk.open(Path("/elsewhere"), os.O_RDONLY), errno.ENOENT),
        (lambda disk: disk.open(FILE, os.O_RDONLY | os.O_DIRECTORY), errno.ENOTDIR),
        (lambda disk: disk.identity(FILE / "below"), errno.ENOTDIR),
        (lambda disk: disk.listdir(FILE), errno.ENOTDIR),
        (lambda disk: disk.mkdir(FILE), errno.EEXIST),
        (lambda disk: disk.unlink(TOP / "none"), errno.ENOENT),
        (lambda disk: disk.unlink(TOP), errno.EISDIR),
        (lambda disk: disk.replace(FILE, TOP / "other" / "file"), errno.EXDEV),
        (lambda disk: disk.pread(disk.open(TOP, os.O_RDONLY), 1, 0), errno.EISDIR),
        (lambda disk: disk.sync(99), errno.EBADF),
    ],
)
def test_a_call_that_cannot_be_done_fails_as_on_a_real_disk(
    kept: SimulatedDisk, call: Callable[[SimulatedDisk], object], number: int
) -> None:
    with pytest.raises(OSError) as caught:
        call(kept)
    assert caught.value.errno == number


@given(st.lists(st.tuples(st.sampled_from("wcs"), st.binary(max_size=4), st.integers(0, 9))))
def test_what_programs_see_is_among_what_may_survive_and_alone_after_a_sync(
    calls: list[tuple[str, bytes, int]],
) -> None:
    disk = SimulatedDisk(TOP, holds=frozenset({(FILE, b"old")}))
    fd = disk.open(FILE, os.O_RDWR)
    model = bytearray(b"old")
    for call, data, at in calls:
        if call == "w":
            disk.pwrite(fd, data, at)
            model.extend(bytes(max(0, at + len(data) - len(model))) if data else b"")
            model[at : at + len(data)] = data
        elif call == "c":
            disk.truncate(fd, at)
            model[:] = model[:at].ljust(at, b"\0")
        else:
            disk.sync_data(fd)
            assert contents(disk) == {bytes(model)}
        assert Files(disk).read(FILE) == model
        assert bytes(model) in contents(disk)
