"""What is left of a damaged journal: lines made whole, texts given up, the chain found again. Pure.

Nothing is believed that is not sealed. A line is either the bytes that were sealed, or its header is sealed
and its text is given up, or it is no line (FORMAT.md §8a).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from hippo_async.journal.codec import (
    NO_PAYLOAD,
    BadLine,
    Header,
    encode_line,
    open_line,
    parse_header,
    split_line,
    to_record,
)
from hippo_async.journal.scan import GENESIS, PURGE, RECORD, lines_of, named_by
from hippo_async.journal.seal import Sealer
from hippo_async.records import Record

MENDED_BYTES = 16 * 1024
"""How long a damaged stretch may be for each of its bits to be tried; at this length it takes seconds."""

TRIED_BYTES = 4 * MENDED_BYTES
"""How many bytes of a segment are tried in all. Bits rot one by one; more is other damage."""


class Outcome(StrEnum):
    """What becomes of bytes that are not what was sealed."""

    MENDED = "it is as it was sealed again"
    TEXT_LOST = "the text is lost; the record keeps its place without it"
    LOST = "nothing of it can be trusted"


class Line(NamedTuple):
    """A line that verifies, in the form in which it is kept."""

    header: Header
    record_id: str
    data: bytes
    bare: bool

    def record(self) -> Record:
        """Build the record. Raises :class:`BadLine` for a payload that was sealed in another form."""
        frame = split_line(self.data)
        return to_record(self.header, self.record_id, NO_PAYLOAD if frame is None else frame.payload)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose lines are wanted: one agent's, of one journal, under its key."""

    agent_id: str
    journal_id: str
    sealer: Sealer

    def has(self, header: Header) -> bool:
        """Whether a sealed header is of this journal."""
        return (header.agent_id, header.journal_id) == (self.agent_id, self.journal_id)


