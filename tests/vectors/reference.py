"""The two protocols written down a second time, from FORMAT.md and the standard library alone.

It shares no code with the package, so that a test vector is the agreement of two implementations. Only what
it takes to write journals is here; nothing checks anything.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from decimal import Decimal
from typing import Any

V1, V2 = "montana.agent.hippocampus.v1", "montana.agent.hippocampus.v2"
ESCAPES = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}


def jcs(value: Any) -> str:
    """RFC 8785: keys by UTF-16 code units, numbers as ECMAScript writes them, as little escaped as can be."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return '"' + "".join(_character(character) for character in value) + '"'
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list):
        return "[" + ",".join(jcs(item) for item in value) + "]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return "{" + ",".join(f"{jcs(key)}:{jcs(value[key])}" for key in keys) + "}"


def _character(character: str) -> str:
    code = ord(character)
    return ESCAPES.get(code) or (f"\\u{code:04x}" if code < 32 else character)


def _number(value: float) -> str:
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    figures = "".join(map(str, digits)).rstrip("0")
    point = len(digits) + int(exponent)
    if not figures:
        return "0"
    if 0 < point <= 21:
        whole, fraction = figures[:point].ljust(point, "0"), figures[point:]
        text = f"{whole}.{fraction}" if fraction else whole
    elif -6 < point <= 0:
        text = "0." + "0" * -point + figures
    else:
        text = ".".join(filter(None, (figures[0], figures[1:]))) + f"e{point - 1:+d}"
    return "-" * sign + text


