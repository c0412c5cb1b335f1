"""Inclusion proofs (J11): they hold for every record, for no other, and show no more than they must."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.errors import InvalidInput, NotFound
from hippo_async.journal.anchor import daily_anchor
from hippo_async.journal.canon import canonical
from hippo_async.journal.codec import Header, encode_header, encode_line, encode_payload, split_line
from hippo_async.journal.merkle import merkle_root
from hippo_async.journal.proof import (
    AnchorV2,
    Proof,
    ProofReport,
    anchor_v2,
    check_proof,
    make_proof,
    read_proof,
)
from hippo_async.records import Novelty

VECTORS = Path(__file__).parents[1] / "vectors" / "v2"
AGENT = "агент-7"
DAY = "2026-01-01"
TEXT = "My name is Ada and I live in Lisbon."


class Entry(NamedTuple):
    """As little of a record as an anchor needs."""

    record_id: str
    timestamp: str
    novelty: Novelty


def stored(name: str) -> list[bytes]:
    """The lines of one of the published journals."""
    segments = sorted((VECTORS / name).glob("gen-*/seg-*.jsonl"))
    return [line for path in segments for line in path.read_bytes().splitlines(keepends=True)]


def entries(lines: list[bytes]) -> Iterator[Entry]:
    for line in lines:
        document = json.loads(line)
        header = document["header"]
        yield Entry(document["id"], header["timestamp"], Novelty(header["novelty"]))


def proved(index: int, *, name: str = "plain", reveal: bool = False) -> Proof:
    lines = stored(name)
    return make_proof(lines[index], entries(lines), reveal=reveal)


def chain(days: list[int]) -> list[bytes]:
    """A chain of lines, each dated in one day of January; their seals are no one's."""
    lines: list[bytes] = []
    prev_id = None
    for seq, day in enumerate(days):
        payload = encode_payload(f"text {seq}", {}, salt=f"{seq:032x}")
        commitment = hashlib.sha256(payload).hexdigest()
        time = f"2026-01-{day:02}T09:00:00.000000Z"
        kind = ("observation", "novel", prev_id, seq, time, "record", 2)
        header = encode_header(Header("agent", commitment, 0, "0" * 32, *kind), agent_json='"agent"')
        prev_id, line = encode_line(header, payload, "0" * 64)
        lines.append(line)
    return lines


@pytest.mark.parametrize("name", ["plain", "purged", "unpurged", "rotated-old", "rotated-new", "accepted"])
def test_every_record_of_a_journal_is_proved(name: str) -> None:
    lines = stored(name)
    for line in lines:
        document = json.loads(line)
        proof = make_proof(line, entries(lines))
        report = check_proof(read_proof(proof.encode()), published=proof.anchor_hash)
        assert (report.reason, report.record_id) == (None, document["id"])
        assert (report.timestamp, report.agent_id) == (document["header"]["timestamp"], AGENT)
        assert report.content is None


@given(st.lists(st.integers(1, 3), min_size=1, max_size=12))
def test_a_record_is_proved_whatever_its_place_and_by_no_other_records_path(days: list[int]) -> None:
    lines = chain(days)
    proofs = [make_proof(line, entries(lines)) for line in lines]
    for proof in proofs:
        for other in proofs:
            path, index = other.audit_path, other.leaf_index
            mixed = replace(other, header=proof.header, record_id=proof.record_id)
            assert check_proof(replace(mixed, audit_path=path, leaf_index=index)).holds == (proof is other)


def test_the_leaves_are_the_ids_of_the_day_in_the_order_of_the_journal() -> None:
    ids = [entry.record_id for entry in entries(stored("plain")) if entry.timestamp.startswith(DAY)]
    proof = proved(2)
    assert proof.anchor.merkle_root == merkle_root([bytes.fromhex(record_id) for record_id in ids]).hex()
    assert (proof.leaf_index, proof.anchor.count) == (2, len(ids))
    assert ids != sorted(ids), "the order matters here"


def test_the_anchor_is_the_one_of_j11_and_the_root_and_has_a_hash_of_its_own() -> None:
    day = daily_anchor(entries(stored("plain")), agent_id=AGENT, date=date(2026, 1, 1))
    anchor = proved(0).anchor
    assert anchor.as_dict() == {**day.as_dict(), "merkle_root": anchor.merkle_root}
    assert day.anchor_payload_hash.hex() == "83f38f67b9f0698cc0198e46a6c55dce1865737a68db0c72006e433a41d022cb"
    assert anchor.anchor_payload_hash == hashlib.sha256(canonical(anchor.as_dict())).digest()
    assert anchor.anchor_payload_hash != day.anchor_payload_hash


def test_a_day_without_records_has_an_anchor_with_the_empty_tree() -> None:
    anchor, leaves = anchor_v2([], agent_id="agent", date=date(2026, 1, 1))
    assert (leaves, anchor.merkle_root) == ([], hashlib.sha256(b"").hexdigest())


