"""What is made of memories: a memo of each month, a summary of each topic, a memory of each trend (L19, L20).

All can be run again after a crash anywhere: what is there already is seen in the index, and not made twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import anyio.to_thread

from hippo_async.lifecycle.forgetting import subject_mark
from hippo_async.lives.calendar import Calendar
from hippo_async.lives.layers import MOST_ORIGINALS, Derived, Layer, Subject
from hippo_async.lives.rarity import most_carriers
from hippo_async.lives.topics import Topic, wanting
from hippo_async.lives.trends import Trend, trends
from hippo_async.records import utc_timestamp

if TYPE_CHECKING:
    from hippo_async.config.sections import TempSettings
    from hippo_async.engine import Engine
    from hippo_async.index.layers import Tagged
    from hippo_async.lifecycle.pressing import Press

WriteDerived = Callable[[Derived], Awaitable[None]]
"""Writes a memory of a layer; durable when it returns."""

MOST_SIGHTED = 5_000
"""Of what was told in a scope lately, so many records are looked at for topics and trends: the newest."""

LEAST_SIGHTED = 3
"""A tag that was seen less often lately is no topic at the moment."""

MOST_TOPICS = 50
"""So many tags are looked at, those that were seen most often lately; and so many that nobody wants."""

MOST_EPISODES = 20
"""A trend names so many of the records in which it was seen: the newest."""

MOST_TRENDS = 20
"""Trends of one scope that are kept in one round of maintenance, the most frequent first."""


@dataclass(frozen=True, slots=True)
class Layers:
    """Makes the memories that are made of others, as of one moment."""

    engine: Engine
    press: Press
    write: WriteDerived
    calendar: Calendar
    now: datetime

    async def make_memos(self) -> int:
        """Make the memo of each scope and month that is over and has none; return how many were made.

        What is told of a month after its memo was made is not in it.
        """
        await self.engine.flush()
        made = 0
        for scope, month in await self.engine.lives.months_without_memo(self.calendar, now=self.now):
            if not await self._erased(Layer.MONTH, scope, [month]):
                told = await self.engine.lives.told(scope, self.calendar.of_month(month))
                made += await self._fold(Subject(Layer.MONTH, month), scope, told, seen=len(told))
        return made

    async def summarize_topics(self, temp: TempSettings) -> int:
        """Make a summary of each topic of which enough was told since its last one; return how many.

        A topic is a tag that was seen lately, in the time that ``temp`` says.
        """
        await self.engine.flush()
        made = 0
        for scope in await self.engine.lives.scopes(since=self._since(temp)):
            for topic in await self._topics(scope, temp):
                subject = Subject(Layer.TOPIC, topic.tag)
                made += await self._fold(
                    subject, scope, topic.most_telling(MOST_ORIGINALS), seen=len(topic.told)
                )
        return made

    async def keep_trends(self, temp: TempSettings) -> int:
        """Keep each trend that is more than a passing thing as a memory; return how many there are new.

        One that is kept is kept again when it goes on after ``temp.ttl_days``.
        """
        await self.engine.flush()
        made = 0
        for scope in await self.engine.lives.scopes(since=self._since(temp)):
            made += await self._keep_trends(scope, temp)
        return made

    async def trends(self, scope: Sequence[str], temp: TempSettings) -> list[Trend]:
        """Return what keeps coming up in a scope at the moment, kept or not, the most frequent first."""
        return await self._trends(await self._told_lately(scope, temp), temp)

    async def _keep_trends(self, scope: Sequence[str], temp: TempSettings) -> int:
        seen = await self._told_lately(scope, temp)
        kept = await self.engine.lives.made(Layer.TREND, scope)
        again = self._since(temp)
        resting = {tag for tag, one in kept.items() if one.is_forgotten or one.at > again}
        lasting = [
            trend
            for trend in await self._trends(seen, temp)
            if trend.reason is not None and trend.tag not in resting
        ]
        erased = await self._erased(Layer.TREND, scope, [trend.tag for trend in lasting])
        made = 0
        for trend in [trend for trend in lasting if trend.tag not in erased][:MOST_TRENDS]:
            episodes = [one.record_id for one in seen if trend.tag in one.tags][:MOST_EPISODES]
            subject = Subject(Layer.TREND, trend.tag)
            made += await self._write(
                Derived(tuple(scope), subject, trend.text, tuple(episodes), trend.count)
            )
        return made

    async def _trends(self, seen: Sequence[Tagged], temp: TempSettings) -> list[Trend]:
        def counted() -> list[Trend]:
            days = ((self.calendar.day(datetime.fromisoformat(one.at)), one.tags) for one in seen)
            return trends(
                ((tag, day) for day, tags in days for tag in tags),
                told=len(seen),
                today=self.calendar.day(self.now),
                ttl=timedelta(days=temp.ttl_days),
                window=timedelta(days=temp.promotion_window_days),
            )

        return await anyio.to_thread.run_sync(counted)

    async def _topics(self, scope: Sequence[str], temp: TempSettings) -> list[Topic]:
        """The topics of a scope that want a summary."""
        lives = self.engine.lives
        lately = await self._told_lately(scope, temp)
        sighted = Counter(tag for one in lately for tag in sorted(one.tags))
        most = most_carriers(await lives.size(scope))
        often = [tag for tag, count in sighted.most_common() if LEAST_SIGHTED <= count <= most]
        made = await lives.made(Layer.TOPIC, scope)
        unwanted = await self._erased(Layer.TOPIC, scope, often)
        unwanted.update(tag for tag, one in made.items() if one.is_forgotten)
        looked_at = [tag for tag in often if tag not in unwanted][:MOST_TOPICS]
        looked_at += [tag for tag in often if tag in unwanted][:MOST_TOPICS]
        topics = [Topic(tag, dict(await lives.told_with(scope, tag, limit=most + 1))) for tag in looked_at]
        seen = {tag: one.seen for tag, one in made.items()}
        rare = [topic for topic in topics if len(topic.told) <= most]
        return wanting(rare, seen=seen, unwanted=unwanted)

    async def _told_lately(self, scope: Sequence[str], temp: TempSettings) -> list[Tagged]:
        return await self.engine.lives.told_since(scope, since=self._since(temp), limit=MOST_SIGHTED)

    async def _fold(self, subject: Subject, scope: Sequence[str], told: Sequence[int], *, seen: int) -> bool:
        """Write a fold of these records; say whether there is one now."""
        library = self.engine.library
        records = await library.run(library.records_by_seq, told)
        if not records:
            return False
        text = await self.press.text_of(records, subject)
        originals = tuple(record.record_id for record in records)
        return await self._write(Derived(tuple(scope), subject, text, originals, seen))

    async def _write(self, derived: Derived) -> bool:
        """Write a memory, unless its owner came to want none of its subject while it was made; say whether
        it was written.
        """
        if await self._erased(derived.subject.layer, derived.scope, [derived.subject.name]):
            return False
        await self.write(derived)
        return True

    async def _erased(self, layer: Layer, scope: Sequence[str], names: Sequence[str]) -> set[str]:
        """Those of these subjects of which somebody forgot the memory, and it was erased."""

        def marked() -> dict[str, str]:
            marker = self.engine.marker
            return {name: subject_mark(Subject(layer, name), scope, marker) for name in names}

        marks = await anyio.to_thread.run_sync(marked)
        borne = await self.engine.lives.bearing(list(marks.values()))
        return {name for name, mark in marks.items() if mark in borne}

    def _since(self, temp: TempSettings) -> str:
        return utc_timestamp(self.now - timedelta(days=temp.ttl_days))
