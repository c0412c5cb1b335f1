"""What is sealed, but not here, not by this agent, or not as the format has it (J5, J13)."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from hippo_async.errors import ForeignJournal, FormatTooNew, JournalCorrupt, JournalError, WrongKey
from hippo_async.journal import Key
from hippo_async.journal.codec import commitment_of, encode_header, encode_line, encode_payload, open_line
from hippo_async.journal.recovery import Sealers
from hippo_async.journal.scan import Chain, ChainBroken, walk
from hippo_async.journal.seal import DOMAIN_V1, Purpose, Sealer, derive_key

if TYPE_CHECKING:
    from conftest import Store

KEYS = 10_000 if os.environ.get("HIPPO_LONG") == "1" else 3000


def grow(store: Store, line: bytes) -> None:
    with store.live.open("ab") as file:
        file.write(line)


def next_line(store: Store, **change: Any) -> bytes:
    """A line that continues the journal, sealed under its key, but for what is changed."""
    last = store.read()[-1]
    sealer = store.sealers().record
    lines = store.live.read_bytes().splitlines(keepends=True)
    header, _ = open_line(lines[-1], sealer)
    payload = encode_payload("sealed by hand", {}, salt="00" * 16)
    header = header._replace(
        seq=header.seq + 1, prev_id=last.record_id, commitment=commitment_of(payload), type="record"
    )
    changed = header._replace(**change)
    stored = encode_header(changed, agent_json=f'"{changed.agent_id}"')
    return encode_line(stored, payload, sealer.seal(stored))[1]


def test_a_wrong_key_never_opens(twenty: Store) -> None:
    """F41: thousands of keys on the pure half, single bits off the right one among them."""
    data = twenty.live.read_bytes()
    line = data[: data.index(b"\n") + 1]
    journal_id = twenty.report().journal_id
    secret = int.from_bytes(twenty.key.secret, "big")
    near = [(secret ^ 1 << bit).to_bytes(32, "big") for bit in range(256)]
    far = [bytes([*number.to_bytes(4, "big"), *range(28)]) for number in range(1, KEYS)]
    for wrong in [*near, *far]:
        sealer = Sealers.derive(Key(wrong), journal_id).record
        with pytest.raises(ChainBroken):
            next(walk(line, Chain(journal_id, "agent"), sealer))
    print("wrong keys:", len(near) + len(far))


def test_a_wrong_key_is_named_as_such(twenty: Store) -> None:
    replace(twenty, key=Key(bytes(range(1, 33)))).check_refused(WrongKey)


def test_a_wrong_key_is_named_as_such_with_several_segments(segmented: Store) -> None:
    replace(segmented, key=Key(bytes(range(1, 33)))).check_refused(WrongKey)


def test_the_journal_of_another_agent_is_refused(twenty: Store) -> None:
    error = replace(twenty, agent_id="someone else").check_refused(ForeignJournal)
    assert "someone else" in str(error)


def test_a_newer_version_is_refused_as_such(twenty: Store) -> None:
    lines = twenty.live.read_bytes().splitlines(keepends=True)
    header, frame = open_line(lines[0], twenty.sealers().record)
    newer = encode_header(header._replace(v=3), agent_json='"agent"')
    _, line = encode_line(newer, frame.payload, twenty.sealers().record.seal(newer))
    twenty.live.write_bytes(line)
    twenty.check_refused(FormatTooNew)


def test_a_record_under_a_foreign_domain_is_not_valid(twenty: Store) -> None:
    """J5: not a format error, just not valid."""
    journal_id = twenty.report().journal_id
    foreign = Sealer(
        derive_key(twenty.key.secret, journal_id=journal_id, purpose=Purpose.RECORD), domain=DOMAIN_V1
    )
    with pytest.raises(ChainBroken, match="seal"):
        next(walk(twenty.live.read_bytes(), Chain(journal_id, "agent"), foreign))


@pytest.mark.parametrize(
    "change",
    [
        {"v": 3},
        {"v": 1},
        {"type": "genesis"},
        {"type": "unheard of"},
        {"epoch": 1},
        {"seq": 21},
        {"seq": 19},
        {"prev_id": None},
        {"prev_id": "00" * 16},
        {"agent_id": "someone else"},
        {"journal_id": "00" * 16},
    ],
    ids=str,
)
def test_a_record_sealed_under_the_right_key_still_has_to_continue_the_chain(
    twenty: Store, change: dict[str, Any]
) -> None:
    """What only the holder of the key could write is still held to the format."""
    grow(twenty, next_line(twenty, **change))
    twenty.check_refused(JournalError)


def test_a_purge_record_that_names_nothing_is_damage(twenty: Store) -> None:
    grow(twenty, next_line(twenty, type="purge"))
    twenty.check_refused(JournalCorrupt)


def test_nothing_follows_a_closing_record(twenty: Store) -> None:
    """J13: the old chain ends there."""
    grow(twenty, next_line(twenty, type="close"))
    assert twenty.report().seq == 20
    grow(twenty, next_line(twenty))
    twenty.check_refused(JournalCorrupt)
