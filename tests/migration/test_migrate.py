"""A memory moves whole: what comes along, what stays, who is kept out, and what is refused."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread
import pytest
from directories import contents
from homes import say
from movers import another_process

from hippo_async import Hippocampus
from hippo_async.errors import (
    ForeignJournal,
    InvalidInput,
    JournalCorrupt,
    JournalLocked,
    KeyFileError,
    MigrationFailed,
    MigrationLocked,
    MigrationTimeout,
    NotFound,
    RolledBack,
    StoreMoved,
)
from hippo_async.files import Files
from hippo_async.migration import find_old, migrate
from hippo_async.migration.document import End, difference
from hippo_async.migration.old import old_directories
from hippo_async.testing import FakeClock, ScriptedOps

if TYPE_CHECKING:
    from conftest import Old


def test_everything_but_locks_is_there_bit_for_bit_and_the_old_directory_is_unchanged(old: Old) -> None:
    before = contents(old.data)
    report = old.move()
    there, here = contents(old.target), contents(old.data)
    assert there.pop("MIGRATED") == here.pop("MOVED")
    assert here == before
    assert there == before
    assert report.move.records == 1 + 5 + 1 + 1
    assert not report.already
    copied = ["agent.key", "agent.key.1", "anchors", "config.toml", "index", "journal", "journal.1", "raw"]
    assert sorted(path.name for path in old.target.iterdir()) == ["MIGRATED", *copied]


def test_the_memory_goes_on_where_it_is_now_with_its_index_and_its_witness(old: Old) -> None:
    old.move()
    generation = (old.target / "index/CURRENT").read_text()
    assert old.moved().recalled("kettle") == ["The kettle is blue."]
    assert (old.target / "index/CURRENT").read_text() == generation, "the index was not made anew"
    old.moved().add("Said after the move.")
    assert old.moved().texts()[-1] == "Said after the move."


def test_the_marker_says_what_was_moved_from_where_and_when(old: Old) -> None:
    report = old.move()
    marker = json.loads((old.target / "MIGRATED").read_bytes())
    assert marker == {key: value for key, value in report.as_dict().items() if key != "already"}
    assert (marker["from"], marker["to"]) == (str(old.data), str(old.target))
    assert marker["moved_at"] == "2026-01-01T12:00:00.000000Z"
    with closing(old.moved().lineage(read_only=True)) as journal:
        journal.open()
        assert (journal.journal_id, journal.tail.record_id) == (marker["journal_id"], marker["record_id"])


def test_nobody_but_the_owner_gets_at_anything_whatever_the_umask(old: Old) -> None:
    mask = os.umask(0)
    try:
        old.move()
    finally:
        os.umask(mask)
    assert {path.stat().st_mode & 0o777 for path in [old.target, *old.target.rglob("*")]} == {0o700, 0o600}


def test_the_old_directory_says_where_the_memory_went_and_is_only_read(old: Old) -> None:
    old.move()
    with pytest.raises(StoreMoved, match="was moved to") as raised:
        old.recalled("kettle")
    assert raised.value.target == str(old.target)
    assert "The kettle is blue." in old.texts(), "reading goes on"
    old.moved().add("Said after the move.")
    with pytest.raises(RolledBack):
        old.texts()


def test_an_owner_who_removes_the_pointer_goes_on_at_the_old_one(old: Old) -> None:
    old.move()
    (old.data / "MOVED").unlink()
    old.add("Back again.")
    assert old.texts()[-1] == "Back again."


def test_again_it_says_that_it_was_done_also_without_the_old_directory(old: Old) -> None:
    report = old.move()
    before = contents(old.target)
    again = old.move()
    assert (again.move, again.already) == (report.move, True)
    shutil.rmtree(old.data)
    assert old.move().already
    assert contents(old.target) == before


def test_a_moved_memory_moves_on_and_the_old_one_never_again(old: Old) -> None:
    old.move()
    third = old.base / "third"
    with pytest.raises(StoreMoved):
        migrate(old.place, third)
    migrate(old.moved().place, third)
    assert "from" in json.loads((third / "MIGRATED").read_bytes())
    with pytest.raises(InvalidInput, match="something here"):
        migrate(replace(old.place, data_dir=third), old.data)


def test_a_target_with_other_things_in_it_is_refused_and_stays_as_it_is(old: Old) -> None:
    old.target.mkdir()
    (old.target / "diary").write_text("mine")
    with pytest.raises(InvalidInput, match="diary"):
        old.move()
    assert [path.name for path in old.target.iterdir()] == ["diary"]
    assert not (old.data / "MOVED").exists()


def test_settings_that_the_target_has_stay_and_nothing_else_is_said_of_them(old: Old) -> None:
    old.target.mkdir()
    (old.target / "config.toml").write_text("briefing = true\n")
    with pytest.raises(ForeignJournal):
        migrate(replace(old.place, agent_id="somebody"), old.target)
    assert contents(old.target) == {"config.toml": b"briefing = true\n"}
    assert old.move().move.settings is False
    assert (old.target / "config.toml").read_text() == "briefing = true\n"


@pytest.mark.parametrize("kept", [True, False])
def test_after_a_crash_it_is_known_whose_the_settings_in_the_target_are(old: Old, kept: bool) -> None:
    """Those that were copied are replaced by what the source has now, those of the target stay."""
    if kept:
        write_settings(old.target, "briefing = true\n")
    ops = ScriptedOps(syncing=False)
    ops.fail("replace", errno.EIO, name="MIGRATED")
    ops.fail("unlink", errno.EIO, name="MIGRATING.new")
    rule = ops.fail("unlink", errno.EIO, name="MOVED.new")
    ops.fail("rmtree", errno.EIO, name="index")
    with pytest.raises(MigrationFailed):
        old.move(ops=ops)
    (old.data / "MOVED").unlink(missing_ok=True)
    assert (rule.fired, (old.target / "MIGRATING").exists()) == (1, True)
    write_settings(old.data, "# changed since\n")
    assert old.move().move.settings is not kept
    found = (old.target / "config.toml").read_text()
    assert found == ("briefing = true\n" if kept else "# changed since\n")


def write_settings(data_dir: Path, text: str) -> None:
    data_dir.mkdir(exist_ok=True)
    (data_dir / "config.toml").write_text(text)


def test_another_memory_that_was_moved_there_is_not_taken_for_this_one(old: Old) -> None:
    old.move()
    shutil.copytree(old.data, old.base / "other")
    (old.base / "other/MOVED").unlink()
    with pytest.raises(InvalidInput, match="another memory"):
        migrate(replace(old.place, data_dir=old.base / "other"), old.target)


@pytest.mark.parametrize("name", [".", "inside", ".."])
def test_one_inside_the_other_is_refused(old: Old, name: str) -> None:
    with pytest.raises(InvalidInput, match="inside"):
        migrate(old.place, Path(os.path.normpath(old.data / name)))


def test_where_there_is_no_memory_nothing_is_made(old: Old) -> None:
    with pytest.raises(NotFound):
        migrate(replace(old.place, data_dir=old.base / "nowhere"), old.target)
    (old.data / "agent.key").rename(old.base / "key")
    with pytest.raises(KeyFileError):
        old.move()
    assert not old.target.exists()


def test_a_key_that_lies_elsewhere_stays_there(old: Old) -> None:
    elsewhere = old.base / "keys/agent.key"
    elsewhere.parent.mkdir()
    for name in ("agent.key", "agent.key.1"):
        (old.data / name).rename(elsewhere.parent / name)
    migrate(replace(old.place, key_file=elsewhere), old.target)
    assert not list(old.target.glob("agent.key*"))


def test_an_open_memory_is_not_moved_from_under_its_writer(old: Old) -> None:
    with closing(old.lineage()) as journal:
        journal.open()
        with pytest.raises(JournalLocked):
            old.move()
        say(journal, "and on")
    assert not old.target.exists()
    old.move()
    assert old.moved().texts()[-1] == "and on"


def test_what_is_said_while_it_is_copied_is_not_lost(old: Old) -> None:
    """The copy is made beside the writer; what came meanwhile is brought up once it is closed."""
    with closing(old.lineage()) as journal:
        journal.open()
        said: list[str] = []
        closed = False

        def beside(done: int, total: int) -> None:
            if not closed:
                said.append(f"meanwhile {len(said)}")
                say(journal, said[-1])

        def quiet() -> None:
            nonlocal closed
            say(journal, "the last word")
            journal.close()
            closed = True

        old.move(progress=beside, quiet=quiet)
    texts = old.moved().texts()
    assert len(said) > 3
    assert texts[-len(said) - 1 :] == [*said, "the last word"]
    assert texts == old.texts()


def test_what_is_purged_while_it_is_copied_is_in_no_file_of_the_target(old: Old) -> None:
    with closing(old.lineage()) as journal:
        journal.open()
        [secret] = say(journal, "the text that was forgotten")

        def quiet() -> None:
            journal.purge([secret.record_id])
            journal.close()

        old.move(quiet=quiet)
    assert not [text for text in contents(old.target).values() if b"the text that was forgotten" in text]
    assert old.moved().texts() == old.texts()


def test_without_having_been_closed_the_memory_stays_where_it_is(old: Old) -> None:
    with closing(old.lineage()) as journal:
        journal.open()
        with pytest.raises(JournalLocked):
            old.move(quiet=lambda: None)
        say(journal, "and on")
    assert not old.target.exists()
    assert not (old.data / "MOVED").exists()


@pytest.mark.process
def test_a_second_run_hears_who_is_at_it_and_an_agent_does_not_write_there(old: Old) -> None:
    with another_process(old.base) as process:
        with pytest.raises(MigrationLocked, match=f"process {process.pid} on "):
            old.move()
        with pytest.raises(MigrationLocked, match="is being moved to here"):
            old.moved().add("too early")
        old.add("Said meanwhile.")
        _, _ = process.communicate("")
        assert process.returncode == 0
    assert old.move().already
    assert old.moved().texts()[-1] == "Said meanwhile."


@pytest.mark.process
def test_the_lock_of_a_process_that_was_killed_is_taken_over(old: Old) -> None:
    with another_process(old.base) as process:
        process.kill()
        process.wait()
        assert (old.target / "LOCK.holder").exists()
    assert not old.move().already
    assert not list(old.target.glob("LOCK*"))
    assert old.moved().texts() == old.texts()


def test_counts_that_differ_leave_no_target(old: Old) -> None:
    """A whole older copy of the live segment and HEAD comes to the disk: a journal, and not this one."""
    older = contents(old.data)
    old.add("Six.")
    before = contents(old.data)

    class Older(Files):
        def read(self, path: Path) -> bytes:
            return self._older(path) or super().read(path)

        def chunks(self, path: Path, *, size: int = 1 << 20) -> Iterator[bytes]:  # type: ignore[override]
            data = self._older(path)
            if data is None:
                yield from super().chunks(path, size=size)
            else:
                yield data

        def size(self, path: Path) -> int:
            data = self._older(path)
            return super().size(path) if data is None else len(data)

        def _older(self, path: Path) -> bytes | None:
            inside = path.is_relative_to(old.data / "journal.1") and self.copying
            return older.get(path.relative_to(old.data).as_posix()) if inside else None

        copying = False

    files = Older()

    def tell(done: int, total: int) -> None:
        files.copying = False

    def quiet() -> None:
        files.copying = True

    with pytest.raises(MigrationFailed, match="8 records") as raised:
        old.move(files=files, progress=tell, quiet=quiet)
    assert "still in" in str(raised.value)
    assert not old.target.exists()
    assert contents(old.data) == before


def test_a_copy_ends_as_its_source_or_it_is_said_how_it_does_not() -> None:
    end = End("j", 8, "a")
    assert difference(end, End("j", 8, "a")) is None
    assert difference(end, End("j", 7, "a"))
    assert difference(end, End("j", 8, "b"))
    assert difference(end, End("k", 8, "a"))


def test_a_copy_that_the_disk_spoilt_leaves_no_target(old: Old) -> None:
    class Spoiling(Files):
        def write_all(self, fd: int, data: bytes) -> None:
            super().write_all(fd, data.replace(b"hello", b"jello"))

    before = contents(old.data)
    with pytest.raises(MigrationFailed, match="does not hold what was read"):
        old.move(files=Spoiling(ScriptedOps(syncing=False)))
    assert not old.target.exists()
    assert contents(old.data) == before


def test_a_damaged_memory_is_not_moved(old: Old) -> None:
    [segment, *_] = (old.data / "journal").glob("gen-*/seg-*")
    segment.write_bytes(segment.read_bytes().replace(b"kettle", b"cattle"))
    with pytest.raises(JournalCorrupt):
        old.move()
    assert not old.target.exists()


def test_nor_is_the_memory_of_another_agent(old: Old) -> None:
    with pytest.raises(ForeignJournal):
        migrate(replace(old.place, agent_id="somebody"), old.target)
    assert not old.target.exists()


def test_one_that_takes_too_long_is_given_up(old: Old) -> None:
    clock, before = FakeClock(), contents(old.data)
    with pytest.raises(MigrationTimeout, match=r"migration\.timeout_ms") as raised:
        old.move(clock=clock, timeout_ms=10_000, progress=lambda done, total: clock.advance(6))
    assert isinstance(raised.value, TimeoutError)
    assert not old.target.exists()
    assert contents(old.data) == before
    old.move(clock=clock, timeout_ms=10_000)


def test_an_empty_directory_stays_one_if_it_fails(old: Old) -> None:
    old.target.mkdir()
    with pytest.raises(ForeignJournal):
        migrate(replace(old.place, agent_id="somebody"), old.target)
    assert list(old.target.iterdir()) == []


def test_progress_never_goes_back_and_ends_at_the_total(old: Old) -> None:
    told: list[tuple[int, int]] = []
    report = old.move(progress=lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert all(done <= total for done, total in told)
    assert told[-1][0] == told[-1][1] > 0
    assert told[-1][1] <= report.move.size


def test_old_names_are_found_only_for_an_empty_target_and_only_if_they_hold_a_memory(
    old: Old, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = old.base / "user"
    monkeypatch.setenv("HOME", str(base))
    monkeypatch.setenv("XDG_DATA_HOME", str(base / "data"))
    (base / ".hippo").mkdir(parents=True)
    assert find_old(old.target) is None, "a directory alone is no memory"
    shutil.copytree(old.data, base / ".hippocampus")
    assert find_old(old.target) == base / ".hippocampus"
    assert find_old(base / ".hippocampus") is None
    [first, *_] = old_directories()
    shutil.copytree(old.data, first)
    assert find_old(old.target) == first
    (first / "MOVED").write_text("{}")
    assert find_old(old.target) == base / ".hippocampus"
    old.target.mkdir()
    (old.target / "mine").write_text("")
    assert find_old(old.target) is None


async def test_a_memory_that_was_moved_opens_at_its_new_place_only(old: Old) -> None:
    await anyio.to_thread.run_sync(old.move)
    async with Hippocampus(old.target, embedder="none", witness=old.witness) as memory:
        assert [hit.record.text for hit in await memory.recall("kettle")] == ["The kettle is blue."]
    with pytest.raises(StoreMoved):
        await Hippocampus(old.data, embedder="none", witness=old.witness).open()
