"""Inclusion proofs: that one record stood in the journal on a day, shown without any other (FORMAT.md §11).

A proof leads by hashes alone from a record to the anchor of its day. Whoever has the anchor from where it was
published can check it with neither the key nor the journal. Pure.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import StringConstraints, TypeAdapter, ValidationError

from hippo_async.errors import InvalidInput, NotFound
from hippo_async.journal.anchor import Anchored, DailyAnchor, daily_anchor
from hippo_async.journal.canon import canonical
from hippo_async.journal.codec import (
    KINDS,
    NO_PAYLOAD,
    NOVELTIES,
    VERSION,
    BadLine,
    Header,
    commitment_of,
    encode_header,
    parse_header,
    record_id_of,
    split_line,
    to_record,
)
from hippo_async.journal.merkle import audit_path, includes, merkle_root
from hippo_async.journal.scan import TYPES

FORMAT: Final = "montana.agent.hippocampus.v2.inclusion"

_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
_Hash = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
_RecordId = Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")]


@dataclass(frozen=True, slots=True)
class AnchorV2(DailyAnchor):
    """The payload of J11 and the Merkle root over the day's record ids; hashed in the same way.

    ``merkle_root`` is 64 hex digits. The tree has ``count`` leaves: the 16 bytes of each id, in the order of
    the journal.
    """

    merkle_root: _Hash


@dataclass(frozen=True, slots=True)
class Proof:
    """What is handed to somebody who is to believe in one record.

    ``header`` and ``payload`` are the stored bytes as text, ``payload`` only if the text is to be shown.
    ``audit_path`` leads from leaf ``leaf_index`` to the anchor's root. Without the payload it tells what the
    header says (time, kind, place in the journal) and no text.
    """

    anchor: AnchorV2
    anchor_hash: _Hash
    audit_path: tuple[_Hash, ...]
    header: str
    leaf_index: int
    payload: str | None
    record_id: _RecordId
    proof: Literal["montana.agent.hippocampus.v2.inclusion"] = FORMAT

    def encode(self) -> bytes:
        """Write the document: canonical JSON and a newline. Raises :class:`RecordRejected`."""
        return canonical(asdict(self) | {"audit_path": list(self.audit_path)}) + b"\n"


@dataclass(frozen=True, slots=True)
class ProofReport:
    """What :func:`check_proof` found: ``reason`` says why the proof does not hold, or is ``None``.

    ``anchor_hash`` is the one that the proof leads to, recomputed. ``timestamp`` and ``content`` are the
    record's; ``None`` if the proof does not hold, and ``content`` also if the payload is not shown.
    """

    reason: str | None
    record_id: str
    agent_id: str
    date: str
    leaf_index: int
    count: int
    anchor_hash: str
    timestamp: str | None = None
    content: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the record was in the journal when this anchor was made."""
        return self.reason is None

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {"holds": self.holds, **asdict(self)}


def anchor_v2(
    records: Iterable[Anchored], *, agent_id: str, date: datetime.date
) -> tuple[AnchorV2, list[bytes]]:
    """Build a day's anchor with its Merkle root, and return it with the leaves of the tree.

    Takes the records of a v2 journal in its order, as :func:`daily_anchor` does (J11).
    """
    day = date.isoformat()[:10]
    leaves: list[bytes] = []

    def noted() -> Iterator[Anchored]:
        for record in records:
            if record.timestamp.startswith(day):
                leaves.append(bytes.fromhex(record.record_id))
                yield record

    made = daily_anchor(noted(), agent_id=agent_id, date=date)
    return AnchorV2(**made.as_dict(), merkle_root=merkle_root(leaves).hex()), leaves


def make_proof(line: bytes, records: Iterable[Anchored], *, reveal: bool = False) -> Proof:
    """Prove that the record of a stored ``line`` is one of ``records``, the journal's, given in its order.

    To prove it to an older anchor, give the records up to that anchor's ``last_id``. ``reveal`` puts the
    payload in. Raises :class:`NotFound` if the record is not among those of its day, and
    :class:`InvalidInput` if the payload to reveal was forgotten or the line is none of v2.
    """
    header, stored, payload = _take_apart(line)
    record_id = record_id_of(stored)
    day = datetime.date.fromisoformat(header.timestamp[:10])
    anchor, leaves = anchor_v2(records, agent_id=header.agent_id, date=day)
    try:
        index = leaves.index(bytes.fromhex(record_id))
    except ValueError:
        raise NotFound(f"record {record_id} is not among the {len(leaves)} of {day}") from None
    if reveal and payload == NO_PAYLOAD:
        raise InvalidInput(f"record {record_id}: its text was forgotten and cannot be revealed")
    return Proof(
        anchor=anchor,
        anchor_hash=anchor.anchor_payload_hash.hex(),
        audit_path=tuple(node.hex() for node in audit_path(leaves, index)),
        header=stored.decode(),
        leaf_index=index,
        payload=payload.decode() if reveal else None,
        record_id=record_id,
    )


