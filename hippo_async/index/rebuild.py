"""A new generation of the index in the making."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from hippo_async.files import Files
from hippo_async.index import projection
from hippo_async.index.rows import Position
from hippo_async.records import Location, Record


class Rebuild:
    """An index that is being filled from the first record on, while the old one goes on answering.

    Comes from :meth:`hippo_async.index.Index.begin_rebuild` and ends with ``finish_rebuild`` or
    :meth:`abandon`. Until then it is not valid, and the next ``open`` removes it.
    """

    def __init__(self, directory: Path, *, db: sqlite3.Connection, files: Files) -> None:
        self.directory = directory
        self.db = db
        self._files = files

    @property
    def position(self) -> Position:
        """The last record added so far."""
        return projection.position_of(self.db)

    def add(self, entries: Sequence[tuple[Record, Location]]) -> None:
        """Add the next records, as :meth:`hippo_async.index.Index.add` does."""
        projection.add(self.db, entries)

    def abandon(self) -> None:
        """Give it up and remove what was made of it."""
        self.db.close()
        self._files.remove_tree(self.directory)
