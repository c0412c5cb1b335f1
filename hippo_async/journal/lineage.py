"""An agent's journals, one a key: the closed ones to read, the last one to write (J13, FORMAT.md §9).

To whoever reads or appends they are one chain: a seq names one record of the agent, whichever journal holds
it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from hippo_async.clock import SystemClock
from hippo_async.errors import Closed as ClosedError
from hippo_async.errors import JournalCorrupt, NotFound
from hippo_async.files import Files
from hippo_async.journal.codec import RESERVED_KEY
from hippo_async.journal.creation import Beginning, Previous
from hippo_async.journal.head import is_journal_id
from hippo_async.journal.journal import SEGMENT_BYTES, Journal
from hippo_async.journal.keys import Keyring
from hippo_async.journal.layout import Layout
from hippo_async.journal.marks import Marker
from hippo_async.journal.moved import refuse_moved
from hippo_async.journal.purging import bare_length
from hippo_async.journal.reading import ChainReport
from hippo_async.journal.recovery import Objection
from hippo_async.journal.scan import CLOSE, RECORD
from hippo_async.journal.settling import OpenReport
from hippo_async.journal.writer import Appended, Tail
from hippo_async.protocols import Clock
from hippo_async.records import Draft, Kind, Location, Novelty, Record

_DIRECTORY = re.compile(r"journal(?:\.([1-9][0-9]*))?")
NOT_CONTINUED = "this journal does not continue the one before it"


def journal_directory(data_dir: Path, epoch: int) -> Path:
    """Where the journal of a key epoch lies."""
    return data_dir / (f"journal.{epoch}" if epoch else "journal")


def epochs_in(data_dir: Path, files: Files) -> list[int]:
    """The key epochs whose directories are there, whatever is in them, ascending."""
    names = map(_DIRECTORY.fullmatch, files.list(data_dir))
    return sorted(int(found[1] or 0) for found in names if found)


class Lineage:
    """All journals of one agent in its data directory. Everything blocks, but :meth:`append`.

    The constructor touches nothing. See :class:`~hippo_async.journal.journal.Journal` for the arguments.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        agent_id: str,
        keys: Keyring,
        witness: Path | None,
        read_only: bool = False,
        files: Files | None = None,
        clock: Clock | None = None,
        segment_bytes: int = SEGMENT_BYTES,
    ) -> None:
        self.data_dir = data_dir
        self.agent_id = agent_id
        self._keys = keys
        self._witness = witness
        self._read_only = read_only
        self._files = files or Files()
        self._clock = clock or SystemClock()
        self._segment_bytes = segment_bytes
        self._journals: list[Journal] = []

    @property
    def live(self) -> Journal:
        """The journal under the key in use."""
        return self._all[-1]

    @property
    def journal_id(self) -> str:
        """The id of the agent's first journal: whatever key is in use, this is the same chain."""
        return self._all[0].journal_id

    @property
    def generation(self) -> int:
        """Grows by one each time that files of any of the journals were rewritten."""
        return 1 + sum(journal.generation - 1 for journal in self._all)

    @property
    def tail(self) -> Tail:
        """The last acknowledged record."""
        return self.live.tail

    @property
    def poison(self) -> str | None:
        """Why nothing can be written until the journal is opened again, or ``None``."""
        return self.live.poison

    @property
    def size(self) -> int:
        """Bytes that the segments in force take."""
        return sum(journal.size for journal in self._all)

    def open(self, *, accepting: Collection[type[Objection]] = ()) -> OpenReport:
        """Open every journal, check that each continues the one before, and finish an interrupted rotation.

        Returns the report on the journal in use. Raises what :meth:`Journal.open` raises, for any of them;
        :class:`JournalCorrupt` if one is missing or does not continue the one before it;
        :class:`KeyFileError` if a key is missing; and, unless it is only to be read, :class:`StoreMoved` or
        :class:`MigrationLocked` if this directory is not the one to write to.
        """
        self._refuse_moved()
        newest = max(0, self._count() - 1)
        with ExitStack() as opened:
            live, report = self._open_newest(opened, newest, accepting)
            self._refuse_moved()  # again: it may have been moved just before the lock was ours
            retired = [self._open_retired(opened, epoch) for epoch in range(live.epoch)]
            journals = [*retired, live]
            for earlier, later in pairwise(journals):
                _check_continues(earlier, later)
            for journal in () if self._read_only else journals:
                if live.unfinished:
                    journal.drop_texts(live.unfinished)
                journal.sweep()
            opened.pop_all()
        self._journals = journals
        return replace(report, journal_id=self.journal_id)

    def append(self, drafts: Sequence[Draft], *, record_type: str = RECORD) -> Future[list[Appended]]:
        """Queue records for the journal in use; see :meth:`Journal.append`. Never blocks."""
        return self.live.append(drafts, record_type=record_type)

    def read(self, location: Location, record_id: str) -> Record:
        """Read one record and check it against its seal; see :meth:`Journal.read`."""
        return self._holder(location).read(location, record_id)

    def line(self, location: Location, record_id: str) -> bytes:
        """Return one record's line as it is stored, checked as :meth:`read` checks it."""
        return self._holder(location).line(location, record_id)

    def scan(self, *, after: int = -1) -> Iterator[tuple[Record, Location]]:
        """Yield every record with a seq above ``after``, through all journals; see :meth:`Journal.scan`."""
        live = self.live
        for journal in self._all:
            if journal.tail.seq > after:
                yield from journal.scan(after=after, retired=journal is not live)

    def verify_chain(self) -> ChainReport:
        """Walk every journal from first to last and check every seal and link (J6), the newest journal first.

        A later journal may name what was purged from an earlier one. Never raises for what it finds.
        """
        named: set[str] = set()
        walked = [journal.verify_chain(named) for journal in reversed(self._all)]
        for report in walked:
            if not report.intact:
                return report
        for earlier, later in pairwise(self._all):
            if _successor(_closing(earlier)) != (later.journal_id, later.epoch):
                return ChainReport(
                    False, later.start, NOT_CONTINUED, seq=later.start, path=later.first_segment, offset=0
                )
        return replace(walked[0], records=sum(report.records for report in walked))

    def with_texts(self, record_ids: Collection[str]) -> set[str]:
        """Return those of the named records that have their text still."""
        return set().union(*(journal.with_texts(record_ids) for journal in self._all))

    def bare_length(self, location: Location, record_id: str) -> int:
        """Return how many bytes a record's line will have once its text is purged."""
        return bare_length(self.line(location, record_id))

    def purge(self, record_ids: Collection[str]) -> Record:
        """Take the text of records away for good, whichever journal holds them (FORMAT.md §8).

        Returns the purge record. When it returns the texts are in no file of any journal, every ``Location``
        from before is void, and the chain is as whole as before. A crash on the way leaves a purge that the
        next :meth:`open` finishes. Raises :class:`NotFound` for an id without a text; nothing is done then.
        """
        if missing := set(record_ids) - self.with_texts(record_ids):
            raise NotFound(f"there is no text of record {min(missing)} to forget")
        purge = self.live.purge(record_ids)
        for journal in self._all[:-1]:
            journal.drop_texts(record_ids)
        return purge

    def rotate(self) -> OpenReport:
        """Close the journal in use and go on in a new one under the next key (J13).

        Takes the next key of the keyring, which makes one if it can. Durable when it returns; a crash on the
        way leaves the old journal open, or is finished by the next :meth:`open`. Records that others append
        meanwhile are refused with :class:`Closed`. Raises :class:`KeyFileError` if there is no next key.
        """
        live = self.live
        self._keys.provide(live.epoch + 1)
        successor = Beginning.fresh(live.epoch + 1)
        live.append([_close_draft(successor)], record_type=CLOSE).result()
        self.close()
        return self.open()

    def marker(self) -> Marker:
        """Return what makes marks of what this agent erases. Raises :class:`KeyFileError` without a key."""
        return Marker(self._keys.key(0), journal_id=self.journal_id)

    def close(self) -> None:
        """Close every journal; see :meth:`Journal.close`. May be called twice. Blocks."""
        journals, self._journals = self._journals, []
        with ExitStack() as closing:
            for journal in journals:
                closing.callback(journal.close)

    @property
    def _all(self) -> list[Journal]:
        """Every journal, oldest first."""
        if not self._journals:
            raise ClosedError("the journal is not open")
        return self._journals

    def _refuse_moved(self) -> None:
        if not self._read_only:
            refuse_moved(self.data_dir, self._files)

    def _count(self) -> int:
        """How many journals there are. Raises :class:`JournalCorrupt` if one before the last is missing."""
        held = [epoch for epoch in epochs_in(self.data_dir, self._files) if self._holds(epoch)]
        for expected, epoch in enumerate(held):
            if epoch != expected:
                missing = journal_directory(self.data_dir, expected)
                reason = "the journal of this key epoch is missing, and a later one is there; put it back"
                raise JournalCorrupt(missing, 0, 0, reason)
        return len(held)

    def _holds(self, epoch: int) -> bool:
        return self._files.exists(Layout(journal_directory(self.data_dir, epoch)).current)

    def _open_newest(
        self, opened: ExitStack, epoch: int, accepting: Collection[type[Objection]]
    ) -> tuple[Journal, OpenReport]:
        """Open the last journal; where it is closed and none continues it, a rotation was interrupted."""
        journal = self._journal(epoch, read_only=self._read_only)
        opened.callback(journal.close)
        report = journal.open(accepting=accepting)
        while journal.closed and not self._read_only:
            beginning = _beginning_after(journal)
            journal.close()
            journal = self._journal(beginning.epoch, read_only=False, beginning=beginning)
            opened.callback(journal.close)
            report = journal.open(accepting=accepting)
        return journal, report

    def _open_retired(self, opened: ExitStack, epoch: int) -> Journal:
        journal = self._journal(epoch, read_only=True)
        journal.open()
        opened.callback(journal.close)
        return journal

    def _journal(self, epoch: int, *, read_only: bool, beginning: Beginning | None = None) -> Journal:
        return Journal(
            journal_directory(self.data_dir, epoch),
            agent_id=self.agent_id,
            key=self._keys.key(epoch),
            witness=self._witness,
            read_only=read_only,
            files=self._files,
            clock=self._clock,
            segment_bytes=self._segment_bytes,
            beginning=beginning,
        )

    def _holder(self, location: Location) -> Journal:
        """The journal in which a record stands: segments are named by their first seq, and seqs run on."""
        for journal in reversed(self._all):
            if journal.start <= location.segment:
                return journal
        raise NotFound(f"no journal has a segment {location.segment}")


