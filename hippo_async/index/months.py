"""Which calendar months a memory speaks of, and which want a memo (L19). Months are those of UTC."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from hippo_async.index.rows import packed, unpacked
from hippo_async.records import MONTH_TAG

MEMO_RECORDS = 1_000
"""Of a month that says more, the memo is made of so many records: those that say most."""

_TOLD = "r.searchable AND ifnull(r.role, 'user') IN ('user', 'assistant') AND r.tags NOT LIKE '%\"status:%'"
"""What was said or remembered, and not made of other records."""


def without_memo(db: sqlite3.Connection, *, before: str) -> list[tuple[tuple[str, ...], str]]:
    """Return the scopes and months (``YYYY-MM``) before one that have records and no memo, oldest first."""
    query = "\n".join(
        (
            "SELECT r.scope, substr(r.timestamp, 1, 7) AS month FROM records AS r WHERE",
            _TOLD,
            "AND r.timestamp < :before AND NOT EXISTS",
            "(SELECT 1 FROM tags JOIN records AS m ON m.seq = tags.seq",
            " WHERE tags.tag = :tag || substr(r.timestamp, 1, 7) AND m.scope = r.scope AND m.searchable)",
            "GROUP BY r.scope, month ORDER BY month, r.scope",
        )
    )
    found = db.execute(query, {"before": before, "tag": MONTH_TAG})
    return [(unpacked(scope), month) for scope, month in found]


def told_in(db: sqlite3.Connection, scope: Sequence[str], month: str) -> list[int]:
    """Return the seqs of what was told in a month, in their order; of too much, what says most."""
    query = "\n".join(
        (
            "SELECT seq FROM (SELECT r.seq, r.substance FROM records AS r WHERE",
            _TOLD,
            "AND r.scope = :scope AND r.timestamp >= :month AND r.timestamp < :month || '~'",
            "ORDER BY r.substance DESC, r.seq LIMIT :most) ORDER BY seq",
        )
    )
    values = {"scope": packed(scope), "month": month, "most": MEMO_RECORDS}
    return [seq for (seq,) in db.execute(query, values)]