def test_the_text_is_in_a_proof_only_if_it_is_revealed() -> None:
    closed, opened = proved(1), proved(1, reveal=True)
    assert TEXT.encode() not in closed.encode()
    assert check_proof(opened).content == TEXT
    assert opened.anchor_hash == closed.anchor_hash


def test_a_forgotten_record_stays_proved_as_before_and_cannot_be_revealed() -> None:
    before, after = stored("unpurged"), stored("purged")
    forgotten = [at for at, line in enumerate(before) if line != after[at]]
    assert forgotten
    for at in forgotten:
        proof = make_proof(after[at], entries(after))
        assert proof == make_proof(before[at], entries(after))
        assert check_proof(proof).holds
        with pytest.raises(InvalidInput, match="forgotten"):
            make_proof(after[at], entries(after), reveal=True)


def test_an_older_anchor_is_proved_to_with_the_records_up_to_its_last() -> None:
    lines = chain([1, 1, 1, 2, 1])
    older = make_proof(lines[1], entries(lines[:3]))
    assert older.anchor_hash != make_proof(lines[1], entries(lines)).anchor_hash
    published, _ = anchor_v2(entries(lines[:4]), agent_id="agent", date=date(2026, 1, 1))
    assert check_proof(older, published=published.anchor_payload_hash.hex()).holds
    with pytest.raises(NotFound, match="not among the 3"):
        make_proof(lines[4], entries(lines[:3]))


def test_what_is_no_line_of_v2_has_no_proof() -> None:
    for line in (b"", b"{}\n", b'{"header":{"v":2},"id":"' + b"0" * 32 + stored("plain")[0][-80:]):
        with pytest.raises(InvalidInput):
            make_proof(line, [])


def test_no_single_flipped_bit_of_a_proof_goes_unnoticed() -> None:
    proof = proved(1, reveal=True)
    data = proof.encode()
    assert passes(data)
    assert not [bit for bit in range(len(data) * 8) if passes(flipped(data, bit))]


def test_a_consistent_forgery_is_told_by_the_published_hash() -> None:
    """Whoever rewrites the whole proof makes one that holds, and leads to another anchor."""
    proof = proved(1)
    forged = rehashed(proof, replace(proof.anchor, count=proof.anchor.count + 1))
    assert check_proof(forged).holds
    assert "published" in reason(forged, published=proof.anchor_hash)
    j11 = daily_anchor(entries(stored("plain")), agent_id=AGENT, date=date(2026, 1, 1)).anchor_payload_hash
    assert "published" in reason(proof, published=j11.hex())


def test_the_published_hash_may_be_given_in_upper_case() -> None:
    assert check_proof(proved(1), published=proved(1).anchor_hash.upper()).holds


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"record_id": "0" * 32}, "id is not the hash"),
        ({"header": proved(2).header}, "id is not the hash"),
        ({"header": proved(2).header, "record_id": proved(2).record_id}, "audit path"),
        ({"payload": proved(2, reveal=True).payload}, "payload"),
        ({"payload": "null"}, "payload"),
        ({"leaf_index": 0}, "audit path"),
        ({"leaf_index": 3}, "audit path"),
        ({"leaf_index": -1}, "audit path"),
        ({"audit_path": ()}, "audit path"),
        ({"audit_path": (*proved(1).audit_path, "0" * 64)}, "audit path"),
        ({"audit_path": proved(1).audit_path[::-1]}, "audit path"),
        ({"anchor": replace(proved(1).anchor, merkle_root="0" * 64)}, "audit path"),
        ({"anchor": replace(proved(1).anchor, count=10)}, "audit path"),
        ({"anchor": replace(proved(1).anchor, count=2)}, "audit path"),
        ({"anchor": replace(proved(1).anchor, count=6)}, "anchor hash"),
        ({"anchor": replace(proved(1).anchor, agent_id="another")}, "another agent or day"),
        ({"anchor": replace(proved(1).anchor, date="2026-01-02")}, "another agent or day"),
        ({"anchor": replace(proved(1).anchor, date="")}, "another agent or day"),
        ({"anchor": replace(proved(1).anchor, dna_hash="0" * 64)}, "anchor hash"),
        ({"anchor": replace(proved(1).anchor, first_id=None)}, "anchor hash"),
        ({"anchor_hash": "0" * 64}, "anchor hash"),
    ],
)
def test_each_part_that_was_changed_is_named(changes: dict[str, Any], said: str) -> None:
    assert said in reason(replace(proved(1), **changes))


