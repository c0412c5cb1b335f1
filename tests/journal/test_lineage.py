"""A change of keys: the old journal closed, the new one naming it, and one chain to whoever reads (J13)."""

from __future__ import annotations

import errno
import shutil
from contextlib import closing, suppress
from pathlib import Path

import pytest
from homes import Home, say

from hippo_async.errors import (
    Closed,
    IntegrityError,
    JournalCorrupt,
    JournalLocked,
    KeyFileError,
    RolledBack,
)
from hippo_async.files import Files
from hippo_async.journal import GivenKeys, KeyFiles, read_key
from hippo_async.journal.scan import PURGE
from hippo_async.records import Draft
from hippo_async.testing import ScriptedOps, each_failure

SECONDS = 20


@pytest.fixture
def rotated(home: Home) -> Home:
    """Three journals: two records under the first key, one under the second, two under the third."""
    with closing(home.lineage()) as journal:
        journal.open()
        say(journal, "one", "two")
        journal.rotate()
        say(journal, "three")
        journal.rotate()
        say(journal, "four", "five")
    return home


def test_after_a_change_of_keys_the_chain_runs_on(rotated: Home) -> None:
    with closing(rotated.lineage(read_only=True)) as journal:
        journal.open()
        records = [record for record, _ in journal.scan()]
        kept = [journal.read(location, record.record_id) for record, location in journal.scan()]
        later = [record.seq for record, _ in journal.scan(after=4)]
    assert [record.seq for record in records] == list(range(10))
    assert [record.prev_id for record in records[1:]] == [record.record_id for record in records[:-1]]
    assert [record.type for record in records if record.type != "record"] == ["genesis", "close"] * 2 + [
        "genesis"
    ]
    assert kept == records
    assert later == [5, 6, 7, 8, 9]


def test_the_old_journal_is_closed_by_an_identity_change_that_names_the_new_one(rotated: Home) -> None:
    with closing(rotated.lineage(read_only=True)) as journal:
        journal.open()
        [closing_record] = [record for record, _ in journal.scan() if record.seq == 3]
        assert closing_record.kind == "identity_change"
        assert closing_record.metadata["hippo"]["next"]["epoch"] == 1
        assert journal.live.epoch == 2


def test_verification_runs_through_all_journals(rotated: Home) -> None:
    with closing(rotated.lineage(read_only=True)) as journal:
        journal.open()
        report = journal.verify_chain()
    assert (report.intact, report.records, report.seq) == (True, 10, 9)
    assert rotated.second_verdict() == ("intact", 9)


def test_each_key_has_a_file_of_its_own_for_its_owner_alone(rotated: Home) -> None:
    keys = [rotated.keys.key(epoch).secret for epoch in range(3)]
    assert len(set(keys)) == 3
    for name in ("agent.key", "agent.key.1", "agent.key.2"):
        assert (rotated.data / name).stat().st_mode & 0o777 == 0o600


def test_nothing_is_appended_to_a_closed_journal(rotated: Home) -> None:
    before = (rotated.data / "journal").glob("gen-*/seg-*")
    sizes = {path: path.read_bytes() for path in before}
    with closing(rotated.lineage()) as journal:
        journal.open()
        say(journal, "six")
    assert all(path.read_bytes() == data for path, data in sizes.items())
    assert rotated.texts() == ["one", "two", "three", "four", "five", "six"]


def test_a_missing_old_key_is_named(rotated: Home) -> None:
    (rotated.data / "agent.key.1").rename(rotated.base / "elsewhere")
    with pytest.raises(KeyFileError, match=r"agent\.key\.1"):
        rotated.lineage(read_only=True).open()


def test_keys_may_be_handed_over_instead(rotated: Home) -> None:
    secrets = [rotated.keys.key(epoch).secret for epoch in range(3)]
    with closing(rotated.lineage(keys=GivenKeys(secrets))) as journal:
        assert journal.open().seq == 9
        with pytest.raises(KeyFileError, match="retired_keys"):
            journal.rotate()
        say(journal, "a rotation without a next key changes nothing")
    with pytest.raises(KeyFileError, match="key epoch 2"):
        rotated.lineage(keys=GivenKeys(secrets[:2]), read_only=True).open()


def test_the_old_key_does_not_open_the_new_journal(rotated: Home) -> None:
    shutil.copy(rotated.data / "agent.key", rotated.data / "agent.key.2")
    with pytest.raises(IntegrityError):
        rotated.lineage(read_only=True).open()


@pytest.mark.parametrize("epoch", [0, 1])
def test_a_journal_that_is_missing_in_the_middle_is_noticed(rotated: Home, epoch: int) -> None:
    shutil.rmtree(rotated.data / ("journal.1" if epoch else "journal"))
    for read_only in (True, False):
        with pytest.raises(JournalCorrupt, match="missing"):
            rotated.lineage(read_only=read_only).open()


