"""The index as the rest of the library sees it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from hippo_async.errors import Closed
from hippo_async.files import Files
from hippo_async.index import erasing, lookup, projection, schema, vectors, words
from hippo_async.index.erasing import Purged
from hippo_async.index.generations import Generations
from hippo_async.index.held import Held
from hippo_async.index.rebuild import Rebuild
from hippo_async.index.rows import Counts, Position, Row, Traits
from hippo_async.index.seqs import Seqs
from hippo_async.protocols import Vectors
from hippo_async.records import Filters, Location, Record

P = ParamSpec("P")
T = TypeVar("T")

_FILE = "index.sqlite"


class Index:
    """A disposable projection of one journal: ids, terms, tags and times, never a text (L21).

    Lives in ``root`` as ``gen-N/index.sqlite`` and ``CURRENT``. Synchronous, and bound to the thread that
    opened it: SQLite refuses any other.

    Every method raises :class:`Closed` while the index is not open. One that finds the file damaged raises
    ``sqlite3.DatabaseError`` and leaves no generation valid: the next :meth:`open` begins anew.
    """

    def __init__(self, root: Path, *, journal_id: str, generation: int, files: Files) -> None:
        self._generations = Generations(root, files=files)
        self._files = files
        self._origin = schema.Origin(journal_id, generation)
        self._db: sqlite3.Connection | None = None
        self._embedded_to: dict[str, int] = {}
        self._held = Held()
        self._left: Path | None = None

    # Life

    def open(self) -> Position:
        """Open the valid generation and return the last record in it; catch up from there.

        What is missing, damaged, of another schema or analyzer, or made from another journal or another
        generation of its files, is left behind for a new and empty generation: ``Position(-1, "")``.
        The caller checks that the journal holds this record id under this seq, else it rebuilds.
        """
        self.close()
        reopened = self._reopened()
        self._left = None if reopened else self._generations.current()
        self._adopt(reopened or self._started())
        if self._left is None:
            self._generations.sweep()
        return self.position

    def take_over_vectors(self) -> None:
        """Take the vectors along from the file that :meth:`open` left behind, now that its records are here.

        Only from one of another schema or analyzer that is whole, and whose vectors were made as they are
        today: to make them takes the most time by far. Does nothing if no file was left.
        """
        left, self._left = self._left, None
        if left is None:
            return
        with self._connection() as db, suppress(*schema.FAILURES):
            vectors.take_over(db, left / _FILE)
        self._generations.sweep()

    def close(self) -> None:
        """Close the file; may be called twice."""
        if self._db is not None:
            self._db.close()
            self._db = None

    @property
    def journal_generation(self) -> int:
        """The generation of the journal's files of which the index says where records stand."""
        return self._origin.generation

    def begin_rebuild(self, *, journal_generation: int) -> Rebuild:
        """Begin a new generation beside the valid one, to be filled from the journal's first record on.

        ``journal_generation`` is that of the journal's files, which may have been rewritten since.
        """
        self._origin = replace(self._origin, generation=journal_generation)
        directory = self._generations.fresh()
        return Rebuild(directory, db=schema.create(directory / _FILE, origin=self._origin), files=self._files)

    def finish_rebuild(self, rebuild: Rebuild) -> Position:
        """Put a rebuilt generation in place of the valid one and return the last record in it.

        Records that were added meanwhile are not in it: catch up, as after :meth:`open`.
        """
        self._generations.switch(rebuild.directory)
        self.close()
        self._adopt(rebuild.db)
        self._generations.sweep()
        return self.position

    # Writing

    @property
    def position(self) -> Position:
        """The last record that the index holds."""
        with self._connection() as db:
            return projection.position_of(db)

    def add(self, entries: Sequence[tuple[Record, Location]]) -> bool:
        """Add records that follow the position, in one transaction; those already there are passed over.

        Says whether earlier ones were hidden or shown by what these say of them.

        A turn (``user`` or ``assistant``, with a session) is indexed together with the turn before it in the
        same session and scope. Raises :class:`InvalidInput` on a gap, or on another record under a known
        seq; nothing is added then.
        """
        with self._connection() as db:
            changed = projection.add(db, entries)
        if changed:
            self._held = Held()  # its lists only grow
        return changed

    def neighbours(self, seqs: Sequence[int]) -> list[int]:
        """Return the turns before and after these records in their sessions, hidden or not, ascending."""
        with self._connection() as db:
            return erasing.neighbours(db, seqs)

    def erase(
        self,
        gone: Sequence[Purged],
        turns: Sequence[Record],
        *,
        embedded_with: Sequence[int],
        journal_generation: int,
    ) -> None:
        """Take records out whose texts were purged from the journal, of which this is the generation now.

        ``turns`` are their :meth:`neighbours`; those ``embedded_with`` them lose their vectors, too, all
        others keep them. When it returns, the index is else as if it were made anew of the journal. No file
        of it holds what was said, and there is none beside it. If this fails, the next :meth:`open` begins
        anew.
        """
        self._origin = replace(self._origin, generation=journal_generation)
        self._generations.drop_kept(but=_FILE)
        with self._connection() as db:
            erasing.erase(db, gone, turns, embedded_with=embedded_with, generation=journal_generation)
        self._embedded_to = {}
        self._held = Held()

    def put_vectors(self, model_id: str, rows: Sequence[tuple[int, NDArray[np.float32]]]) -> None:
        """Store one vector per seq. Raises :class:`InvalidInput` for a length that is not the model's."""
        with self._connection() as db:
            vectors.put(db, model_id, rows)

    # Reading

    def known_keys(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the record id for each capture key that some record has in its metadata (``key``)."""
        with self._connection() as db:
            return lookup.known_keys(db, keys)

    def locate(self, record_ids: Sequence[str]) -> list[Row]:
        """Return the rows of these records, of any type, in this order; unknown ids are left out."""
        with self._connection() as db:
            return lookup.by_record_id(db, record_ids)

    def rows(self, seqs: Sequence[int]) -> list[Row]:
        """Return the rows of these records, of any type, in this order; unknown seqs are left out."""
        with self._connection() as db:
            return lookup.by_seq(db, seqs)

    def counts(self) -> Counts:
        """Count the searchable records by kind and by novelty, over all scopes."""
        with self._connection() as db:
            return lookup.counts(db)

    def search_words(self, terms: Sequence[str], *, filters: Filters, limit: int) -> list[tuple[int, float]]:
        """Return up to ``limit`` pairs ``(seq, score)``, best first, of records with any of these terms.

        ``terms`` come from :func:`hippo_async.index.analyzer.query_terms`. The score is BM25, higher is
        better.
        """
        with self._connection() as db:
            return words.search(db, terms, filters=filters, limit=limit, held=self._held)

    def full_match(self, terms: Sequence[str]) -> float:
        """Return what :meth:`search_words` gives a record of usual length with each of the terms."""
        with self._connection() as db:
            return words.full_match(db, terms, held=self._held)

    def about(
        self, question: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Answer one of the questions in :mod:`hippo_async.index.lives`."""
        with self._connection() as db:
            return question(db, *args, **kwargs)

    def matching(self, filters: Filters) -> Seqs:
        """Return the seqs, ascending, of all that the filters let through: what a vector search may find.

        Not to be written to: it is kept for the next question.
        """
        with self._connection() as db:
            return lookup.allowed(db, filters, held=self._held)

    def traits(self, seqs: Sequence[int]) -> dict[int, Traits]:
        """Return what ranking asks of these records; neighbours are those of the session and scope."""
        with self._connection() as db:
            return lookup.traits(db, seqs)

    def followers(self, seqs: Sequence[int]) -> list[int]:
        """Return the turns after these records, of which the vectors may have been made together with them.

        In each one's session and scope: the first that can be found, and those before it that are hidden.
        """
        with self._connection() as db:
            return lookup.followers(db, seqs)

    def around(self, seq: int, count: int) -> list[Row]:
        """Return up to ``count`` turns before and after a record in its session and scope, in their order.

        A record without a session has none.
        """
        with self._connection() as db:
            return lookup.around(db, seq, count)

    def speakers(self, scope: Sequence[str] | None) -> list[str]:
        """Return the names under which people spoke in a scope, in any if it is ``None``."""
        with self._connection() as db:
            return lookup.speakers(db, scope)

    def newest(self, *, filters: Filters, include_routine: bool = False) -> Iterator[Row]:
        """Yield rows from the tail to the head, lazily (J9). Use up or drop it in the index's thread."""
        with self._connection() as db:
            yield from lookup.newest(db, filters=filters, include_routine=include_routine)

    def missing_vectors(self, model_id: str, limit: int) -> list[int]:
        """Return up to ``limit`` seqs, ascending, of searchable records without a vector of this model."""
        done = self._embedded_to.get(model_id, -1)
        with self._connection() as db:
            found = vectors.missing(db, model_id, after=done, limit=limit)
        # Nothing below the first one found is missing, and never will be: the next call starts there.
        self._embedded_to[model_id] = found[0] - 1 if found else self.position.seq
        return found

    def without_vectors(self, model_id: str, seqs: Sequence[int]) -> set[int]:
        """Return those of ``seqs`` that have no vector of this model: meaning cannot find them yet."""
        with self._connection() as db:
            return vectors.lacking(db, model_id, seqs)

    def count_vectors(self, model_id: str) -> int:
        """Return how many records have a vector of this model."""
        with self._connection() as db:
            return vectors.count(db, model_id)

    def seqs_with_vectors(self, model_id: str) -> Seqs:
        """Return the seqs of all records that have a vector of this model, ascending."""
        with self._connection() as db:
            return vectors.seqs(db, model_id)

    def page_of_vectors(self, model_id: str, *, after: int, limit: int) -> tuple[Seqs, Vectors]:
        """Return the first ``limit`` seqs above ``after`` with a vector of this model, and their vectors.

        The matrix is of shape ``(n, dim)``; without any, both are empty.
        """
        with self._connection() as db:
            return vectors.page(db, model_id, after=after, limit=limit)

    def vectors_of(self, model_id: str, seqs: Sequence[int] | Seqs) -> tuple[Seqs, Vectors]:
        """Return those of ``seqs`` that have a vector of this model, in their order, and their matrix."""
        with self._connection() as db:
            return vectors.of(db, model_id, seqs)

    def drop_other_vectors(self, model_id: str, *, limit: int) -> bool:
        """Remove up to ``limit`` vectors of all models but this; say whether there may be more of them."""
        with self._connection() as db:
            return vectors.drop_others(db, model_id, limit=limit)

    def beside(self, name: str) -> Path | None:
        """Return the path of a file that :meth:`keep_beside` wrote, or ``None`` if it did not."""
        return self._generations.kept(name)

    def keep_beside(self, name: str, write: Callable[[Path], None]) -> None:
        """Have ``write`` write a file that lives and dies with this generation, whole or not at all.

        It holds what can be made of the index again. The only one of its suffix stays: others are removed.
        """
        self._generations.keep(name, write)

    # Generations

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        if self._db is None:
            raise Closed("the index is not open")
        try:
            yield self._db
        except schema.FAILURES as error:
            if schema.is_damage(error):
                self._generations.disown()
            if isinstance(error, UnicodeDecodeError):
                raise sqlite3.DatabaseError("a text in the index is damaged") from error
            raise

    def _adopt(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._embedded_to = {}
        self._held = Held()

    def _reopened(self) -> sqlite3.Connection | None:
        directory = self._generations.current()
        if directory is None or not self._files.exists(directory / _FILE):
            return None
        return schema.open_existing(directory / _FILE, origin=self._origin)

    def _started(self) -> sqlite3.Connection:
        started = self.begin_rebuild(journal_generation=self._origin.generation)
        self._generations.switch(started.directory)
        return started.db
