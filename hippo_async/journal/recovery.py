"""Opening a journal: what is there, is it what was acknowledged, and where may writing go on.

Reads only; :class:`hippo_async.journal.journal.Journal` does what a :class:`Recovered` says has to be done.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from hippo_async.errors import (
    AcknowledgedLoss,
    ForeignJournal,
    FormatTooNew,
    HeadMismatch,
    IntegrityError,
    JournalCorrupt,
    RolledBack,
    WrongKey,
)
from hippo_async.files import Files
from hippo_async.journal.canon import parse_json
from hippo_async.journal.codec import VERSION, BadLine, open_line, parse_header, split_line
from hippo_async.journal.head import HeadFound, HeadState, is_journal_id, peek_journal_id, read_head
from hippo_async.journal.keys import Key
from hippo_async.journal.layout import Closed, Layout, list_segments, read_closed
from hippo_async.journal.scan import CLOSE, PURGE, UNEXPLAINED, Chain, ChainBroken, is_torn, named_by, skim
from hippo_async.journal.seal import Purpose, Sealer, derive_key

LAST_LINE_BYTES = 64 * 1024
"""How much of a segment's end is read first to find its last line."""


@dataclass(frozen=True, slots=True)
class Sealers:
    """The sealers of one journal, one a purpose."""

    record: Sealer
    head: Sealer
    segments: Sealer
    witness: Sealer

    @classmethod
    def derive(cls, key: Key, journal_id: str) -> Sealers:
        """Derive the keys of a journal from the agent's master key."""
        return cls(
            *(Sealer(derive_key(key.secret, journal_id=journal_id, purpose=purpose)) for purpose in Purpose)
        )


Objection = AcknowledgedLoss | HeadMismatch | RolledBack
"""What ``HEAD`` or the witness can have against a chain that is sound in itself."""


@dataclass(frozen=True, slots=True)
class Torn:
    """The tail of a last write that a crash cut short."""

    path: Path
    offset: int
    size: int


@dataclass(slots=True)
class Recovered:
    """A journal whose records are sound: where its chain ends, and what its files need before it is written.

    ``objections`` are what ``HEAD`` and the witness have against it: something that was acknowledged is not
    there. Nothing may be served or written until its owner has accepted them.
    """

    journal_id: str
    generation: int
    sealers: Sealers
    chain: Chain
    closed: list[Closed]
    live: int
    live_size: int
    head: HeadFound
    witnessed: HeadFound
    torn: Torn | None = None
    unlisted: list[Closed] = field(default_factory=list)
    objections: tuple[Objection, ...] = ()

    @property
    def next_number(self) -> int:
        """The number of the next state: above all that ``HEAD`` and the witness hold."""
        known = [found.state.number for found in (self.head, self.witnessed) if found.state is not None]
        return max(known, default=-1) + 1