def test_the_newest_journal_gone_is_a_rollback_and_no_fresh_one_is_made(rotated: Home) -> None:
    """The close names it, and the witness outside the store has seen it."""
    shutil.rmtree(rotated.data / "journal.2")
    with pytest.raises(RolledBack):
        rotated.lineage().open()
    assert not (rotated.data / "journal.2" / "CURRENT").exists()


def test_an_old_journal_that_was_put_back_from_before_its_last_records_is_refused(home: Home) -> None:
    with closing(home.lineage()) as journal:
        journal.open()
        say(journal, "one")
        journal.close()
        shutil.copytree(home.data / "journal", home.base / "earlier")
        journal.open()
        say(journal, "two")
        journal.rotate()
    shutil.rmtree(home.data / "journal")
    shutil.copytree(home.base / "earlier", home.data / "journal")
    with pytest.raises(IntegrityError):
        home.lineage(read_only=True).open()
    shutil.rmtree(home.witness)
    with pytest.raises(JournalCorrupt, match="does not continue"):
        home.lineage(read_only=True).open()
    assert home.second_verdict()[0] == "corrupt"


def test_whoever_has_the_old_key_cannot_write_another_history_for_it(home: Home, tmp_path: Path) -> None:
    """The new genesis names the id of the old close, and ids are hashes."""
    thief = Home(tmp_path / "thief")
    thief.data.mkdir(parents=True)
    shutil.copy(home.data / "agent.key", thief.data / "agent.key")
    for place, text in ((home, "the truth"), (thief, "a forgery")):
        with closing(place.lineage()) as journal:
            journal.open()
            say(journal, text)
            journal.rotate()
    shutil.rmtree(home.data / "journal")
    shutil.copytree(thief.data / "journal", home.data / "journal")
    with pytest.raises(JournalCorrupt, match="does not continue"):
        home.lineage(read_only=True).open()


def test_a_record_of_the_old_journal_may_be_named_by_a_purge_in_the_new_one(home: Home) -> None:
    with closing(home.lineage()) as journal:
        journal.open()
        [secret] = say(journal, "a secret")
        journal.rotate()
        purge = Draft("forgotten", metadata={"hippo": {"records": [secret.record_id]}})
        journal.append([purge], record_type=PURGE).result(SECONDS)
        assert journal.verify_chain().intact
    assert home.second_verdict() == ("intact", 4)


def test_while_a_store_is_open_elsewhere_its_key_is_not_changed(home: Home) -> None:
    with closing(home.lineage()) as journal:
        journal.open()
        with pytest.raises(JournalLocked):
            home.lineage().open()
        journal.rotate()
        with pytest.raises(JournalLocked):
            home.lineage().open()


def test_a_lineage_that_is_not_open_says_so(home: Home) -> None:
    journal = home.lineage()
    with pytest.raises(Closed):
        journal.append([Draft("too early")])
    with pytest.raises(Closed):
        list(journal.scan())


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
def test_whichever_call_of_a_change_of_keys_fails_the_next_start_ends_in_one_whole_chain(
    home: Home, error: int
) -> None:
    """Either the old journal goes on, or the new one has taken over; nothing acknowledged is lost."""
    with closing(home.lineage()) as journal:
        journal.open()
        say(journal, "before")
    takeovers = set()
    for number, ops in enumerate(each_failure(error, lasting=True)):
        place = Home(home.base / str(number))
        shutil.copytree(home.data, place.data)
        shutil.copytree(home.witness, place.witness)
        with suppress(OSError), closing(place.lineage(ops=ops)) as journal:
            journal.open()
            journal.rotate()
        with closing(place.lineage()) as journal:
            journal.open()
            say(journal, "after")
            assert journal.verify_chain().intact
            takeovers.add(journal.live.epoch)
        assert place.texts() == ["before", "after"]
        assert place.second_verdict()[0] == "intact"
    assert takeovers == {0, 1}


def test_two_first_starts_make_one_key(tmp_path: Path) -> None:
    """Whoever comes second takes the key that is there; it is never replaced."""
    path = tmp_path / "agent.key"
    keys = KeyFiles(Files(), path)
    other = ScriptedOps(syncing=False)
    gate = other.hold("link", name="agent.key")
    from threading import Thread

    made: list[bytes] = []
    thread = Thread(target=lambda: made.append(KeyFiles(Files(other), path).provide(0).secret))
    thread.start()
    gate.wait_reached()
    first = keys.provide(0).secret
    gate.open()
    thread.join(SECONDS)
    assert made == [first] == [read_key(Files(), path).secret]
    assert [entry.name for entry in tmp_path.iterdir()] == ["agent.key"]
