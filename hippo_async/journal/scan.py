"""Walking a chain of v2 lines, and telling a torn tail from damage (FORMAT.md §6, §7). Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from hippo_async.journal.canon import canonical
from hippo_async.journal.codec import (
    KINDS,
    MAX_LINE_BYTES,
    NO_PAYLOAD,
    NOVELTIES,
    RESERVED_KEY,
    VERSION,
    BadLine,
    Frame,
    Header,
    commitment_of,
    open_line,
    record_id_of,
    to_record,
)
from hippo_async.journal.seal import Sealer
from hippo_async.records import Record

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

    def record(self) -> Record:
        """Build the record. Raises :class:`ChainBroken` for a payload that was sealed in another form."""
        try:
            return to_record(self.header, self.record_id, self.frame.payload)
        except BadLine as error:
            raise ChainBroken(self.offset, self.header.seq, str(error)) from None


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

    ``start`` is the seq of the journal's genesis, ``before`` the id that the genesis names as the one before:
    0 and none, or what follows the close of the journal that this one continues. ``purged`` are the records
    met without a payload, with where they stood; ``named`` the ids that purge records name. At the end of the
    journal the first must be among the second. ``unfinished`` are those that the very last record names: a
    crash may have come before their texts were taken away.
    """

    journal_id: str
    agent_id: str
    start: int = 0
    before: str | None = None
    seq: int = -1
    record_id: str | None = None
    epoch: int | None = None
    closed: bool = False
    unfinished: frozenset[str] = frozenset()
    purged: dict[str, tuple[int, int]] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)

    @classmethod
    def begin(cls, journal_id: str, agent_id: str, *, start: int, before: str | None) -> Chain:
        """Stand before a journal's genesis."""
        return cls(journal_id, agent_id, start, before, seq=start - 1, record_id=before)

    def restarted(self) -> Chain:
        """Stand before the genesis of the same journal again."""
        return Chain.begin(self.journal_id, self.agent_id, start=self.start, before=self.before)

    def follow(self, step: Step) -> None:
        """Take the next record. Raises :class:`BadLine` if it does not continue this chain."""
        header = step.header
        self._check(header)
        purged = step.frame.payload == NO_PAYLOAD
        if purged and header.type != RECORD:
            raise BadLine(
                f"the payload of a record of type {header.type!r} is gone; only a record's may be purged"
            )
        named = named_by(step.frame.payload) if header.type == PURGE else set()
        self.seq = header.seq
        self.record_id = step.record_id
        self.epoch = header.epoch
        self.closed = header.type == CLOSE
        self.named |= named
        self.unfinished = frozenset(named)
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
        begins = header.seq == self.start
        if (header.type == GENESIS) != begins or header.type not in TYPES or header.v != VERSION:
            raise BadLine(f"a record of type {header.type!r}, version {header.v}, cannot stand here")
        if begins and (header.seq == 0) != (header.prev_id is None):
            raise BadLine("a genesis has seq 0, or names the record that it continues; one and not the other")
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


def named_by(payload: bytes) -> set[str]:
    """Return the ids that a purge record's payload names. Raises :class:`BadLine` if it names none."""
    try:
        records = json.loads(payload)["metadata"][RESERVED_KEY]["records"]
    except (ValueError, KeyError, TypeError, RecursionError):
        records = None
    if not isinstance(records, list) or not all(isinstance(record_id, str) for record_id in records):
        raise BadLine("a purge record that names no records")
    return set(records)


def lines_of(data: bytes) -> list[bytes]:
    """Split behind each newline byte and at nothing else; the last piece may have none."""
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


def walk(data: bytes, chain: Chain, sealer: Sealer, *, offset: int = 0) -> Iterator[Step]:
    """Yield each line of a segment from ``offset`` on, verified and linked; ``chain`` moves along.

    Splits at ``\\n`` bytes only. Raises :class:`ChainBroken` at the first line that does not verify or is not
    complete.
    """
    while offset < len(data):
        end = data.find(b"\n", offset) + 1
        step = _take(data[offset:end] if end else b"", offset, chain, sealer)
        yield step
        offset = end


