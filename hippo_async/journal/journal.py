"""The journal: an append-only, sealed chain of records in plain files (J1-J6, design §5).

Everything here blocks, except :meth:`Journal.append`, which only queues. The façade calls it from worker
threads.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hippo_async.clock import SystemClock
from hippo_async.errors import AcknowledgedLoss, HeadMismatch, InvalidInput, JournalCorrupt, NotFound
from hippo_async.errors import Closed as ClosedError
from hippo_async.files import AppendFile, Files
from hippo_async.journal.codec import BadLine, open_line, to_record
from hippo_async.journal.head import HeadFile, HeadState, peek_number
from hippo_async.journal.keys import Key
from hippo_async.journal.layout import (
    Closed,
    Layout,
    list_segments,
    read_current,
    write_closed,
    write_current,
)
from hippo_async.journal.lock import WriterLock
from hippo_async.journal.recovery import Recovered, Sealers, Torn, recover
from hippo_async.journal.scan import GENESIS, RECORD, TYPES, UNEXPLAINED, Chain, ChainBroken, skim, walk
from hippo_async.journal.writer import Appended, GroupWriter, Identity, Live, Submission, Tail, seal_drafts
from hippo_async.protocols import Clock
from hippo_async.records import Draft, Kind, Location, Novelty, Record, utc_timestamp

SEGMENT_BYTES = 8 * 1024 * 1024
MAX_AGENT_ID = 256


@dataclass(frozen=True, slots=True)
class OpenReport:
    """What opening a journal found and did.

    ``torn_bytes`` were cut from an unfinished last write; ``torn_copy`` is where they are kept, if there was
    room. ``notes`` say what is unusual and harmless.
    """

    journal_id: str
    created: bool
    seq: int
    torn_bytes: int = 0
    torn_copy: Path | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What :meth:`Journal.verify_chain` found (J6): intact, or where and why not."""

    intact: bool
    records: int
    reason: str | None = None
    record_id: str | None = None
    seq: int | None = None
    path: Path | None = None
    offset: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {
            "intact": self.intact,
            "records": self.records,
            "reason": self.reason,
            "record_id": self.record_id,
            "seq": self.seq,
            "path": None if self.path is None else str(self.path),
            "offset": self.offset,
        }


