"""Answering a question: candidates by words and by meaning, put in order, read and verified."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from hippo_async.index import Index, Row
from hippo_async.language.plain import regular
from hippo_async.lives.calendar import Calendar
from hippo_async.recall.association import associated
from hippo_async.recall.dates import Span, near, time_spans
from hippo_async.recall.folding import distinct
from hippo_async.recall.meaning import Meaning
from hippo_async.recall.memos import memos_of
from hippo_async.recall.query import Query, understand
from hippo_async.recall.rank import Asked, Ranked, Scores, rank
from hippo_async.records import Filters, Hit, Record
from hippo_async.workers import step_aside

CANDIDATES = 200
MEMO = 10.0
"""The score of a month's memo for a question about that month: more than any other can have (L19)."""

ECHOES = 5


@dataclass(frozen=True, slots=True)
class Search:
    """Finds records in one index. ``read`` reads them by their rows, verified."""

    index: Index
    meaning: Meaning
    read: Callable[[Iterable[Row]], list[Record]]
    half_life: timedelta
    calendar: Calendar

    def search(self, text: str, *, filters: Filters, limit: int, now: datetime) -> list[Hit]:
        """Return up to ``limit`` hits for a question asked ``now``, best first. Its days are the calendar's.

        Raises :class:`hippo_async.errors.JournalCorrupt` if a record found is not what was sealed.
        """
        spans = time_spans(text, now=self.calendar.here(now))
        query = understand(text, names=self.index.speakers(filters.scope), filters=filters)
        ranked = self._ranked(query, spans, now)
        step_aside()
        memos = memos_of(self.index, spans, filters=filters)[:limit]
        first = [Ranked(seq, MEMO, {"memo": MEMO}) for seq in memos]
        best = [*first, *(found for found in ranked if found.seq not in memos)]
        hits = distinct(best, self._hits, limit=limit)
        known = {found.seq for found in best}
        return hits + self._associated(text, filters, known=known, limit=limit - len(hits))

    def _ranked(self, query: Query, spans: Sequence[Span], now: datetime) -> list[Ranked]:
        """Put what both searches find in order, stepping aside for the event loop in between."""
        words = self.index.search_words(query.terms, filters=query.filters, limit=CANDIDATES)
        step_aside()
        meaning = self.meaning.search(query.meaning, filters=query.filters, limit=CANDIDATES)
        step_aside()
        traits = self.index.traits(list({seq: None for seq, _ in (*words, *meaning)}))
        step_aside()
        full_match = self.index.full_match(query.terms)
        unembedded = self.meaning.lacking([seq for seq, _ in words])
        echoes = self._echoes(query.text, words)
        step_aside()
        return rank(
            words,
            meaning,
            full_match=full_match,
            traits=traits,
            asked=self._asked(query, spans, now),
            unembedded=unembedded,
            echoes=echoes,
        )

    def complete(self, text: str, *, limit: int, filters: Filters) -> list[Hit]:
        """Return the records most like a text: by cosine over all of them, or by substring (J10)."""
        if not self.meaning.known:
            return self._containing(text, limit=limit, filters=filters)
        found = self.meaning.nearest(text, filters=filters, limit=limit)
        return self._hits([Ranked(seq, cosine, {"cosine": cosine}) for seq, cosine in found])

    def newest(self, *, filters: Filters, include_routine: bool = True) -> Iterator[Row]:
        """Yield rows from the tail to the head. Use it up within the library's thread."""
        return self.index.newest(filters=filters, include_routine=include_routine)

    def _containing(self, text: str, *, limit: int, filters: Filters) -> list[Hit]:
        hits = []
        for row in self.newest(filters=filters):
            [record] = self.read([row])
            if text in record.text:
                hits.append(Hit(record, 1.0, {"substring": 1.0}))
            if len(hits) == limit:
                break
        return hits

    def _asked(self, query: Query, spans: Sequence[Span], now: datetime) -> Asked:
        [speaker] = query.names if len(query.names) == 1 else [None]
        exact = [span for span in spans if span.kind != "fuzzy"]
        nearness = (lambda moment: near(moment, exact)) if exact else None
        return Asked(now, self.half_life, speaker=speaker, nearness=nearness)

    def _echoes(self, text: str, words: Scores) -> set[int]:
        """Those among the best by words that say just what is asked: the question itself, once captured."""
        asked = regular(text)
        best = self.read(self.index.rows([seq for seq, _ in words[:ECHOES]]))
        return {record.seq for record in best if regular(record.text) == asked}

    def _associated(self, text: str, filters: Filters, *, known: Collection[int], limit: int) -> list[Hit]:
        """What is near to what was asked for comes last, and only where there is room for it (L18)."""
        if limit <= 0:
            return []
        found = associated(self.index, text, filters=filters, known=known, limit=limit)
        hits = self._hits([ranked for ranked, _ in found])
        return [replace(hit, via=tag) for hit, (_, tag) in zip(hits, found, strict=True)]

    def _hits(self, ranked: Sequence[Ranked]) -> list[Hit]:
        rows = {row.seq: row for row in self.index.rows([found.seq for found in ranked])}
        records = self.read([rows[found.seq] for found in ranked])
        return [
            Hit(record, found.score, dict(found.why)) for record, found in zip(records, ranked, strict=True)
        ]