@dataclass(frozen=True, slots=True)
class Damage:
    """A stretch of bytes of a segment that is not what was sealed; ``seqs`` are the records saved from it."""

    segment: int
    offset: int
    length: int
    outcome: Outcome
    seqs: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the damage as plain JSON values."""
        return {
            "segment": self.segment,
            "offset": self.offset,
            "length": self.length,
            "outcome": self.outcome.name.lower(),
            "seqs": list(self.seqs),
        }


@dataclass(frozen=True, slots=True)
class Salvage:
    """All that verifies in a segment, in the order in which it stood, and all that does not."""

    lines: tuple[Line, ...]
    damages: tuple[Damage, ...]

    def records(self) -> Iterator[Record]:
        """Build the records; a payload that was sealed in another form is passed over."""
        for line in self.lines:
            with suppress(BadLine):
                yield line.record()


@dataclass(frozen=True, slots=True)
class Plan:
    """A chain made of the lines that are left.

    ``chain`` begins with the genesis and has no gap. ``to_purge`` are the ids in it that no purge line of the
    chain names and one has to: their text was given up now, or was to be forgotten. ``carried`` are the
    records that verify and have no place in the chain, by their seq.
    """

    chain: tuple[Line, ...]
    to_purge: tuple[str, ...]
    carried: tuple[Line, ...]


def salvage(data: bytes, segment: int, owner: Owner, *, mend: bool) -> Salvage:
    """Take from the bytes of a segment every line of this journal that can be trusted.

    With ``mend`` the bits of damaged stretches are tried, up to :data:`TRIED_BYTES` of them.
    """
    lines: list[Line] = []
    damages: list[Damage] = []
    trials = _Trials(owner, TRIED_BYTES if mend else 0)
    for offset, stretch, line in _stretches(data, owner):
        if line is not None:
            lines.append(line)
            continue
        for piece, outcome, saved in _save(stretch, trials):
            seqs = tuple(kept.header.seq for kept in saved)
            damages.append(Damage(segment, offset, len(piece), outcome, seqs))
            lines += saved
            offset += len(piece)
    return Salvage(tuple(lines), tuple(damages))


def plan_repair(lines: Iterable[Line]) -> Plan | None:
    """Follow the links from the genesis as far as they lead; ``None`` if there is no genesis.

    Where two lines claim one place, the one that stood first has it.
    """
    best = _without_repeats(lines)
    genesis = next((line for line in best if line.header.type == GENESIS), None)
    if genesis is None:
        return None
    after: dict[str | None, Line] = {}
    for line in best:
        after.setdefault(line.header.prev_id, line)
    chain = list(_follow(genesis, after))
    placed = {line.record_id for line in chain}
    rest = [line for line in best if line.record_id not in placed]
    explained, forgotten = _named_by(chain), _named_by(rest)
    to_purge = {line.record_id for line in chain if line.bare} | (forgotten & placed)
    carried = [
        line
        for line in rest
        if line.header.type == RECORD and not line.bare and line.record_id not in explained | forgotten
    ]
    return Plan(
        chain=tuple(chain),
        to_purge=tuple(sorted(to_purge - explained)),
        carried=tuple(sorted(carried, key=lambda line: line.header.seq)),
    )


def _named_by(lines: Iterable[Line]) -> set[str]:
    """The ids that the purge lines among them name."""
    named: set[str] = set()
    for line in lines:
        frame = split_line(line.data)
        if line.header.type == PURGE and frame is not None:
            with suppress(BadLine):
                named |= named_by(frame.payload)
    return named


def _stretches(data: bytes, owner: Owner) -> Iterator[tuple[int, bytes, Line | None]]:
    """Cut a segment into lines that verify and, between them, stretches that do not."""
    start = offset = 0
    for piece in lines_of(data):
        line = _whole(piece, owner)
        if line is not None:
            if start < offset:
                yield start, data[start:offset], None
            yield offset, piece, line
            start = offset + len(piece)
        offset += len(piece)
    if start < offset:
        yield start, data[start:offset], None


def _save(stretch: bytes, trials: _Trials) -> Iterator[tuple[bytes, Outcome, list[Line]]]:
    """Mend a stretch as one, where a newline came or went, or else each of its lines by itself."""
    pieces = lines_of(stretch)
    mended = trials.mend(stretch) if len(pieces) <= 2 else []
    if mended:
        yield stretch, Outcome.MENDED, mended
        return
    for piece in pieces:
        lines = trials.mend(piece) if len(pieces) > 1 else []
        if lines:
            yield piece, Outcome.MENDED, lines
        elif line := _without_text(piece, trials.owner):
            yield piece, Outcome.TEXT_LOST if line.bare else Outcome.MENDED, [line]
        else:
            yield piece, Outcome.LOST, []


@dataclass(slots=True)
class _Trials:
    """Tries which bit of a damaged stretch is wrong, as long as ``left`` bytes are not used up."""

    owner: Owner
    left: int

    def mend(self, stretch: bytes) -> list[Line]:
        """Return the lines that a stretch becomes if one bit of it is flipped; none if no bit does it."""
        if len(stretch) > min(self.left, MENDED_BYTES):
            return []
        self.left -= len(stretch)
        tried = bytearray(stretch)
        for position in range(len(tried)):
            for bit in range(8):
                tried[position] ^= 1 << bit
                lines = _all_whole(bytes(tried), self.owner)
                tried[position] ^= 1 << bit
                if lines:
                    return lines
        return []


def _all_whole(data: bytes, owner: Owner) -> list[Line]:
    lines = []
    for piece in lines_of(data):
        line = _whole(piece, owner)
        if line is None:
            return []
        lines.append(line)
    return lines


def _whole(piece: bytes, owner: Owner) -> Line | None:
    try:
        header, frame = open_line(piece, owner.sealer)
    except BadLine:
        return None
    bare = frame.payload == NO_PAYLOAD
    if not owner.has(header) or (bare and header.type != RECORD):
        return None
    return Line(header, frame.record_id.decode(), piece, bare)


def _without_text(piece: bytes, owner: Owner) -> Line | None:
    """Keep what the seal covers of a record whose text, or id, is not what it should be."""
    frame = split_line(piece)
    if frame is None or not owner.sealer.verifies(frame.header, frame.seal.decode("latin-1")):
        return None
    try:
        header = parse_header(frame.header)
    except BadLine:
        return None
    if header.type != RECORD or not owner.has(header):
        return None
    record_id, data = encode_line(frame.header, frame.payload, frame.seal.decode())
    whole = _whole(data, owner)  # only the id was wrong
    if whole is not None:
        return whole
    record_id, data = encode_line(frame.header, NO_PAYLOAD, frame.seal.decode())
    return Line(header, record_id, data, bare=True)


def _without_repeats(lines: Iterable[Line]) -> Sequence[Line]:
    """Keep each record once, with its text if any of the lines has it, in the order of the first ones."""
    kept: dict[str, Line] = {}
    for line in lines:
        known = kept.get(line.record_id)
        if known is None or (known.bare and not line.bare):
            kept[line.record_id] = line
    return list(kept.values())


def _follow(genesis: Line, after: dict[str | None, Line]) -> Iterator[Line]:
    line: Line | None = genesis
    while line is not None:
        yield line
        following = after.get(line.record_id)
        line = following if following is not None and following.header.seq == line.header.seq + 1 else None
