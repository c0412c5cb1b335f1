"""Recipes that leave the old or the new state on disk, and the scripted disk that puts them to the test."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from hippo_async.files import AppendFile, Files, SlotFile, SystemOps
from hippo_async.testing import Call, ScriptedOps, each_failure

SECONDS = 20


@pytest.fixture
def ops() -> ScriptedOps:
    return ScriptedOps()


@pytest.fixture
def files(ops: ScriptedOps) -> Files:
    return Files(ops)


def operations(ops: ScriptedOps) -> list[str]:
    return [call.operation for call in ops.calls]


def test_a_file_is_replaced_in_the_order_that_survives_a_power_loss(
    files: Files, ops: ScriptedOps, tmp_path: Path
) -> None:
    """The new bytes are durable before they get the name, the name before the caller goes on."""
    path = tmp_path / "file"
    files.write_atomic(path, b"new")
    assert ops.calls == [
        Call("open", tmp_path / "file.new"),
        Call("write", tmp_path / "file.new"),
        Call("sync", tmp_path / "file.new"),
        Call("close", tmp_path / "file.new"),
        Call("replace", path),
        Call("open", tmp_path),
        Call("sync", tmp_path),
        Call("close", tmp_path),
    ]
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("lasting", [False, True])
def test_a_file_holds_the_old_bytes_or_the_new_ones_whichever_call_fails(
    tmp_path: Path, lasting: bool
) -> None:
    path = tmp_path / "file"
    for ops in each_failure(errno.EIO, lasting=lasting):
        path.write_bytes(b"old")
        try:
            Files(ops).write_atomic(path, b"new and longer")
        except OSError:
            assert path.read_bytes() in (b"old", b"new and longer")
        else:
            assert path.read_bytes() == b"new and longer"
        assert ops.descriptors == {}


USES: dict[str, Callable[[Files, Path], object]] = {
    "write_atomic": lambda files, path: files.write_atomic(path, b"x"),
    "append": lambda files, path: files.append(path, b"x"),
    "truncate": lambda files, path: files.truncate(path, 1),
    "sync_file": lambda files, path: files.sync_file(path),
    "sync_dir": lambda files, path: files.sync_dir(path.parent),
    "read": lambda files, path: files.read(path),
    "read_at": lambda files, path: files.read_at(path, 1, 1),
    "sha256": lambda files, path: files.sha256(path),
    "exists": lambda files, path: files.exists(path),
    "size": lambda files, path: files.size(path),
    "identity": lambda files, path: files.identity(path),
    "list": lambda files, path: files.list(path.parent),
    "mkdir": lambda files, path: files.mkdir(path.parent / "a" / "b"),
    "remove": lambda files, path: files.remove(path),
    "remove_tree": lambda files, path: files.remove_tree(path.parent / "tree"),
    "AppendFile": lambda files, path: AppendFile(files, path).close(),
    "SlotFile": lambda files, path: SlotFile(files, path, slot_bytes=4).close(),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_an_error_of_the_disk_is_raised_and_leaves_no_descriptor_open(
    tmp_path: Path, use: Callable[[Files, Path], object]
) -> None:
    """Never swallowed, never taken for an absent file."""
    for number, ops in enumerate(each_failure(errno.EIO)):
        place = tmp_path / str(number)
        (place / "tree").mkdir(parents=True)
        (place / "file").write_bytes(b"content")
        raised = False
        try:
            use(Files(ops), place / "file")
        except OSError as error:
            raised = error.errno == errno.EIO
        assert raised == (number < len(ops.calls))
        assert ops.descriptors == {}


def test_reading_gives_the_whole_file_piece_by_piece_or_a_part(files: Files, tmp_path: Path) -> None:
    data = bytes(range(256)) * 10
    path = tmp_path / "file"
    path.write_bytes(data)
    assert files.read(path) == data
    assert b"".join(files.chunks(path, size=7)) == data
    assert {len(piece) for piece in files.chunks(path, size=512)} == {512}
    assert files.sha256(path) == hashlib.sha256(data).hexdigest()
    assert files.read_at(path, 10, 20) == data[10:30]
    assert files.read_at(path, 2550, 100) == data[2550:]
    assert files.read_at(path, 5000, 1) == files.read_at(path, 0, 0) == b""


def test_what_is_not_there_is_absent_empty_and_removed(files: Files, tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    assert not files.exists(absent)
    assert files.size(absent) == 0
    assert files.list(absent) == []
    files.remove(absent)
    files.remove_tree(absent)
    (tmp_path / "file").write_bytes(b"x")
    assert not files.exists(tmp_path / "file" / "below a file")
    with pytest.raises(FileNotFoundError):
        files.read(absent)


def test_names_are_listed_in_order(files: Files, tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / name).touch()
    assert files.list(tmp_path) == ["a", "b", "c"]


def synced(ops: ScriptedOps) -> list[Path]:
    return [call.path for call in ops.calls if call.operation == "sync"]


def test_a_new_directory_is_private_and_every_new_entry_above_it_durable(
    files: Files, ops: ScriptedOps, tmp_path: Path
) -> None:
    files.mkdir(tmp_path / "a" / "b" / "c")
    assert stat.S_IMODE((tmp_path / "a" / "b" / "c").stat().st_mode) == 0o700
    assert synced(ops) == [tmp_path.parent, tmp_path, tmp_path / "a", tmp_path / "a" / "b"]


def test_one_that_is_there_is_kept_too_as_its_maker_may_have_been_killed_before(
    files: Files, ops: ScriptedOps, tmp_path: Path
) -> None:
    files.mkdir(tmp_path)
    assert synced(ops) == [tmp_path.parent]
    assert ops.count("mkdir") == 0


def test_one_in_a_directory_that_may_not_be_read_is_left_as_it_is(
    files: Files, ops: ScriptedOps, tmp_path: Path
) -> None:
    ops.fail("open", errno.EACCES, name=tmp_path.parent.name, lasting=True)
    files.mkdir(tmp_path)
    files.mkdir(tmp_path / "a")
    assert synced(ops) == [tmp_path]


def test_a_directory_that_cannot_be_synced_by_its_kind_is_no_error(
    files: Files, ops: ScriptedOps, tmp_path: Path
) -> None:
    ops.fail("sync", errno.EINVAL, name=tmp_path.name)
    files.sync_dir(tmp_path)
    ops.fail("sync", errno.EIO, name=tmp_path.name)
    with pytest.raises(OSError, match="Input/output"):
        files.sync_dir(tmp_path)


def test_a_file_is_cut_durably(files: Files, ops: ScriptedOps, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    files.truncate(tmp_path / "file", 3)
    assert (tmp_path / "file").read_bytes() == b"con"
    assert operations(ops) == ["open", "truncate", "sync", "close"]


def test_an_append_file_knows_where_it_ends(files: Files, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    file = AppendFile(files, path)
    assert file.end == 6
    file.write(b", after")
    assert (file.end, path.read_bytes()) == (13, b"before, after")
    file.sync()
    file.close()
    file.close()


@pytest.mark.parametrize("length", [1, 3, 4])
def test_short_writes_go_on_until_all_is_written(
    files: Files, ops: ScriptedOps, tmp_path: Path, length: int
) -> None:
    ops.shorten(length, lasting=True)
    file = AppendFile(files, tmp_path / "file")
    file.write(b"twelve bytes")
    assert (file.end, (tmp_path / "file").read_bytes()) == (12, b"twelve bytes")
    assert ops.count("write") == 12 // length
    file.close()


def test_a_write_that_takes_nothing_is_an_error(files: Files, ops: ScriptedOps, tmp_path: Path) -> None:
    """To try again could go on for ever."""
    ops.shorten(0)
    with pytest.raises(OSError, match="0 of"):
        files.append(tmp_path / "file", b"data")


def test_an_append_file_notices_that_it_is_no_longer_the_one_at_its_path(
    files: Files, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    file = AppendFile(files, path)
    assert file.is_ours()
    with path.open("ab") as other:
        other.write(b"x")
    assert not file.is_ours()
    os.truncate(path, 7)
    assert file.is_ours()
    os.truncate(path, 6)
    assert not file.is_ours()
    path.unlink()
    assert not file.is_ours()
    path.write_bytes(b"content")
    assert not file.is_ours()
    file.close()


def test_slots_are_overwritten_in_place(files: Files, tmp_path: Path) -> None:
    slots = SlotFile(files, tmp_path / "file", slot_bytes=4)
    slots.write(1, b"bbbb")
    slots.write(0, b"aaaa")
    slots.write(1, b"cccc")
    slots.sync()
    slots.close()
    slots.close()
    assert (tmp_path / "file").read_bytes() == b"aaaacccc"


def test_a_slot_written_in_part_is_an_error(tmp_path: Path) -> None:
    class HalfOps(SystemOps):
        def pwrite(self, fd: int, data: bytes, offset: int) -> int:
            return super().pwrite(fd, data[: len(data) // 2], offset)

    slots = SlotFile(Files(HalfOps()), tmp_path / "file", slot_bytes=4)
    with pytest.raises(OSError, match="2 of 4"):
        slots.write(0, b"aaaa")
    slots.close()


def test_a_tree_is_removed(files: Files, tmp_path: Path) -> None:
    (tmp_path / "tree" / "below").mkdir(parents=True)
    (tmp_path / "tree" / "below" / "file").touch()
    files.remove_tree(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()
