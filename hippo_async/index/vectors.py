"""Vectors of records, kept apart per model: those of two models are never compared (J16)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hippo_async.errors import InvalidInput
from hippo_async.protocols import Vectors

_LITTLE_ENDIAN = np.dtype("<f4")
_PAGE = 4096


def put(db: sqlite3.Connection, model_id: str, rows: Sequence[tuple[int, NDArray[np.float32]]]) -> None:
    """Store one vector per seq in one transaction, in place of an older one of the same model.

    A record that searches cannot find (any more) gets none. Raises :class:`InvalidInput` for a vector of
    another length than the model's others.
    """
    if not rows:
        return
    with db:
        model, dim = _model(db, model_id, dim=len(rows[0][1]))
        if any(vector.shape != (dim,) for _, vector in rows):
            raise InvalidInput(f"vectors of the model {model_id!r} have {dim} dimensions")
        db.executemany(
            "INSERT OR REPLACE INTO vectors"
            " SELECT :model, seq, :vector FROM records WHERE seq = :seq AND searchable",
            [
                {"model": model, "seq": int(seq), "vector": vector.astype(_LITTLE_ENDIAN).tobytes()}
                for seq, vector in rows
            ],
        )


def missing(db: sqlite3.Connection, model_id: str, *, after: int, limit: int) -> list[int]:
    """Return up to ``limit`` seqs above ``after``, ascending, of searchable records without a vector."""
    found = db.execute(
        "SELECT seq FROM records WHERE searchable AND seq > ? AND NOT EXISTS"
        " (SELECT 1 FROM vectors JOIN models USING (model)"
        "  WHERE models.model_id = ? AND vectors.seq = records.seq)"
        " ORDER BY seq LIMIT ?",
        (after, model_id, limit),
    )
    return [seq for (seq,) in found]


def lacking(db: sqlite3.Connection, model_id: str, seqs: Sequence[int]) -> set[int]:
    """Return those of ``seqs`` that have no vector of this model."""
    found = db.execute(
        "SELECT value FROM json_each(?) WHERE NOT EXISTS"
        " (SELECT 1 FROM vectors JOIN models USING (model)"
        "  WHERE models.model_id = ? AND vectors.seq = value)",
        (json.dumps([int(seq) for seq in seqs]), model_id),
    )
    return {seq for (seq,) in found}


def load(db: sqlite3.Connection, model_id: str) -> tuple[NDArray[np.int64], Vectors]:
    """Return the seqs with a vector of this model, ascending, and the matrix of shape ``(n, dim)``."""
    found = db.execute("SELECT model, dim FROM models WHERE model_id = ?", (model_id,)).fetchone()
    if found is None:
        return np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.float32)
    model, dim = found
    (count,) = db.execute("SELECT count(*) FROM vectors WHERE model = ?", (model,)).fetchone()
    seqs = np.empty(count, dtype=np.int64)
    matrix = np.empty((count, dim), dtype=np.float32)
    stored = db.execute("SELECT seq, vector FROM vectors WHERE model = ? ORDER BY seq", (model,))
    filled = 0
    while page := stored.fetchmany(_PAGE):
        end = filled + len(page)
        seqs[filled:end] = [seq for seq, _ in page]
        joined = b"".join(vector for _, vector in page)
        matrix[filled:end] = np.frombuffer(joined, dtype=_LITTLE_ENDIAN).reshape(len(page), dim)
        filled = end
    return seqs, matrix


def _model(db: sqlite3.Connection, model_id: str, *, dim: int) -> tuple[int, int]:
    """Return number and dimensions of a model, which is entered with ``dim`` when it is new."""
    db.execute("INSERT OR IGNORE INTO models (model_id, dim) VALUES (?, ?)", (model_id, dim))
    model, known_dim = db.execute("SELECT model, dim FROM models WHERE model_id = ?", (model_id,)).fetchone()
    return model, known_dim
