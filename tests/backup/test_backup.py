"""A backup is a store itself: all of the journals, raw shards and anchors, and nothing that is not needed."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from two_verifiers import second

from hippo_async import Hippocampus, blocking
from hippo_async.backup import backup
from hippo_async.errors import (
    AnchorDamaged,
    ForeignJournal,
    HeadMismatch,
    IntegrityError,
    InvalidInput,
    JournalCorrupt,
    KeyFileError,
    NotFound,
    RolledBack,
)
from hippo_async.files import Files
from hippo_async.place import Place
from hippo_async.testing import ScriptedOps

if TYPE_CHECKING:
    from conftest import Home

SECRET = "the text that was forgotten for good"


def test_a_backup_is_a_store_with_the_same_records(full: Home) -> None:
    """Several segments, two key epochs and a purged record."""
    report = full.back_up(with_keys=True)
    copy = full.copy
    assert copy.records() == full.records()
    assert [record.seq for record in copy.records() if record.purged] == [3]
    last = full.records()[-1]
    assert (report.manifest.seq, report.manifest.record_id) == (last.seq, last.record_id)
    assert (report.manifest.keys, report.manifest.agent_id) == (2, "agent")
    assert report.notes == ()


def test_a_verifier_that_knows_nothing_of_backups_finds_it_intact(full: Home) -> None:
    full.back_up()
    verdict = second.verify_rotated(
        [full.backup / "journal", full.backup / "journal.1"],
        agent_id="agent",
        keys=[full.keys.key(epoch).secret for epoch in range(2)],
        witness=full.witness,
    )
    assert verdict.name == "intact"


def test_it_holds_every_file_that_counts_bit_for_bit_and_no_other(full: Home) -> None:
    for name in ("journal/torn/old", "journal.1/damaged-000001-ab/seg", "index/gen-1/index.sqlite"):
        (full.data / name).parent.mkdir(parents=True)
    for name in (
        "journal/torn/old",
        "journal.1/damaged-000001-ab/seg",
        "journal.1/HEAD.new",
        "index/gen-1/index.sqlite",
        "anchors/2026-01-03.json.new",
        "notes.txt",
    ):
        (full.data / name).write_text("not needed")
    wanted = {
        path.relative_to(full.data).as_posix(): path.read_bytes()
        for path in full.data.rglob("*")
        if path.is_file() and "not needed" not in path.read_text() and path.name != "LOCK"
    }
    del wanted["agent.key"], wanted["agent.key.1"]

    full.back_up()

    found = {
        path.relative_to(full.backup).as_posix(): path.read_bytes()
        for path in full.backup.rglob("*")
        if path.is_file()
    }
    listed = json.loads(found.pop("BACKUP.json"))["files"]
    assert found == wanted
    assert {entry["name"] for entry in listed} == {name for name in found if not name.endswith("/CURRENT")}
    assert {"raw/2026-01-01.jsonl", "raw/2026-01-02.jsonl", "anchors/2026-01-01.json"} <= found.keys()


def test_what_was_forgotten_is_in_no_file_of_it(full: Home) -> None:
    full.back_up(with_keys=True)
    assert not [path for path in full.backup.rglob("*") if path.is_file() and SECRET in path.read_text()]


def test_the_source_is_read_and_nothing_else(full: Home) -> None:
    before = fingerprint(full.data), fingerprint(full.witness)
    full.back_up(with_keys=True)
    assert (fingerprint(full.data), fingerprint(full.witness)) == before


def test_others_can_get_at_nothing_in_it_whatever_the_umask(full: Home) -> None:
    mask = os.umask(0)
    try:
        full.back_up(with_keys=True)
    finally:
        os.umask(mask)
    modes = {path.stat().st_mode & 0o777 for path in [full.backup, *full.backup.rglob("*")]}
    assert modes == {0o700, 0o600}


def test_keys_are_left_out_and_named(full: Home) -> None:
    report = full.back_up()
    keys = (full.data / "agent.key", full.data / "agent.key.1")
    assert report.key_files == keys
    assert "NOT in it" in report.warning
    assert all(str(path) in report.warning for path in keys)
    assert not list(full.backup.glob("agent.key*"))
    with pytest.raises(KeyFileError):
        full.copy.records()


def test_keys_are_brought_along_when_that_is_asked_for(full: Home) -> None:
    report = full.back_up(with_keys=True)
    assert "forge" in report.warning
    for name in ("agent.key", "agent.key.1"):
        assert (full.backup / name).read_bytes() == (full.data / name).read_bytes()
        assert (full.backup / name).stat().st_mode & 0o777 == 0o600


def test_keys_that_the_application_holds_do_as_well(full: Home) -> None:
    first, second_key = (full.keys.key(epoch).secret for epoch in range(2))
    for name in ("agent.key", "agent.key.1"):
        (full.data / name).unlink()
    place = replace(full.place, key=second_key, retired_keys=(first,))
    report = backup(place, full.backup)
    assert (report.with_keys, report.key_files) == (False, ())
    assert "the application" in report.warning


def test_a_directory_with_anything_in_it_is_refused_and_stays_as_it_is(full: Home) -> None:
    full.backup.mkdir()
    (full.backup / "diary").write_text("mine")
    with pytest.raises(InvalidInput, match="empty directory"):
        full.back_up()
    assert fingerprint(full.backup).keys() == {"diary"}
    (full.backup / "diary").unlink()
    full.back_up()
    with pytest.raises(InvalidInput):
        full.back_up()


def test_a_place_inside_the_store_is_refused(full: Home) -> None:
    for inside in (full.data, full.data / "backup"):
        with pytest.raises(InvalidInput, match="inside"):
            backup(full.place, inside)


def test_where_there_is_no_store_there_is_no_backup(full: Home) -> None:
    shutil.rmtree(full.data / "journal")
    shutil.rmtree(full.data / "journal.1")
    with pytest.raises(NotFound):
        full.back_up()
    assert not full.backup.exists()


def flip(path: Path, at: int = 300) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def damages() -> dict[str, tuple[Any, type[IntegrityError]]]:
    return {
        "a record": (
            lambda home: flip(home.data / "journal/gen-000002/seg-000000000000.jsonl"),
            JournalCorrupt,
        ),
        "a closed segment is gone": (
            lambda home: min(home.data.glob("journal.1/gen-*/seg-*")).unlink(),
            JournalCorrupt,
        ),
        "CURRENT": (lambda home: flip(home.data / "journal/CURRENT", 1), JournalCorrupt),
        "HEAD": (lambda home: (home.data / "journal.1/HEAD").unlink(), HeadMismatch),
        "a journal": (lambda home: shutil.rmtree(home.data / "journal"), JournalCorrupt),
        "an anchor": (lambda home: flip(home.data / "anchors/2026-01-02.json"), AnchorDamaged),
    }


@pytest.mark.parametrize("what", damages())
def test_a_store_that_is_not_sound_is_not_backed_up(full: Home, what: str) -> None:
    damage, expected = damages()[what]
    damage(full)
    before = fingerprint(full.data)
    with pytest.raises(expected):
        full.back_up()
    assert not full.backup.exists()
    assert fingerprint(full.data) == before


def test_an_older_copy_put_in_place_of_the_store_is_not_backed_up(full: Home) -> None:
    shutil.copytree(full.data, full.base / "older")
    full.write("later")
    shutil.rmtree(full.data)
    shutil.move(full.base / "older", full.data)
    with pytest.raises(RolledBack):
        full.back_up()
    assert not full.backup.exists()


def test_the_store_of_another_agent_is_not_backed_up(full: Home) -> None:
    with pytest.raises(ForeignJournal):
        backup(replace(full.place, agent_id="somebody"), full.backup)


def test_a_copy_that_the_disk_spoilt_is_noticed_before_anybody_relies_on_it(full: Home) -> None:
    """A byte of a raw shard, which no seal covers, comes to the disk as another one."""

    class Spoiling(Files):
        def write_all(self, fd: int, data: bytes) -> None:
            super().write_all(fd, data.replace("привет".encode(), "привед".encode()))

    with pytest.raises(IntegrityError):
        backup(full.place, full.backup, files=Spoiling())
    assert not list(full.backup.iterdir())


def test_every_record_of_the_copy_is_read_and_checked_before_anybody_is_told_of_it(full: Home) -> None:
    ops = ScriptedOps(syncing=False)
    full.back_up(ops=ops)
    in_force = max(place for place, call in enumerate(ops.calls) if call.path.name == "CURRENT.new")
    read = [call.path for call in ops.calls[in_force:] if call.operation == "open"]
    for segment in full.backup.glob("journal*/gen-*/seg-*"):
        assert read.count(segment) >= 3, "by the manifest, by the list of segments, and line by line"


def test_a_large_store_is_copied_piece_by_piece(full: Home) -> None:
    """No more than a piece of a file is in memory at a time, and lines longer than a piece come through."""
    line = b"x" * (3 << 20) + b"\n"
    (full.data / "raw/2026-01-03.jsonl").write_bytes(line * 4 + b"not ended")
    sizes: list[int] = []

    class Measuring(Files):
        def write_all(self, fd: int, data: bytes) -> None:
            sizes.append(len(data))
            super().write_all(fd, data)

    backup(full.place, full.backup, files=Measuring())
    assert (full.backup / "raw/2026-01-03.jsonl").read_bytes() == line * 4
    assert max(sizes) <= len(line) + (1 << 20)


def test_a_memory_recalls_from_a_backup_that_was_made_while_it_was_open(tmp_path: Path) -> None:
    place = Place(tmp_path / "store", "agent", None, None, None)
    with Hippocampus(place.data_dir, embedder="none", witness=None) as memory:
        blocking(memory.record)("The kettle is blue.")
        backup(place, tmp_path / "backup", with_keys=True)
        blocking(memory.record)("The pan is small.")
    with Hippocampus(tmp_path / "backup", embedder="none", witness=None) as copy:
        found = blocking(copy.recall)("kettle or pan")
        assert [hit.record.text for hit in found] == ["The kettle is blue."]


def fingerprint(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }
