"""What became of memories: how often they were remembered, when they are due, which are to be forgotten.

Made of the records alone, in their order, so that it comes out the same whenever it is made anew (L21).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from hippo_async.index.rows import packed
from hippo_async.lives import Act, Operation, operation_of
from hippo_async.lives.reviews import due_after
from hippo_async.records import CHECKPOINT, REMEMBERED, Record

TABLES = """
CREATE TABLE memories (
    seq INTEGER PRIMARY KEY, event_id TEXT NOT NULL, count INTEGER NOT NULL,
    confirmed INTEGER NOT NULL, step INTEGER NOT NULL, due TEXT
);
CREATE INDEX memories_events ON memories (event_id);
CREATE INDEX memories_due ON memories (due) WHERE due IS NOT NULL;
CREATE TABLE tasks (
    scope TEXT NOT NULL, task TEXT NOT NULL, seq INTEGER NOT NULL, progress INTEGER NOT NULL,
    updated TEXT NOT NULL, active INTEGER NOT NULL, PRIMARY KEY (scope, task)
);
CREATE TABLE forgotten (
    record_id TEXT PRIMARY KEY, since TEXT NOT NULL, due TEXT NOT NULL, erased INTEGER NOT NULL
);
CREATE TABLE marks (
    mark TEXT NOT NULL, record_id TEXT NOT NULL, PRIMARY KEY (mark, record_id)
) WITHOUT ROWID;
CREATE TABLE sources (
    original TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (original, seq)
) WITHOUT ROWID;
"""
"""``memories`` were remembered, ``tasks`` have their last checkpoint, ``forgotten`` are hidden or erased,
``marks`` stand for what was erased, ``sources`` are what folds were made of."""

_SHOW = """
UPDATE records SET searchable = findable
    AND record_id NOT IN (SELECT record_id FROM forgotten)
    AND seq NOT IN (SELECT seq FROM sources WHERE original IN (SELECT record_id FROM forgotten))
WHERE seq = ?
"""
_SHOW_AS_TURN = """
UPDATE records SET turn = searchable AND session IS NOT NULL AND ifnull(role, '') IN ('user', 'assistant')
WHERE seq = ?
"""


def add(db: sqlite3.Connection, record: Record) -> bool:
    """Take in what a record says of a memory; say whether others were hidden or shown by it."""
    if record.purged or record.type != "record":
        return False
    operation = operation_of(record)
    if operation is not None:
        return _apply(db, operation, at=record.timestamp)
    if record.is_fold:
        return _add_fold(db, record)
    if record.event == CHECKPOINT:
        return _add_checkpoint(db, record)
    if record.event == REMEMBERED:
        _add_memory(db, record)
    return False


def _add_memory(db: sqlite3.Connection, record: Record) -> None:
    identity = record.metadata.get("identity")
    event_id = identity.get("event_id") if isinstance(identity, dict) else None
    values = (record.seq, str(event_id), 1, 0, 0, due_after(record.timestamp, 0))
    db.execute("INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?)", values)


def _add_fold(db: sqlite3.Connection, fold: Record) -> bool:
    originals = fold.metadata.get("originals")
    if not isinstance(originals, list):
        return False
    rows = [(original, fold.seq) for original in originals if isinstance(original, str)]
    db.executemany("INSERT OR IGNORE INTO sources VALUES (?, ?)", rows)
    _show(db, [fold.seq])
    return bool(rows)


def _add_checkpoint(db: sqlite3.Connection, record: Record) -> bool:
    """One task is active: the last. What was said of the same task before is history, and not found."""
    task = record.metadata.get("task")
    if not isinstance(task, dict):
        return False
    scope, task_id, progress = packed(record.scope), str(task.get("id")), task.get("progress")
    db.execute("UPDATE tasks SET active = 0 WHERE scope = ?", (scope,))
    before = db.execute("SELECT seq FROM tasks WHERE scope = ? AND task = ?", (scope, task_id)).fetchone()
    if before is not None:
        db.execute("UPDATE records SET findable = 0, searchable = 0, turn = 0 WHERE seq = ?", before)
    db.execute(
        "INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, ?, ?)",
        (scope, task_id, record.seq, progress, record.timestamp, progress != 100),
    )
    return before is not None


def _apply(db: sqlite3.Connection, operation: Operation, *, at: str) -> bool:
    """Do to the target what was done; one that is unknown, as after a change of journals, has no fate."""
    target = operation.target
    found = db.execute("SELECT seq FROM records WHERE record_id = ?", (target,)).fetchone()
    if found is None:
        return False
    [seq] = found
    match operation.act:
        case Act.REPEATED:
            db.execute("UPDATE memories SET count = count + 1 WHERE seq = ?", (seq,))
        case Act.REINFORCED:
            _confirm(db, seq, at)
        case Act.DEMOTED:
            db.execute("UPDATE tasks SET active = 0 WHERE seq = ?", (seq,))
        case Act.FORGOTTEN:
            db.execute(
                "INSERT OR IGNORE INTO forgotten VALUES (?, ?, ?, 0)", (target, at, operation.due or at)
            )
        case Act.RESTORED:
            db.execute("DELETE FROM forgotten WHERE record_id = ?", (target,))
            db.execute("DELETE FROM marks WHERE record_id = ?", (target,))
        case Act.ERASED:
            db.execute("UPDATE forgotten SET erased = 1 WHERE record_id = ?", (target,))
            rows = [(mark, target) for mark in operation.marks]
            db.executemany("INSERT OR IGNORE INTO marks VALUES (?, ?)", rows)
    if operation.act not in (Act.FORGOTTEN, Act.RESTORED):
        return False
    made = db.execute("SELECT seq FROM sources WHERE original = ?", (target,))
    _show(db, [seq, *(fold for (fold,) in made.fetchall())])
    return True


def _confirm(db: sqlite3.Connection, seq: int, at: str) -> None:
    found = db.execute("SELECT step FROM memories WHERE seq = ?", (seq,)).fetchone()
    if found is not None:
        step = found[0] + 1
        db.execute(
            "UPDATE memories SET confirmed = confirmed + 1, step = ?, due = ? WHERE seq = ?",
            (step, due_after(at, step), seq),
        )


def _show(db: sqlite3.Connection, seqs: Iterable[int]) -> None:
    """Let searches find records, unless they or what they were made of is to be forgotten."""
    rows = [(seq,) for seq in seqs]
    db.executemany(_SHOW, rows)
    db.executemany(_SHOW_AS_TURN, rows)