def skip_to(after: int, data: bytes, chain: Chain, sealer: Sealer) -> int:
    """Move ``chain`` behind record ``after`` of a segment; return where the next line begins.

    Of the lines up to there only that record's own is checked. If it is another's, or is not there, the chain
    stays where it is, before the segment's first line, and 0 is returned: a walk says what is wrong.
    """
    if after <= chain.seq:
        return 0
    start = end = 0
    for _ in range(after - chain.seq):
        start, end = end, data.find(b"\n", end) + 1
        if not end:
            return 0
    before = chain.seq, chain.record_id
    try:
        header, frame = open_line(data[start:end], sealer)
        chain.seq, chain.record_id = after - 1, header.prev_id
        chain.follow(Step(header, frame, start, end - start))
    except BadLine:
        chain.seq, chain.record_id = before
        return 0
    return end


def skim(data: bytes, chain: Chain, sealer: Sealer) -> int:
    """Check what :func:`walk` checks without handing the lines out, and return where the last one ends.

    Lines of the usual kind, an agent's record that continues the chain, are checked by one pattern and three
    hashes; whatever is not exactly that, or fails, is looked at as :func:`walk` looks at it.
    """
    offset = 0
    usual: re.Pattern[bytes] | None = None
    for line in data.split(b"\n")[:-1]:
        if usual is None and chain.epoch is not None:
            usual = _usual_line(chain)
        found = None if usual is None else usual.fullmatch(line)
        if found is None or not _continues(found, chain, sealer):
            _take(line + b"\n", offset, chain, sealer)
        offset += len(line) + 1
    if offset < len(data):
        _take(b"", offset, chain, sealer)
    return offset


def _take(line: bytes, offset: int, chain: Chain, sealer: Sealer) -> Step:
    """Check one line, empty if it is not complete, and let the chain follow it."""
    if not line:
        raise ChainBroken(offset, chain.seq + 1, "the last line is not complete")
    try:
        header, frame = open_line(line, sealer)
        step = Step(header, frame, offset, len(line))
        chain.follow(step)
    except BadLine as error:
        raise ChainBroken(offset, chain.seq + 1, str(error)) from None
    return step


def _usual_line(chain: Chain) -> re.Pattern[bytes]:
    """Return what a record line of this chain looks like, with all that never changes spelled out."""
    kinds, novelties = (b"(?:" + "|".join(sorted(names)).encode() + b")" for names in (KINDS, NOVELTIES))
    return re.compile(
        rb'\{"header":(\{"agent_id":'
        + re.escape(canonical(chain.agent_id))
        + rb',"commitment":"([0-9a-f]{64})",'
        rb'"epoch":' + str(chain.epoch).encode() + rb',"journal_id":"' + chain.journal_id.encode() + rb'",'
        rb'"kind":"' + kinds + rb'","novelty":"' + novelties + rb'","prev_id":"([0-9a-f]{32})",'
        rb'"seq":([0-9]{1,12}),"timestamp":"[-0-9T:.]{26}Z","type":"record","v":2\}),'
        rb'"id":"([0-9a-f]{32})","payload":(\{.+\}),"seal":"([0-9a-f]{64})"\}',
        re.DOTALL,
    )


def _continues(found: re.Match[bytes], chain: Chain, sealer: Sealer) -> bool:
    """Check a usual line as :func:`open_line` and :meth:`Chain.follow` do; move the chain if it is good."""
    header, commitment, prev_id, seq, record_id, payload, seal = found.groups()
    named = record_id.decode()
    good = (
        not chain.closed
        and int(seq) == chain.seq + 1
        and prev_id.decode() == chain.record_id
        and found.end() < MAX_LINE_BYTES
        and sealer.verifies(header, seal.decode())
        and record_id_of(header) == named
        and commitment_of(payload) == commitment.decode()
    )
    if good:
        if chain.unfinished:
            chain.unfinished = frozenset()
        chain.seq += 1
        chain.record_id = named
    return good


def is_torn(data: bytes, offset: int) -> bool:
    """Whether the bad bytes from ``offset`` are what a crash leaves of the last writes.

    Yes if no complete line follows, or all is zero, or the first line that follows has a sector of zeros in
    it: its blocks never came to disk, so its sync never returned, and neither it nor what was written behind
    it was acknowledged. A bad line without that is damage, not a torn write.
    """
    newline = data.find(b"\n", offset)
    return newline < 0 or not data[offset:].strip(b"\0") or _has_zero_sector(data, offset, newline)


def _has_zero_sector(data: bytes, start: int, end: int) -> bool:
    first = -(-start // SECTOR) * SECTOR
    return any(not data[at : at + SECTOR].strip(b"\0") for at in range(first, end - SECTOR + 1, SECTOR))