def _check_continues(earlier: Journal, later: Journal) -> None:
    """Raise :class:`JournalCorrupt` unless ``later`` takes over exactly where ``earlier`` was closed."""
    tail = earlier.tail
    if not earlier.closed or (later.start, later.before) != (tail.seq + 1, tail.record_id):
        raise JournalCorrupt(later.first_segment, 0, later.start, NOT_CONTINUED)


def _closing(journal: Journal) -> Record:
    """The close record of a closed journal."""
    [(record, _)] = journal.scan(after=journal.tail.seq - 1, retired=True)
    return record


def _successor(closing: Record) -> tuple[object, object]:
    """The id and epoch of the journal that a close record names."""
    named = closing.metadata.get(RESERVED_KEY)
    successor = named.get("next") if isinstance(named, Mapping) else None
    if not isinstance(successor, Mapping):
        return None, None
    return successor.get("journal_id"), successor.get("epoch")


def _beginning_after(journal: Journal) -> Beginning:
    """How the journal begins that an interrupted rotation has yet to make."""
    closing = _closing(journal)
    journal_id, epoch = _successor(closing)
    if not is_journal_id(journal_id) or epoch != journal.epoch + 1:
        raise JournalCorrupt(
            journal.root, 0, closing.seq, "the close record names no journal that continues it"
        )
    previous = Previous(journal.journal_id, closing.record_id, closing.seq)
    return Beginning(journal_id, journal.epoch + 1, previous)


def _close_draft(successor: Beginning) -> Draft:
    named = {"epoch": successor.epoch, "journal_id": successor.journal_id}
    text = f"The key was changed; journal {successor.journal_id} goes on under the next one."
    return Draft(text, Kind.IDENTITY_CHANGE, Novelty.NOVEL, {RESERVED_KEY: {"next": named}})
