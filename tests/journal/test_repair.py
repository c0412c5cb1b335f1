"""Repair: a diagnosis that changes nothing, then everything saved that can be proved, and nothing else."""

from __future__ import annotations

import errno
import json
import random
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from two_verifiers import second

from hippo_async.errors import (
    ForeignJournal,
    IntegrityError,
    InvalidInput,
    JournalCorrupt,
    JournalLocked,
    MigrationLocked,
    NotFound,
    RolledBack,
    StoreMoved,
    WrongKey,
)
from hippo_async.files import Files
from hippo_async.journal import Key
from hippo_async.journal.diagnosis import Diagnosis
from hippo_async.journal.mending import Outcome
from hippo_async.journal.repair import Repair
from hippo_async.records import Record
from hippo_async.testing import FakeClock, ScriptedOps, each_failure

if TYPE_CHECKING:
    from conftest import Store

SECONDS = 20


def repair(store: Store, *, ops: ScriptedOps | None = None, key: Key | None = None) -> Repair:
    return Repair(
        store.root,
        store.agent_id,
        key or store.key,
        store.witness,
        Files(ops or ScriptedOps(syncing=False)),
        FakeClock(),
        store.segment_bytes,
    )


def diagnose(store: Store) -> Diagnosis:
    """Diagnose, and hold the diagnosis to its word: nothing is changed."""
    before = store.fingerprint()
    found = repair(store).examination.diagnose()
    assert store.fingerprint() == before
    return found


def second_verdict(store: Store) -> str:
    found = second.verify(store.root, agent_id=store.agent_id, key=store.key.secret, witness=store.witness)
    return str(found.name)


def texts(records: Sequence[Record]) -> list[str]:
    return [record.text for record in records if record.type == "record"]


def lines_of(store: Store) -> list[bytes]:
    return store.live.read_bytes().splitlines(keepends=True)


def write_lines(store: Store, lines: Sequence[bytes]) -> None:
    store.live.write_bytes(b"".join(lines))


def test_a_sound_journal_is_left_alone(twenty: Store) -> None:
    before = twenty.fingerprint()
    assert diagnose(twenty) == Diagnosis(twenty.root, None)
    assert repair(twenty).apply() == Diagnosis(twenty.root, None)
    assert twenty.fingerprint() == before


def test_a_flipped_bit_is_put_back_wherever_it_is_and_nothing_is_lost(twenty: Store, tmp_path: Path) -> None:
    """Every 499th bit of a journal, so that each field of a line has its turn."""
    sound, data = twenty.read(), twenty.live.read_bytes()
    flips = range(0, len(data) * 8, 499)
    for bit in flips:
        store = twenty.copy_to(tmp_path / str(bit))
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        store.live.write_bytes(damaged)
        done = repair(store).apply()
        assert [damage.outcome for damage in done.damages] == [Outcome.MENDED]
        assert (done.kept, done.texts_lost, done.carried, done.lost) == (20, 0, 0, 0)
        assert store.live.read_bytes() == data
        assert store.read() == sound
        shutil.rmtree(store.base)
    print("flipped bits put back:", len(flips))
    assert len(flips) > 150


def test_a_text_that_was_edited_is_given_up_and_its_record_keeps_its_place(twenty: Store) -> None:
    sound = twenty.read()
    lines = lines_of(twenty)
    lines[7] = lines[7].replace(b"text 7", b"an edited text")
    write_lines(twenty, lines)
    assert diagnose(twenty).texts_lost == 1

    done = repair(twenty).apply()

    assert [(damage.outcome, damage.seqs) for damage in done.damages] == [(Outcome.TEXT_LOST, (7,))]
    records = twenty.read()
    assert [record.record_id for record in records[:20]] == [record.record_id for record in sound]
    assert records[7].purged
    assert [record.text for record in records[:20] if record.seq != 7] == [
        record.text for record in sound if record.seq != 7
    ]
    assert [record.type for record in records[20:]] == ["purge", "accept"]
    assert records[20].metadata["hippo"] == {"records": [sound[7].record_id]}
    assert records[21].metadata["hippo"]["reason"] == "corrupt"
    assert records[21].metadata["hippo"]["seen"]["seq"] == 19
    assert second_verdict(twenty) == "intact"


