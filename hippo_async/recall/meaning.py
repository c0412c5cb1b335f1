"""Searching by meaning: the vectors of one model, kept in the index and held in memory.

Belongs to the library's thread, like all that it asks. Whoever changes what of a record is embedded raises
:data:`hippo_async.index.vectors.VERSION`.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable, Sequence

from hippo_async.index import Index, Row, analyzer
from hippo_async.protocols import Embedder
from hippo_async.recall.nearest import Nearest
from hippo_async.recall.rank import Scores
from hippo_async.records import Filters, Record
from hippo_async.workers import step_aside

logger: logging.Logger = logging.getLogger("hippo_async.recall")

EMBED_RECORDS = 64
DROPPED = 500
"""Vectors of another model removed at once; each is overwritten on the disk."""

EMBEDDED_CHARS = 2000
"""How much of a text its vector stands for: models read some hundred words."""

SAYS_LITTLE = 10
"""A turn of fewer content words is embedded together with the turn before it: "Yes, on Tuesday." means
nothing by itself."""

BEFORE_CHARS = 500


def embeddable(text: str) -> str:
    """The part of a text that its vector is made of."""
    return text[:EMBEDDED_CHARS]


class Meaning:
    """What an embedder makes of the records; nothing until there is one.

    ``read`` reads records by their rows, verified. A model that fails is done without, and counted.
    """

    def __init__(self, index: Index, read: Callable[[Iterable[Row]], list[Record]]) -> None:
        self._index = index
        self._read = read
        self._embedder: Embedder | None = None
        self._nearest: Nearest | None = None
        self.failures: int = 0

    def adopt(self, embedder: Embedder) -> None:
        """Search by meaning from now on, with a model that is loaded and ready."""
        self._embedder = embedder
        self.forget()

    def forget(self) -> None:
        """Read the vectors from the index again: it was made anew."""
        if self._embedder is not None:
            self._nearest = Nearest(self._index, model_id=self._embedder.model_id, dim=self._embedder.dim)

    def remove(self, seqs: Sequence[int]) -> None:
        """Find these no more; the index has their vectors no more."""
        if self._nearest is not None:
            self._nearest.remove(seqs)

    @property
    def known(self) -> bool:
        """Whether there is a model."""
        return self._embedder is not None

    def embed_missing(self) -> bool:
        """Give a batch of records their vectors; return whether there may be more without."""
        if self._embedder is None:
            return False
        seqs = self._index.missing_vectors(self._embedder.model_id, EMBED_RECORDS)
        records = self._read(self._index.rows(seqs))
        step_aside()
        return bool(records) and self.embed(records)

    def settle(self) -> bool:
        """Do a step of what waits until all records have vectors; return whether there may be more to do.

        A batch of vectors of other models is removed; when there are none, a step is done of what makes
        searches fast. While a record is without, nothing is done: a model that fails takes nothing from
        another.
        """
        if self._embedder is None or self._nearest is None:
            return False
        if self._index.missing_vectors(self._embedder.model_id, 1):
            return False
        if self._index.drop_other_vectors(self._embedder.model_id, limit=DROPPED):
            return True
        return self._nearest.prepare()

    def embed(self, records: Sequence[Record]) -> bool:
        """Store the vectors of records and say whether it worked; what failed is tried at the next start."""
        if self._embedder is None or not records:
            return True
        try:
            documents = self._documents(records)
            step_aside()
            vectors = self._embedder.embed_documents(documents)
            step_aside()
            seqs = [record.seq for record in records]
            self._index.put_vectors(self._embedder.model_id, list(zip(seqs, vectors, strict=True)))
        except Exception:
            self.failures += 1
            logger.exception("no vectors could be stored; these records are found by words only for now")
            return False
        if self._nearest is not None:
            self._nearest.add(seqs, vectors)
        return True

    def search(self, text: str, *, filters: Filters, limit: int) -> Scores:
        """Return up to ``limit`` pairs of seq and cosine, the nearest first; none where the model fails."""
        if self._embedder is None:
            return []
        try:
            return self.nearest(text, filters=filters, limit=limit)
        except sqlite3.Error:
            raise
        except Exception:
            self.failures += 1
            logger.exception("search by meaning failed; this recall goes by words only")
            return []

    def nearest(self, text: str, *, filters: Filters, limit: int) -> Scores:
        """Do what :meth:`search` does, and raise what the model raises."""
        assert self._embedder and self._nearest, "asked for meaning without a model"  # noqa: S101
        if self._nearest.is_empty:
            return []
        [vector] = self._embedder.embed_queries([embeddable(text)])
        return self._nearest.search(vector, filters=filters, limit=limit)

    def lacking(self, seqs: Sequence[int]) -> set[int]:
        """Those of the records that still wait for their vectors, as after a restart."""
        if self._embedder is None:
            return set()
        return self._index.without_vectors(self._embedder.model_id, seqs)

    def _documents(self, records: Sequence[Record]) -> list[str]:
        """What is embedded for each record: its text, behind the turn before it where it says little."""
        short = [record.seq for record in records if _says_little(record)]
        before = {seq: trait.before for seq, trait in self._index.traits(short).items()}
        wanted = sorted({seq for seq in before.values() if seq is not None})
        texts = {record.seq: record.text for record in self._read(self._index.rows(wanted))}
        return [_document(record, texts.get(before.get(record.seq) or -1)) for record in records]


def _says_little(record: Record) -> bool:
    return analyzer.substance(analyzer.terms(embeddable(record.text))) < SAYS_LITTLE


def _document(record: Record, before: str | None) -> str:
    text = embeddable(record.text)
    return text if before is None else f"{before[-BEFORE_CHARS:]}\n{text}"
