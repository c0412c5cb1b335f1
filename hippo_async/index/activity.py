"""What may be in the active set (L14)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from hippo_async.index.filters import TOLD
from hippo_async.index.rows import packed


class Candidate(NamedTuple):
    """A record, how often it was remembered and confirmed, and when that was last."""

    seq: int
    times: int
    touched: str


def candidates(db: sqlite3.Connection, scope: Sequence[str], *, cap: int) -> list[Candidate]:
    """Return what may be among the ``cap`` strongest: the newest, and all that was told more than once."""
    query = "\n".join(
        (
            "SELECT seq, 1, timestamp FROM (SELECT r.seq, r.timestamp FROM records AS r WHERE",
            TOLD,
            "AND r.scope = :scope AND r.seq NOT IN (SELECT seq FROM memories WHERE count + confirmed > 1)",
            "ORDER BY r.timestamp DESC, r.seq DESC LIMIT :cap)",
            "UNION ALL SELECT r.seq, m.count + m.confirmed, m.touched FROM memories AS m",
            "JOIN records AS r USING (seq) WHERE m.count + m.confirmed > 1 AND r.scope = :scope AND",
            TOLD,
        )
    )
    return [Candidate(*columns) for columns in db.execute(query, {"scope": packed(scope), "cap": cap})]


def size(db: sqlite3.Connection, scope: Sequence[str]) -> int:
    """Return how many records of a scope searches can find."""
    query = "SELECT count(*) FROM records WHERE scope = ? AND searchable"
    [count] = db.execute(query, (packed(scope),)).fetchone()
    return int(count)
