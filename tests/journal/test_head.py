"""HEAD, the witness and the small files: what they notice, and what is done to them is noticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hippo_async.errors import AcknowledgedLoss, HeadMismatch, JournalCorrupt, NotFound, RolledBack
from hippo_async.journal.head import SLOT_BYTES, HeadState, decode_slot, encode_slot
from hippo_async.journal.seal import Sealer
from hippo_async.journal.sealed import open_document, seal_document

if TYPE_CHECKING:
    from conftest import Store

SEALER = Sealer(bytes(range(32)))
STATE = HeadState("0f" * 16, 1, 7, 5, "ab" * 16)


def witness_file(store: Store) -> Path:
    return store.witness / store.report().journal_id


def slots_of(path: Path) -> list[bytes]:
    data = path.read_bytes()
    return [data[at : at + SLOT_BYTES] for at in range(0, len(data), SLOT_BYTES)]


def flip(path: Path, at: int, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1 << bit
    path.write_bytes(data)


def newest_slot(store: Store, path: Path) -> int:
    sealer = store.sealers().head if path == store.head else store.sealers().witness
    numbers = [state.number for slot in slots_of(path) if (state := decode_slot(slot, sealer))]
    return numbers.index(max(numbers))


def test_a_slot_reads_back_as_it_was_written() -> None:
    slot = encode_slot(STATE, SEALER)
    assert len(slot) == SLOT_BYTES
    assert decode_slot(slot, SEALER) == STATE


def test_every_flipped_bit_of_a_slot_is_noticed() -> None:
    """Those of the padding too: there is one way to write a state."""
    slot = encode_slot(STATE, SEALER)
    for at in range(SLOT_BYTES):
        for bit in range(8):
            changed = slot[:at] + bytes([slot[at] ^ 1 << bit]) + slot[at + 1 :]
            assert decode_slot(changed, SEALER) is None, f"byte {at}, bit {bit}"


def test_a_slot_cut_short_or_sealed_for_another_purpose_is_nothing() -> None:
    slot = encode_slot(STATE, SEALER)
    assert all(decode_slot(slot[:length], SEALER) is None for length in range(SLOT_BYTES))
    assert decode_slot(slot, Sealer(bytes(range(1, 33)))) is None


@pytest.mark.parametrize("which", [0, 1])
def test_a_flipped_bit_in_one_slot_of_head_is_reported_and_the_journal_intact(
    twenty: Store, which: int
) -> None:
    written = twenty.read()
    whole = twenty.head.read_bytes()
    for at in range(which * SLOT_BYTES, (which + 1) * SLOT_BYTES, 9):
        flip(twenty.head, at, at % 8)
        assert any("HEAD" in note for note in twenty.report().notes), f"byte {at} passed unnoticed"
        assert twenty.read() == written
        twenty.head.write_bytes(whole)
    assert twenty.report().notes == ()


@pytest.mark.parametrize("which", [0, 1])
def test_a_flipped_bit_in_one_slot_of_the_witness_is_reported(twenty: Store, which: int) -> None:
    witness = witness_file(twenty)
    whole = witness.read_bytes()
    for at in range(which * SLOT_BYTES, (which + 1) * SLOT_BYTES, 9):
        flip(witness, at, at % 8)
        assert any("witness" in note for note in twenty.report().notes), f"byte {at} passed unnoticed"
        witness.write_bytes(whole)
    assert twenty.report().notes == ()


def test_head_damaged_in_both_slots_is_refused(twenty: Store) -> None:
    flip(twenty.head, 10, 0)
    flip(twenty.head, SLOT_BYTES + 10, 0)
    with pytest.raises(HeadMismatch, match="damaged"):
        twenty.report()


def test_a_missing_head_is_refused(twenty: Store) -> None:
    twenty.head.unlink()
    with pytest.raises(HeadMismatch, match="missing"):
        twenty.report()
    with pytest.raises(HeadMismatch, match="missing"):
        twenty.journal().open()


def test_head_cut_at_any_byte_is_reported_or_refused(twenty: Store) -> None:
    whole = twenty.head.read_bytes()
    for length in [*range(0, len(whole), 7), SLOT_BYTES, SLOT_BYTES - 1, SLOT_BYTES + 1, len(whole) - 1]:
        twenty.head.write_bytes(whole[:length])
        try:
            notes = twenty.report().notes
        except HeadMismatch:
            continue
        assert any("HEAD" in note for note in notes), f"cut to {length} bytes passed unnoticed"


def test_head_with_more_behind_it_is_reported(twenty: Store) -> None:
    twenty.head.write_bytes(twenty.head.read_bytes() + b"\n")
    assert any("HEAD" in note for note in twenty.report().notes)


def test_head_of_another_journal_and_the_witness_in_its_place_are_refused(twenty: Store) -> None:
    other = replace(twenty, base=twenty.base / "other")
    other.write(["something"])
    for strange in (other.head.read_bytes(), witness_file(twenty).read_bytes()):
        twenty.head.write_bytes(strange)
        with pytest.raises(HeadMismatch):
            twenty.report()


def test_an_older_head_is_no_fault(twenty: Store) -> None:
    """After a power loss HEAD may lag: the chain holds all it names, and more."""
    older = twenty.head.read_bytes()
    twenty.write(["one more"])
    twenty.head.write_bytes(older)
    assert len(twenty.read()) == 21
    assert len(twenty.write(["and another"])) == 1
    assert twenty.head_state().seq == 21


def test_the_last_record_cut_and_the_newest_slot_of_head_spoiled_is_noticed_by_the_witness(
    twenty: Store,
) -> None:
    lines = twenty.live.read_bytes().splitlines(keepends=True)
    flip(twenty.head, newest_slot(twenty, twenty.head) * SLOT_BYTES + 10, 3)
    twenty.live.write_bytes(b"".join(lines[:-1]))

    assert any("HEAD" in note for note in twenty.report(witnessed=False).notes)
    with pytest.raises(RolledBack):
        twenty.report()


def test_every_flipped_bit_of_current_is_refused(twenty: Store) -> None:
    current = twenty.root / "CURRENT"
    whole = current.read_bytes()
    for at in range(len(whole)):
        for bit in range(8):
            flip(current, at, bit)
            with pytest.raises(JournalCorrupt):
                twenty.report()
            current.write_bytes(whole)


def test_flipped_bits_of_the_list_of_segments_are_refused(segmented: Store) -> None:
    listed = segmented.root / "gen-000001" / "SEGMENTS"
    whole = listed.read_bytes()
    for number in range(0, len(whole) * 8, 11):
        flip(listed, *divmod(number, 8))
        with pytest.raises(JournalCorrupt):
            segmented.report()
        listed.write_bytes(whole)
    listed.unlink()
    with pytest.raises(JournalCorrupt):
        segmented.report()


def test_every_flipped_bit_of_a_sealed_document_is_noticed() -> None:
    sealed = seal_document({"generation": 1, "journal_id": "0f" * 16, "segments": []}, SEALER)
    assert open_document(sealed, SEALER) is not None
    for at in range(len(sealed)):
        for bit in range(8):
            changed = sealed[:at] + bytes([sealed[at] ^ 1 << bit]) + sealed[at + 1 :]
            assert open_document(changed, SEALER) is None, f"byte {at}, bit {bit}"


def test_an_older_list_of_segments_is_made_good_record_by_record(segmented: Store) -> None:
    listed = segmented.root / "gen-000001" / "SEGMENTS"
    older = listed.read_bytes()
    segmented.write(f"later {number}" for number in range(12))
    written = segmented.read()
    newer = listed.read_bytes()
    listed.write_bytes(older)

    assert segmented.read() == written
    with segmented.opened():
        assert listed.read_bytes() == newer


def test_without_current_nothing_is_opened_and_nothing_begun_anew(twenty: Store) -> None:
    (twenty.root / "CURRENT").unlink()
    before = twenty.fingerprint()
    with pytest.raises(NotFound):
        twenty.report()
    with pytest.raises(HeadMismatch):
        twenty.journal().open()
    assert twenty.fingerprint() == before


def test_records_without_current_and_head_are_not_taken_for_an_empty_directory(twenty: Store) -> None:
    """As after a partial copy: to begin anew here would delete the only copy of the records."""
    (twenty.root / "CURRENT").unlink()
    twenty.head.unlink()
    before = twenty.fingerprint()
    with pytest.raises(HeadMismatch):
        twenty.journal().open()
    assert twenty.fingerprint() == before


def test_an_older_copy_of_the_whole_store_is_refused(twenty: Store) -> None:
    older = twenty.copy_to(twenty.base.with_name("older"))
    twenty.write(["one more"])
    put_back = replace(older, base=twenty.base)
    swap_journal(older, put_back)

    with pytest.raises(RolledBack, match="record 20"):
        put_back.report()
    before = put_back.fingerprint()
    with pytest.raises(RolledBack):
        put_back.journal().open()
    assert put_back.fingerprint() == before


def test_without_a_witness_an_older_copy_of_the_whole_store_opens(twenty: Store) -> None:
    """The documented limit: a store cannot know by itself that all of it was put back."""
    older = twenty.copy_to(twenty.base.with_name("older"))
    twenty.write(["one more"])
    swap_journal(older, twenty)
    assert len(twenty.read(witnessed=False)) == 20


def test_a_copy_that_went_its_own_way_is_refused_by_the_witness(segmented: Store) -> None:
    """Also when what the witness saw has gone into a closed segment of the copy since."""
    for ahead in (1, 12):
        fork = segmented.copy_to(segmented.base.with_name(f"fork-{ahead}"))
        home = segmented.copy_to(segmented.base.with_name(f"home-{ahead}"))
        home.write(["the real one"])
        fork.write(f"another history {number}" for number in range(ahead))
        swap_journal(fork, home)
        with pytest.raises(RolledBack):
            home.report()


def test_the_witness_follows_every_acknowledged_record(twenty: Store) -> None:
    """Not only at close: a process may be killed at any moment after the acknowledgement."""
    older = twenty.copy_to(twenty.base.with_name("older"))
    with twenty.opened() as journal:
        twenty.append(journal, "one more")
        killed = twenty.copy_to(twenty.base.with_name("killed"))
    swap_journal(older, killed)
    with pytest.raises(RolledBack):
        killed.report()


def test_a_journal_new_to_the_witness_is_reported(twenty: Store) -> None:
    witness_file(twenty).unlink()
    assert any("witness" in note for note in twenty.report().notes)
    twenty.write(["one more"])
    assert twenty.report().notes == ()


def test_the_head_names_a_record_that_is_missing_by_its_number(twenty: Store) -> None:
    lines = twenty.live.read_bytes().splitlines(keepends=True)
    twenty.live.write_bytes(b"".join(lines[:15]))
    with pytest.raises(AcknowledgedLoss) as caught:
        twenty.report()
    assert (caught.value.seq, caught.value.path) == (15, twenty.live)


def swap_journal(source: Store, target: Store) -> None:
    """Put the journal of one store in place of another's, and leave the witness there."""
    target.root.rename(target.base / "replaced")
    source.root.rename(target.root)
