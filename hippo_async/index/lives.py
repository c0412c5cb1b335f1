"""What is known of the lives of memories: questions to the tables of :mod:`hippo_async.index.fates`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from hippo_async.index.rows import packed, unpacked
from hippo_async.lives.states import MemoryState, Pending, Standing, Task


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
    """Return the task in progress of a scope (L14): there is at most one."""
    found = db.execute(
        "SELECT task, seq, progress, updated FROM tasks WHERE scope = ? AND active", (packed(scope),)
    ).fetchone()
    return None if found is None else Task(*found)


def stale_tasks(db: sqlite3.Connection, *, before: str) -> list[str]:
    """Return the record ids of the last checkpoints of active tasks that nothing was heard of since."""
    found = db.execute(
        "SELECT r.record_id FROM tasks JOIN records AS r USING (seq)"
        " WHERE active AND updated < ? ORDER BY seq",
        (before,),
    )
    return [record_id for (record_id,) in found]


def pending(db: sqlite3.Connection, record_ids: Sequence[str]) -> list[Pending]:
    """Return which of these records are to be forgotten or were erased, the soonest due first."""
    found = db.execute(
        "SELECT record_id, since, due, erased FROM forgotten"
        " WHERE record_id IN (SELECT value FROM json_each(?)) ORDER BY due, record_id",
        (json.dumps(list(record_ids)),),
    )
    return [Pending(record_id, since, due, bool(erased)) for record_id, since, due, erased in found]


def pending_in(db: sqlite3.Connection, scope: Sequence[str]) -> list[Pending]:
    """Return what of a scope is to be forgotten or was erased, the soonest due first."""
    found = db.execute(
        "SELECT record_id, since, due, erased FROM forgotten JOIN records USING (record_id)"
        " WHERE scope = ? ORDER BY due, record_id",
        (packed(scope),),
    )
    return [Pending(record_id, since, due, bool(erased)) for record_id, since, due, erased in found]


def tags_in_use(db: sqlite3.Connection, scope: Sequence[str], *, most: int) -> list[tuple[str, int]]:
    """Return the tags that searches can find in a scope, with their numbers, the most frequent first."""
    return db.execute(
        "SELECT tag, count(*) FROM tags JOIN records AS r USING (seq) WHERE r.scope = ? AND r.searchable"
        " GROUP BY tag ORDER BY count(*) DESC, tag LIMIT ?",
        (packed(scope), most),
    ).fetchall()


def overdue(db: sqlite3.Connection, *, by: str) -> list[str]:
    """Return the ids of records that are due to be erased at a moment and still have their text."""
    found = db.execute(
        "SELECT record_id FROM forgotten JOIN records AS r USING (record_id)"
        " WHERE forgotten.due <= ? AND r.findable ORDER BY forgotten.due, r.seq",
        (by,),
    )
    return [record_id for (record_id,) in found]


def hidden(db: sqlite3.Connection) -> set[str]:
    """Return the ids of all records that have a text and are to be forgotten, or were made of such."""
    return {name for (name,) in db.execute("SELECT record_id FROM records WHERE findable AND NOT searchable")}


def marked(db: sqlite3.Connection, marks: Sequence[str]) -> set[str]:
    """Return those of the marks that stand for something erased."""
    found = db.execute(
        "SELECT DISTINCT mark FROM marks WHERE mark IN (SELECT value FROM json_each(?))",
        (json.dumps(list(marks)),),
    )
    return {mark for (mark,) in found}


def made_of(db: sqlite3.Connection, record_ids: Sequence[str]) -> list[int]:
    """Return the seqs of what was made of any of these records and has its text: folds."""
    found = db.execute(
        "SELECT DISTINCT seq FROM sources JOIN records USING (seq) WHERE findable"
        " AND original IN (SELECT value FROM json_each(?)) ORDER BY seq",
        (json.dumps(list(record_ids)),),
    )
    return [seq for (seq,) in found]
