"""Walking a chain of v2 lines, and telling a torn tail from damage (FORMAT.md §6, §7). Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from hippo_async.journal.codec import (
    KINDS,
    NO_PAYLOAD,
    NOVELTIES,
    RESERVED_KEY,
    VERSION,
    BadLine,
    Frame,
    Header,
    open_line,
)
from hippo_async.journal.seal import Sealer

GENESIS, RECORD, PURGE, ACCEPT, CLOSE = "genesis", "record", "purge", "accept", "close"
TYPES = frozenset({GENESIS, RECORD, PURGE, ACCEPT, CLOSE})
SECTOR = 512
UNEXPLAINED = "the text is gone and no sealed purge names the record"


class Step(NamedTuple):
    """One line that verified and continues the chain."""

    header: Header
    frame: Frame
    offset: int
    length: int

    @property
    def record_id(self) -> str:
        """The id of the record, which is the hash of its header."""
        return self.frame.record_id.decode()


class ChainBroken(Exception):
    """Raised where a chain stops being what was sealed."""

    def __init__(self, offset: int, seq: int, reason: str) -> None:
        super().__init__(reason)
        self.offset = offset
        self.seq = seq
        self.reason = reason


@dataclass(slots=True)
class Chain:
    """Where a walk stands: what the next record has to continue.

    ``purged`` are the records met without a payload, with where they stood; ``named`` the ids that purge
    records name. At the end of the journal the first must be among the second.
    """

    journal_id: str
    agent_id: str
    seq: int = -1
    record_id: str | None = None
    epoch: int | None = None
    closed: bool = False
    purged: dict[str, tuple[int, int]] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)

    def follow(self, step: Step) -> None:
        """Take the next record. Raises :class:`BadLine` if it does not continue this chain."""
        header = step.header
        self._check(header)
        purged = step.frame.payload == NO_PAYLOAD
        if purged and header.type != RECORD:
            raise BadLine(
                f"the payload of a record of type {header.type!r} is gone; only a record's may be purged"
            )
        named = _named_by(step.frame.payload) if header.type == PURGE else set()
        self.seq = header.seq
        self.record_id = step.record_id
        self.epoch = header.epoch
        self.closed = header.type == CLOSE
        self.named |= named
        if purged:
            self.purged[step.record_id] = (header.seq, step.offset)

    def _check(self, header: Header) -> None:
        if header.journal_id != self.journal_id:
            raise BadLine("a record of another journal")
        if header.agent_id != self.agent_id:
            raise BadLine("a record of another agent")
        if header.seq != self.seq + 1:
            raise BadLine(f"seq {header.seq} where {self.seq + 1} belongs")
        if header.prev_id != self.record_id:
            raise BadLine("prev_id is not the id of the record before")
        if (header.type == GENESIS) != (header.seq == 0) or header.type not in TYPES or header.v != VERSION:
            raise BadLine(f"a record of type {header.type!r}, version {header.v}, cannot stand here")
        if header.kind not in KINDS or header.novelty not in NOVELTIES:
            raise BadLine(f"kind {header.kind!r} or novelty {header.novelty!r} is not one of v2")
        if self.epoch is not None and header.epoch != self.epoch:
            raise BadLine("the key epoch changes within a journal")
        if self.closed:
            raise BadLine("the journal was closed by the record before")

    def unexplained(self) -> tuple[str, int, int] | None:
        """Return (id, seq, offset) of the first record whose payload is missing and that no purge names."""
        for record_id, (seq, offset) in self.purged.items():
            if record_id not in self.named:
                return record_id, seq, offset
        return None


def _named_by(payload: bytes) -> set[str]:
    try:
        records = json.loads(payload)["metadata"][RESERVED_KEY]["records"]
    except (ValueError, KeyError, TypeError, RecursionError):
        records = None
    if not isinstance(records, list) or not all(isinstance(record_id, str) for record_id in records):
        raise BadLine("a purge record that names no records")
    return set(records)


def walk(data: bytes, chain: Chain, sealer: Sealer) -> Iterator[Step]:
    """Yield each line of a segment, verified and linked; ``chain`` moves along.

    Splits at ``\\n`` bytes only. Raises :class:`ChainBroken` at the first line that does not verify or is not
    complete.
    """
    offset = 0
    while offset < len(data):
        end = data.find(b"\n", offset) + 1
        if end == 0:
            raise ChainBroken(offset, chain.seq + 1, "the last line is not complete")
        try:
            header, frame = open_line(data[offset:end], sealer)
            step = Step(header, frame, offset, end - offset)
            chain.follow(step)
        except BadLine as error:
            raise ChainBroken(offset, chain.seq + 1, str(error)) from None
        yield step
        offset = end


def is_torn(data: bytes, offset: int) -> bool:
    """Whether the bad bytes from ``offset`` are what a crash leaves of a last write.

    Yes if no complete line follows, or all is zero, or the one line that follows has a sector of zeros in it
    (its blocks came to disk in part). A complete last line without that is damage, not a torn write.
    """
    rest = data[offset:]
    newline = rest.find(b"\n")
    if newline < 0 or not rest.strip(b"\0"):
        return True
    return newline == len(rest) - 1 and _has_zero_sector(data, offset)


def _has_zero_sector(data: bytes, offset: int) -> bool:
    first = -(-offset // SECTOR) * SECTOR
    return any(not data[at : at + SECTOR].strip(b"\0") for at in range(first, len(data) - SECTOR + 1, SECTOR))
