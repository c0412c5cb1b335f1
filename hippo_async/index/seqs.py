"""Reading great numbers of seqs: SQLite writes them into one string, which numpy reads.

No Python number is made of any. That takes a quarter of the time, and hardly holds the interpreter's lock.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from hippo_async.index.projection import position_of
from hippo_async.index.rows import Misled
from hippo_async.workers import unhurried

Seqs = NDArray[np.int64]

PIECE = 1 << 17
"""Characters read at once: numpy holds the interpreter's lock over them, for less than a millisecond."""


def read_seqs(db: sqlite3.Connection, query: str, values: Mapping[str, object]) -> Seqs:
    """Return the seqs that a query finds, ascending. The query names its one column ``seq``.

    Raises :class:`Misled` for one that no record has: tables are made as long as the highest.
    """
    [written] = db.execute("\n".join(("SELECT group_concat(seq) FROM (", query, ")")), values).fetchone()
    if written is None:
        return np.empty(0, dtype=np.int64)
    pieces = unhurried(_pieces(written), every=4)
    seqs = np.sort(np.concatenate([np.fromstring(piece, dtype=np.int64, sep=",") for piece in pieces]))
    last = position_of(db).seq
    if not 0 <= seqs[0] <= seqs[-1] <= last:
        raise Misled(f"the index holds records {seqs[0]} to {seqs[-1]} of 0 to {last}")
    return seqs


def _pieces(written: str) -> Iterator[str]:
    start = 0
    while start < len(written):
        end = written.find(",", start + PIECE)
        end = len(written) if end < 0 else end
        yield written[start:end]
        start = end + 1
