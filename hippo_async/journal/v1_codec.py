"""One line of protocol v1 (J2-J5, FORMAT.md §10): its dialects, its signature, its checks. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from hippo_async.journal.canon import canonical, parse_json
from hippo_async.journal.codec import ID_CHARS, MAX_LINE_BYTES
from hippo_async.journal.seal import Sealer
from hippo_async.records import Kind, Novelty

SIGNED = ("agent_id", "kind", "timestamp", "content", "metadata", "prev_id")
SEED = ("agent_id", "timestamp", "content", "metadata")

_TEXTS = ("record_id", "agent_id", "timestamp", "kind", "content", "novelty", "signature")
_FIELDS = frozenset({*_TEXTS, "metadata", "prev_id"})


class Dialect(NamedTuple):
    """One way to write sorted JSON "in a stable form"; ``encode`` raises ``ValueError`` where it cannot."""

    name: str
    encode: Callable[[Any], bytes]


def _standard(name: str, *, ensure_ascii: bool, separators: tuple[str, str]) -> Dialect:
    encoder = json.JSONEncoder(
        sort_keys=True, ensure_ascii=ensure_ascii, separators=separators, allow_nan=False
    )
    return Dialect(name, lambda value: encoder.encode(value).encode())


DIALECTS = (
    Dialect("rfc8785", canonical),
    _standard("compact-utf8", ensure_ascii=False, separators=(",", ":")),
    _standard("python", ensure_ascii=True, separators=(", ", ": ")),
    _standard("python-utf8", ensure_ascii=False, separators=(", ", ": ")),
    _standard("compact-ascii", ensure_ascii=True, separators=(",", ":")),
)
"""The source names no serialisation, so a reader tries these, in this order."""


@dataclass(frozen=True, slots=True)
class V1Record:
    """The nine fields of a v1 record (J2). ``novelty`` and ``record_id`` are not under the signature."""

    record_id: str
    agent_id: str
    timestamp: str
    kind: Kind
    content: str
    metadata: Mapping[str, Any]
    novelty: Novelty
    prev_id: str | None
    signature: str

    def fields(self) -> dict[str, Any]:
        """Return the record as it is written: plain JSON values by name."""
        return {
            "agent_id": self.agent_id,
            "content": self.content,
            "kind": self.kind.value,
            "metadata": dict(self.metadata),
            "novelty": self.novelty.value,
            "prev_id": self.prev_id,
            "record_id": self.record_id,
            "signature": self.signature,
            "timestamp": self.timestamp,
        }


class V1Verdict(StrEnum):
    """How a walk over a v1 chain ends; the first three are J6's own."""

    INTACT = "intact"
    WRONG_SIGNATURE = "wrong signature"
    BROKEN_LINK = "broken link"
    FOREIGN_AGENT = "foreign agent"
    MALFORMED = "malformed"
    TORN = "torn"


class V1LineError(Exception):
    """Raised for a line that does not verify: why, in which words, and in which record if that is known."""

    def __init__(self, verdict: V1Verdict, reason: str, record_id: str | None = None) -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.reason = reason
        self.record_id = record_id


def sign(record: V1Record, sealer: Sealer, dialect: Dialect) -> str:
    """Return the signature of a record: over the domain of ``sealer`` and the canonical payload (J4)."""
    return sealer.seal(_select(record.fields(), SIGNED, dialect))


def record_id_of(record: V1Record, dialect: Dialect) -> str:
    """The first 16 bytes of SHA-256 over the canonical seed, in hex (J2)."""
    return hashlib.sha256(_select(record.fields(), SEED, dialect)).hexdigest()[:ID_CHARS]


def encode_v1(record: V1Record, dialect: Dialect) -> bytes:
    """Write a record as its line, newline included."""
    return dialect.encode(record.fields()) + b"\n"


def open_v1(line: bytes, sealer: Sealer, dialect: Dialect) -> V1Record:
    """Read a line and check its signature; the link is for the chain to check.

    What another domain or key signed is not valid, whatever its kind (J5). Raises :class:`V1LineError`.
    """
    fields = _parse(line)
    record_id = fields["record_id"]
    if not _is_signed(fields, sealer, dialect):
        reason = f"signature mismatch in {record_id}"
        raise V1LineError(V1Verdict.WRONG_SIGNATURE, reason, record_id)
    if fields.keys() != _FIELDS:
        raise V1LineError(V1Verdict.MALFORMED, "a field that v1 does not have", record_id)
    try:
        return V1Record(**{**fields, "kind": Kind(fields["kind"]), "novelty": Novelty(fields["novelty"])})
    except ValueError as error:  # J3: another value needs another domain
        raise V1LineError(V1Verdict.MALFORMED, str(error), record_id) from None


def _is_signed(fields: Mapping[str, Any], sealer: Sealer, dialect: Dialect) -> bool:
    try:
        message = _select(fields, SIGNED, dialect)
    except (ValueError, RecursionError):  # a dialect that cannot write it did not sign it
        return False
    return sealer.verifies(message, fields["signature"])


def _select(fields: Mapping[str, Any], names: tuple[str, ...], dialect: Dialect) -> bytes:
    return dialect.encode({name: fields[name] for name in names})


def _parse(line: bytes) -> dict[str, Any]:
    if len(line) > MAX_LINE_BYTES:
        raise V1LineError(V1Verdict.MALFORMED, f"a line longer than {MAX_LINE_BYTES:,} bytes")
    if not line.endswith(b"\n"):
        raise V1LineError(V1Verdict.TORN, "the last line is not complete")
    try:
        value = parse_json(line)
    except (ValueError, RecursionError):
        raise V1LineError(V1Verdict.MALFORMED, "not a line of JSON") from None
    if not _has_shape(value):
        raise V1LineError(V1Verdict.MALFORMED, "not the fields of a v1 record")
    fields: dict[str, Any] = value
    return fields


def _has_shape(value: Any) -> bool:
    return (
        type(value) is dict
        and value.keys() >= _FIELDS
        and all(type(value[name]) is str for name in _TEXTS)
        and type(value["metadata"]) is dict
        and (value["prev_id"] is None or type(value["prev_id"]) is str)
    )
