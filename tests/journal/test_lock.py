"""One writer: between processes, within one, over a fork, and against whoever touches the files anyway."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest

from hippo_async.errors import JournalLocked, JournalPoisoned

if TYPE_CHECKING:
    from conftest import Store

CHILD = Path(__file__).with_name("child.py")


class Process:
    """A process of ``child.py``, spoken to in lines."""

    def __init__(self, *words: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(CHILD), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        self.pid = self._process.pid

    def hear(self) -> str:
        return pipe(self._process.stdout).readline().strip()

    def tell(self, line: str) -> None:
        pipe(self._process.stdin).write(f"{line}\n")
        pipe(self._process.stdin).flush()

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def end(self) -> None:
        self._process.communicate(timeout=30)


def pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


@contextmanager
def running(*words: str) -> Iterator[Process]:
    process = Process(*words)
    try:
        yield process
    finally:
        process.kill()
        process.end()


def said_by(*words: str) -> str:
    with running(*words) as process:
        line = process.hear()
        process.end()
        return line


def test_a_second_writer_in_the_same_process_is_refused(
    twenty: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F28: however the path is written."""
    link = twenty.base.with_name("link")
    link.symlink_to(twenty.base)
    monkeypatch.chdir(twenty.base.parent)
    with twenty.opened() as first:
        for base in (twenty.base, link, Path(twenty.base.name), twenty.base / "journal" / ".."):
            second = replace(twenty, base=base).journal()
            with pytest.raises(JournalLocked, match="in this process"):
                second.open()
            second.close()
        twenty.append(first, "the first is not disturbed")
    assert twenty.write(["the lock is free again"])


def linked(store: Store, *, lock: bool) -> Store:
    """The same files under a second directory, as hard links; with ``lock``, that of the writer too."""
    other = replace(store, base=store.base.with_name("linked"))
    shutil.copytree(store.base, other.base, copy_function=os.link)
    if not lock:
        (other.root / "LOCK").unlink()
    return other


def test_a_second_writer_by_hard_links_is_refused(twenty: Store) -> None:
    """F28: it is another directory with the same files in it, the lock among them."""
    with twenty.opened() as first:
        with pytest.raises(JournalLocked):
            linked(twenty, lock=True).journal().open()
        assert twenty.append(first, "the first is not disturbed").seq == 20


def test_hard_links_without_the_lock_do_not_get_two_writers_into_one_segment(twenty: Store) -> None:
    """F28, F29: whoever comes second to a segment that has grown is refused."""
    with twenty.opened() as first:
        other = linked(twenty, lock=False)
        with other.opened() as second:
            assert twenty.append(first, "the first").seq == 20
            with pytest.raises(JournalPoisoned, match="somebody else"):
                other.append(second, "the second")
        assert twenty.append(first, "the first again").seq == 21
    assert [record.text for record in twenty.read()][20:] == ["the first", "the first again"]


def test_opening_twice_is_refused_and_harmless(twenty: Store) -> None:
    with twenty.opened() as journal:
        with pytest.raises(JournalLocked):
            journal.open()
        assert twenty.append(journal, "still open").seq == 20


def test_a_journal_that_could_not_open_leaves_the_lock_free(twenty: Store) -> None:
    whole = twenty.head.read_bytes()
    twenty.head.write_bytes(bytes(1024))
    with pytest.raises(ValueError, match="HEAD"):
        twenty.journal().open()
    twenty.head.write_bytes(whole)
    assert twenty.write(["free"])


def test_journals_of_different_directories_are_open_side_by_side(store: Store) -> None:
    others = [replace(store, base=store.base / name) for name in ("one", "two")]
    with others[0].opened() as one, others[1].opened() as two:
        assert store.append(one, "text").seq == store.append(two, "text").seq == 1
        assert one.journal_id != two.journal_id


@pytest.mark.process
def test_a_second_process_is_told_who_holds_the_journal_and_gets_it_after_a_kill(store: Store) -> None:
    """F27: both ways round."""
    with running("hold", str(store.base)) as holder:
        assert holder.hear() == "open"
        with pytest.raises(JournalLocked, match=f"process {holder.pid} "):
            store.journal().open()
        assert store.report().seq == 0
        holder.kill()
        assert store.write(["the lock is free"])[0].seq == 1

    with store.opened():
        refusal = said_by("append", str(store.base))
    assert refusal.startswith("JournalLocked")
    assert f"process {os.getpid()} " in refusal
    assert said_by("append", str(store.base)) == "appended"
    assert store.report().seq == 2


