"""The vectors of one model, however many: which of them are nearest to a question.

Few are held in memory and all compared. Many are searched by :mod:`hippo_async.recall.approximate`, if faiss
is there: what that needs is built in steps in the background and kept in a file beside the index, and what it
finds is put in order by the exact vectors. Until it is built, all vectors are read and compared for a
question, which takes seconds.

At 1,000,000 vectors of 384 dimensions a search takes 13 ms and 300 MB of memory with the extra ``ann``;
without it all are held, which takes 120 ms and 1.5 GB.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from hippo_async.index import Index, Seqs
from hippo_async.protocols import Vectors
from hippo_async.recall import approximate
from hippo_async.recall.approximate import Approximate
from hippo_async.recall.rank import Scores
from hippo_async.recall.vectors import VectorMatrix, best_allowed, cosines
from hippo_async.records import Filters
from hippo_async.workers import step_aside

logger: logging.Logger = logging.getLogger("hippo_async.recall")

HELD = 50_000
"""Up to so many vectors are held and compared: 75 MB and 8 ms at 384 dimensions."""

PAGE = 2_048
"""Vectors read at once, between which other questions are answered."""

STALE = 0.05
"""The share of vectors that a file may lack before it is written anew."""


class Nearest:
    """Searches the vectors that an index holds of one model. Belongs to the thread of the index."""

    def __init__(self, index: Index, *, model_id: str, dim: int) -> None:
        self._index = index
        self._model = model_id
        self._dim = dim
        self._file = f"{hashlib.sha256(model_id.encode()).hexdigest()[:16]}.faiss"
        self._forget()

    def _forget(self) -> None:
        """Read the vectors from the index when they are asked for next."""
        self._opened = False
        self._held: VectorMatrix | None = None
        self._approximate: Approximate | None = None
        self._work: Iterator[None] | None = None

    def prepare(self) -> bool:
        """Do a step of what makes later searches fast; return whether there may be more to do."""
        self._open()
        if self._work is None:
            return False
        try:
            next(self._work)
            return True
        except StopIteration:
            pass
        except (RuntimeError, OSError, MemoryError):
            logger.exception("a fast search could not be prepared; the next start tries again")
        self._work = None
        return False

    def add(self, seqs: Sequence[int], rows: Vectors) -> None:
        """Find these, too, from now on; the index holds them already. A seq is added once."""
        if self._held is not None:
            self._held.add(seqs, rows)
        elif self._approximate is not None:
            self._approximate.add(np.array(seqs, dtype=np.int64), rows)

    def remove(self, seqs: Sequence[int]) -> None:
        """Find these no more, which the index has no more; the file that it had of them is gone, too.

        One that is added again is found again.
        """
        if self._approximate is None:
            self._forget()
            return
        self._approximate.remove(np.array(seqs, dtype=np.int64))
        self._work = self._write(self._approximate)
        while self.prepare():
            pass

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to be found."""
        self._open()
        return self._held is not None and not len(self._held)

    def search(self, query: NDArray[np.float32], *, filters: Filters, limit: int) -> Scores:
        """Return up to ``limit`` pairs of seq and cosine, nearest first, newer ones first among equals."""
        self._open()
        allowed = self._index.matching(filters)
        if self._held is not None:
            return self._held.search(query, allowed=allowed, limit=limit)
        if self._approximate is None:
            return self._read_through(query, allowed=allowed, limit=limit)
        candidates = self._approximate.candidates(query, allowed=allowed, limit=limit)
        step_aside()
        seqs, rows = self._index.vectors_of(self._model, candidates)
        return best_allowed(seqs, cosines(rows, query), allowed=None, limit=limit) if len(seqs) else []

    def _read_through(self, query: NDArray[np.float32], *, allowed: Seqs, limit: int) -> Scores:
        compared = [(seqs, cosines(rows, query)) for seqs, rows in self._pages()]
        if not compared:
            return []
        seqs, near = (np.concatenate(column) for column in zip(*compared, strict=True))
        return best_allowed(seqs, near, allowed=allowed, limit=limit)

    def _open(self) -> None:
        if self._opened:
            return
        count = self._index.count_vectors(self._model)
        if count <= HELD or not approximate.available():
            self._held = VectorMatrix(self._dim, capacity=count)
            for seqs, rows in self._pages():
                self._held.add(seqs, rows)
        else:
            self._approximate = self._read()
            if self._approximate is None:
                self._work = self._build(count)
        self._opened = True

    def _pages(self) -> Iterator[tuple[Seqs, Vectors]]:
        after = -1
        while True:
            seqs, rows = self._index.page_of_vectors(self._model, after=after, limit=PAGE)
            if not len(seqs):
                return
            yield seqs, rows
            after = int(seqs[-1])

    def _of(self, seqs: Seqs) -> Iterator[tuple[Seqs, Vectors]]:
        for start in range(0, len(seqs), PAGE):
            yield self._index.vectors_of(self._model, seqs[start : start + PAGE])

    # ------------------------------------------------------------- the approximate search, and its file

    def _read(self) -> Approximate | None:
        """What the file holds, brought up to the index; ``None`` if it cannot be used."""
        path = self._index.beside(self._file)
        if path is None:
            return None
        try:
            read = Approximate.read(path)
        except (RuntimeError, OSError):
            logger.warning("%s cannot be read; it is made anew", path)
            return None
        strange = np.setdiff1d(read.seqs, self._index.seqs_with_vectors(self._model))
        if read.dim != self._dim or read.outgrown or len(strange):
            return None
        if self._complete(read) > STALE * len(read):
            self._work = self._write(read)
        return read

    def _build(self, count: int) -> Iterator[None]:
        chosen = np.random.default_rng(0).permutation(self._index.seqs_with_vectors(self._model))
        sample = [rows for _, rows in self._of(np.sort(chosen[: approximate.sample_size(count)]))]
        yield
        made = Approximate.train(np.concatenate(sample), count=count)
        for seqs, rows in self._pages():
            yield
            made.add(seqs, rows)
        self._complete(made)
        self._approximate = made
        yield from self._write(made)

    def _complete(self, made: Approximate) -> int:
        """Add what it lacks and return how many that were."""
        lacking = np.setdiff1d(self._index.seqs_with_vectors(self._model), made.seqs)
        for seqs, rows in self._of(lacking):
            made.add(seqs, rows)
        return len(lacking)

    def _write(self, made: Approximate) -> Iterator[None]:
        yield
        self._index.keep_beside(self._file, made.write)
