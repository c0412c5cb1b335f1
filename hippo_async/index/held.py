"""Seqs held in memory, of what is asked for again and again: who may be seen, who has a common word.

Records of one generation of the index are never changed or taken away, so what was read once stays true, and
only what was added since has to be read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np

from hippo_async.index.projection import position_of
from hippo_async.index.rows import packed
from hippo_async.index.seqs import Seqs, read_seqs

MOST_SEQS = 8_000_000
"""How many seqs are held at most, of eight bytes each; what was asked for longest ago goes first."""

LEAST_SEQS = 100
"""Fewer are read as fast as they are found."""

_VISIBLE = "SELECT seq FROM records WHERE searchable AND scope = :value AND seq > :after"
_MATCHING = "SELECT rowid AS seq FROM words WHERE words MATCH :value AND rowid > :after"


class Held:
    """Lists of seqs of one open index. What they return is ascending, and not to be written to."""

    def __init__(self) -> None:
        self._lists: dict[tuple[str, str], _Growing] = {}
        self._held = 0

    def visible(self, db: sqlite3.Connection, scope: Sequence[str]) -> Seqs:
        """Return all that searches may find in a scope."""
        return self._of(db, _VISIBLE, packed(scope))

    def matching(self, db: sqlite3.Connection, expression: str) -> Seqs:
        """Return all that match an expression of FTS5, whatever their scope."""
        return self._of(db, _MATCHING, expression)

    def _of(self, db: sqlite3.Connection, query: str, value: str) -> Seqs:
        last = position_of(db).seq
        growing = self._lists.pop((query, value), None) or _Growing()
        self._held -= len(growing.seqs)
        if growing.read_to < last:
            growing.extend(read_seqs(db, query, {"value": value, "after": growing.read_to}), read_to=last)
        if len(growing.seqs) >= LEAST_SEQS:
            self._lists[query, value] = growing
            self._held += len(growing.seqs)
            self._make_room()
        return growing.seqs

    def _make_room(self) -> None:
        """Let go of the oldest, but never of the last one: it was just asked for."""
        while self._held > MOST_SEQS and len(self._lists) > 1:
            self._held -= len(self._lists.pop(next(iter(self._lists))).seqs)


class _Growing:
    """Seqs in a buffer that doubles. ``read_to`` is the last record that the index held when it was read."""

    def __init__(self) -> None:
        self.read_to = -1
        self._buffer = np.empty(0, dtype=np.int64)
        self._size = 0

    @property
    def seqs(self) -> Seqs:
        return self._buffer[: self._size]

    def extend(self, added: Seqs, *, read_to: int) -> None:
        end = self._size + len(added)
        if end > len(self._buffer):
            buffer = np.empty(max(end, 2 * self._size), dtype=np.int64)
            buffer[: self._size] = self.seqs
            self._buffer = buffer
        self._buffer[self._size : end] = added
        self._size, self.read_to = end, read_to