def test_a_record_that_is_gone_ends_the_chain_and_those_behind_it_are_repeated(twenty: Store) -> None:
    sound = twenty.read()
    lines = lines_of(twenty)
    write_lines(twenty, lines[:12] + lines[13:])

    done = repair(twenty).apply()

    assert (done.kept, done.carried, done.lost) == (12, 7, 1)
    records = twenty.read()
    assert texts(records) == [record.text for record in sound[1:] if record.seq != 12]
    repeated = records[13:]
    assert [record.timestamp for record in repeated] == [record.timestamp for record in sound[13:]]
    for record, original in zip(repeated, sound[13:], strict=True):
        assert record.metadata == {
            **original.metadata,
            "repaired": {
                "record_id": original.record_id,
                "seq": original.seq,
                "timestamp": original.timestamp,
            },
        }
    assert second_verdict(twenty) == "intact"


@pytest.mark.parametrize(
    "rearrange",
    [
        lambda lines: [*lines[:5], lines[9], *lines[6:9], lines[5], *lines[10:]],
        lambda lines: lines[:8] + lines[3:8] + lines[8:],
        lambda lines: lines[:1] + lines[:0:-1],
        lambda lines: [*lines[:4], b"garbage\n", b"\n", *lines[4:]],
    ],
    ids=["swapped", "repeated", "reversed", "strewn with garbage"],
)
def test_lines_in_the_wrong_place_are_put_back_by_their_links(
    twenty: Store, rearrange: Callable[[list[bytes]], list[bytes]]
) -> None:
    data = twenty.live.read_bytes()
    write_lines(twenty, rearrange(lines_of(twenty)))
    done = repair(twenty).apply()
    assert (done.kept, done.texts_lost, done.carried, done.lost) == (20, 0, 0, 0)
    assert twenty.live.read_bytes() == data
    assert second_verdict(twenty) == "intact"


def test_a_line_of_another_journal_is_never_taken(twenty: Store, store: Store) -> None:
    store.write(f"foreign {number}" for number in range(20))
    foreign, lines = lines_of(store), lines_of(twenty)
    write_lines(twenty, [*lines[:6], *foreign[6:9], *lines[6:]])
    repair(twenty).apply()
    assert texts(twenty.read()) == [f"text {number}" for number in range(1, 20)]


def test_a_forged_header_is_never_sealed_by_a_repair(twenty: Store) -> None:
    """Its id is right, for anybody can hash; its seal is not."""
    lines = lines_of(twenty)
    header = json.loads(lines[9])["header"]
    forged = json.dumps({**header, "kind": "decision"}, separators=(",", ":"), ensure_ascii=False).encode()
    _, id_at, rest = lines[9].partition(b'},"id":"')
    lines[9] = b'{"header":' + forged + id_at[1:] + second.sha256(forged)[:32].encode() + rest[32:]
    write_lines(twenty, lines)
    done = repair(twenty).apply()
    assert [damage.outcome for damage in done.damages] == [Outcome.LOST]
    assert (done.kept, done.carried, done.lost) == (9, 10, 1)
    assert all(record.kind != "decision" for record in twenty.read())


@pytest.mark.parametrize("lost", [8, 14], ids=["before the secret", "between the secret and the purge"])
def test_a_repair_forgets_what_was_to_be_forgotten(twenty: Store, lost: int) -> None:
    """The purge line loses its place, and its text was still there: it is not brought back."""
    secret = twenty.read()[11]
    with twenty.opened() as journal:
        twenty.purge(journal, secret)
    lines = lines_of(twenty)
    write_lines(twenty, lines[:lost] + lines[lost + 1 :])

    repair(twenty).apply()

    assert secret.text not in texts(twenty.read())
    [generation] = twenty.root.glob("gen-*")
    assert all(b'"text 11"' not in path.read_bytes() for path in generation.iterdir())
    assert second_verdict(twenty) == "intact"


def test_what_was_damaged_is_kept_whole(twenty: Store) -> None:
    lines = lines_of(twenty)
    write_lines(twenty, lines[:12] + lines[13:])
    damaged = twenty.live.read_bytes()
    repair(twenty).apply()
    [kept] = twenty.root.glob("damaged-000001-*/seg-000000000000.jsonl")
    assert kept.read_bytes() == damaged
    assert (twenty.root / "CURRENT").read_text() == "gen-000002\n"


