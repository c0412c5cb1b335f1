"""Comparing all that an index says with one that is made anew of the journal."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from hippo_async import Hippocampus
from hippo_async.index import projection, schema
from hippo_async.recall.library import Library

Tables = dict[str, list[tuple[Any, ...]]]

_NOT_OF_RECORDS = ("sqlite_", "words", "models", "vectors")


def tables_of(db: sqlite3.Connection) -> Tables:
    """All rows of all tables but vectors, and how often each term of the words occurs, in which column."""
    names = [
        name
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if not name.startswith(_NOT_OF_RECORDS)
    ]
    found = {name: db.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in names}
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab('main', 'words', 'col')")
    return {**found, "words": db.execute("SELECT * FROM temp.terms").fetchall()}


def scores_of(db: sqlite3.Connection, term: str) -> list[tuple[int, float]]:
    """What each record is worth that has a term, itself or in the turn before it."""
    query = "SELECT rowid, round(bm25(words, 1.0, 0.5), 9) FROM words WHERE words MATCH ? ORDER BY rowid"
    return db.execute(query, (f'"{term}"',)).fetchall()


class Anew:
    """An index in memory, made of a journal alone, to compare that of an open memory with.

    Made anew when files of the journal were rewritten, brought up to the journal otherwise.
    """

    def __init__(self, memory: Hippocampus) -> None:
        self._library: Library = memory._running.library
        self._db: sqlite3.Connection | None = None
        self._generation = 0

    async def differences(self, *terms: str) -> list[str]:
        """Return the tables, and those of the terms, of which the memory's own index says something else."""
        return await self._library.run(self._differences, terms)

    def _differences(self, terms: tuple[str, ...]) -> list[str]:
        anew, library = self._brought_up(), self._library
        ours, theirs = library.about(tables_of), tables_of(anew)
        assert ours.keys() == theirs.keys()
        different = [name for name in ours if ours[name] != theirs[name]]
        return different + [term for term in terms if library.about(scores_of, term) != scores_of(anew, term)]

    def _brought_up(self) -> sqlite3.Connection:
        journal = self._library._journal
        if self._db is None or journal.generation != self._generation:
            self._generation = journal.generation
            origin = schema.Origin(journal.journal_id, self._generation)
            self._db = schema.create(Path(":memory:"), origin=origin)
        anew = self._db
        self._library._fill(
            lambda entries: projection.add(anew, entries), projection.position_of(anew).seq, None
        )
        return anew
