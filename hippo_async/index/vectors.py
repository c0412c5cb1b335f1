"""Vectors of records, kept apart per model: those of two models are never compared (J16)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hippo_async.errors import InvalidInput
from hippo_async.index.seqs import Seqs, read_seqs
from hippo_async.protocols import Vectors

VERSION = 1
"""Raised with every change of the tables of vectors, or of what of a record they are made of
(:mod:`hippo_async.recall.meaning`): an index that is made anew takes those of an older one over if it is the
same."""

_LITTLE_ENDIAN = np.dtype("<f4")


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


def take_over(db: sqlite3.Connection, source: Path) -> None:
    """Copy the vectors of another index file of the same journal and generation, of the same records.

    None if they were made in another way. Raises ``sqlite3.Error`` for a file that says none of that; nothing
    is copied then.
    """
    db.execute("ATTACH ? AS source", (str(source),))
    try:
        origin = "SELECT journal_id, generation, vectors FROM"
        with db:
            if (
                db.execute(f"{origin} source.origin").fetchall()
                != db.execute(f"{origin} main.origin").fetchall()
            ):
                return
            db.execute("INSERT INTO main.models SELECT model, model_id, dim FROM source.models")
            db.execute(
                "INSERT INTO main.vectors SELECT v.model, v.seq, v.vector FROM source.vectors AS v"
                " JOIN source.records AS theirs ON theirs.seq = v.seq"
                " JOIN main.records AS ours ON (ours.seq, ours.record_id) = (theirs.seq, theirs.record_id)"
                " WHERE ours.findable"
            )
    finally:
        db.execute("DETACH source")


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
        "  WHERE models.model_id = ? AND vectors.seq = value) ORDER BY value",
        (json.dumps([int(seq) for seq in seqs]), model_id),
    )
    return {seq for (seq,) in found}


def count(db: sqlite3.Connection, model_id: str) -> int:
    """Return how many records have a vector of this model."""
    query = "SELECT count(*) FROM vectors JOIN models USING (model) WHERE models.model_id = ?"
    return int(db.execute(query, (model_id,)).fetchone()[0])


def seqs(db: sqlite3.Connection, model_id: str) -> Seqs:
    """Return the seqs of all records that have a vector of this model, ascending."""
    query = "SELECT seq FROM vectors WHERE model = (SELECT model FROM models WHERE model_id = :model_id)"
    return read_seqs(db, query, {"model_id": model_id})


def page(db: sqlite3.Connection, model_id: str, *, after: int, limit: int) -> tuple[Seqs, Vectors]:
    """Return the first ``limit`` seqs above ``after`` that have a vector of this model, and their vectors."""
    found = db.execute(
        "SELECT seq, vector FROM vectors WHERE model = (SELECT model FROM models WHERE model_id = ?)"
        " AND seq > ? ORDER BY seq LIMIT ?",
        (model_id, after, limit),
    )
    return _matrix(found.fetchall())


def of(db: sqlite3.Connection, model_id: str, wanted: Sequence[int] | Seqs) -> tuple[Seqs, Vectors]:
    """Return those of the seqs that have a vector of this model, in their order, and these vectors."""
    found = db.execute(
        "SELECT v.seq, v.vector FROM json_each(?) AS asked CROSS JOIN vectors AS v ON v.seq = asked.value"
        " AND v.model = (SELECT model FROM models WHERE model_id = ?) ORDER BY asked.key",
        (json.dumps([int(seq) for seq in wanted]), model_id),
    )
    return _matrix(found.fetchall())


def drop_others(db: sqlite3.Connection, model_id: str, *, limit: int) -> bool:
    """Remove up to ``limit`` vectors of other models and say whether there may be more."""
    with db:
        removed = db.execute(
            "DELETE FROM vectors WHERE rowid IN (SELECT vectors.rowid FROM models JOIN vectors USING (model)"
            " WHERE models.model_id <> ? LIMIT ?)",
            (model_id, limit),
        ).rowcount
    return removed == limit


def _matrix(rows: Sequence[tuple[int, bytes]]) -> tuple[Seqs, Vectors]:
    found = np.array([seq for seq, _ in rows], dtype=np.int64)
    joined = np.frombuffer(b"".join(vector for _, vector in rows), dtype=_LITTLE_ENDIAN)
    return found, joined.reshape(len(rows), -1) if rows else np.empty((0, 0), dtype=np.float32)


def _model(db: sqlite3.Connection, model_id: str, *, dim: int) -> tuple[int, int]:
    """Return number and dimensions of a model, which is entered with ``dim`` when it is new."""
    db.execute("INSERT OR IGNORE INTO models (model_id, dim) VALUES (?, ?)", (model_id, dim))
    model, known_dim = db.execute("SELECT model, dim FROM models WHERE model_id = ?", (model_id,)).fetchone()
    return model, known_dim
