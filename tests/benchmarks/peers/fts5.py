"""SQLite's full-text search as it comes: the floor that any memory has to beat."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from hippo_async.evaluation import Said
from hippo_async.protocols import Embedder
from peers.peer import spoken


class Fts5:
    """One row a turn, stemmed by ``porter``; any word of the question may match, BM25 decides."""

    package = None
    how = "BM25 over stems, no model"

    def __init__(self, folder: Path, model: Embedder) -> None:
        self._db = sqlite3.connect(folder / "turns.db")
        self._db.execute("CREATE VIRTUAL TABLE turns USING fts5(text, dia_id UNINDEXED, tokenize='porter')")

    def add(self, turns: Sequence[Said]) -> None:
        for turn in turns:
            with self._db:
                self._db.execute("INSERT INTO turns VALUES (?, ?)", (spoken(turn), turn.dia_id))

    def ask(self, question: str, k: int) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        found = self._db.execute(
            "SELECT dia_id FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT ?", (words, k)
        )
        return [dia_id for (dia_id,) in found]