@dataclass(slots=True)
class _Scan:
    """The walk over the segments of a generation."""

    files: Files
    layout: Layout
    generation: int
    sealers: Sealers
    chain: Chain
    head: HeadFound
    segments: list[int] = field(default_factory=list)

    def path(self, first: int) -> Path:
        return self.layout.segment(self.generation, first)

    def skip_closed(self, entry: Closed) -> None:
        """Check a closed segment by its digest; where that fails, find the record at fault."""
        digest = hashlib.sha256()
        size = 0
        for piece in self.files.chunks(self.path(entry.first)):
            digest.update(piece)
            size += len(piece)
        if size != entry.size or digest.hexdigest() != entry.sha256:
            self.walk_whole(entry.first)
            raise JournalCorrupt(
                self.path(entry.first), 0, entry.first, "not the bytes whose digest was sealed"
            )
        self.chain.seq = entry.last
        self.chain.record_id = entry.last_id

    def see_the_end(self, entry: Closed) -> None:
        """Learn from a segment's last line, which its digest vouches for, if it is a close or a purge."""
        length = LAST_LINE_BYTES
        while b"\n" not in (tail := self._end_of(entry, length))[:-1] and length < entry.size:
            length *= 8
        frame = split_line(tail[tail[:-1].rfind(b"\n") + 1 :])
        type_ = None if frame is None else parse_header(frame.header).type
        self.chain.closed = type_ == CLOSE
        if frame is not None and type_ == PURGE:
            self.chain.unfinished = frozenset(named_by(frame.payload))

    def id_at(self, seq: int) -> str | None:
        """Return the id of a record of the chain, read from its segment unless it is the last one's."""
        if seq == self.chain.seq:
            return self.chain.record_id
        if seq < self.chain.start:
            return None
        first = max(first for first in self.segments if first <= seq)
        frame = split_line(self._line(first, seq))
        return None if frame is None else frame.record_id.decode()

    def walk_whole(self, first: int) -> Closed:
        """Check every record of a segment that must be whole."""
        data, end, broken = self._walk(first)
        if broken is not None:
            raise self._corrupt(first, broken)
        last_id = self.chain.record_id or ""
        return Closed(first, self.chain.seq, last_id, end, hashlib.sha256(data).hexdigest())

    def walk_live(self, first: int) -> tuple[int, Torn | None]:
        """Check the last segment; return where it ends and the torn tail behind that, if any."""
        data, end, broken = self._walk(first)
        if broken is None:
            return end, None
        if not is_torn(data, broken.offset):
            raise self._corrupt(first, broken)
        return end, Torn(self.path(first), end, len(data) - end)

    def _end_of(self, entry: Closed, length: int) -> bytes:
        return self.files.read_at(self.path(entry.first), max(0, entry.size - length), length)

    def _line(self, first: int, seq: int) -> bytes:
        return self.files.read(self.path(first)).split(b"\n")[seq - first] + b"\n"

    def _walk(self, first: int) -> tuple[bytes, int, ChainBroken | None]:
        if first != self.chain.seq + 1:
            raise JournalCorrupt(
                self.path(first), 0, self.chain.seq + 1, "the segment with this record is missing"
            )
        data = self.files.read(self.path(first))
        try:
            return data, skim(data, self.chain, self.sealers.record), None
        except ChainBroken as broken:
            return data, broken.offset, broken

    def _corrupt(self, first: int, broken: ChainBroken) -> IntegrityError:
        path = self.path(first)
        if broken.seq == self.chain.start:
            if _claims_newer_version(self.files.read(path)):
                raise FormatTooNew(f"{path}: written by a newer protocol; upgrade hippo-async to read it")
            if self.head.state is None and not self._is_sealed(path):
                return WrongKey(
                    path,
                    0,
                    broken.seq,
                    "the first record does not verify under this key; is it the right one?",
                )
        return JournalCorrupt(path, broken.offset, broken.seq, broken.reason)

    def _is_sealed(self, path: Path) -> bool:
        """Whether the first line of a segment is sealed under this key, whatever its place."""
        try:
            open_line(self.files.read(path).partition(b"\n")[0] + b"\n", self.sealers.record)
        except BadLine:
            return False
        return True


def recover(
    files: Files, layout: Layout, generation: int, *, agent_id: str, key: Key, witness: Path | None
) -> Recovered:
    """Check a generation against its seals, and note what ``HEAD`` and the witness have against it.

    Raises :class:`WrongKey`, :class:`ForeignJournal`, :class:`FormatTooNew` or :class:`JournalCorrupt`, each
    with path, offset, seq and reason. Changes nothing on disk.
    """
    segments = list_segments(files, layout, generation)
    if not segments:
        raise JournalCorrupt(layout.generation(generation), 0, 0, "the generation in force has no segment")
    first_line = _first_line(files, layout.segment(generation, segments[0]))
    journal_id = _claimed_id(first_line) or peek_journal_id(files, layout.head) or "0" * 32
    sealers = Sealers.derive(key, journal_id)
    head = read_head(files, layout.head, sealers.head)
    witnessed = HeadFound() if witness is None else read_head(files, witness / journal_id, sealers.witness)
    chain = Chain.begin(journal_id, agent_id, start=segments[0], before=_claimed_previous(first_line))
    scan = _Scan(files, layout, generation, sealers, chain, head)
    _check_agent(layout.segment(generation, segments[0]), first_line, agent_id)

    closed = _read_closed(scan, segments[0])
    # listed again: beside a reader, a writer may have begun a segment since, and HEAD may know its records
    segments = scan.segments = list_segments(files, layout, generation)
    _check_listed(scan, closed, segments)
    for entry in closed:
        scan.skip_closed(entry)
    if closed:
        scan.chain.epoch = _claimed_epoch(first_line)  # under the digest that was just checked
        scan.see_the_end(closed[-1])
    rest = segments[len(closed) :]
    unlisted = [scan.walk_whole(first) for first in rest[:-1]]
    live = rest[-1] if rest else scan.chain.seq + 1
    live_size, torn = scan.walk_live(live) if rest else (0, None)

    _check_purges(scan, segments)
    objections = (
        _object_of_head(scan, live, live_size),
        _object_of_witness(scan, witnessed, live, live_size),
    )
    return Recovered(
        journal_id,
        generation,
        sealers,
        scan.chain,
        closed,
        live,
        live_size,
        head,
        witnessed,
        torn,
        unlisted,
        tuple(objection for objection in objections if objection is not None),
    )


