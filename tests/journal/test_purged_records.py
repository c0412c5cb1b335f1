"""A record without its text is proved in its place if a sealed purge names it; else it is damage."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from hippo_async.errors import JournalCorrupt
from hippo_async.journal.codec import encode_line, open_line
from hippo_async.records import Record

if TYPE_CHECKING:
    from conftest import Store

SECRET = "the text that was forgotten for good"


@pytest.fixture
def forgetful(twenty: Store) -> tuple[Store, Record]:
    """A journal with a secret in it, and the secret."""
    [secret, _] = twenty.write([SECRET, "after it"])
    return twenty, secret


def test_a_record_without_text_that_no_purge_names_is_refused(forgetful: tuple[Store, Record]) -> None:
    store, secret = forgetful
    store.drop_payload(secret)
    before = store.fingerprint()
    with pytest.raises(JournalCorrupt) as caught:
        store.report()
    assert caught.value.seq == secret.seq
    with pytest.raises(JournalCorrupt):
        store.journal().open()
    assert store.fingerprint() == before


def test_a_purge_that_names_another_record_explains_nothing(forgetful: tuple[Store, Record]) -> None:
    store, secret = forgetful
    with store.opened() as journal:
        store.purge(journal, store.read()[5])
    store.drop_payload(secret)
    with pytest.raises(JournalCorrupt):
        store.report()


def test_a_purged_record_keeps_its_place_and_loses_its_text(forgetful: tuple[Store, Record]) -> None:
    store, secret = forgetful
    with store.opened() as journal:
        store.purge(journal, secret)
    store.drop_payload(secret)

    assert SECRET.encode() not in store.live.read_bytes()
    with store.opened() as journal:
        assert journal.verify_chain().intact
        found = [record for record, _ in journal.scan()]
        assert found[secret.seq].purged
        assert (found[secret.seq].text, found[secret.seq].metadata) == ("", {})
        assert found[secret.seq].record_id == secret.record_id == found[secret.seq + 1].prev_id
        assert store.append(journal, "goes on").seq == 23


def test_a_purge_in_a_later_segment_explains_a_record_of_the_live_one(store: Store) -> None:
    """Everything is walked from the record on to the end before anything is called unexplained."""
    [secret] = store.write([SECRET])
    with store.opened() as journal:
        for number in range(3):
            store.append(journal, f"between {number}")
        store.purge(journal, secret)
    store.drop_payload(secret)
    assert store.read()[1].purged


def test_a_purged_record_read_by_itself_is_served_as_purged(forgetful: tuple[Store, Record]) -> None:
    store, secret = forgetful
    with store.opened() as journal:
        store.purge(journal, secret)
    store.drop_payload(secret)
    with store.opened(read_only=True) as journal:
        places = {record.record_id: location for record, location in journal.scan()}
        assert journal.read(places[secret.record_id], secret.record_id).purged


def test_verify_chain_names_the_record_whose_text_went_missing(forgetful: tuple[Store, Record]) -> None:
    store, secret = forgetful
    with closing(store.journal(read_only=True)) as journal:
        journal.open()
        store.drop_payload(secret)
        report = journal.verify_chain()
        assert (report.intact, report.seq, report.record_id) == (False, secret.seq, secret.record_id)


def test_text_taken_out_of_an_open_journal_is_not_served_as_purged(forgetful: tuple[Store, Record]) -> None:
    store, _ = forgetful
    last = store.read()[-1]
    with closing(store.journal(read_only=True)) as journal:
        journal.open()
        places = {record.record_id: location for record, location in journal.scan()}
        store.drop_payload(last)
        with pytest.raises(JournalCorrupt):
            journal.read(places[last.record_id], last.record_id)
        with pytest.raises(JournalCorrupt):
            list(journal.scan())


def test_the_seal_says_nothing_about_a_dropped_payload_and_the_commitment_all(twenty: Store) -> None:
    """Why purging leaves the chain provable: the header commits to the text by its hash alone."""
    line = twenty.live.read_bytes().splitlines(keepends=True)[3]
    header, frame = open_line(line, twenty.sealers().record)
    without = encode_line(frame.header, b"null", frame.seal.decode())[1]
    assert open_line(without, twenty.sealers().record)[0] == header
