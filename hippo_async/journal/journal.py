"""The journal: an append-only, sealed chain of records in plain files (J1-J6, design §5).

Everything here blocks, except :meth:`Journal.append`, which only queues. The façade calls it from worker
threads.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from hippo_async.clock import SystemClock
from hippo_async.errors import Closed as ClosedError
from hippo_async.errors import InvalidInput, JournalCorrupt, NotFound, RolledBack
from hippo_async.files import AppendFile, Files
from hippo_async.journal.acceptance import accept_draft
from hippo_async.journal.creation import Beginning, create_if_absent
from hippo_async.journal.head import HeadFile, HeadState
from hippo_async.journal.keys import Key
from hippo_async.journal.layout import Closed, Layout, read_current, write_closed
from hippo_async.journal.lock import WriterLock
from hippo_async.journal.reading import ChainReport, Reader
from hippo_async.journal.recovery import Objection, Recovered, Torn, recover
from hippo_async.journal.scan import ACCEPT, GENESIS, RECORD, TYPES
from hippo_async.journal.writer import Appended, GroupWriter, Identity, Live, Submission, Tail, seal_drafts
from hippo_async.protocols import Clock
from hippo_async.records import Draft, Location, Record, utc_timestamp

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


class Journal:
    """One agent's journal under one key, in one directory.

    The constructor touches nothing. ``witness`` is a directory outside the store in which a second copy of
    the head is kept; ``None`` goes without, and then a rollback of the whole store is not noticed.
    ``beginning`` says how a journal that is not there yet begins; a random id at seq 0 if not given.
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
        beginning: Beginning | None = None,
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
        self._beginning = beginning
        self._layout = Layout(root)
        self._lock = WriterLock(self._files, root)
        self._found: Recovered | None = None
        self._reader: Reader | None = None
        self._writer: GroupWriter | None = None

    @property
    def journal_id(self) -> str:
        """The random id that the genesis record gave this journal."""
        return self._open.journal_id

    @property
    def generation(self) -> int:
        """The generation of files in force; a purge or a repair makes a new one."""
        return self._open.generation

    @property
    def start(self) -> int:
        """The seq of the genesis record."""
        return self._open.chain.start

    @property
    def before(self) -> str | None:
        """The id of the close record that this journal continues; ``None`` for an agent's first."""
        return self._open.chain.before

    @property
    def first_segment(self) -> Path:
        """Where the genesis record stands."""
        found = self._open
        return self._layout.segment(found.generation, found.chain.start)

    @property
    def epoch(self) -> int:
        """How many keys the agent had before this journal's."""
        return self._open.chain.epoch or 0

    @property
    def closed(self) -> bool:
        """Whether the journal ends with a close record: another one continues it under a new key."""
        found = self._open
        return found.chain.closed if self._writer is None else self._writer.live.closed

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
        generation = self._layout.generation(self._open.generation)
        return sum(self._files.size(generation / name) for name in self._files.list(generation))

    def open(self, *, accepting: Collection[type[Objection]] = ()) -> OpenReport:
        """Check the journal and make it ready; make a new one where there is none.

        When it returns, everything that will be served is durable. Raises :class:`JournalLocked`, any of the
        findings of :func:`hippo_async.journal.recovery.recover` or what ``HEAD`` and the witness object, or
        ``OSError``; the files are then as they were. Objections of the kinds in ``accepting`` are not raised:
        the owner takes the journal as it is, which is recorded in the chain before anything else (FORMAT.md
        §3).
        """
        if self._read_only:
            found = self._recover(())
            self._adopt(found)
            return self._report(found, created=False)
        self._files.mkdir(self.root)
        self._lock.acquire()
        try:
            created = self._create_if_absent(accepting)
            found = self._recover(accepting)
            report = self._tidy(found, created=created)
            self._record_acceptance(found)
            self._adopt(found)
            if not found.chain.closed:
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
        return self._reading.line(location, record_id)[1]

    def line(self, location: Location, record_id: str) -> bytes:
        """Return one record's line as it is stored, checked as :meth:`read` checks it."""
        return self._reading.line(location, record_id)[0]

    def scan(self, *, after: int = -1, retired: bool = False) -> Iterator[tuple[Record, Location]]:
        """Yield every record with a seq above ``after``, each verified and linked to the one before.

        See :meth:`hippo_async.journal.reading.Reader.scan` for ``retired`` and what it raises.
        """
        return self._reading.scan(after=after, retired=retired)

    def verify_chain(self, named: set[str] | None = None) -> ChainReport:
        """Walk once from the first record to the last and check every seal and link (J6).

        Reads the files as they are now; never raises for what it finds in them. ``named`` collects the ids
        that purge records name, here and, handed on, in the journals that this one continues.
        """
        return self._reading.verify_chain(set() if named is None else named)

    def close(self) -> None:
        """Finish what is queued, settle the heads and give back the lock. May be called twice. Blocks."""
        writer, self._writer = self._writer, None
        try:
            if writer is not None:
                writer.close()  # what is queued may still need a new segment
                if writer.live.closed and writer.poison is None:
                    self._close_segment(
                        self._open, writer.live.segment, writer.live.tail, writer.live.file.end
                    )
        finally:
            self._found = None
            self._reader = None
            self._lock.release()

    @property
    def _open(self) -> Recovered:
        if self._found is None:
            raise ClosedError("the journal is not open")
        return self._found

    @property
    def _reading(self) -> Reader:
        if self._reader is None:
            raise ClosedError("the journal is not open")
        return self._reader

    def _adopt(self, found: Recovered) -> None:
        self._found = found
        self._reader = Reader(self._files, self._layout, found, lambda: self.tail)

    def _recover(self, accepting: Collection[type[Objection]]) -> Recovered:
        try:
            generation = read_current(self._files, self._layout)
        except ValueError as error:
            raise JournalCorrupt(self._layout.current, 0, 0, str(error)) from None
        if generation is None:
            raise NotFound(f"{self.root}: there is no journal here")
        found = recover(
            self._files,
            self._layout,
            generation,
            agent_id=self.agent_id,
            key=self._key,
            witness=self._witness,
        )
        for objection in found.objections:
            if (
                type(objection) not in accepting or found.chain.closed
            ):  # nothing can be recorded behind a close
                raise objection
        return found

    def _create_if_absent(self, accepting: Collection[type[Objection]]) -> bool:
        beginning = self._beginning or Beginning.fresh()
        if RolledBack not in accepting and self._is_lost(beginning.journal_id):
            reason = "the witness outside the store knows this journal, and it is not here. Put it back"
            raise RolledBack(self._layout.current, 0, beginning.start, reason)
        return create_if_absent(
            self._files,
            self._layout,
            beginning,
            agent_id=self.agent_id,
            key=self._key,
            now=utc_timestamp(self._clock.now()),
        )

    def _is_lost(self, journal_id: str) -> bool:
        if self._witness is None or self._files.exists(self._layout.current):
            return False
        return self._files.exists(self._witness / journal_id)

    def _tidy(self, found: Recovered, *, created: bool) -> OpenReport:
        """Cut a torn tail, make durable what will be served, and list segments that a crash left unlisted."""
        copy = None if found.torn is None else self._cut(found.torn)
        live = self._layout.segment(found.generation, found.live)
        if self._files.exists(live):
            self._files.sync_file(live)
        if found.unlisted:
            found.closed.extend(found.unlisted)
            self._write_closed(found)
        if found.chain.closed and found.live_size:
            tail = Tail(found.chain.seq, found.chain.record_id)
            self._close_segment(found, found.live, tail, found.live_size)
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

    def _record_acceptance(self, found: Recovered) -> None:
        """Append what the owner accepts, before HEAD and the witness forget what they object to."""
        if not found.objections:
            return
        chain = found.chain
        [(record, line)] = seal_drafts(
            [accept_draft(found.objections, found.head.state, found.witnessed.state)],
            Tail(chain.seq, chain.record_id),
            Identity.of(found.journal_id, self.agent_id, chain.epoch or 0),
            found.sealers.record,
            now=utc_timestamp(self._clock.now()),
            type_=ACCEPT,
        )
        path = self._layout.segment(found.generation, found.live)
        with closing(AppendFile(self._files, path)) as live:
            live.write(line)
            live.sync()
        chain.seq, chain.record_id = record.seq, record.record_id

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
        tail = Tail(found.chain.seq, found.chain.record_id)
        state = HeadState(
            found.journal_id, found.generation, found.next_number, tail.seq, tail.record_id or ""
        )
        for head, slot in zip(heads, slots, strict=True):
            head.start(state, newest_slot=slot)
        path = self._layout.segment(found.generation, found.live)
        file = opened.enter_context(closing(AppendFile(files, path)))
        return GroupWriter(
            Live(file, found.live, tail, state),
            Identity.of(found.journal_id, self.agent_id, found.chain.epoch or 0),
            found.sealers.record,
            heads,
            clock=self._clock,
            check=self._lock.check_process,
            is_locked=self._lock.is_held,
            rotate=self._rotate,
            segment_bytes=self._segment_bytes,
        )

    def _rotate(self, live: Live) -> Live:
        """Close the live segment under its digest and begin the next one."""
        found = self._open
        live.file.close()
        self._close_segment(found, live.segment, live.tail, live.file.end)
        first = live.tail.seq + 1
        path = self._layout.segment(found.generation, first)
        return replace(live, file=AppendFile(self._files, path), segment=first)

    def _close_segment(self, found: Recovered, first: int, tail: Tail, size: int) -> None:
        digest = self._files.sha256(self._layout.segment(found.generation, first))
        found.closed.append(Closed(first, tail.seq, tail.record_id or "", size, digest))
        self._write_closed(found)

    def _write_closed(self, found: Recovered) -> None:
        write_closed(
            self._files,
            self._layout,
            found.generation,
            found.closed,
            journal_id=found.journal_id,
            sealer=found.sealers.segments,
        )
