"""A disposable projection of the journal, to find records by words, labels, time and meaning."""

from __future__ import annotations

from hippo_async.index.index import Index
from hippo_async.index.rebuild import Rebuild
from hippo_async.index.rows import Counts, Misled, Neighbours, Position, Row, describes

__all__ = ["Counts", "Index", "Misled", "Neighbours", "Position", "Rebuild", "Row", "describes"]