def sha256(text: str | bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def mac(key: bytes, message: str | bytes) -> str:
    """HMAC-SHA-256 in hex."""
    return hmac.new(
        key, message.encode() if isinstance(message, str) else message, hashlib.sha256
    ).hexdigest()


def hkdf(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    """RFC 5869 with SHA-256."""
    extracted = bytes.fromhex(mac(salt or bytes(32), secret))
    output, block = b"", b""
    while len(output) < length:
        block = bytes.fromhex(mac(extracted, block + info + bytes([len(output) // 32 + 1])))
        output += block
    return output[:length]


def purpose_key(master: bytes, journal_id: str, purpose: str) -> bytes:
    """The v2 key of one journal and purpose."""
    return hkdf(master, bytes.fromhex(journal_id), f"{V2}||{purpose}".encode(), 32)


def seal(key: bytes, message: str, domain: str = V2) -> str:
    """The seal of a message in a domain."""
    return mac(key, f"{domain}||{message}")


def document(key: bytes, value: dict[str, Any]) -> str:
    """A sealed document: canonical JSON, a blank, the seal."""
    return f"{jcs(value)} {seal(key, jcs(value))}"


def dialect(name: str, value: Any) -> str:
    """A value in one of the five serialisations that readers of v1 know."""
    if name == "rfc8785":
        return jcs(value)
    separators = (",", ":") if name.startswith("compact") else (", ", ": ")
    return json.dumps(value, sort_keys=True, separators=separators, ensure_ascii=not name.endswith("utf8"))


def framed(header: str, record_id: str, payload: str, tag: str) -> str:
    """A v2 line."""
    return f'{{"header":{header},"id":"{record_id}","payload":{payload},"seal":"{tag}"}}\n'


class V1Stream:
    """A v1 stream that grows; ``records`` holds all that goes into each of its lines."""

    def __init__(self, key: bytes, agent_id: str, dialect_name: str = "rfc8785", domain: str = V1) -> None:
        self.key, self.agent_id, self.dialect, self.domain = key, agent_id, dialect_name, domain
        self.records: list[dict[str, Any]] = []

    def add(
        self,
        content: str,
        *,
        timestamp: str,
        kind: str,
        novelty: str,
        metadata: dict[str, Any],
        **unsigned: Any,
    ) -> None:
        """Append one record; ``unsigned`` are further fields of the line, under no signature."""
        prev_id = self.records[-1]["fields"]["record_id"] if self.records else None
        seed = {"agent_id": self.agent_id, "content": content, "metadata": metadata, "timestamp": timestamp}
        payload = {**seed, "kind": kind, "prev_id": prev_id}
        message = f"{self.domain}||{dialect(self.dialect, payload)}"
        fields = {
            **payload,
            "novelty": novelty,
            "record_id": sha256(dialect(self.dialect, seed))[:32],
            "signature": mac(self.key, message),
            **unsigned,
        }
        self.records.append(
            {
                "dialect": self.dialect,
                "fields": fields,
                "seed": dialect(self.dialect, seed),
                "message": message,
                "line": dialect(self.dialect, fields) + "\n",
            }
        )

    @property
    def lines(self) -> list[bytes]:
        """The stored lines."""
        return [record["line"].encode() for record in self.records]


class V2Journal:
    """A v2 journal that grows; ``records`` holds all that goes into each of its lines.

    ``previous`` is the close of the journal that it continues, as its genesis names it.
    """

    def __init__(
        self,
        master: bytes,
        journal_id: str,
        agent_id: str,
        *,
        epoch: int = 0,
        previous: dict[str, Any] | None = None,
    ) -> None:
        self.master, self.journal_id, self.agent_id, self.epoch = master, journal_id, agent_id, epoch
        self.previous = previous
        self.start: int = 0 if previous is None else previous["seq"] + 1
        self.before: str | None = None if previous is None else previous["record_id"]
        self.records: list[dict[str, str]] = []

    def key(self, purpose: str) -> bytes:
        """The key of one purpose."""
        return purpose_key(self.master, self.journal_id, purpose)

    def add(self, content: str, *, metadata: dict[str, Any], **given: Any) -> str:
        """Append one record and return its id.

        ``given`` header fields are timestamp, kind, novelty and type, and any that are to be wrong.
        """
        seq = self.start + len(self.records)
        payload = {"content": content, "metadata": metadata, "salt": sha256(f"salt {seq}")[:32]}
        header = {
            "agent_id": self.agent_id,
            "commitment": sha256(jcs(payload)),
            "epoch": self.epoch,
            "journal_id": self.journal_id,
            "prev_id": self.records[-1]["record_id"] if self.records else self.before,
            "seq": seq,
            "v": 2,
            **given,
        }
        record: dict[str, str] = {
            "type": header["type"],
            "header": jcs(header),
            "payload": jcs(payload),
            "record_id": sha256(jcs(header))[:32],
            "seal": seal(self.key("record"), jcs(header)),
        }
        self.records.append(record)
        record["line"] = self.line(seq)
        return record["record_id"]

    def line(self, seq: int, *, purged: bool = False) -> str:
        """The stored line of a record, or what a purge leaves of it."""
        record = self.records[seq - self.start]
        payload = "null" if purged else record["payload"]
        return framed(record["header"], record["record_id"], payload, record["seal"])

    def segment(self, first: int, last: int, purged: frozenset[int] = frozenset()) -> bytes:
        """The bytes of a segment that holds the records ``first`` to ``last``."""
        return "".join(self.line(seq, purged=seq in purged) for seq in range(first, last + 1)).encode()

    def state(self, seq: int, *, number: int, generation: int = 1) -> dict[str, Any]:
        """What ``HEAD`` says after a record was acknowledged."""
        record_id = self.records[seq - self.start]["record_id"]
        return {
            "generation": generation,
            "journal_id": self.journal_id,
            "number": number,
            "record_id": record_id,
            "seq": seq,
        }

    def slot(self, state: dict[str, Any], purpose: str = "head") -> bytes:
        """One slot of ``HEAD`` or, for the purpose ``witness``, of the witness."""
        return (document(self.key(purpose), state).ljust(511) + "\n").encode()

    def closed_list(self, segments: dict[tuple[int, int], bytes], *, generation: int = 1) -> bytes:
        """The file ``SEGMENTS`` over closed segments, given by first and last record."""
        entries = [
            {
                "first": first,
                "last": last,
                "last_id": self.records[last - self.start]["record_id"],
                "sha256": sha256(data),
                "size": len(data),
            }
            for (first, last), data in segments.items()
        ]
        value = {"generation": generation, "journal_id": self.journal_id, "segments": entries}
        return (document(self.key("segments"), value) + "\n").encode()
