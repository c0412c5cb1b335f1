"""A diary: what was told on a day, in a few lines (L20). Made when it is asked for, of what is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from hippo_async.lives.calendar import Between, Calendar
from hippo_async.lives.layers import MOST_ORIGINALS
from hippo_async.records import Record
from hippo_async.tagging import topical

if TYPE_CHECKING:
    from hippo_async.engine import Engine
    from hippo_async.lifecycle.pressing import Press

DAY_TOKENS = 200
TAGS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class DiaryDay:
    """What was told in a scope on one ``day`` of the calendar, in which the record's own times are.

    ``text`` is an extract of at most 200 tokens. ``records`` are the ids of what it was made of, in their
    order; of a day with very many, those that say most, 300 at most, of ``told`` in all. ``tags`` are the
    most frequent.
    """

    day: date
    told: int
    text: str
    tags: tuple[str, ...]
    records: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the day as plain JSON values."""
        return {**asdict(self), "day": self.day.isoformat()}


async def diary(
    engine: Engine, scope: Sequence[str], first: date, last: date, *, calendar: Calendar, press: Press
) -> AsyncIterator[DiaryDay]:
    """Yield the days from ``first`` to ``last``, both in it, on which something was told, in their order."""
    await engine.flush()
    for day in (first + timedelta(days=after) for after in range((last - first).days + 1)):
        time = calendar.of_day(day)
        if told := await engine.lives.told(scope, time):
            yield await _day(engine, scope, day, time, told, press)


async def _day(
    engine: Engine, scope: Sequence[str], day: date, time: Between, told: Sequence[int], press: Press
) -> DiaryDay:
    library = engine.library
    records = await library.run(library.records_by_seq, told)
    return DiaryDay(
        day,
        await engine.lives.count_told(scope, time) if len(told) == MOST_ORIGINALS else len(told),
        await press.extract_of(records, DAY_TOKENS),
        _tags(records),
        tuple(record.record_id for record in records),
    )


def _tags(records: Sequence[Record]) -> tuple[str, ...]:
    counted = Counter(tag for record in records for tag in topical(record.tags))
    ranked = sorted(counted, key=lambda tag: (-counted[tag], tag))
    return tuple(ranked[:TAGS_SHOWN])
