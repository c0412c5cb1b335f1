"""Exact search by meaning: every vector is compared (8 ms at 100,000 of 384 dimensions, design §6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hippo_async.errors import InvalidInput
from hippo_async.protocols import Vectors

Seqs = NDArray[np.int64]
_SMALLEST = 1024


class VectorMatrix:
    """Normalised float32 vectors of one model in memory, one row per record, in a buffer that doubles.

    Not safe to use from two threads at once.
    """

    def __init__(self, dim: int) -> None:
        self._rows = np.empty((0, dim), dtype=np.float32)
        self._seqs = np.empty(0, dtype=np.int64)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self._rows.shape[1])

    def add(self, seqs: Sequence[int] | Seqs, rows: Vectors) -> None:
        """Add one row per seq, shape ``(len(seqs), dim)``. A seq is added once: rows are never replaced.

        Raises :class:`InvalidInput` for another shape.
        """
        if rows.shape != (len(seqs), self.dim):
            raise InvalidInput(f"{len(seqs)} vectors of {self.dim} dimensions expected, not {rows.shape}")
        end = self._size + len(seqs)
        self._reserve(end)
        self._rows[self._size : end] = rows
        self._seqs[self._size : end] = seqs
        self._size = end

    def newest(self, limit: int) -> Vectors:
        """Return the last ``limit`` rows, in the order in which they were added."""
        return self._rows[max(0, self._size - limit) : self._size]

    def search(
        self, query: NDArray[np.float32], *, allowed: Seqs | None = None, limit: int
    ) -> list[tuple[int, float]]:
        """Return up to ``limit`` pairs of seq and cosine, the nearest first, newer ones first among equals.

        ``query`` is normalised, of shape ``(dim,)``. ``allowed`` are the seqs that may be found, all if
        ``None``.
        """
        seqs = self._seqs[: self._size]
        cosines = self._rows[: self._size] @ query
        if allowed is not None:
            keep = _mask(seqs, allowed)
            seqs, cosines = seqs[keep], cosines[keep]
        return _best(seqs, cosines, limit)

    def _reserve(self, size: int) -> None:
        if size <= len(self._seqs):
            return
        capacity = max(size, 2 * len(self._seqs), _SMALLEST)
        rows = np.empty((capacity, self.dim), dtype=np.float32)
        seqs = np.empty(capacity, dtype=np.int64)
        rows[: self._size] = self._rows[: self._size]
        seqs[: self._size] = self._seqs[: self._size]
        self._rows, self._seqs = rows, seqs


def _mask(seqs: Seqs, allowed: Seqs) -> NDArray[np.bool_]:
    """Say for each of ``seqs`` whether it is allowed, by a table over all seqs: no sorting, no hashing."""
    highest = max(seqs.max(initial=-1), allowed.max(initial=-1))
    table = np.zeros(highest + 1, dtype=np.bool_)
    table[allowed] = True
    return table[seqs]


def _best(seqs: Seqs, cosines: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
    if limit <= 0 or not len(seqs):
        return []
    if limit < len(seqs):
        threshold = np.partition(cosines, -limit)[-limit]
        near = cosines >= threshold
        seqs, cosines = seqs[near], cosines[near]
    order = np.lexsort((-seqs, -cosines))[:limit]
    return [(int(seqs[at]), float(cosines[at])) for at in order]
