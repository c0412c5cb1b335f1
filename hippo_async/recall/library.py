"""Keeping what can be found up to the journal, from which every text is read and checked.

Its methods block and belong to one thread; others go through :meth:`Library.run` or :meth:`Library.call`.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from typing import Concatenate, ParamSpec, TypeVar

from hippo_async.errors import HippoError, InvalidInput, JournalCorrupt, NotFound
from hippo_async.index import Index, Misled, Position, Purged, Row, describes, findable, lives
from hippo_async.journal import Appended, Lineage
from hippo_async.lives.calendar import Calendar
from hippo_async.lives.identity import KEY
from hippo_async.protocols import Clock, Embedder
from hippo_async.recall.meaning import Meaning
from hippo_async.recall.search import Search
from hippo_async.records import Filters, Hit, Record
from hippo_async.workers import Worker

logger: logging.Logger = logging.getLogger("hippo_async.recall")

P = ParamSpec("P")
T = TypeVar("T")

CATCH_UP_RECORDS = 2000


class Library:
    """Finds records by words, meaning, labels and time; every one it hands out was verified.

    ``half_life`` is how long it takes until half of what being new is worth is gone; the days and months
    that questions name are those of ``calendar``.
    """

    def __init__(
        self, journal: Lineage, index: Index, *, clock: Clock, half_life: timedelta, calendar: Calendar
    ) -> None:
        self._worker = Worker("hippo-index")
        self._journal = journal
        self._index = index
        self._clock = clock
        self._marker = journal.marker()
        self._meaning = Meaning(index, self.read)
        self._search = Search(index, self._meaning, self.read, half_life, calendar)
        self.indexed_seq: int = -1
        self.novelty: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.rebuilds: int = 0

    async def run(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a method of this library, or a function that asks it, in its thread, and await the result.

        An index that turns out to be damaged is made anew from the journal, and the method is run again.
        """
        return await asyncio.wrap_future(self._submit(method, *args, **kwargs))

    def call(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do as :meth:`run` does and wait for it. Not for the event loop."""
        return self._submit(method, *args, **kwargs).result()

    def adjust(self, half_life: timedelta, calendar: Calendar) -> None:
        """Go by these from the next question on. From any thread."""
        self._search = replace(self._search, half_life=half_life, calendar=calendar)

    @property
    def embed_failures(self) -> int:
        """How often a model failed."""
        return self._meaning.failures

    # ---------------------------------------------------------------- life

    def open(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Open the index and bring it up to the journal; one that does not belong to it is made anew.

        ``progress`` is told how many of how many records are indexed.
        """
        position = self._index.open()
        if position.seq >= 0 and not self._belongs(position):
            self._rebuild(progress)
        self._catch_up(progress)
        self._index.take_over_vectors()
        self._count_anew()

    def adopt(self, embedder: Embedder) -> None:
        """Search by meaning from now on, with a model that is loaded and ready."""
        self._meaning.adopt(embedder)

    def close(self) -> None:
        """Close the index and end the thread. Blocks; may be called twice."""
        try:
            self._worker.submit(self._index.close)
        except HippoError:
            return
        self._worker.close()

    # ------------------------------------------------------------- feeding

    def feed_later(self, entries: Sequence[Appended]) -> Future[None]:
        """Queue records that were just made durable; never blocks, never fails the one who wrote them."""
        return self._worker.submit(self._feed, entries)

    def embed_missing(self) -> bool:
        """Give a batch of records their vectors; return whether there may be more without."""
        return self._meaning.embed_missing()

    def settle_vectors(self) -> bool:
        """Do a step of what waits until all records have vectors; return whether there may be more."""
        return self._meaning.settle()

    def _submit(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        def attempt() -> T:
            try:
                return method(*args, **kwargs)
            except sqlite3.DatabaseError:
                logger.exception("the index is damaged; it is made anew from the journal")
                self._mend()
            except Misled as misled:
                logger.warning("%s; it is made anew from the journal", misled)
                self._rebuild(None)
                self._count_anew()
            return method(*args, **kwargs)

        return self._worker.submit(attempt)

    def _feed(self, entries: Sequence[Appended]) -> None:
        try:
            changed = self._index.add(entries)
        except (InvalidInput, sqlite3.Error):
            logger.exception("the index could not follow; it is brought up from the journal")
            self._mend()
        else:
            self._count([entry for entry in entries if entry.record.seq > self.indexed_seq])
            if changed:
                self._count_anew()
        self._meaning.embed([entry.record for entry in entries if findable(entry.record)])

    def _count(self, entries: Sequence[Appended]) -> None:
        """Keep the numbers that :meth:`hippo_async.Hippocampus.status` shows without asking the index."""
        for record, _ in entries:
            self.indexed_seq = record.seq
            if findable(record):
                self.novelty[record.novelty] += 1
                self.kinds[record.kind] += 1

    def _count_anew(self) -> None:
        counts = self._index.counts()
        self.indexed_seq = self._index.position.seq
        self.novelty = Counter({str(novelty): n for novelty, n in counts.novelties.items()})
        self.kinds = Counter({str(kind): n for kind, n in counts.kinds.items()})

    def _mend(self) -> None:
        """Open the index again and catch up; make it anew where that is not enough."""
        try:
            self._index.open()
            self._catch_up(None)
        except (InvalidInput, sqlite3.Error):
            self._rebuild(None)
        self._meaning.forget()
        self._count_anew()

    def _catch_up(self, progress: Callable[[int, int], None] | None) -> None:
        self._fill(self._index.add, self._index.position.seq, progress)

    def _rebuild(self, progress: Callable[[int, int], None] | None) -> None:
        self.rebuilds += 1
        self._meaning.forget()
        rebuild = self._index.begin_rebuild(journal_generation=self._journal.generation)
        self._fill(rebuild.add, -1, progress)
        self._index.finish_rebuild(rebuild)

    def erase(self, record_ids: Collection[str]) -> None:
        """Take the texts of records away for good: out of the journal, and out of all that was made of them.

        When it returns no file of journal or index holds them. Searches wait meanwhile. Vectors that may have
        been made of the text of the turn before are made again, too. After a crash in between, opening makes
        the index anew. An id without a text, as after a call that broke off, is passed over. Raises
        ``OSError``.
        """
        if self._index.journal_generation != self._journal.generation:  # as after a call that broke off
            self._rebuild(None)
        rows = self._index.locate(list(record_ids))
        gone = [
            Purged(record, self._journal.bare_length(row.location, row.record_id))
            for row, record in zip(rows, self.read(rows), strict=True)
            if not record.purged
        ]
        if gone:
            self._erase(gone)

    def _erase(self, gone: Sequence[Purged]) -> None:
        seqs = [one.record.seq for one in gone]
        turns = self.records_by_seq(self._index.neighbours(seqs))
        after = self._index.followers(seqs)
        self._journal.purge([one.record.record_id for one in gone])
        generation = self._journal.generation
        self._index.erase(gone, turns, embedded_with=after, journal_generation=generation)
        self._meaning.remove([*seqs, *after])
        self._catch_up(None)
        self._count_anew()
        self._meaning.embed([record for record in self.records_by_seq(after) if findable(record)])

    def _fill(
        self,
        add: Callable[[Sequence[Appended]], object],
        after: int,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        last = self._journal.tail.seq
        if after >= last:
            return
        entries = (Appended(record, location) for record, location in self._journal.scan(after=after))
        for batch in _batched(entries, CATCH_UP_RECORDS):
            add(batch)
            if progress is not None:
                progress(batch[-1].record.seq + 1, last + 1)

    def _belongs(self, position: Position) -> bool:
        """Whether the journal holds the record that the index was last built to."""
        rows = self._index.rows([position.seq])
        row = rows[0] if rows else None
        if row is None or row.record_id != position.record_id or position.seq > self._journal.tail.seq:
            return False
        try:
            self._journal.read(row.location, row.record_id)
        except HippoError:
            return False
        return True

    # ------------------------------------------------------------- finding

    def search(self, text: str, *, filters: Filters, limit: int) -> list[Hit]:
        """Return up to ``limit`` hits for a question, best first, each verified against the journal.

        Raises :class:`hippo_async.errors.JournalCorrupt` if a record found is not what was sealed.
        """
        return self._search.search(text, filters=filters, limit=limit, now=self._clock.now())

    def complete(self, text: str, *, limit: int, filters: Filters) -> list[Hit]:
        """Return the records most like a text: by cosine over all of them, or by substring (J10)."""
        return self._search.complete(text, limit=limit, filters=filters)

    def around(self, record: Record, count: int) -> list[Record]:
        """Return up to ``count`` turns before and after a record in its session and scope, in their order."""
        return self.read(self._index.around(record.seq, count))

    def read(self, rows: Iterable[Row]) -> list[Record]:
        """Read records from the journal, verified; so are the labels by which the index found them."""
        return [self._read(row) for row in rows]

    def _read(self, row: Row) -> Record:
        try:
            record = self._journal.read(row.location, row.record_id)
        except (NotFound, JournalCorrupt, FileNotFoundError):
            # whose fault it is, the journal's or the index's, shows when the index is made anew
            raise Misled(f"the index has record {row.record_id} where it does not stand") from None
        if not describes(row, record):
            raise Misled(f"the index has other labels for record {row.record_id} than were sealed")
        return record

    def about(
        self, question: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Answer one of the questions in :mod:`hippo_async.index.lives`."""
        return self._index.about(question, *args, **kwargs)

    def ids_by_key(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the record id for each capture key that is known."""
        return self._index.known_keys(keys)

    def erased_by_key(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the id of the record that was erased since for each capture key that had one."""
        marks = {self._marker.mark(KEY, key): key for key in keys}
        erased = self._index.about(lives.bearing, list(marks))
        return {marks[mark]: record_id for mark, record_id in erased.items()}

    def records_by_id(self, record_ids: Sequence[str]) -> list[Record]:
        """Read records by id, in this order; unknown ids are left out."""
        return self.read(self._index.locate(record_ids))

    def records_by_seq(self, seqs: Sequence[int]) -> list[Record]:
        """Read records by seq, in this order; unknown seqs are left out."""
        return self.read(self._index.rows(seqs))

    def last_checkpoint(self, scope: Sequence[str]) -> list[Record]:
        """Read the last checkpoint of the task in progress of a scope, if there is one (L14)."""
        task = self.about(lives.active_task, scope)
        return [] if task is None else self.records_by_seq([task.seq])

    def pinned(self, scope: Sequence[str], *, limit: int) -> list[Record]:
        """Read what is pinned in a scope, newest first."""
        return self.records_by_seq(self.about(lives.pinned, scope, most=limit))

    def newest(self, *, filters: Filters, include_routine: bool = True) -> Iterator[Row]:
        """Yield rows from the tail to the head. Use it up within the library's thread."""
        return self._search.newest(filters=filters, include_routine=include_routine)

    def latest(self, *, filters: Filters, limit: int) -> list[Record]:
        """Return the newest records, newest first."""
        return self.read(islice(self.newest(filters=filters), limit))


def _batched(entries: Iterator[Appended], size: int) -> Iterator[list[Appended]]:
    while batch := list(islice(entries, size)):
        yield batch