def test_a_repaired_journal_goes_on(twenty: Store) -> None:
    lines = lines_of(twenty)
    write_lines(twenty, lines[:12] + lines[13:])
    repair(twenty).apply()
    before = len(twenty.read())
    twenty.write(["afterwards"])
    assert len(twenty.read()) == before + 1
    assert second_verdict(twenty) == "intact"
    assert repair(twenty).apply().verdict is None


def test_what_head_misses_is_accepted_and_recorded(twenty: Store) -> None:
    """Nothing is damaged, three acknowledged records are gone."""
    write_lines(twenty, lines_of(twenty)[:17])
    assert diagnose(twenty).lost == 3
    repair(twenty).apply()
    records = twenty.read()
    assert [record.type for record in records[16:]] == ["record", "accept"]
    accepted = records[17].metadata["hippo"]
    assert (accepted["reason"], accepted["seen"]["seq"]) == ("acknowledged_loss", 19)
    assert second_verdict(twenty) == "intact"


@pytest.mark.parametrize("name", ["HEAD", "CURRENT", "gen-000001/SEGMENTS"])
def test_a_file_beside_the_records_that_is_gone_costs_no_record(segmented: Store, name: str) -> None:
    sound = segmented.read()
    (segmented.root / name).unlink()
    assert (diagnose(segmented).kept, diagnose(segmented).lost) == (20, 0)
    repair(segmented).apply()
    assert segmented.read()[:20] == sound
    assert second_verdict(segmented) == "intact"


def test_a_segment_that_is_gone_costs_its_records_and_no_others(segmented: Store) -> None:
    gone = segmented.segments[1]
    lost = gone.read_bytes().count(b"\n")
    gone.unlink()
    done = repair(segmented).apply()
    assert (done.kept + done.carried, done.lost) == (20 - lost, lost)
    assert len(texts(segmented.read())) == 19 - lost
    assert second_verdict(segmented) == "intact"


def test_a_rollback_is_no_damage_and_is_not_repaired(twenty: Store, tmp_path: Path) -> None:
    earlier = twenty.copy_to(tmp_path / "earlier")
    twenty.write(["later"])
    shutil.rmtree(twenty.root)
    shutil.copytree(earlier.root, twenty.root)
    assert isinstance(diagnose(twenty).verdict, RolledBack)
    with pytest.raises(InvalidInput, match="hippo witness accept"):
        repair(twenty).apply()


def test_an_older_copy_is_taken_only_when_its_owner_says_so_and_the_chain_remembers(
    twenty: Store, tmp_path: Path
) -> None:
    earlier = twenty.copy_to(tmp_path / "earlier")
    later = twenty.write(["later"])[0]
    shutil.rmtree(twenty.root)
    shutil.copytree(earlier.root, twenty.root)
    twenty.check_refused(RolledBack)

    with closing(twenty.journal()) as journal:
        journal.open(accepting=[RolledBack])
        twenty.append(journal, "after the backup was put back")

    records = twenty.read()
    assert [record.type for record in records[19:]] == ["record", "accept", "record"]
    accepted = records[20].metadata["hippo"]
    assert accepted["reason"] == "rolled_back"
    assert (accepted["seen"]["seq"], accepted["seen"]["record_id"]) == (later.seq, later.record_id)
    assert second_verdict(twenty) == "intact"


def test_an_acceptance_is_recorded_before_the_witness_forgets(twenty: Store, tmp_path: Path) -> None:
    """Whichever call fails, the next open either objects still or finds the acceptance in the chain."""
    earlier = twenty.copy_to(tmp_path / "earlier")
    twenty.write(["later"])
    shutil.rmtree(twenty.root)
    shutil.copytree(earlier.root, twenty.root)
    for number, ops in enumerate(each_failure(errno.EIO, lasting=True)):
        store = twenty.copy_to(tmp_path / str(number))
        journal = store.journal(ops=ops)
        with suppress(OSError), closing(journal):
            journal.open(accepting=[RolledBack])
        with suppress(RolledBack):
            assert "accept" in [record.type for record in store.read()]


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        (lambda store: replace(store, key=Key(bytes(range(1, 33)))), WrongKey),
        (lambda store: replace(store, agent_id="somebody else"), ForeignJournal),
    ],
    ids=["another key", "another agent"],
)
def test_another_key_or_agent_is_nothing_to_repair(
    twenty: Store, change: Callable[[Store], Store], refused: type[IntegrityError]
) -> None:
    (twenty.root / "HEAD").unlink()
    before = twenty.fingerprint()
    other = change(twenty)
    for attempt in (repair(other).examination.diagnose, repair(other).apply):
        with pytest.raises(refused):
            attempt()
    assert twenty.fingerprint() == before


