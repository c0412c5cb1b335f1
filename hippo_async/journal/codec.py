"""One v2 line, as in FORMAT.md §3: written once, cut apart by position, never serialised again. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from hippo_async.errors import RecordRejected
from hippo_async.journal.canon import is_plain, write
from hippo_async.journal.seal import SEAL_CHARS, Sealer
from hippo_async.records import Kind, Novelty, Record

VERSION = 2
ID_CHARS = 32
MAX_LINE_BYTES = 16 * 1024 * 1024
RESERVED_KEY = "hippo"
NO_PAYLOAD = b"null"
KINDS = frozenset(map(str, Kind))
NOVELTIES = frozenset(map(str, Novelty))

_HEADER = b'{"header":'
_ID = b',"id":"'
_PAYLOAD = b'","payload":'
_SEAL = b',"seal":"'
_END = b'"}\n'
_TAIL = len(_SEAL) + SEAL_CHARS + len(_END)


class BadLine(Exception):
    """Raised when a stored line is not what was sealed; carries the reason."""


class Frame(NamedTuple):
    """The parts of a line as they are stored."""

    header: bytes
    record_id: bytes
    payload: bytes
    seal: bytes


class Header(NamedTuple):
    """What is sealed of every record; the payload is in it by its commitment."""

    agent_id: str
    commitment: str
    epoch: int
    journal_id: str
    kind: str
    novelty: str
    prev_id: str | None
    seq: int
    timestamp: str
    type: str
    v: int


class Form(NamedTuple):
    """What the headers of one type in one journal have in common: the text around what differs."""

    start: str
    middle: str
    end: str

    @classmethod
    def of(cls, agent_json: str, *, epoch: int, journal_id: str, type_: str, v: int = VERSION) -> Form:
        """Prepare the form of the headers of one type. ``agent_json`` is the agent id in canonical form."""
        return cls(
            start=f'{{"agent_id":{agent_json},"commitment":"',
            middle=f'","epoch":{epoch},"journal_id":"{journal_id}","kind":"',
            end=f'","type":"{type_}","v":{v}}}',
        )

    def header(
        self, commitment: str, kind: str, novelty: str, prev_id: str | None, seq: int, timestamp: str
    ) -> bytes:
        """Write one header canonically. What is filled in is ASCII without anything to escape."""
        prev = f'"{prev_id}"' if prev_id else "null"
        # !s: members of an enumeration format themselves slowly
        return (
            f'{self.start}{commitment}{self.middle}{kind!s}","novelty":"{novelty!s}","prev_id":{prev},'
            f'"seq":{seq},"timestamp":"{timestamp}{self.end}'
        ).encode()


def encode_header(header: Header, *, agent_json: str) -> bytes:
    """Write the header canonically. ``agent_json`` is the canonical form of its agent id."""
    _, commitment, epoch, journal_id, kind, novelty, prev_id, seq, timestamp, type_, v = header
    form = Form.of(agent_json, epoch=epoch, journal_id=journal_id, type_=type_, v=v)
    return form.header(commitment, kind, novelty, prev_id, seq, timestamp)


def encode_payload(content: str, metadata: Mapping[str, Any], *, salt: str) -> bytes:
    """Write content, metadata and salt canonically.

    Raises :class:`RecordRejected` with the path of a value that has no canonical form.
    """
    if type(content) is not str:
        raise RecordRejected("$.content", f"{type(content).__name__} is not text")
    fields = dict(metadata)
    plain = is_plain(content, "$.content", 1) and is_plain(fields, "$.metadata", 1)
    return write({"content": content, "metadata": fields, "salt": salt}, plain=plain)


def encode_line(header: bytes, payload: bytes, seal: str) -> tuple[str, bytes]:
    """Return the record's id and its line, newline included. Raises :class:`RecordRejected` if too long."""
    record_id = record_id_of(header)
    line = b"".join((_HEADER, header, _ID, record_id.encode(), _PAYLOAD, payload, _SEAL, seal.encode(), _END))
    if len(line) > MAX_LINE_BYTES:
        raise RecordRejected("$", f"a line of {len(line):,} bytes; at most {MAX_LINE_BYTES:,} fit a record")
    return record_id, line


def record_id_of(header: bytes) -> str:
    """The first 16 bytes of SHA-256 over the stored header, in hex: since it names ``prev_id``, ids chain."""
    return hashlib.sha256(header).hexdigest()[:ID_CHARS]


def commitment_of(payload: bytes) -> str:
    """SHA-256 over the stored payload bytes, in hex."""
    return hashlib.sha256(payload).hexdigest()


def split_line(line: bytes) -> Frame | None:
    """Cut a line into its parts by position, or return ``None`` if it does not have the one allowed shape.

    No quote inside a JSON string is bare, so the first ``},"id":"`` is where the header ends.
    """
    end = line.find(b"}" + _ID, len(_HEADER)) + 1
    id_at = end + len(_ID)
    payload_at = id_at + ID_CHARS + len(_PAYLOAD)
    seal_at = len(line) - _TAIL
    shaped = (
        end > len(_HEADER)
        and seal_at > payload_at
        and line.startswith(_HEADER)
        and line.startswith(_PAYLOAD, id_at + ID_CHARS)
        and line.startswith(_SEAL, seal_at)
        and line.endswith(_END)
    )
    if not shaped:
        return None
    return Frame(
        header=line[len(_HEADER) : end],
        record_id=line[id_at : id_at + ID_CHARS],
        payload=line[payload_at:seal_at],
        seal=line[seal_at + len(_SEAL) : seal_at + len(_SEAL) + SEAL_CHARS],
    )


def open_line(line: bytes, sealer: Sealer) -> tuple[Header, Frame]:
    """Check a stored line against its seal and return its parts.

    A payload of ``null`` passes: whether it was rightly purged is a question for the whole chain. Raises
    :class:`BadLine`.
    """
    frame = split_line(line) if len(line) <= MAX_LINE_BYTES else None
    if frame is None:
        raise BadLine("not a line of protocol v2")
    if not sealer.verifies(frame.header, frame.seal.decode("latin-1")):
        raise BadLine("the seal does not match the header")
    if record_id_of(frame.header).encode() != frame.record_id:
        raise BadLine("the id is not the hash of the header")
    header = parse_header(frame.header)
    if frame.payload != NO_PAYLOAD and commitment_of(frame.payload) != header.commitment:
        raise BadLine("the payload is not the one committed to")
    return header, frame


def parse_header(header: bytes) -> Header:
    """Parse a stored header. Raises :class:`BadLine` for one that this release cannot read."""
    try:
        return Header(**json.loads(header))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadLine("not a header of protocol v2") from error


def to_record(header: Header, record_id: str, payload: bytes) -> Record:
    """Build the record of a checked line. Raises :class:`BadLine` for a payload of another form."""
    content, metadata = _open_payload(payload)
    return Record(
        seq=header.seq,
        record_id=record_id,
        agent_id=header.agent_id,
        timestamp=header.timestamp,
        kind=Kind(header.kind),
        novelty=Novelty(header.novelty),
        content=content,
        metadata=metadata,
        prev_id=header.prev_id,
        type=header.type,
    )


def _open_payload(payload: bytes) -> tuple[str | None, dict[str, Any]]:
    if payload == NO_PAYLOAD:
        return None, {}
    try:
        body = json.loads(payload)
        content, metadata = body["content"], body["metadata"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadLine("a payload of another form than content, metadata and salt") from error
    if type(content) is not str or type(metadata) is not dict:
        raise BadLine("a payload whose content is no text, or whose metadata are no object")
    return content, metadata
