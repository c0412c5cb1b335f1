"""A disposable projection of the journal, to find records by words, labels, time and meaning."""

from __future__ import annotations

from hippo_async.index.erasing import Purged
from hippo_async.index.index import Index
from hippo_async.index.rebuild import Rebuild
from hippo_async.index.rows import Counts, Misled, Position, Row, Traits, describes, findable
from hippo_async.index.seqs import Seqs

__all__ = [
    "Counts",
    "Index",
    "Misled",
    "Position",
    "Purged",
    "Rebuild",
    "Row",
    "Seqs",
    "Traits",
    "describes",
    "findable",
]