def test_without_a_genesis_there_is_no_chain_but_the_records_can_be_taken_out(twenty: Store) -> None:
    write_lines(twenty, [b"garbage\n", *lines_of(twenty)[1:]])
    with pytest.raises(JournalCorrupt, match="salvage"):
        repair(twenty).apply()
    kept = list(repair(twenty).examination.salvage().records())
    assert texts(kept) == [f"text {number}" for number in range(1, 20)]


def test_no_journal_is_nothing_to_repair(store: Store) -> None:
    store.root.mkdir(parents=True)
    with pytest.raises(NotFound):
        repair(store).apply()


@pytest.mark.parametrize(("name", "error"), [("MOVED", StoreMoved), ("MIGRATING", MigrationLocked)])
def test_nothing_is_repaired_in_a_directory_that_is_not_the_one_to_write_to(
    twenty: Store, name: str, error: type[Exception]
) -> None:
    sign = twenty.root.parent / name
    twenty.live.write_bytes(twenty.live.read_bytes()[:-200])
    sign.write_text('{"to": "/elsewhere"}')
    before = twenty.fingerprint()
    with pytest.raises(error):
        repair(twenty).apply()
    assert twenty.fingerprint() == before


def test_nor_in_one_whose_memory_was_moved_before_the_lock_was_ours(twenty: Store) -> None:
    twenty.live.write_bytes(twenty.live.read_bytes()[:-200])
    ops = ScriptedOps(syncing=False)
    gate = ops.hold("write", name="LOCK*")
    with ThreadPoolExecutor(1) as pool:
        repairing = pool.submit(repair(twenty, ops=ops).apply)
        gate.wait_reached()
        (twenty.root.parent / "MOVED").write_text('{"to": "/elsewhere"}')
        before = twenty.fingerprint()
        gate.open()
        with pytest.raises(StoreMoved):
            repairing.result(SECONDS)
    assert twenty.fingerprint() == before


def test_a_journal_that_somebody_has_open_is_not_repaired(twenty: Store) -> None:
    with twenty.opened(), pytest.raises(JournalLocked):
        repair(twenty).apply()


def test_a_repair_that_fails_anywhere_can_be_made_again(twenty: Store, tmp_path: Path) -> None:
    lines = lines_of(twenty)
    write_lines(twenty, [*lines[:5], lines[5].replace(b"text 5", b"edited"), *lines[6:12], *lines[13:]])
    kept = [f"text {number}" for number in range(1, 20) if number not in (5, 12)]
    runs = 0
    for number, ops in enumerate(each_failure(errno.EIO, lasting=True)):
        store = twenty.copy_to(tmp_path / str(number))
        with suppress(OSError):
            repair(store, ops=ops).apply()
        with suppress(IntegrityError):
            store.read()
        repair(store).apply()
        assert [text for text in texts(store.read()) if text] == kept
        assert second_verdict(store) == "intact"
        runs += 1
    assert runs > 20


def test_whatever_the_damage_a_repair_keeps_only_what_was_written_and_ends_intact(
    segmented: Store, tmp_path: Path
) -> None:
    """Random damage: overwritten stretches, cuts, lines moved, doubled and lost, in all segments."""
    written = {(record.text, record.timestamp) for record in segmented.read()}
    chance = random.Random(7)
    for round_ in range(60):
        store = segmented.copy_to(tmp_path / str(round_))
        for path in chance.sample(store.segments, k=chance.randint(1, 3)):
            path.write_bytes(_damage(path.read_bytes(), chance))
        try:
            repair(store).apply()
        except JournalCorrupt as refused:
            assert "genesis" in refused.reason
            continue
        for record in store.read():
            if record.type in {"genesis", "record"} and not record.purged:
                assert (record.text, record.timestamp) in written
        assert second_verdict(store) == "intact"
        shutil.rmtree(store.base)


def _damage(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    at = chance.randrange(len(data))
    choice = chance.randrange(5)
    if choice == 0:
        return data[:at] + chance.randbytes(chance.randint(1, 300)) + data[at + 100 :]
    if choice == 1:
        return data[:at]
    if choice == 2:
        chance.shuffle(lines)
    elif choice == 3:
        lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    else:
        lines.pop(chance.randrange(len(lines)))
    return b"".join(lines)