class Journal:
    """One agent's journal in one directory.

    The constructor touches nothing. ``witness`` is a directory outside the store in which a second copy of
    the head is kept; ``None`` goes without, and then a rollback of the whole store is not noticed.
    """

    def __init__(
        self,
        root: Path,
        *,
        agent_id: str,
        key: Key,
        witness: Path | None,
        read_only: bool = False,
        files: Files | None = None,
        clock: Clock | None = None,
        segment_bytes: int = SEGMENT_BYTES,
    ) -> None:
        if not 0 < len(agent_id) <= MAX_AGENT_ID:
            raise InvalidInput(f"an agent id of {len(agent_id)} characters; it takes 1 to {MAX_AGENT_ID}")
        self.root = root
        self.agent_id = agent_id
        self._key = key
        self._witness = witness
        self._read_only = read_only
        self._files = files or Files()
        self._clock = clock or SystemClock()
        self._segment_bytes = segment_bytes
        self._layout = Layout(root)
        self._lock = WriterLock(self._files, root)
        self._found: Recovered | None = None
        self._writer: GroupWriter | None = None

    @property
    def journal_id(self) -> str:
        """The random id that the genesis record gave this journal."""
        return self._open.journal_id

    @property
    def generation(self) -> int:
        """The generation of files in force; a purge makes a new one."""
        return self._open.generation

    @property
    def tail(self) -> Tail:
        """The last acknowledged record."""
        found = self._open
        if self._writer is not None:
            return self._writer.live.tail
        return Tail(found.chain.seq, found.chain.record_id)

    @property
    def poison(self) -> str | None:
        """Why nothing can be written until the journal is opened again, or ``None``."""
        return None if self._writer is None else self._writer.poison

    @property
    def size(self) -> int:
        """Bytes that the segments in force take."""
        found = self._open
        generation = self._layout.generation(found.generation)
        return sum(self._files.size(generation / name) for name in self._files.list(generation))

    def open(self) -> OpenReport:
        """Check the journal and make it ready; make a new one where there is none.

        When it returns, everything that will be served is durable. Raises :class:`JournalLocked`, any of the
        findings of :func:`hippo_async.journal.recovery.recover`, or ``OSError``; the files are then as they
        were.
        """
        if self._read_only:
            self._found = self._recover()
            return self._report(self._found, created=False)
        self._files.mkdir(self.root)
        self._lock.acquire()
        try:
            created = self._create_if_absent()
            self._found = found = self._recover()
            report = self._repair(found, created=created)
            self._writer = self._start_writer(found)
        except BaseException:
            self._found = None
            self._lock.release()
            raise
        return report

    def append(self, drafts: Sequence[Draft], *, record_type: str = RECORD) -> Future[list[Appended]]:
        """Queue records, to be acknowledged together or not at all.

        A crash before that may leave a prefix of them. The future resolves once they are durable. It fails
        with :class:`RecordRejected` (these drafts are at fault, others go on), :class:`WriteFailed` (the disk
        is; nothing is acknowledged), or :class:`JournalPoisoned`. Cancelling it before its group has begun
        takes the records back; after that it changes nothing. Never blocks.
        """
        if self._writer is None:
            raise ClosedError("the journal is not open for writing")
        if record_type not in TYPES - {GENESIS}:
            raise InvalidInput(f"{record_type!r} is no type of record that can be appended")
        future: Future[list[Appended]] = Future()
        self._writer.submit(Submission(drafts, future, record_type))
        return future

    def read(self, location: Location, record_id: str) -> Record:
        """Read one record and check it against its seal.

        Raises :class:`JournalCorrupt` if the bytes are not the ones that were sealed, :class:`NotFound` if
        they are another record's.
        """
        return self._read(location, record_id)[1]

    def line(self, location: Location, record_id: str) -> bytes:
        """Return one record's line as it is stored, checked as :meth:`read` checks it."""
        return self._read(location, record_id)[0]

    def _read(self, location: Location, record_id: str) -> tuple[bytes, Record]:
        found = self._open
        path = self._layout.segment(found.generation, location.segment)
        line = self._files.read_at(path, location.offset, location.length)
        if len(line) != location.length:
            raise JournalCorrupt(path, location.offset, -1, "the record's line ends early")
        try:
            header, frame = open_line(line, found.sealers.record)
            if frame.record_id.decode() != record_id or header.journal_id != found.journal_id:
                raise NotFound(f"record {record_id} does not stand where it was said to")
            return line, to_record(header, record_id, frame.payload)
        except BadLine as error:
            raise JournalCorrupt(path, location.offset, -1, str(error)) from None

    def scan(self, *, after: int = -1) -> Iterator[tuple[Record, Location]]:
        """Yield every record with a seq above ``after``, each verified and linked to the one before.

        Raises :class:`JournalCorrupt` at the first that is not what was sealed, and :class:`AcknowledgedLoss`
        at the end if records that were acknowledged before the call are not there.
        """
        chain = Chain(self._open.journal_id, self.agent_id)
        acknowledged = self.tail.seq
        for first, path, data in self._segments(after, chain):
            with self._damage_at(path):
                for step in walk(data, chain, self._open.sealers.record):
                    if step.header.seq > after:
                        yield step.record(), Location(first, step.offset, step.length)
        place = chain.unexplained()
        if place is not None:
            _, seq, offset = place
            raise JournalCorrupt(self._layout.generation(self.generation), offset, seq, UNEXPLAINED)
        if chain.seq < acknowledged:
            reason = f"records up to {acknowledged} were acknowledged, the journal ends at {chain.seq}"
            raise AcknowledgedLoss(self._layout.generation(self.generation), 0, chain.seq + 1, reason)

    def verify_chain(self) -> ChainReport:
        """Walk once from the first record to the last and check every seal and link (J6).

        Reads the files as they are now; never raises for what it finds in them.
        """
        found = self._open
        acknowledged = self.tail
        chain = Chain(found.journal_id, self.agent_id)
        try:
            for _, path, data in self._segments(-1, chain):
                with self._damage_at(path):
                    skim(data, chain, found.sealers.record)
        except JournalCorrupt as error:
            return self._broken(error, chain)
        place = chain.unexplained()
        if place is not None:
            record_id, seq, _ = place
            return ChainReport(False, chain.seq + 1, UNEXPLAINED, record_id, seq)
        if chain.seq < acknowledged.seq:
            return ChainReport(False, chain.seq + 1, "acknowledged records are missing", seq=chain.seq + 1)
        return ChainReport(True, chain.seq + 1, record_id=chain.record_id, seq=chain.seq)

    def close(self) -> None:
        """Finish what is queued, settle the heads and give back the lock. May be called twice. Blocks."""
        writer, self._writer = self._writer, None
        try:
            if writer is not None:
                writer.close()  # what is queued may still need a new segment
        finally:
            self._found = None
            self._lock.release()

    @property
    def _open(self) -> Recovered:
        if self._found is None:
            raise ClosedError("the journal is not open")
        return self._found

    def _broken(self, error: JournalCorrupt, chain: Chain) -> ChainReport:
        line = self._files.read_at(error.path, error.offset, 1 << 16)
        _, _, after = line.partition(b',"id":"')
        record_id = after[:32].decode("ascii", "replace") or None
        return ChainReport(False, chain.seq + 1, error.reason, record_id, error.seq, error.path, error.offset)

    def _segments(self, after: int, chain: Chain) -> Iterator[tuple[int, Path, bytes]]:
        """Yield the segments in which records above ``after`` stand; ``chain`` is moved past the others."""
        found = self._open
        closed = {entry.first: entry for entry in found.closed}
        for first in list_segments(self._files, self._layout, found.generation):
            entry = closed.get(first)
            if entry is not None and entry.last <= after:
                chain.seq, chain.record_id = entry.last, entry.last_id
                continue
            path = self._layout.segment(found.generation, first)
            yield first, path, self._files.read(path)

    @contextmanager
    def _damage_at(self, path: Path) -> Iterator[None]:
        """Turn a break among acknowledged records into an error; one behind them is a group being written."""
        acknowledged = self.tail.seq
        try:
            yield
        except ChainBroken as broken:
            if broken.seq <= acknowledged:
                raise JournalCorrupt(path, broken.offset, broken.seq, broken.reason) from None

    def _recover(self) -> Recovered:
        try:
            generation = read_current(self._files, self._layout)
        except ValueError as error:
            raise JournalCorrupt(self._layout.current, 0, 0, str(error)) from None
        if generation is None:
            raise NotFound(f"{self.root}: there is no journal here")
        return recover(
            self._files,
            self._layout,
            generation,
            agent_id=self.agent_id,
            key=self._key,
            witness=self._witness,
        )

    def _create_if_absent(self) -> bool:
        """Write a journal of one genesis record; ``CURRENT`` comes last, so a crash leaves none."""
        files, layout = self._files, self._layout
        if files.exists(layout.current):
            return False
        self._refuse_remains()
        files.remove_tree(layout.generation(1))
        files.mkdir(layout.generation(1))
        journal_id = secrets.token_hex(16)
        sealers = Sealers.derive(self._key, journal_id)
        genesis = Draft("genesis", Kind.STATE, Novelty.NOVEL, _genesis_metadata())
        now = utc_timestamp(self._clock.now())
        identity = Identity.of(journal_id, self.agent_id, 0)
        [(record, line)] = seal_drafts(
            [genesis], Tail(-1, None), identity, sealers.record, now=now, type_=GENESIS
        )
        write_closed(files, layout, 1, [], journal_id=journal_id, sealer=sealers.segments)
        files.write_atomic(layout.segment(1, 0), line)
        head = HeadFile(files, layout.head, sealers.head)
        try:
            head.start(HeadState(journal_id, 1, 0, 0, record.record_id), newest_slot=0)
        finally:
            head.close()
        files.sync_dir(self.root)
        write_current(files, layout, 1)
        return True

    def _refuse_remains(self) -> None:
        """Raise if ``CURRENT`` is missing though more is there than a creation that a crash cut short."""
        files, layout = self._files, self._layout
        generations = [name for name in files.list(self.root) if name.startswith("gen-")]
        segments = [layout.segment(1, first) for first in list_segments(files, layout, 1)]
        lines = sum(files.read(path).count(b"\n") for path in segments)
        if lines > 1 or generations not in ([], ["gen-000001"]) or peek_number(files, layout.head) > 0:
            reason = "CURRENT is missing, though there are or were records; put back the missing files"
            raise HeadMismatch(layout.head, 0, 0, reason)

    def _repair(self, found: Recovered, *, created: bool) -> OpenReport:
        """Cut a torn tail, make durable what will be served, and complete an interrupted rotation."""
        layout = self._layout
        copy = None if found.torn is None else self._cut(found.torn)
        live = layout.segment(found.generation, found.live)
        if self._files.exists(live):
            self._files.sync_file(live)
        if found.unlisted:
            found.closed.extend(found.unlisted)
            self._write_closed(found)
        return self._report(found, created=created, torn_copy=copy)

    def _cut(self, torn: Torn) -> Path | None:
        """Keep a copy of the torn bytes if there is room, then cut them off."""
        copy = self._keep(torn)
        self._files.truncate(torn.path, torn.offset)
        return copy

    def _keep(self, torn: Torn) -> Path | None:
        copy = self._layout.torn / f"{torn.path.stem}-at-{torn.offset}-{secrets.token_hex(4)}"
        try:
            self._files.mkdir(self._layout.torn)
            self._files.write_atomic(copy, self._files.read_at(torn.path, torn.offset, torn.size))
        except OSError:
            return None  # a full disk must not keep the journal from opening
        return copy

    def _report(self, found: Recovered, *, created: bool, torn_copy: Path | None = None) -> OpenReport:
        notes = []
        if found.head.damaged:
            notes.append("one slot of HEAD did not verify; the other did, and the journal holds all it names")
        if found.witnessed.damaged and found.witnessed.state is not None:
            notes.append("one slot of the witness did not verify; the other did")
        if self._witness is not None and found.witnessed.state is None and not created:
            state = "does not verify" if found.witnessed.damaged else "knows nothing of this journal yet"
            notes.append(f"the witness {state}; a rollback before now would not have been noticed")
        return OpenReport(
            journal_id=found.journal_id,
            created=created,
            seq=found.chain.seq,
            torn_bytes=0 if found.torn is None else found.torn.size,
            torn_copy=torn_copy,
            notes=tuple(notes),
        )

    def _start_writer(self, found: Recovered) -> GroupWriter:
        with ExitStack() as opened:
            writer = self._open_files(found, opened)
            opened.pop_all()  # from here on they are the writer's to close
            return writer

    def _open_files(self, found: Recovered, opened: ExitStack) -> GroupWriter:
        files = self._files
        heads = [opened.enter_context(closing(HeadFile(files, self._layout.head, found.sealers.head)))]
        slots = [found.head.slot]
        if self._witness is not None:
            files.mkdir(self._witness)
            witness = HeadFile(files, self._witness / found.journal_id, found.sealers.witness)
            heads.append(opened.enter_context(closing(witness)))
            files.sync_dir(self._witness)
            slots.append(found.witnessed.slot)
        numbers = [known.state.number for known in (found.head, found.witnessed) if known.state is not None]
        state = HeadState(
            found.journal_id, found.generation, max(numbers) + 1, found.chain.seq, found.chain.record_id or ""
        )
        for head, slot in zip(heads, slots, strict=True):
            head.start(state, newest_slot=slot)
        path = self._layout.segment(found.generation, found.live)
        tail = Tail(found.chain.seq, found.chain.record_id)
        file = opened.enter_context(closing(AppendFile(files, path)))
        live = Live(file, found.live, tail, state, closed=found.chain.closed)
        return GroupWriter(
            live,
            Identity.of(found.journal_id, self.agent_id, found.chain.epoch or 0),
            found.sealers.record,
            heads,
            clock=self._clock,
            check=self._lock.check_process,
            rotate=self._rotate,
            segment_bytes=self._segment_bytes,
        )

    def _rotate(self, live: Live) -> Live:
        """Close the live segment under its digest and begin the next one."""
        found = self._open
        live.file.close()
        found.closed.append(self._describe(live))
        self._write_closed(found)
        first = live.tail.seq + 1
        path = self._layout.segment(found.generation, first)
        return replace(live, file=AppendFile(self._files, path), segment=first)

    def _describe(self, live: Live) -> Closed:
        digest = self._files.sha256(live.file.path)
        return Closed(live.segment, live.tail.seq, live.tail.record_id or "", live.file.end, digest)

    def _write_closed(self, found: Recovered) -> None:
        write_closed(
            self._files,
            self._layout,
            found.generation,
            found.closed,
            journal_id=found.journal_id,
            sealer=found.sealers.segments,
        )


def _genesis_metadata() -> Mapping[str, Any]:
    return {"hippo": {"format": 2, "previous": None}}
