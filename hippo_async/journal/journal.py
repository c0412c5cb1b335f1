"""The journal: an append-only, sealed chain of records in plain files (J1-J6, design §5).

Everything here blocks, except :meth:`Journal.append`, which only queues. The façade calls it from worker
threads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from hippo_async.clock import SystemClock
from hippo_async.errors import Closed as ClosedError
from hippo_async.errors import InvalidInput, JournalCorrupt, NotFound, RolledBack
from hippo_async.files import AppendFile, Files
from hippo_async.journal.creation import Beginning, create_if_absent
from hippo_async.journal.keys import Key
from hippo_async.journal.layout import Layout, read_current
from hippo_async.journal.lock import WriterLock
from hippo_async.journal.purging import (
    purge_draft,
    remove_other_generations,
    remove_remains,
    rewrite_without,
    with_texts,
)
from hippo_async.journal.reading import ChainReport, Reader
from hippo_async.journal.recovery import Objection, Recovered, recover
from hippo_async.journal.scan import GENESIS, PURGE, RECORD, TYPES
from hippo_async.journal.settling import OpenReport, Settling
from hippo_async.journal.writer import Appended, GroupWriter, Identity, Live, Submission, Tail
from hippo_async.protocols import Clock
from hippo_async.records import Draft, Location, Record, utc_timestamp

SEGMENT_BYTES = 8 * 1024 * 1024
MAX_AGENT_ID = 256


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
        self._settling = Settling(self._files, self._layout, witness)
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
            return self._settling.report(found, created=False)
        self._files.mkdir(self.root)
        self._lock.acquire()
        try:
            created = self._create_if_absent(accepting)
            found = self._recover(accepting)
            copy = self._settling.tidy(found)
            report = self._settling.report(found, created=created, torn_copy=copy)
            self._settling.record_acceptance(found, now=utc_timestamp(self._clock.now()))
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

    @property
    def unfinished(self) -> frozenset[str]:
        """The ids that the last record names if it is a purge: a crash may have come before it was done."""
        return self._open.chain.unfinished

    def with_texts(self, record_ids: Collection[str]) -> set[str]:
        """Return those of the named records that are here and have their text still."""
        return with_texts(self._files, self._layout, self.generation, record_ids)

    def purge(self, record_ids: Collection[str]) -> Record:
        """Take the text of records away for good, and return the purge record that names them (FORMAT.md §8).

        What was written before and is written meanwhile stays. When it returns the texts are in no file of
        the journal, and every ``Location`` from before is void. A crash on the way leaves a purge that the
        next :meth:`Lineage.open` finishes. Raises as awaiting :meth:`append` does.
        """
        [appended] = self._rewritten([purge_draft(record_ids)], record_ids)
        return appended.record

    def drop_texts(self, record_ids: Collection[str]) -> None:
        """Take away what is left of texts that a purge record, here or in a later journal, names already.

        Of a closed journal too, which is locked for it.
        """
        if not self.with_texts(record_ids):
            remove_remains(self._files, self._layout, self.generation)
        elif self._writer is not None:
            self._rewritten([], record_ids)
        else:
            self._rewrite_closed(record_ids)

    def sweep(self) -> None:
        """Remove the generations that are not in force; they may hold what was purged."""
        remove_other_generations(self._files, self._layout, self.generation)

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
                    self._settling.close_segment(
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
            recordable = not found.chain.closed  # nothing can be recorded behind a close
            if type(objection) not in accepting or not recordable:
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

    def _rewritten(self, drafts: Sequence[Draft], record_ids: Collection[str]) -> list[Appended]:
        """Append drafts and, before anything else is written, go on in a generation without the texts."""
        if self._writer is None:
            raise ClosedError("the journal is not open for writing")
        future: Future[list[Appended]] = Future()
        rewrite = partial(self._next_generation, record_ids)
        self._writer.submit(Submission(drafts, future, PURGE, rewrite))
        appended = future.result()
        remove_remains(self._files, self._layout, self.generation)
        return appended

    def _rewrite_closed(self, record_ids: Collection[str]) -> None:
        found = self._open
        self._lock.acquire()
        try:
            rewrite_without(self._files, self._layout, found, record_ids)
            with ExitStack() as opened:
                self._settling.open_heads(found, opened)
            remove_remains(self._files, self._layout, found.generation)
        finally:
            self._lock.release()

    def _next_generation(self, record_ids: Collection[str], live: Live) -> Live:
        found = self._open
        live.file.close()
        rewrite_without(self._files, self._layout, found, record_ids)
        path = self._layout.segment(found.generation, live.segment)
        head = replace(live.head, generation=found.generation, number=live.head.number + 1)
        return replace(live, file=AppendFile(self._files, path), head=head)

    def _start_writer(self, found: Recovered) -> GroupWriter:
        with ExitStack() as opened:
            writer = self._open_files(found, opened)
            opened.pop_all()  # from here on they are the writer's to close
            return writer

    def _open_files(self, found: Recovered, opened: ExitStack) -> GroupWriter:
        heads, state = self._settling.open_heads(found, opened)
        path = self._layout.segment(found.generation, found.live)
        file = opened.enter_context(closing(AppendFile(self._files, path)))
        tail = Tail(found.chain.seq, found.chain.record_id)
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
        self._settling.close_segment(found, live.segment, live.tail, live.file.end)
        first = live.tail.seq + 1
        path = self._layout.segment(found.generation, first)
        return replace(live, file=AppendFile(self._files, path), segment=first)
