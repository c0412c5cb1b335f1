"""What memories of other memories are made of, and which there are (L19, L20)."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from hippo_async.index.filters import TOLD
from hippo_async.index.rows import packed, unpacked
from hippo_async.lives.calendar import AFTER_ALL, BEFORE_ALL, Between, Calendar
from hippo_async.lives.layers import MOST_ORIGINALS, Layer


class Made(NamedTuple):
    """The last memory of a subject: of how many records, when, and whether it is to be forgotten."""

    seen: int
    at: str
    is_forgotten: bool


def made(db: sqlite3.Connection, layer: Layer, scope: Sequence[str]) -> dict[str, Made]:
    """Return the last memory of each subject of a layer and scope, by the subject's name."""
    found = db.execute(
        "SELECT name, seen, timestamp, record_id IN (SELECT record_id FROM forgotten)"
        " FROM layers JOIN records USING (seq) WHERE layer = ? AND layers.scope = ? ORDER BY seq",
        (layer, packed(scope)),
    )
    return {name: Made(seen, at, bool(is_forgotten)) for name, seen, at, is_forgotten in found}


def newest(db: sqlite3.Connection, scope: Sequence[str], *, limit: int) -> list[int]:
    """Return the seqs of the newest memories of a scope that are of a subject and can be found."""
    found = db.execute(
        "SELECT seq FROM layers JOIN records USING (seq) WHERE layers.scope = ? AND searchable"
        " ORDER BY seq DESC LIMIT ?",
        (packed(scope), limit),
    )
    return [seq for (seq,) in found]


def superseded(db: sqlite3.Connection) -> list[int]:
    """Return the seqs of memories with a text of whose subject there is a later one."""
    found = db.execute(
        "SELECT seq FROM layers AS this JOIN records USING (seq) WHERE findable AND EXISTS (SELECT 1"
        " FROM layers AS later WHERE later.layer = this.layer AND later.scope = this.scope"
        " AND later.name = this.name AND later.seq > this.seq) ORDER BY seq"
    )
    return [seq for (seq,) in found]


def without_episodes(db: sqlite3.Connection, *, by: str) -> list[int]:
    """Return the seqs of trends with a text of which each episode is due to be erased at a moment, or was."""
    found = db.execute(
        "WITH due AS (SELECT record_id FROM forgotten WHERE due <= ?)"
        " SELECT DISTINCT seq FROM episodes AS any JOIN records USING (seq) WHERE findable"
        " AND record_id NOT IN (SELECT record_id FROM forgotten) AND NOT EXISTS (SELECT 1"
        " FROM episodes AS living WHERE living.seq = any.seq AND living.original NOT IN due) ORDER BY seq",
        (by,),
    )
    return [seq for (seq,) in found]


def scopes(db: sqlite3.Connection, *, since: str = BEFORE_ALL) -> list[tuple[str, ...]]:
    """Return the scopes in which something that can be found is of a time since then."""
    return [unpacked(scope) for scope in _scopes(db) if _first(db, _FROM, scope, since, AFTER_ALL)]


def months_without_memo(
    db: sqlite3.Connection, calendar: Calendar, *, now: datetime
) -> list[tuple[tuple[str, ...], str]]:
    """Return the scopes and months that are over and have records and no memo, oldest first.

    Goes from month to month by the index of times: what it takes does not grow with the number of records.
    """
    end = calendar.of_month(calendar.month(now)).start
    found = [
        (unpacked(scope), month)
        for scope in _scopes(db)
        for pressed in [made(db, Layer.MONTH, unpacked(scope))]
        for month in _months(db, scope, calendar, end=end)
        if month not in pressed
    ]
    return sorted(found, key=lambda each: each[::-1])


def told(db: sqlite3.Connection, scope: Sequence[str], time: Between) -> list[int]:
    """Return the seqs of what was told in a time, in their order; of too much, what says most."""
    query = "\n".join(
        (
            "SELECT seq FROM (SELECT r.seq, r.substance FROM records AS r WHERE",
            TOLD,
            "AND r.scope = :scope AND r.timestamp >= :start AND r.timestamp < :end",
            "ORDER BY r.substance DESC, r.seq LIMIT :most) ORDER BY seq",
        )
    )
    values = {"scope": packed(scope), **time._asdict(), "most": MOST_ORIGINALS}
    return [seq for (seq,) in db.execute(query, values)]


def count_told(db: sqlite3.Connection, scope: Sequence[str], time: Between) -> int:
    """Return how much was told in a time."""
    query = "\n".join(
        (
            "SELECT count(*) FROM records AS r WHERE",
            TOLD,
            "AND r.scope = :scope AND r.timestamp >= :start AND r.timestamp < :end",
        )
    )
    [count] = db.execute(query, {"scope": packed(scope), **time._asdict()}).fetchone()
    return int(count)


def told_with(db: sqlite3.Connection, scope: Sequence[str], tag: str, *, limit: int) -> list[tuple[int, int]]:
    """Return what was told in a scope with a tag, the newest first: each seq, and how much it says."""
    query = "\n".join(
        (
            "SELECT r.seq, r.substance FROM tags CROSS JOIN records AS r ON r.seq = tags.seq WHERE",
            TOLD,
            "AND tags.tag = ? AND r.scope = ? ORDER BY tags.seq DESC LIMIT ?",
        )
    )
    return db.execute(query, (tag, packed(scope), limit)).fetchall()


class Tagged(NamedTuple):
    """Something that was told: when, the id of its record, and its tags."""

    at: str
    record_id: str
    tags: Collection[str]


def told_since(db: sqlite3.Connection, scope: Sequence[str], *, since: str, limit: int) -> list[Tagged]:
    """Return the newest things that were told since then, the newest first."""
    query = "\n".join(
        (
            "SELECT r.timestamp, r.record_id, r.tags FROM records AS r WHERE",
            TOLD,
            "AND r.scope = :scope AND r.timestamp >= :since",
            "ORDER BY r.timestamp DESC, r.seq DESC LIMIT :limit",
        )
    )
    found = db.execute(query, {"scope": packed(scope), "since": since, "limit": limit})
    return [Tagged(at, record_id, unpacked(tags)) for at, record_id, tags in found]


def _scopes(db: sqlite3.Connection) -> Iterator[str]:
    query = "SELECT min(scope) FROM records WHERE searchable AND scope > ?"
    scope = _first(db, query, "")
    while scope is not None:
        yield scope
        scope = _first(db, query, scope)


_FROM = (
    "SELECT min(timestamp) FROM records WHERE searchable AND scope = ? AND timestamp >= ? AND timestamp < ?"
)


def _months(db: sqlite3.Connection, scope: str, calendar: Calendar, *, end: str) -> Iterator[str]:
    moment = _first(db, _FROM, scope, BEFORE_ALL, end)
    while moment is not None:
        month = calendar.month(datetime.fromisoformat(moment))
        yield month
        moment = _first(db, _FROM, scope, calendar.of_month(month).end, end)


def _first(db: sqlite3.Connection, query: str, *values: str) -> str | None:
    [found] = db.execute(query, values).fetchone()
    return None if found is None else str(found)
