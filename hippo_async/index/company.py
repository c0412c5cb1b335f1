"""Which tags stand together: what the network of tags is made of (L18, L20)."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hippo_async.index.filters import condition
from hippo_async.index.rows import packed, unpacked
from hippo_async.language.plain import regular
from hippo_async.records import Filters

MOST_CARRIERS = 2_000
"""A tag on more records than that has too much company to lead anywhere: it is not looked at."""

CLOSEST = 20
"""Of the others, so many that stand beside a tag most often are counted."""


@dataclass(frozen=True, slots=True)
class Company:
    """The tags beside one: on how many records it is, and each of the others together with it and in all."""

    carriers: int
    others: dict[str, tuple[int, int]]


def company(db: sqlite3.Connection, tag: str, scope: Sequence[str]) -> Company:
    """Return who stands beside a tag in a scope; nobody beside one that is unknown or everywhere."""
    where = {"tag": regular(tag), "scope": packed(scope), "most": MOST_CARRIERS + 1}
    found = db.execute(
        "SELECT r.tags FROM tags CROSS JOIN records AS r ON r.seq = tags.seq"
        " WHERE tags.tag = :tag AND r.searchable AND r.scope = :scope LIMIT :most",
        where,
    ).fetchall()
    if len(found) > MOST_CARRIERS:
        return Company(len(found), {})
    together = Counter(other for (tags,) in found for other in _regular(tags) if other != where["tag"])
    counts = {other: (count, _carriers(db, other, scope)) for other, count in together.most_common(CLOSEST)}
    return Company(len(found), counts)


def tag_lists(db: sqlite3.Connection, scope: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the tags of each record of a scope that searches find and that has some."""
    query = "SELECT tags FROM records WHERE scope = ? AND searchable AND tags <> '[]'"
    for (tags,) in db.execute(query, (packed(scope),)):
        yield unpacked(tags)


def carrying(db: sqlite3.Connection, tag: str, *, filters: Filters, limit: int) -> list[int]:
    """Return the seqs of the newest records with a tag that the filters let through."""
    where, values = condition(filters)
    query = "\n".join(
        (
            "SELECT r.seq FROM tags AS named CROSS JOIN records AS r ON r.seq = named.seq",
            "WHERE named.tag = :named AND",
            where,
            "ORDER BY named.seq DESC LIMIT :limit",
        )
    )
    found = db.execute(query, values | {"named": regular(tag), "limit": limit})
    return [seq for (seq,) in found]


def _carriers(db: sqlite3.Connection, tag: str, scope: Sequence[str]) -> int:
    [count] = db.execute(
        "SELECT count(*) FROM tags CROSS JOIN records AS r ON r.seq = tags.seq"
        " WHERE tags.tag = ? AND r.searchable AND r.scope = ?",
        (tag, packed(scope)),
    ).fetchone()
    return int(count)


def _regular(tags: str) -> set[str]:
    return {regular(tag) for tag in unpacked(tags)}
