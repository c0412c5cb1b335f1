"""What a memory's owner can look at: tasks, reviews, what is to go, tags, days, summaries, trends (L1, L20).

The part of :class:`hippo_async.Hippocampus` that reads what became of memories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from hippo_async.errors import InvalidInput
from hippo_async.lifecycle import forgetting
from hippo_async.lifecycle.diary import DiaryDay, diary
from hippo_async.lifecycle.layers import Layers
from hippo_async.lifecycle.pressing import Press
from hippo_async.lives.calendar import Calendar
from hippo_async.lives.layers import Derived
from hippo_async.lives.states import MemoryState, Pending, Task
from hippo_async.lives.strength import strength
from hippo_async.lives.trends import Trend
from hippo_async.proving import Proving
from hippo_async.records import Hit, Record, utc_timestamp
from hippo_async.tagging import topical

if TYPE_CHECKING:
    from hippo_async.config import Settings
    from hippo_async.protocols import Summarizer, TokenCounter
    from hippo_async.tagging import TagGraph

MOST_DAYS = 366


class Overview(Proving):
    """Says how memories stand. What it needs, the public class has."""

    _count: TokenCounter
    _summarizer: Summarizer | None

    if TYPE_CHECKING:

        @property
        def settings(self) -> Settings: ...

        async def _write_derived(self, derived: Derived) -> None: ...

    async def active_task(self, *, scope: Sequence[str] = ()) -> Task | None:
        """Return the one task in progress of a scope, if there is one (L14)."""
        await self._running.flush()
        return await self._running.lives.active_task(scope)

    async def reviews(self, *, scope: Sequence[str] = ()) -> list[MemoryState]:
        """Return the memories whose review is due, the longest due first; none if reviews are off (L12)."""
        if not self.settings.review.enabled:
            return []
        await self._running.flush()
        return await self._running.lives.due_reviews(scope, by=utc_timestamp(self._tools.clock.now()))

    async def pending_deletes(self, *, scope: Sequence[str] = ()) -> list[Pending]:
        """Return what is to be forgotten, the soonest due first, and what was erased (L1)."""
        return await forgetting.pending_in(self._running, scope)

    async def ids_beginning(self, digits: str, *, scope: Sequence[str] = ()) -> list[str]:
        """Return the ids that begin with some hexadecimal digits, of what searches find and what
        :meth:`pending_deletes` lists; in no time, however much is remembered.
        """
        return await forgetting.ids_beginning(self._running, digits, scope)

    async def active_set(self, *, scope: Sequence[str] = ()) -> list[Hit]:
        """Return what is on the agent's mind: the strongest memories, ``active_set.cap`` at most (L20).

        Strong is what is new or was remembered and confirmed often; half of it is gone after
        ``decay.half_life_days``. ``score`` is the strength, ``why`` what adds up to it. Only what was said
        or remembered; the strongest first, of equals the newest.
        """
        await self._running.flush()
        library = self._running.library
        ranked = await self._strongest(scope)
        records = await library.run(library.records_by_seq, [seq for seq, _ in ranked])
        whys = dict(ranked)
        return [Hit(record, sum(whys[record.seq].values()), whys[record.seq]) for record in records]

    async def active_tags(self, *, scope: Sequence[str] = (), most: int = 50) -> list[tuple[str, int]]:
        """Return the tags of the active set and how many of it have each, the most frequent first (L1)."""
        counted = Counter(
            tag for hit in await self.active_set(scope=scope) for tag in topical(hit.record.tags)
        )
        return sorted(counted.items(), key=lambda each: (-each[1], each[0]))[:most]

    async def tag_graph(self, *, scope: Sequence[str] = (), max_edges: int | None = None) -> TagGraph:
        """Return the tags of a scope and which of them stand together (L20), made anew from what is there.

        At most ``max_edges`` edges, ``graph_max_edges`` if not given. Takes time with the number of records:
        some 0.7 s for 100,000.
        """
        most = self.settings.graph_max_edges if max_edges is None else max_edges
        await self._running.flush()
        return await self._running.lives.tag_graph(scope, max_edges=most)

    async def diary(
        self, first: date | None = None, last: date | None = None, *, scope: Sequence[str] = ()
    ) -> list[DiaryDay]:
        """Return the days from ``first`` to ``last`` on which something was told (L20).

        Only ``first`` without ``last``, today without either; days are those of ``time_zone``. Each is an
        extract of what is there now, so what is forgotten is in none. Raises
        :class:`~hippo_async.errors.InvalidInput` for over 366 days.
        """
        first = self._calendar.day(self._tools.clock.now()) if first is None else first
        last = first if last is None else last
        if (last - first).days >= MOST_DAYS:
            raise InvalidInput(f"a diary from {first} to {last}; it takes {MOST_DAYS} days at most")
        days = diary(self._running, scope, first, last, calendar=self._calendar, press=self._press)
        return [day async for day in days]

    async def semantic(self, *, scope: Sequence[str] = (), limit: int = 50) -> list[Record]:
        """Return the memories that are made of others, newest first: summaries, trends, memos (L1, L20).

        Their tags say which: ``status:summary`` and the topic, ``status:trend`` and what keeps coming up,
        ``status:monthly`` and ``month:2026-03``. Maintenance makes them; ``forget`` takes one away, and no
        other of its subject is made then.
        """
        await self._running.flush()
        library = self._running.library
        seqs = await self._running.lives.in_layers(scope, limit=limit)
        return await library.run(library.records_by_seq, seqs)

    async def trends(self, *, scope: Sequence[str] = ()) -> list[Trend]:
        """Return what keeps coming up in a scope, the most frequent first (L20).

        Watched for ``temp.ttl_days``; what lasts for ``temp.promotion_window_days``, or comes up often on one
        day, has a ``reason``, and the next maintenance makes a memory of it.
        """
        await self._running.flush()
        return await self._layers().trends(scope, self.settings.temp)

    # ------------------------------------------------------------- how

    @property
    def _calendar(self) -> Calendar:
        return Calendar(self.settings.time_zone)

    @property
    def _press(self) -> Press:
        return Press(self._summarizer, self._count)

    def _layers(self) -> Layers:
        now = self._tools.clock.now()
        return Layers(self._running, self._press, self._write_derived, self._calendar, now)

    async def _strongest(self, scope: Sequence[str]) -> list[tuple[int, Mapping[str, float]]]:
        now, half_life = self._tools.clock.now(), timedelta(days=self.settings.decay.half_life_days)
        cap = self.settings.active_set.cap
        weighed = [
            (
                seq,
                strength(times=times, touched=datetime.fromisoformat(touched), now=now, half_life=half_life),
            )
            for seq, times, touched in await self._running.lives.candidates(scope, cap=cap)
        ]
        return sorted(weighed, key=lambda each: (-sum(each[1].values()), -each[0]))[:cap]
