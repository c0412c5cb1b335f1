"""Searching a great many vectors in little memory, by faiss (the extra ``ann``).

Vectors are kept in four bits a dimension, in cells around the centres that a sample of them has. A search
looks into the nearest cells and returns more than is wanted, to be put in order by the exact vectors.
"""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hippo_async.index import Seqs
from hippo_async.protocols import Vectors

PROBED = 96
"""How many cells are looked into where all may be found. Of the 10 best of 2,960 real turns (LoCoMo, by the
multilingual model) a tenth of the cells held .85 and a third .97; at 1,000,000 this is a tenth."""

FETCHED = 2
"""How many times as many are returned as are wanted. Once found .89 of the best 200, twice all of them."""

SAMPLED = 20
"""Vectors a cell that the centres are made from."""

ROUNDS = 8
GROWTH = 4
"""How many times as many vectors as cells were made for may come in before they are made anew."""


def available() -> bool:
    """Say whether faiss is installed."""
    return importlib.util.find_spec("faiss") is not None


def sample_size(count: int) -> int:
    """Return how many of so many vectors :meth:`Approximate.train` wants to see."""
    return min(count, SAMPLED * _cells(count))


class Approximate:
    """The vectors of one model, each under its seq. Not safe to use from two threads at once."""

    def __init__(self, index: Any) -> None:
        self._index = index
        self._allowed = _Allowed()

    @classmethod
    def train(cls, sample: Vectors, *, count: int) -> Approximate:
        """Return an empty one, made for about ``count`` vectors of which ``sample`` are some."""
        faiss = _faiss()
        dim = sample.shape[1]
        index = faiss.IndexIVFScalarQuantizer(
            faiss.IndexFlatIP(dim),
            dim,
            min(_cells(count), len(sample)),
            faiss.ScalarQuantizer.QT_4bit,
            faiss.METRIC_INNER_PRODUCT,
        )
        index.cp.niter = ROUNDS
        index.cp.min_points_per_centroid = 1  # else it warns on standard output
        index.train(sample)
        return cls(index)

    @classmethod
    def read(cls, path: Path) -> Approximate:
        """Return one that was written. Raises ``RuntimeError`` or ``OSError`` if there is something else."""
        return cls(_faiss().read_index(str(path)))

    def write(self, path: Path) -> None:
        """Write it to a file, which is not synced."""
        _faiss().write_index(self._index, str(path))

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self._index.d)

    @property
    def outgrown(self) -> bool:
        """Whether there are many more vectors than the cells were made for."""
        return _cells(len(self)) ** 2 > GROWTH * int(self._index.nlist) ** 2

    @property
    def seqs(self) -> Seqs:
        """The seqs of all vectors, in no order."""
        faiss, lists = _faiss(), self._index.invlists
        cells = [faiss.rev_swig_ptr(lists.get_ids(at), lists.list_size(at)) for at in range(lists.nlist)]
        return np.concatenate([np.empty(0, dtype=np.int64), *cells])

    def add(self, seqs: Seqs, rows: Vectors) -> None:
        """Add one row per seq; a seq is added once."""
        self._index.add_with_ids(np.ascontiguousarray(rows, dtype=np.float32), np.asarray(seqs))

    def remove(self, seqs: Seqs) -> None:
        """Remove the vectors of these seqs; those that are not there are passed over."""
        faiss = _faiss()
        self._index.remove_ids(faiss.IDSelectorBatch(np.asarray(seqs, dtype=np.int64)))

    def candidates(self, query: NDArray[np.float32], *, allowed: Seqs, limit: int) -> Seqs:
        """Return the seqs of about the nearest among the ``allowed``, ascending: a multiple of ``limit``.

        As many as there are, where fewer are allowed: then every cell is looked into.
        """
        if not len(self) or not len(allowed):
            return np.empty(0, dtype=np.int64)
        wanted = FETCHED * limit
        # fewer allowed in each cell, more cells; enough of them to find all, if there are only so many
        share = min(1.0, len(allowed) / len(self))
        probed = min(int(self._index.nlist), math.ceil(PROBED / share))
        bits = self._allowed.bits_of(allowed)
        found = self._probe(query, bits, wanted, probed)
        if len(found) < wanted and probed < self._index.nlist:
            found = self._probe(query, bits, wanted, int(self._index.nlist))
        return np.sort(found)

    def _probe(self, query: NDArray[np.float32], bits: NDArray[np.uint8], wanted: int, probed: int) -> Seqs:
        faiss = _faiss()
        choice = faiss.SearchParametersIVF(sel=faiss.IDSelectorBitmap(bits), nprobe=probed)
        _, [found] = self._index.search(query[np.newaxis], wanted, params=choice)
        return np.asarray(found[found >= 0], dtype=np.int64)


def _cells(count: int) -> int:
    return max(1, math.isqrt(count))


class _Allowed:
    """The seqs of the last search as bits: nearly always the next one allows the same, a whole scope."""

    def __init__(self) -> None:
        self._seqs: Seqs | None = None
        self._bits = np.empty(0, dtype=np.uint8)

    def bits_of(self, seqs: Seqs) -> NDArray[np.uint8]:
        """Return one bit per seq, set for those given, which are never written to (``Index.matching``)."""
        if not self._has(seqs):
            table = np.zeros(int(seqs.max()) + 1, dtype=np.bool_)
            table[seqs] = True
            self._seqs, self._bits = seqs, np.packbits(table, bitorder="little")
        return self._bits

    def _has(self, seqs: Seqs) -> bool:
        """Whether these are the last: as many, of the same buffer."""
        last = self._seqs
        return (
            last is not None and last.base is not None and last.base is seqs.base and len(last) == len(seqs)
        )


def _faiss() -> ModuleType:
    import faiss

    # for this thread alone: on a busy machine many threads wait for the slowest of them
    faiss.omp_set_num_threads(1)
    return faiss
