"""Choosing what to bring up: for a briefing, or to load the newest. Runs in the library's thread."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from hippo_async.briefing import BriefItem, compose, select_recent, trusted
from hippo_async.config import Settings
from hippo_async.errors import InvalidInput
from hippo_async.lives.layers import STATUS
from hippo_async.protocols import TokenCounter
from hippo_async.records import Briefing, Filters, Hit, Kind, Record

if TYPE_CHECKING:
    from hippo_async.index import Row
    from hippo_async.recall.library import Library

RECENT_ROWS = 2000
DERIVED = frozenset(STATUS.values())
"""Tags of what maintenance makes of memories: it comes after them, and is no news."""

CHARS_PER_TOKEN = 4
MOST_PINNED = 10


def select_briefing(
    library: Library,
    query: str | None,
    *,
    budget: int,
    filters: Filters,
    exclude_keys: Collection[str],
    top_k: int,
    count: TokenCounter,
) -> Briefing:
    """Compose a briefing: the task in progress, what is pinned, what answers ``query``, then the newest that
    was not routine (M4, J9).

    Folds come after the memories they were made of; the newest are read only as far as there is room left.
    What is captured under ``exclude_keys``, and what reads like an order from outside, stays out.
    """
    shown = set(library.ids_by_key(list(exclude_keys)).values())
    hits = library.search(query, filters=filters, limit=top_k) if query else []
    found = [hit.record for hit in hits if _is_wanted(hit.record) and shown.isdisjoint(_ids(hit))]
    found.sort(key=lambda record: record.is_fold or not DERIVED.isdisjoint(record.tags))
    room = budget * CHARS_PER_TOKEN - sum(len(record.text) for record in found)
    rows = islice(library.newest(filters=filters, include_routine=False), RECENT_ROWS)
    new = (
        row
        for row in rows
        if row.kind is not Kind.ERROR
        and row.role != "system"
        and row.record_id not in shown
        and DERIVED.isdisjoint(row.tags)
    )
    recent = [record for record in library.read(_within(new, room)) if _is_wanted(record)]
    items = _standing(library, filters.scope or (), shown)
    items += [BriefItem(record, "recalled") for record in found]
    items += [BriefItem(record, "recent") for record in reversed(recent)]
    return compose(items, budget=budget, count=count)


def _standing(library: Library, scope: Sequence[str], shown: Collection[str]) -> list[BriefItem]:
    """What is told whatever is asked: how far the task in progress is, and what is pinned."""
    task, pinned = library.last_checkpoint(scope), library.pinned(scope, limit=MOST_PINNED)
    items = [BriefItem(record, "task") for record in task]
    items += [BriefItem(record, "identity") for record in pinned if record.record_id not in shown]
    return [item for item in items if _is_wanted(item.record)]


def _ids(hit: Hit) -> Iterator[str]:
    """The records that say what a hit says: where one of them is shown, the others say nothing new."""
    yield hit.record.record_id
    yield from (same.record_id for same in hit.repeats)


def _is_wanted(record: Record) -> bool:
    """Whether a record has a place in a briefing: what an agent is told to be is in its prompt already."""
    return record.kind is not Kind.IDENTITY_CHANGE and record.role != "system" and trusted(record)


def load_recent(
    library: Library, *, budget_chars: int, include_routine: bool, filters: Filters
) -> list[Record]:
    """Return the newest records whose contents fit, in the order of time (J9)."""
    return library.read(
        _within(library.newest(filters=filters, include_routine=include_routine), budget_chars)
    )


def filters_of(
    tags: Sequence[str] = (),
    kinds: Sequence[Kind | str] = (),
    roles: Sequence[str] = (),
    scope: Sequence[str] = (),
    session: str | None = None,
    start: datetime | None = None,
    end: datetime | None = None,
) -> Filters:
    """Build filters from what a caller gave. Raises :class:`InvalidInput` for what cannot be asked."""
    return Filters(
        tags=tuple(tags),
        kinds=tuple(kind_of(kind) for kind in kinds),
        roles=tuple(roles),
        scope=tuple(scope),
        session=session,
        start=start,
        end=end,
    )


def moment_of(text: str, *, name: str, whole_day: bool = False) -> datetime:
    """Read an ISO date or time that somebody wrote; without a zone it is in UTC.

    A date is its first moment, or the first one after it for an end that takes in the ``whole_day``. Raises
    :class:`InvalidInput` for anything else.
    """
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment + timedelta(days=1) if whole_day and len(text) <= len("2026-03-31") else moment
    except (ValueError, OverflowError):
        raise InvalidInput(f"{name} {text!r} is no date; write 2026-03-31 or 2026-03-31T18:00Z") from None


def kind_of(kind: Kind | str) -> Kind:
    """Return the kind of that name (J3). Raises :class:`InvalidInput` for another."""
    try:
        return Kind(kind)
    except ValueError:
        raise InvalidInput(f"kind {kind!r} is unknown; it is one of {', '.join(Kind)} (J3)") from None


def limit_of(top_k: int | None, settings: Settings) -> int:
    """Return how many hits are wanted. Raises :class:`InvalidInput` for none or more than are allowed."""
    limit = settings.retrieval.top_k if top_k is None else top_k
    if not 1 <= limit <= settings.max_recall_top_k:
        raise InvalidInput(f"top_k {limit}; it takes 1 to {settings.max_recall_top_k}")
    return limit


def _within(rows: Iterable[Row], budget_chars: int) -> list[Row]:
    """Take rows from the tail while their texts fit; return them in the order of time."""
    seen: dict[int, Row] = {}

    def lengths() -> Iterator[tuple[int, int]]:
        for row in rows:
            seen[row.seq] = row
            yield row.seq, row.length

    return [seen[seq] for seq in select_recent(lengths(), budget_chars=budget_chars)]
