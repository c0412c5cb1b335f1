"""What is known of the lives of memories: questions to the tables of :mod:`hippo_async.index.fates`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from hippo_async.index.rows import packed, unpacked
from hippo_async.lives.states import MemoryState, Pending, Standing, Task
from hippo_async.records import PINNED_TAG


def by_event(db: sqlite3.Connection, event_id: str) -> str | None:
    """Return the record id of the memory with this event id, the newest if it was remembered anew."""
    found = db.execute(
        "SELECT r.record_id FROM memories JOIN records AS r USING (seq) WHERE event_id = ? ORDER BY seq DESC",
        (event_id,),
    ).fetchone()
    return None if found is None else str(found[0])


def standing(db: sqlite3.Connection, record_id: str) -> Standing | None:
    """Return how a record stands; ``None`` for one that is unknown."""
    found = db.execute(
        "SELECT seq, scope, findable, searchable FROM records WHERE record_id = ?", (record_id,)
    ).fetchone()
    if found is None:
        return None
    seq, scope, findable, searchable = found
    return Standing(seq, unpacked(scope), bool(findable), bool(searchable))


def state(db: sqlite3.Connection, record_id: str) -> MemoryState | None:
    """Return what became of a memory, ``None`` if the record is none that was remembered."""
    found = db.execute(
        "SELECT seq, record_id, count, confirmed, due FROM memories JOIN records USING (seq)"
        " WHERE record_id = ?",
        (record_id,),
    ).fetchone()
    return None if found is None else MemoryState(*found)


def due_reviews(db: sqlite3.Connection, scope: Sequence[str] | None, *, by: str) -> list[MemoryState]:
    """Return the memories whose review is due at a moment, the longest due first (L12)."""
    found = db.execute(
        "SELECT seq, record_id, count, confirmed, due FROM memories JOIN records USING (seq)"
        " WHERE due <= :by AND searchable AND (:scope IS NULL OR scope = :scope) ORDER BY due, seq",
        {"by": by, "scope": None if scope is None else packed(scope)},
    )
    return [MemoryState(*columns) for columns in found]


def active_task(db: sqlite3.Connection, scope: Sequence[str]) -> Task | None:
    """Return the task in progress of a scope (L14): that of the last checkpoint, or none."""
    found = db.execute(
        "SELECT task, seq, progress, c.updated, demoted OR progress = 100"
        " FROM checkpoints AS c JOIN records AS r USING (seq)"
        " WHERE c.scope = ? AND r.searchable ORDER BY seq DESC LIMIT 1",
        (packed(scope),),
    ).fetchone()
    return None if found is None or found[-1] else Task(*found[:-1])


def pinned(db: sqlite3.Connection, scope: Sequence[str], *, most: int) -> list[int]:
    """Return the seqs of what searches can find in a scope and is pinned, the newest first."""
    found = db.execute(  # from the tags, by their key: those of a scope are few, its records are not
        "SELECT r.seq FROM tags CROSS JOIN records AS r ON r.seq = tags.seq"
        " WHERE tag = ? AND r.scope = ? AND r.searchable ORDER BY tags.seq DESC LIMIT ?",
        (PINNED_TAG, packed(scope), most),
    )
    return [seq for (seq,) in found]


def stale_tasks(db: sqlite3.Connection, *, before: str) -> list[str]:
    """Return the record ids of the last checkpoints of active tasks that nothing was heard of since."""
    found = db.execute(
        "SELECT r.record_id FROM checkpoints JOIN records AS r USING (seq) WHERE seq IN"
        " (SELECT max(seq) FROM checkpoints AS c JOIN records AS r USING (seq) WHERE r.searchable"
        "  GROUP BY c.scope)"
        " AND NOT demoted AND progress <> 100 AND updated < ? ORDER BY seq",
        (before,),
    )
    return [record_id for (record_id,) in found]


def pending(db: sqlite3.Connection, record_ids: Sequence[str]) -> list[Pending]:
    """Return which of these records are to be forgotten or were erased, the soonest due first."""
    found = db.execute(
        "SELECT record_id, since, due, NOT findable FROM forgotten JOIN records USING (record_id)"
        " WHERE record_id IN (SELECT value FROM json_each(?)) ORDER BY due, record_id",
        (json.dumps(list(record_ids)),),
    )
    return [Pending(record_id, since, due, bool(erased)) for record_id, since, due, erased in found]


def pending_in(db: sqlite3.Connection, scope: Sequence[str], mark: str) -> list[Pending]:
    """Return what of a scope is to be forgotten or was erased, the soonest due first.

    ``mark`` stands for the scope: an erased record says no more in which it was.
    """
    found = db.execute(
        "SELECT record_id, since, due, NOT findable FROM forgotten JOIN records USING (record_id)"
        " WHERE CASE WHEN findable THEN scope = ?"
        "  ELSE record_id IN (SELECT record_id FROM marks WHERE mark = ?) END ORDER BY due, record_id",
        (packed(scope), mark),
    )
    return [Pending(record_id, since, due, bool(erased)) for record_id, since, due, erased in found]


def beginning(db: sqlite3.Connection, digits: str, scope: Sequence[str], mark: str) -> list[str]:
    """Return the ids that begin with these digits of what a scope has: what searches can find there, and
    what is to be forgotten or was erased, for which ``mark`` stands for the scope. In the order of ids.
    """
    found = db.execute(
        "SELECT record_id FROM records AS r LEFT JOIN forgotten AS f USING (record_id)"
        " WHERE record_id >= :digits AND record_id < :digits || 'g'"  # behind every hexadecimal digit
        " AND CASE WHEN r.findable THEN r.scope = :scope AND (r.searchable OR f.due IS NOT NULL)"
        "  ELSE f.due IS NOT NULL AND record_id IN (SELECT record_id FROM marks WHERE mark = :mark) END"
        " ORDER BY record_id",
        {"digits": digits, "scope": packed(scope), "mark": mark},
    )
    return [record_id for (record_id,) in found]


def overdue(db: sqlite3.Connection, *, by: str) -> list[str]:
    """Return the ids of records that are due to be erased at a moment and still have their text.

    A fold that is to be forgotten is due no later than what it was made of.
    """
    found = db.execute(
        "WITH due AS (SELECT record_id FROM forgotten WHERE due <= ?)"
        " SELECT record_id FROM forgotten JOIN records AS r USING (record_id) WHERE r.findable AND"
        " (record_id IN due OR r.seq IN (SELECT seq FROM sources WHERE original IN due))"
        " ORDER BY forgotten.due, r.seq",
        (by,),
    )
    return [record_id for (record_id,) in found]


def hidden(db: sqlite3.Connection) -> set[str]:
    """Return the ids of all records that have a text and are to be forgotten, or were made of such.

    A fold of any of them, a trend of nothing else.
    """
    found = db.execute(
        "SELECT record_id FROM forgotten JOIN records USING (record_id) WHERE findable"
        " UNION SELECT r.record_id FROM forgotten JOIN sources ON original = forgotten.record_id"
        " JOIN records AS r USING (seq) WHERE r.findable"
        " UNION SELECT r.record_id FROM episodes AS any JOIN records AS r USING (seq) WHERE r.findable"
        " AND NOT EXISTS (SELECT 1 FROM episodes AS seen WHERE seen.seq = any.seq"
        " AND seen.original NOT IN (SELECT record_id FROM forgotten))"
    )
    return {name for (name,) in found}


def unseen(db: sqlite3.Connection, record_ids: Sequence[str]) -> set[str]:
    """Return those of these records that no search can find, as they are hidden or have no text."""
    found = db.execute(
        "SELECT record_id FROM records WHERE NOT searchable"
        " AND record_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(record_ids)),),
    )
    return {name for (name,) in found}


def bearing(db: sqlite3.Connection, marks: Sequence[str]) -> dict[str, str]:
    """Return the erased record that each mark stands for, the newest of several; none for other marks."""
    found = db.execute(
        "SELECT mark, record_id FROM marks JOIN records USING (record_id)"
        " WHERE mark IN (SELECT value FROM json_each(?)) ORDER BY seq",
        (json.dumps(list(marks)),),
    )
    return dict(found)


def folds_of(db: sqlite3.Connection, seqs: Sequence[int]) -> list[int]:
    """Return the seqs of folds that have their text and were made of any of these, also by way of others."""
    found = db.execute(
        "SELECT DISTINCT s.seq FROM json_each(?) AS asked CROSS JOIN records AS r ON r.seq = asked.value"
        " JOIN sources AS s ON s.original = r.record_id JOIN records AS fold ON fold.seq = s.seq"
        " WHERE fold.findable ORDER BY s.seq",
        (json.dumps(list(seqs)),),
    )
    return [seq for (seq,) in found]


def made_of_overdue(db: sqlite3.Connection, *, by: str) -> list[int]:
    """Return the seqs of folds that have their text and were made of what is due to be erased, or was.

    Without those that are to be forgotten themselves. One may be made of what is erased already: its turns
    were being summarized then.
    """
    found = db.execute(
        "SELECT seq FROM sources JOIN records USING (seq) WHERE findable"
        " AND original IN (SELECT record_id FROM forgotten WHERE due <= ?)"
        " AND record_id NOT IN (SELECT record_id FROM forgotten) GROUP BY seq ORDER BY seq",
        (by,),
    )
    return [seq for (seq,) in found]
