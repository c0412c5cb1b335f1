"""The index as the rest of the library sees it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hippo_async.errors import Closed
from hippo_async.files import Files
from hippo_async.index import lookup, projection, schema, vectors, words
from hippo_async.index.generations import Generations
from hippo_async.index.rebuild import Rebuild
from hippo_async.index.rows import Counts, Position, Row, Traits
from hippo_async.protocols import Vectors
from hippo_async.records import Filters, Location, Record

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

    # Life

    def open(self) -> Position:
        """Open the valid generation and return the last record in it; catch up from there.

        What is missing, damaged, of another schema or analyzer, or made from another journal or another
        generation of its files, is left behind for a new and empty generation: ``Position(-1, "")``.
        The caller checks that the journal holds this record id under this seq, else it rebuilds.
        """
        self.close()
        self._adopt(self._reopened() or self._started())
        self._generations.sweep()
        return self.position

    def close(self) -> None:
        """Close the file; may be called twice."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def begin_rebuild(self) -> Rebuild:
        """Begin a new generation beside the valid one, to be filled from the journal's first record on."""
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

    def add(self, entries: Sequence[tuple[Record, Location]]) -> None:
        """Add records that follow the position, in one transaction; those already there are passed over.

        A turn (``user`` or ``assistant``, with a session) is indexed together with the turn before it in the
        same session and scope. Raises :class:`InvalidInput` on a gap, or on another record under a known
        seq; nothing is added then.
        """
        with self._connection() as db:
            projection.add(db, entries)

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
            return words.search(db, terms, filters=filters, limit=limit)

    def matching(self, filters: Filters) -> NDArray[np.int64]:
        """Return the seqs, ascending, of all that the filters let through: what a vector search may find."""
        with self._connection() as db:
            return lookup.matching(db, filters=filters)

    def traits(self, seqs: Sequence[int]) -> dict[int, Traits]:
        """Return what ranking asks of these records; neighbours are those of the session and scope."""
        with self._connection() as db:
            return lookup.traits(db, seqs)

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

    def load_vectors(self, model_id: str) -> tuple[NDArray[np.int64], Vectors]:
        """Return the seqs with a vector of this model, ascending, and their matrix, shape ``(n, dim)``.

        Both are empty, of shapes ``(0,)`` and ``(0, 0)``, for a model without vectors.
        """
        with self._connection() as db:
            return vectors.load(db, model_id)

    # Generations

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        if self._db is None:
            raise Closed("the index is not open")
        try:
            yield self._db
        except sqlite3.DatabaseError as error:
            if schema.is_damage(error):
                self._generations.disown()
            raise

    def _adopt(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._embedded_to = {}

    def _reopened(self) -> sqlite3.Connection | None:
        directory = self._generations.current()
        if directory is None or not self._files.exists(directory / _FILE):
            return None
        return schema.open_existing(directory / _FILE, origin=self._origin)

    def _started(self) -> sqlite3.Connection:
        started = self.begin_rebuild()
        self._generations.switch(started.directory)
        return started.db
