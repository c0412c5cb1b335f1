"""Which calendar months a memory speaks of, and which want a memo (L19). Months are those of UTC."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from hippo_async.index.rows import packed, unpacked
from hippo_async.records import MONTH_TAG

LAST = "~"
"""Sorts behind whatever else may follow the name of a month."""

MEMO_RECORDS = 300
"""Of a month that says more, the memo is made of so many records: those that say most. Folding a thousand
turns of real talk keeps an event loop waiting for 16 ms, 300 for 5."""

_TOLD = "r.searchable AND ifnull(r.role, 'user') IN ('user', 'assistant') AND r.tags NOT LIKE '%\"status:%'"
"""What was said or remembered, and not made of other records."""


def without_memo(db: sqlite3.Connection, *, before: str) -> list[tuple[tuple[str, ...], str]]:
    """Return the scopes and months (``YYYY-MM``) before one that have records and no memo, oldest first.

    Goes from month to month by the index of times: what it takes does not grow with the number of records.
    """
    pressed = _pressed(db)
    found = [
        (scope, month)
        for scope in _scopes(db)
        for month in _months(db, scope, before=before)
        if (scope, month) not in pressed
    ]
    return [(unpacked(scope), month) for scope, month in sorted(found, key=lambda each: each[::-1])]


def _pressed(db: sqlite3.Connection) -> set[tuple[str, str]]:
    """The scopes and months that have a memo."""
    found = db.execute(
        "SELECT r.scope, substr(tags.tag, ?) FROM tags CROSS JOIN records AS r ON r.seq = tags.seq"
        " WHERE tags.tag >= ? AND tags.tag < ? AND r.searchable",
        (len(MONTH_TAG) + 1, MONTH_TAG, MONTH_TAG + LAST),
    )
    return set(found)


def _scopes(db: sqlite3.Connection) -> Iterator[str]:
    query = "SELECT min(scope) FROM records WHERE searchable AND scope > ?"
    scope = _first(db, query, "")
    while scope is not None:
        yield scope
        scope = _first(db, query, scope)


def _months(db: sqlite3.Connection, scope: str, *, before: str) -> Iterator[str]:
    query = (
        "SELECT min(timestamp) FROM records"
        " WHERE searchable AND scope = ? AND timestamp >= ? AND timestamp < ?"
    )
    moment = _first(db, query, scope, "", before)
    while moment is not None:
        month = moment[:7]
        yield month
        moment = _first(db, query, scope, month + LAST, before)


def _first(db: sqlite3.Connection, query: str, *values: str) -> str | None:
    [found] = db.execute(query, values).fetchone()
    return None if found is None else str(found)


def told_in(db: sqlite3.Connection, scope: Sequence[str], month: str) -> list[int]:
    """Return the seqs of what was told in a month, in their order; of too much, what says most."""
    query = "\n".join(
        (
            "SELECT seq FROM (SELECT r.seq, r.substance FROM records AS r WHERE",
            _TOLD,
            "AND r.scope = :scope AND r.timestamp >= :month AND r.timestamp < :last",
            "ORDER BY r.substance DESC, r.seq LIMIT :most) ORDER BY seq",
        )
    )
    values = {"scope": packed(scope), "month": month, "last": month + LAST, "most": MEMO_RECORDS}
    return [seq for (seq,) in db.execute(query, values)]
