"""A store made of a backup again: verified twice, over nothing, and with the witness having its say."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hippo_async import Hippocampus, Settings, blocking
from hippo_async.backup import backup, restore
from hippo_async.errors import (
    ForeignJournal,
    HippoError,
    IntegrityError,
    InvalidInput,
    KeyFileError,
    NotFound,
    RolledBack,
    WrongKey,
)
from hippo_async.files import Files
from hippo_async.journal import make_key
from hippo_async.place import Place
from hippo_async.testing import ScriptedOps

if TYPE_CHECKING:
    from conftest import Home


def contents(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != "LOCK"
    }


def test_a_store_that_was_lost_is_there_again_bit_for_bit(full: Home) -> None:
    records, before = full.records(), contents(full.data)
    full.back_up(with_keys=True)
    shutil.rmtree(full.data)
    report = restore(full.backup, full.place)
    assert contents(full.data) == before
    assert full.records() == records
    assert (report.rolled_back, report.with_keys) == (None, True)
    assert report.manifest.record_id == records[-1].record_id
    full.write("and it goes on")


def test_keys_are_restored_for_their_owner_alone(full: Home) -> None:
    full.back_up(with_keys=True)
    report = full.restored_to("fresh", key_file=None)
    assert report.with_keys
    for name in ("agent.key", "agent.key.1"):
        assert (full.at("fresh").data / name).stat().st_mode & 0o777 == 0o600
    assert full.at("fresh").records() == full.records()


def test_without_keys_in_it_they_are_those_that_are_named(full: Home) -> None:
    full.back_up()
    report = full.restored_to("fresh")
    assert not report.with_keys
    assert not list(full.at("fresh").data.glob("agent.key*"))


def test_or_those_that_lie_in_the_target(full: Home) -> None:
    full.back_up()
    fresh = full.at("fresh")
    fresh.data.mkdir()
    for name in ("agent.key", "agent.key.1"):
        shutil.copy(full.data / name, fresh.data / name)
    full.restored_to("fresh", key_file=None)
    assert fresh.records() == full.records()


def test_without_any_key_nothing_is_restored(full: Home) -> None:
    full.back_up()
    with pytest.raises(KeyFileError):
        full.restored_to("fresh", key_file=None)
    assert not full.at("fresh").data.exists()


def test_a_key_that_the_application_holds_does_as_well(full: Home) -> None:
    full.back_up()
    first, second = (full.keys.key(epoch).secret for epoch in range(2))
    full.restored_to("fresh", key_file=None, key=second, retired_keys=(first,))


def test_another_key_restores_nothing_and_leaves_nothing(full: Home) -> None:
    full.back_up()
    make_key(Files(), full.base / "other.key")
    shutil.copy(full.base / "other.key", full.base / "other.key.1")
    with pytest.raises(IntegrityError):
        full.restored_to("fresh", key_file=full.base / "other.key")
    assert not full.at("fresh").data.exists()


def test_a_key_that_is_there_is_never_replaced(full: Home) -> None:
    full.back_up(with_keys=True)
    fresh = full.at("fresh")
    make_key(Files(), fresh.data / "agent.key")
    before = contents(fresh.data)
    with pytest.raises(KeyFileError, match="another key"):
        full.restored_to("fresh")
    assert contents(fresh.data) == before
    shutil.copy(full.data / "agent.key", fresh.data / "agent.key")
    full.restored_to("fresh")
    assert fresh.records() == full.records()


@pytest.mark.parametrize("there", ["journal", "journal.3", "raw", "anchors"])
def test_nothing_of_a_store_is_written_over(full: Home, there: str) -> None:
    full.back_up(with_keys=True)
    fresh = full.at("fresh")
    (fresh.data / there).mkdir(parents=True)
    (fresh.data / there / "mine").write_text("mine")
    with pytest.raises(InvalidInput, match="never overwritten"):
        full.restored_to("fresh")
    assert contents(fresh.data) == {f"{there}/mine": b"mine"}


def test_the_store_itself_is_not_written_over(full: Home) -> None:
    full.back_up(with_keys=True)
    full.write("later")
    before = contents(full.data)
    with pytest.raises(InvalidInput):
        restore(full.backup, full.place)
    assert contents(full.data) == before


def test_an_older_state_does_not_open_until_its_owner_accepts_it_in_the_chain(full: Home) -> None:
    full.back_up(with_keys=True)
    full.write("later")
    seen = contents(full.witness)
    shutil.rmtree(full.data)

    report = restore(full.backup, full.place)

    assert contents(full.witness) == seen, "the witness is asked and not told"
    assert isinstance(report.rolled_back, RolledBack)
    assert "hippo witness accept" in report.rolled_back.advice
    with pytest.raises(RolledBack), full.opened():
        pass
    with full.opened(accepting=[RolledBack]) as journal:
        full.append(journal, "from here on")
    newest = full.records()[-2:]
    assert [record.type for record in newest] == ["accept", "record"]
    assert newest[0].metadata["hippo"]["reason"] == "rolled_back"


def test_so_it_is_if_the_key_was_changed_after_the_backup(full: Home) -> None:
    full.back_up(with_keys=True)
    with full.opened() as journal:
        journal.rotate()
    shutil.rmtree(full.data)
    assert restore(full.backup, full.place).rolled_back is not None


def test_without_a_witness_nobody_knows_of_anything_later(full: Home) -> None:
    full.back_up(with_keys=True)
    full.write("later")
    assert full.restored_to("fresh", witness=None).rolled_back is None


def sampled(path: Path) -> Iterator[int]:
    """Places all over a file, its ends among them."""
    size = path.stat().st_size
    yield from sorted({0, size - 1, *range(0, size, max(1, size // 12))})


def test_a_flipped_bit_anywhere_is_noticed_and_nothing_is_restored(full: Home) -> None:
    """Journals, raw shards, anchors and the list itself; a slot of HEAD too, which opening would forgive."""
    full.back_up()
    tried = 0
    for path in [path for path in sorted(full.backup.rglob("*")) if path.is_file()]:
        whole = path.read_bytes()
        for at in sampled(path):
            data = bytearray(whole)
            data[at] ^= 1 << (at % 8)
            path.write_bytes(data)
            with pytest.raises(IntegrityError) as caught:
                full.restored_to("fresh")
            assert full.backup in caught.value.path.parents
            assert not full.at("fresh").data.exists()
            tried += 1
        path.write_bytes(whole)
    assert tried > 200
    full.restored_to("fresh")


def test_a_flipped_bit_of_a_key_in_it_is_noticed(full: Home) -> None:
    full.back_up(with_keys=True)
    key = full.backup / "agent.key.1"
    text = key.read_text()
    key.write_text(("1" if text[0] == "0" else "0") + text[1:])
    with pytest.raises(HippoError):
        full.restored_to("fresh")
    assert not full.at("fresh").data.exists()


def test_a_bit_that_flips_after_the_check_is_noticed_in_the_copy(full: Home) -> None:
    full.back_up()
    shard = full.backup / "raw/2026-01-01.jsonl"

    class Fading(Files):
        """The first file written is a sign that the backup was checked."""

        def write_all(self, fd: int, data: bytes) -> None:
            shard.write_bytes(shard.read_bytes().replace(b"hello", b"hallo"))
            super().write_all(fd, data)

    ops = ScriptedOps(syncing=False)
    place = replace(full.at("fresh").place, key_file=full.data / "agent.key")
    with pytest.raises(IntegrityError, match="another one"):
        restore(full.backup, place, files=Fading(ops))
    assert contents(full.at("fresh").data) == {}
    assert ops.count("replace", name="CURRENT") == 0, "what is not whole is never put in force"


def test_a_restored_store_that_the_disk_spoilt_is_noticed_and_taken_away(full: Home) -> None:
    full.back_up()

    class Spoiling(Files):
        def write_all(self, fd: int, data: bytes) -> None:
            super().write_all(fd, data.replace(b"hello", b"hallo"))

    place = replace(full.at("fresh").place, key_file=full.data / "agent.key")
    with pytest.raises(IntegrityError, match=r"fresh/raw/2026-01-01\.jsonl"):
        restore(full.backup, place, files=Spoiling())
    assert contents(full.at("fresh").data) == {}


def test_what_was_restored_is_walked_again_in_its_new_place(full: Home) -> None:
    full.back_up()
    ops = ScriptedOps(syncing=False)
    full.restored_to("fresh", ops=ops)
    in_force = max(place for place, call in enumerate(ops.calls) if call.path.name == "CURRENT.new")
    read = [call.path for call in ops.calls[in_force:] if call.operation == "open"]
    for segment in full.at("fresh").data.glob("journal*/gen-*/seg-*"):
        assert read.count(segment) >= 4, (
            "by the manifest, by the list of segments, line by line, by the witness"
        )


@pytest.mark.parametrize("name", ["raw/2026-01-01.jsonl", "anchors/2026-01-02.json", "journal/HEAD"])
def test_a_file_that_is_missing_is_noticed(full: Home, name: str) -> None:
    full.back_up()
    (full.backup / name).unlink()
    with pytest.raises(IntegrityError, match="another one"):
        full.restored_to("fresh")
    assert not full.at("fresh").data.exists()


def test_a_file_that_was_put_in_is_noticed(full: Home) -> None:
    full.back_up()
    (full.backup / "raw/2026-01-03.jsonl").write_bytes(b"")
    with pytest.raises(IntegrityError, match="another one"):
        full.restored_to("fresh")


def test_a_backup_that_an_agent_wrote_to_is_none_any_more(full: Home) -> None:
    full.back_up(with_keys=True)
    full.copy.write("into the backup")
    with pytest.raises(IntegrityError):
        full.restored_to("fresh")


def test_a_directory_that_is_no_backup_is_refused(full: Home) -> None:
    for place in (full.data, full.base / "nowhere"):
        with pytest.raises(NotFound, match="no backup"):
            restore(place, full.at("fresh").place)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"seq":', b'"seq": '),
        (b'"keys":2', b'"keys":3'),
        (b'"agent_id":"agent"', b'"agent_id":"other"'),
        (b'"backup":"', b'"backup":"x'),
        (b'{"agent_id"', b'{"a":1,"agent_id"'),
        (b"}\n", b"}"),
    ],
)
def test_a_list_that_was_edited_is_refused(full: Home, old: bytes, new: bytes) -> None:
    full.back_up()
    path = full.backup / "BACKUP.json"
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    with pytest.raises(IntegrityError, match=r"BACKUP\.json"):
        full.restored_to("fresh")


def test_the_list_says_what_it_is_a_backup_of_without_a_key(full: Home) -> None:
    made = full.back_up().manifest
    listed = json.loads((full.backup / "BACKUP.json").read_bytes())
    assert (listed["agent_id"], listed["seq"], listed["keys"]) == ("agent", made.seq, 2)
    assert listed["made_at"] == "2026-01-01T12:00:00.000000Z"


def test_the_backup_of_another_agent_is_not_restored(full: Home) -> None:
    full.back_up(with_keys=True)
    with pytest.raises(ForeignJournal):
        full.restored_to("fresh", agent_id="somebody")


def test_a_first_record_under_another_key_is_a_wrong_key(home: Home) -> None:
    home.back_up()
    make_key(Files(), home.base / "other.key")
    with pytest.raises((WrongKey, IntegrityError)):
        home.restored_to("fresh", key_file=home.base / "other.key")


def test_a_restored_memory_recalls(tmp_path: Path) -> None:
    """With an index of later records still in its place."""
    everything = Settings.from_mapping({"capture": {"flush_seconds": 0.01}, "raw": {"mode": "all"}})
    place = Place(tmp_path / "store", "agent", None, None, None)

    def memory() -> Hippocampus:
        return Hippocampus(place.data_dir, embedder="none", witness=None, settings=everything)

    with memory() as before:
        before.capture("The kettle is blue.", session="s").wait(20)
    backup(place, tmp_path / "backup", with_keys=True)
    with memory() as later:
        blocking(later.record)("The pan is small.")
    for name in ("journal", "raw"):
        shutil.rmtree(place.data_dir / name)
    restore(tmp_path / "backup", place)
    with memory() as after:
        found = blocking(after.recall)("kettle or pan")
        assert [hit.record.text for hit in found] == ["The kettle is blue."]
        assert blocking(after.verify_chain)().intact
    assert "kettle" in next((place.data_dir / "raw").iterdir()).read_text()