def read_proof(data: bytes) -> Proof:
    """Read a document that :meth:`Proof.encode` wrote.

    Raises :class:`InvalidInput` if it has other fields or is written in any other way: what a person reads in
    the file is then exactly what is checked.
    """
    try:
        proof = _DOCUMENT.validate_json(data)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "it"
        raise InvalidInput(f"not an inclusion proof: {where}: {error.errors()[0]['msg']}") from None
    if proof.encode() != data:
        raise InvalidInput("not an inclusion proof: other fields, or not written canonically")
    return proof


def check_proof(proof: Proof, *, published: str | None = None) -> ProofReport:
    """Recompute every hash from the record to the anchor's; never raises for what it finds.

    A proof that holds shows that this record, and this payload if there is one, was in the journal when the
    anchor was made. ``published`` is the anchor as the reader has it from elsewhere, in hex; without it, that
    the anchor was published at all is the reader's to compare. Not shown: when that was, that the record is
    sealed with the agent's key, that its time is true, or that nothing else was recorded.
    """
    reached = proof.anchor.anchor_payload_hash.hex()
    reason, timestamp, content = None, None, None
    try:
        header = _check_record(proof)
        shown = _check_payload(proof, header)
        _check_place(proof, header)
        _check_anchor(proof, reached, published)
        timestamp, content = header.timestamp, shown
    except BadLine as found:
        reason = str(found)
    return ProofReport(
        reason=reason,
        record_id=proof.record_id,
        agent_id=proof.anchor.agent_id,
        date=proof.anchor.date,
        leaf_index=proof.leaf_index,
        count=proof.anchor.count,
        anchor_hash=reached,
        timestamp=timestamp,
        content=content,
    )


def _take_apart(line: bytes) -> tuple[Header, bytes, bytes]:
    frame = split_line(line)
    if frame is None:
        raise InvalidInput("not a line of protocol v2")
    try:
        return parse_header(frame.header), frame.header, frame.payload
    except BadLine as error:
        raise InvalidInput(str(error)) from None


def _check_record(proof: Proof) -> Header:
    stored = proof.header.encode()
    if record_id_of(stored) != proof.record_id:
        raise BadLine("the record id is not the hash of the header")
    try:
        header = _HEADER.validate_json(stored, strict=True)
    except ValidationError:
        raise BadLine("not a header of protocol v2") from None
    if encode_header(header, agent_json=canonical(header.agent_id).decode()) != stored:
        raise BadLine("the header is not written canonically")
    known = header.v == VERSION and header.type in TYPES and _TIMESTAMP.fullmatch(header.timestamp)
    if not (known and header.kind in KINDS and header.novelty in NOVELTIES):
        raise BadLine("the header has a version, type, time, kind or novelty that is none of v2")
    return header


def _check_payload(proof: Proof, header: Header) -> str | None:
    if proof.payload is None:
        return None
    payload = proof.payload.encode()
    if commitment_of(payload) != header.commitment:
        raise BadLine("the payload is not the one that the header commits to")
    return to_record(header, proof.record_id, payload).content


def _check_place(proof: Proof, header: Header) -> None:
    anchor = proof.anchor
    if (header.agent_id, header.timestamp[:10]) != (anchor.agent_id, anchor.date):
        raise BadLine("the anchor is of another agent or day than the record")
    if not includes(
        bytes.fromhex(anchor.merkle_root),
        bytes.fromhex(proof.record_id),
        index=proof.leaf_index,
        size=anchor.count,
        path=[bytes.fromhex(node) for node in proof.audit_path],
    ):
        raise BadLine("the audit path does not lead from the record to the Merkle root")


def _check_anchor(proof: Proof, reached: str, published: str | None) -> None:
    if proof.anchor_hash != reached:
        raise BadLine("the anchor hash is not that of the anchor")
    if published is not None and published.lower() != reached:
        raise BadLine("it leads to another anchor than the published one")


_DOCUMENT = TypeAdapter(Proof)
_HEADER = TypeAdapter(Header)