GOOD = proved(1).header


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (GOOD.replace(":", ": ", 1), "canonically"),
        (GOOD.replace('"epoch":0', '"epoch":0,"epoch":0'), "canonically"),
        (GOOD.replace('"v":2', '"v":2.0'), "not a header"),
        (GOOD.replace('"seq":1', '"seq":"1"'), "not a header"),
        (GOOD.replace('"seq":1', '"seq":true'), "not a header"),
        (GOOD.replace('"kind":"observation"', '"kind":["observation"]'), "not a header"),
        (GOOD.replace('"v":2', '"v":2,"w":2'), "not a header"),
        (GOOD.replace('"epoch":0,', ""), "not a header"),
        (GOOD.replace(AGENT, "\\ud800"), "not a header"),
        (
            json.dumps(list(json.loads(GOOD).values()), ensure_ascii=False, separators=(",", ":")),
            "canonically",
        ),
        ("[" * 5000, "not a header"),
        ("", "not a header"),
        (GOOD.replace('"v":2', '"v":3'), "none of v2"),
        (GOOD.replace("observation", "guess"), "none of v2"),
        (GOOD.replace('"novel"', '"new"'), "none of v2"),
        (GOOD.replace('"record"', '"note"'), "none of v2"),
        (GOOD.replace("000Z", "000+00:00"), "none of v2"),
    ],
)
def test_a_header_that_no_journal_has_is_refused_even_with_a_tree_of_its_own(header: str, said: str) -> None:
    assert said in reason(alone(header))


def test_a_payload_that_no_journal_has_is_refused_though_it_was_committed_to() -> None:
    payload = '{"content":1,"metadata":{},"salt":""}'
    document = json.loads(GOOD) | {"commitment": hashlib.sha256(payload.encode()).hexdigest()}
    assert "payload" in reason(replace(alone(canonical(document).decode()), payload=payload))


def test_a_proof_that_is_alone_in_its_tree_holds() -> None:
    """The tests above refuse the header, not how they built the rest."""
    assert check_proof(alone(GOOD)).holds


def test_a_proof_is_written_in_one_way_only() -> None:
    data = proved(1).encode()
    document = json.loads(data)
    others = [
        b"",
        b"[]\n",
        b"null\n",
        b"\xff" + data,
        data[:-1],
        data + b"\n",
        b" " + data,
        json.dumps(document, indent=2).encode(),
        data.replace(b'"count":5', b'"count":5.0'),
        data.replace(b'"count":5', b'"count":"5"'),
        data.replace(b'"payload":null', b'"payload":null,"payload":null'),
        data.replace(b'"payload":null', b'"payload":null,"note":"trust me"'),
        data.replace(b'"payload":null,', b""),
        data.replace(b".inclusion", b".inclusion.v3"),
        data.replace(b'"count":5', b'"count":5,"sum":5'),
        canonical(document | {"record_id": document["record_id"].upper()}) + b"\n",
        canonical(document | {"audit_path": [node.upper() for node in document["audit_path"]]}) + b"\n",
    ]
    for other in others:
        with pytest.raises(InvalidInput, match="not an inclusion proof"):
            read_proof(other)
    assert read_proof(data) == proved(1)


def test_a_report_says_what_was_checked_and_no_text_if_it_does_not_hold() -> None:
    proof = proved(1, reveal=True)
    report = check_proof(proof)
    assert report.as_dict() == {
        "holds": True,
        "reason": None,
        "record_id": proof.record_id,
        "agent_id": AGENT,
        "date": DAY,
        "leaf_index": 1,
        "count": 5,
        "anchor_hash": proof.anchor_hash,
        "timestamp": "2026-01-01T09:00:01.000000Z",
        "content": TEXT,
    }
    failed = check_proof(proof, published="0" * 64)
    assert (failed.holds, failed.content, failed.timestamp) == (False, None, None)


def reason(proof: Proof, *, published: str | None = None) -> str:
    report: ProofReport = check_proof(proof, published=published)
    assert report.reason is not None, "it holds"
    return report.reason


def passes(data: bytes) -> bool:
    try:
        return check_proof(read_proof(data)).holds
    except InvalidInput:
        return False


def flipped(data: bytes, bit: int) -> bytes:
    at, mask = bit // 8, 1 << bit % 8
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]


def rehashed(proof: Proof, anchor: AnchorV2) -> Proof:
    return replace(proof, anchor=anchor, anchor_hash=anchor.anchor_payload_hash.hex())


def alone(header: str) -> Proof:
    """A proof for any header, all of whose hashes are right: what a dishonest owner can make."""
    record_id = hashlib.sha256(header.encode()).hexdigest()[:32]
    entry = Entry(record_id, f"{DAY}T09:00:01.000000Z", Novelty.NOVEL)
    anchor, _ = anchor_v2([entry], agent_id=AGENT, date=date(2026, 1, 1))
    whole = replace(proved(1), header=header, record_id=record_id, audit_path=(), leaf_index=0)
    return rehashed(whole, anchor)


def test_the_published_lines_are_cut_as_the_codec_cuts_them() -> None:
    """The header in a proof is the stored one, byte for byte."""
    frame = split_line(stored("plain")[1])
    assert frame is not None
    assert proved(1).header.encode() == frame.header
