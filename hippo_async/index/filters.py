"""Which records a search may return, as an SQL condition."""

from __future__ import annotations

import json

from hippo_async.index.rows import packed
from hippo_async.language.plain import regular
from hippo_async.records import Filters, utc_timestamp

TOLD = "r.searchable AND ifnull(r.role, 'user') IN ('user', 'assistant') AND r.tags NOT LIKE '%\"status:%'"
"""The condition over ``records r`` for what was said or remembered, and not made of other records."""

_CLAUSES = {
    "scope": "r.scope = :scope",
    "session": "r.session = :session",
    "start": "r.timestamp >= :start",
    "end": "r.timestamp < :end",
    "kinds": "r.kind IN (SELECT value FROM json_each(:kinds))",
    "roles": "r.role IN (SELECT value FROM json_each(:roles))",
    "tags": "NOT EXISTS (SELECT 1 FROM json_each(:tags) AS wanted WHERE NOT EXISTS"
    " (SELECT 1 FROM tags WHERE tags.tag = wanted.value AND tags.seq = r.seq))",
}


def condition(filters: Filters) -> tuple[str, dict[str, object]]:
    """Return an SQL condition over ``records r`` and its named parameters; no value stands in the SQL."""
    given = {
        "scope": packed(filters.scope) if filters.scope is not None else None,
        "session": filters.session,
        "start": utc_timestamp(filters.start) if filters.start else None,
        "end": utc_timestamp(filters.end) if filters.end else None,
        "kinds": json.dumps(filters.kinds) if filters.kinds else None,
        "roles": json.dumps(filters.roles) if filters.roles else None,
        "tags": json.dumps([regular(tag) for tag in filters.tags]) if filters.tags else None,
    }
    values: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    return " AND ".join(["r.searchable", *(_CLAUSES[name] for name in values)]), values