@pytest.mark.process
def test_a_forked_child_cannot_write_and_takes_nothing_from_its_parent(store: Store) -> None:
    """F30: its append raises; its exit neither frees the parent's lock nor writes anything twice."""
    with running("fork", str(store.base)) as parent:
        assert parent.hear() == "child: JournalPoisoned"
        assert parent.hear() == "forked"
        with pytest.raises(JournalLocked, match=f"process {parent.pid} "):
            store.journal().open()
        parent.tell("go on")
        assert parent.hear() == "closed"
    assert [record.text for record in store.read()][1:] == ["before the fork", "after the fork", "and on"]


@pytest.mark.process
def test_without_its_lock_file_a_writer_notices_another_and_stops(store: Store) -> None:
    """F29: somebody deleted the lock; the second writer gets in, the first one's next append is refused."""
    with store.opened() as journal:
        store.append(journal, "the first writer")
        (store.root / "LOCK").unlink()
        assert said_by("append", str(store.base), "the second writer") == "appended"
        with pytest.raises(JournalPoisoned):
            store.append(journal, "the first writer again")
    assert [record.text for record in store.read()][1:] == ["the first writer", "the second writer"]


@pytest.mark.parametrize("again", [False, True], ids=["deleted", "deleted and made anew"])
def test_a_writer_whose_lock_file_is_gone_is_refused_its_next_append(twenty: Store, again: bool) -> None:
    """F29: at once, and not only when another writer has got in and the segment has grown."""
    with twenty.opened() as journal:
        (twenty.root / "LOCK").unlink()
        if again:
            (twenty.root / "LOCK").touch()
        with pytest.raises(JournalPoisoned):
            twenty.append(journal, "without a lock")


def replace_by_copy(path: Path) -> None:
    copy = path.with_suffix(".copy")
    copy.write_bytes(path.read_bytes())
    os.replace(copy, path)


@pytest.mark.parametrize(
    "meddle",
    [
        replace_by_copy,
        lambda path: os.truncate(path, path.stat().st_size - 1),
        lambda path: os.truncate(path, 0),
        lambda path: path.write_bytes(path.read_bytes() + b"x"),
        lambda path: path.unlink(),
        lambda path: path.rename(path.with_suffix(".moved")),
    ],
    ids=["replaced", "cut", "emptied", "appended to", "deleted", "moved"],
)
def test_a_segment_that_somebody_else_touches_is_not_written_to(
    twenty: Store, meddle: Callable[[Path], object]
) -> None:
    """F31: noticed before the next append, and nothing is added to what is there."""
    with twenty.opened() as journal:
        live = twenty.live
        meddle(live)
        found = live.read_bytes() if live.exists() else None
        with pytest.raises(JournalPoisoned, match="somebody else"):
            twenty.append(journal, "lost")
        with pytest.raises(JournalPoisoned):
            twenty.append(journal, "lost too")
        assert (live.read_bytes() if live.exists() else None) == found


def test_a_journal_that_is_replaced_as_a_whole_is_not_written_to(twenty: Store) -> None:
    """F31: neither the one that was moved away nor the copy in its place."""
    copy = twenty.copy_to(twenty.base.with_name("copy"))
    with twenty.opened() as journal:
        twenty.root.rename(twenty.root.with_name("moved"))
        copy.root.rename(twenty.root)
        before = twenty.fingerprint()
        with pytest.raises(JournalPoisoned, match="somebody else"):
            twenty.append(journal, "lost")
        assert twenty.fingerprint() == before


@pytest.mark.parametrize("name", ["HEAD", "witness"])
def test_a_head_that_is_replaced_while_the_journal_is_open_costs_no_record(twenty: Store, name: str) -> None:
    """F31: the writer goes on with the file it opened; the one in its place lags, and that is no fault."""
    with twenty.opened() as journal:
        path = twenty.head if name == "HEAD" else twenty.witness / journal.journal_id
        replace_by_copy(path)
        record = twenty.append(journal, "written")
    assert twenty.read()[-1] == record
    assert twenty.write(["goes on"])[0].seq == 21
    assert twenty.head_state().seq == 21