def _read_closed(scan: _Scan, first: int) -> list[Closed]:
    path = scan.layout.closed_list(scan.generation)
    try:
        return read_closed(
            scan.files,
            scan.layout,
            scan.generation,
            journal_id=scan.chain.journal_id,
            sealer=scan.sealers.segments,
        )
    except ValueError as error:
        scan.walk_live(first)  # a wrong key, or a damaged first record, is the better explanation
        raise JournalCorrupt(path, 0, 0, str(error)) from None


def _check_listed(scan: _Scan, closed: list[Closed], segments: list[int]) -> None:
    listed = [entry.first for entry in closed]
    for expected, found in zip_longest(listed, segments[: len(listed)]):
        if found is None or found > expected:
            raise JournalCorrupt(scan.path(expected), 0, expected, "a closed segment is missing")
        if found < expected:
            raise JournalCorrupt(scan.path(found), 0, found, "a segment that SEGMENTS does not name")


def _check_agent(path: Path, first_line: bytes, agent_id: str) -> None:
    claimed = _claim(first_line, "agent_id")
    if isinstance(claimed, str) and claimed != agent_id:
        raise ForeignJournal(path, 0, 0, f"the journal of agent {claimed!r}, opened as {agent_id!r}")


def _check_purges(scan: _Scan, segments: list[int]) -> None:
    place = scan.chain.unexplained()
    if place is not None:
        _, seq, offset = place
        live = max(first for first in segments if first <= seq)
        raise JournalCorrupt(scan.path(live), offset, seq, UNEXPLAINED)


def _object_of_head(scan: _Scan, live: int, live_size: int) -> Objection | None:
    path = scan.layout.head
    state = scan.head.state
    if state is None:
        reason = "damaged, or of another journal" if scan.head.damaged else "missing"
        return HeadMismatch(
            path, 0, scan.chain.seq, f"HEAD is {reason}; put back the one that belongs to this journal"
        )
    if state.generation > scan.generation:
        return HeadMismatch(
            path, 0, state.seq, f"HEAD knows generation {state.generation}, CURRENT an older one"
        )
    if state.seq > scan.chain.seq:
        reason = f"HEAD acknowledged records up to {state.seq}, the journal ends at {scan.chain.seq}"
        return AcknowledgedLoss(scan.path(live), live_size, scan.chain.seq + 1, reason)
    if not _agrees(scan, state):
        return HeadMismatch(
            path, 0, state.seq, "HEAD names another record at this seq than the journal holds"
        )
    return None


def _object_of_witness(scan: _Scan, witnessed: HeadFound, live: int, live_size: int) -> Objection | None:
    state = witnessed.state
    if state is None:
        return None
    if state.seq > scan.chain.seq or state.generation > scan.generation or not _agrees(scan, state):
        reason = (
            f"the witness outside the store saw record {state.seq} of generation {state.generation}; "
            "this is an older copy or another history. Put the newest copy back"
        )
        return RolledBack(scan.path(live), live_size, scan.chain.seq + 1, reason)
    return None


def _agrees(scan: _Scan, state: HeadState) -> bool:
    return scan.id_at(state.seq) == state.record_id


def _first_line(files: Files, path: Path) -> bytes:
    return files.read_at(path, 0, 4096).partition(b'},"id":"')[0] + b"}}"


def _claim(first_line: bytes, name: str) -> object:
    """Read a field of the genesis header before any seal can be checked."""
    try:
        found: object = parse_json(first_line)["header"][name]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return found


def _claimed_id(first_line: bytes) -> str | None:
    claimed = _claim(first_line, "journal_id")
    return claimed if is_journal_id(claimed) else None


def _claimed_previous(first_line: bytes) -> str | None:
    claimed = _claim(first_line, "prev_id")
    return claimed if isinstance(claimed, str) else None


def _claimed_epoch(first_line: bytes) -> int | None:
    claimed = _claim(first_line, "epoch")
    return claimed if type(claimed) is int else None


def _claims_newer_version(data: bytes) -> bool:
    claimed = _claim(data.partition(b'},"id":"')[0] + b"}}", "v")
    return isinstance(claimed, int) and claimed > VERSION
