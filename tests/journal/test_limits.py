"""Processes that come to the end of something: disk, memory, descriptors. Raised, never half acknowledged."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hippo_async.errors import JournalPoisoned, WriteFailed
from hippo_async.files import PRIVATE_DIR, PRIVATE_FILE, SystemOps
from hippo_async.records import Draft

if TYPE_CHECKING:
    from conftest import Store

LIMITED = Path(__file__).with_name("limited.py")
SECONDS = 20
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits are counted differently elsewhere")


def run(what: str, store: Store, *words: object) -> list[str]:
    """Run a process to its end and return what it said, after the records it was told are durable."""
    done = subprocess.run(
        [sys.executable, str(LIMITED), what, str(store.base), *map(str, words)],
        capture_output=True,
        text=True,
        timeout=50,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def acknowledged(said: list[str]) -> list[int]:
    return [int(line.split()[1]) for line in said if line.startswith("acknowledged")]


@pytest.mark.process
@on_linux
def test_a_file_that_may_not_grow_is_a_failed_write_and_a_torn_tail(store: Store) -> None:
    """F12 by the system's own means: a short write, then EFBIG; what was acknowledged before it is there."""
    said = run("file_size", store)
    told = acknowledged(said)
    assert said[len(told) :] == [f"WriteFailed {errno.EFBIG}", "JournalPoisoned None"]
    assert told == list(range(1, len(told) + 1))
    assert len(told) > 1
    report = store.report()
    assert (report.seq, report.torn_bytes > 0) == (told[-1], True)
    assert store.write(["fits again"])[0].seq == told[-1] + 1


@pytest.mark.process
@on_linux
@pytest.mark.parametrize("megabytes", [40, 230], ids=["too little to seal it", "too little to write it"])
def test_a_group_that_no_memory_is_left_for_is_refused_as_a_whole(store: Store, megabytes: int) -> None:
    """F48: its caller is told; the journal goes on or says that it has to be opened again."""
    before, refusal, small, *after = run("memory", store, megabytes)
    assert before == "acknowledged 1"
    assert (refusal, small) in [
        ("MemoryError None", "acknowledged 2"),
        ("WriteFailed None", "JournalPoisoned None"),
    ]
    told = acknowledged([before, small, *after])
    assert told == list(range(1, len(told) + 1))
    texts = [record.text for record in store.read()][1:]
    assert texts == ["before", *["small"] * (small == "acknowledged 2"), "after"]


class NoMemory(SystemOps):
    """Writes a hundred bytes at a time, and has no memory left once it has written ``left`` times."""

    left = sys.maxsize

    def write(self, fd: int, data: memoryview) -> int:
        if not self.left:
            raise MemoryError
        self.left -= 1
        return super().write(fd, data[:100])


def test_memory_that_runs_out_amid_a_write_poisons_the_journal_until_it_is_opened_again(
    twenty: Store,
) -> None:
    """F48: a part of the record is on the disk; nobody is told that it is there."""
    ops = NoMemory()
    written = twenty.read()
    with twenty.opened(ops=ops) as journal:
        ops.left = 2
        with pytest.raises(WriteFailed) as caught:
            twenty.append(journal, "a part of it")
        assert isinstance(caught.value.__cause__, MemoryError)
        with pytest.raises(JournalPoisoned):
            journal.append([Draft("after")])
    assert twenty.report().torn_bytes == 200
    assert twenty.read() == written
    assert twenty.write(["goes on"])[0].seq == 20


@pytest.mark.process
@on_linux
def test_without_descriptors_a_journal_is_refused_and_with_some_it_goes_on(store: Store) -> None:
    """F49: appending needs none until a new segment is due; then, and to open, the error says so."""
    *said, failed, poisoned, unopened, after = run("descriptors", store)
    told = acknowledged(said)
    assert len(told) == len(said) > 1, "the live segment takes records without a new descriptor"
    assert (failed, poisoned) == (f"WriteFailed {errno.EMFILE}", "JournalPoisoned None")
    assert unopened == f"not opened {errno.EMFILE}"
    assert after == f"acknowledged {told[-1] + 1}"
    assert store.report().seq == told[-1] + 1


class FullDisk(SystemOps):
    """Not a byte and not a name fits any more; what is there can be overwritten, renamed and cut."""

    full = False

    def open(self, path: Path, flags: int, mode: int = PRIVATE_FILE) -> int:
        if self.full and flags & os.O_CREAT and not path.exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return super().open(path, flags, mode)

    def write(self, fd: int, data: memoryview) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(fd, data)

    def mkdir(self, path: Path, mode: int = PRIVATE_DIR) -> None:
        if self.full and not path.exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        super().mkdir(path, mode)


@pytest.mark.parametrize("torn", [b"", b'{"header":{"agent_id":'], ids=["closed", "torn"])
def test_a_journal_opens_on_a_full_disk_and_refuses_to_grow_until_there_is_room(
    twenty: Store, torn: bytes
) -> None:
    """F13: cutting a torn tail takes no space; only the copy of it is left out, and the report says so."""
    twenty.live.write_bytes(twenty.live.read_bytes() + torn)
    written = twenty.read()
    ops = FullDisk()
    ops.full = True
    with closing(twenty.journal(ops=ops)) as journal:
        report = journal.open()
        assert (report.seq, report.torn_bytes, report.torn_copy) == (19, len(torn), None)
        assert [record for record, _ in journal.scan()] == written
        with pytest.raises(WriteFailed, match="No space"):
            twenty.append(journal, "no room")
    ops.full = False
    with twenty.opened(ops=ops) as journal:
        assert twenty.append(journal, "room").seq == 20


def test_a_journal_that_does_not_fit_is_not_begun_and_can_be_once_it_fits(store: Store) -> None:
    ops = FullDisk()
    ops.full = True
    with pytest.raises(OSError, match="No space"):
        store.journal(ops=ops).open()
    ops.full = False
    with store.opened(ops=ops) as journal:
        assert store.append(journal, "fits").seq == 1
