"""What became of memories: how often they were remembered, when they are due, which are to be forgotten.

Made of the records alone, in their order, so that it comes out the same whenever it is made anew (L21).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable

from hippo_async.index.rows import packed
from hippo_async.lives import Act, Operation, operation_of
from hippo_async.lives.layers import Layer, originals_of, seen_by, subject_of
from hippo_async.lives.reviews import due_after
from hippo_async.records import CHECKPOINT, REMEMBERED, Record

TABLES = """
CREATE TABLE memories (
    seq INTEGER PRIMARY KEY, event_id TEXT NOT NULL, count INTEGER NOT NULL,
    confirmed INTEGER NOT NULL, step INTEGER NOT NULL, due TEXT, touched TEXT NOT NULL
);
CREATE INDEX memories_events ON memories (event_id);
CREATE INDEX memories_due ON memories (due) WHERE due IS NOT NULL;
CREATE TABLE checkpoints (
    seq INTEGER PRIMARY KEY, scope TEXT NOT NULL, task TEXT NOT NULL, progress INTEGER NOT NULL,
    updated TEXT NOT NULL, demoted INTEGER NOT NULL
);
CREATE INDEX checkpoints_tasks ON checkpoints (scope, task, seq);
CREATE TABLE forgotten (
    record_id TEXT PRIMARY KEY, since TEXT NOT NULL, due TEXT NOT NULL
);
CREATE TABLE marks (
    mark TEXT NOT NULL, record_id TEXT NOT NULL, PRIMARY KEY (mark, record_id)
) WITHOUT ROWID;
CREATE TABLE sources (
    original TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (original, seq)
) WITHOUT ROWID;
CREATE INDEX sources_folds ON sources (seq);
CREATE TABLE episodes (
    original TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (original, seq)
) WITHOUT ROWID;
CREATE INDEX episodes_trends ON episodes (seq);
CREATE TABLE layers (
    seq INTEGER PRIMARY KEY, scope TEXT NOT NULL, layer TEXT NOT NULL, name TEXT NOT NULL,
    seen INTEGER NOT NULL
);
CREATE INDEX layers_subjects ON layers (layer, scope, name, seq);
"""
"""``memories`` were remembered, ``checkpoints`` say how far tasks are, ``forgotten`` are hidden or erased,
``marks`` stand for what was erased, ``sources`` are what folds were made of, also by way of other folds,
``episodes`` what trends were made of, ``layers`` are the memories that are of a subject."""

_SHOW = """
UPDATE records SET searchable = findable
    AND record_id NOT IN (SELECT record_id FROM forgotten)
    AND seq NOT IN (SELECT seq FROM sources WHERE original IN (SELECT record_id FROM forgotten))
    AND (
        seq NOT IN (SELECT seq FROM episodes)
        OR EXISTS (
            SELECT 1 FROM episodes
            WHERE seq = records.seq AND original NOT IN (SELECT record_id FROM forgotten)
        )
    )
    AND NOT EXISTS (
        SELECT 1 FROM layers AS this
        JOIN layers AS later ON (later.layer, later.scope, later.name) = (this.layer, this.scope, this.name)
        WHERE this.seq = records.seq AND later.seq > this.seq
    )
    AND NOT EXISTS (
        SELECT 1 FROM checkpoints AS this
        JOIN checkpoints AS later ON (later.scope, later.task) = (this.scope, this.task)
        JOIN records AS r ON r.seq = later.seq
        WHERE this.seq = records.seq AND later.seq > this.seq
        AND r.record_id NOT IN (SELECT record_id FROM forgotten)
    )
WHERE seq = ?
"""
_SHOW_AS_TURN = "UPDATE records SET turn = searchable AND thread WHERE seq = ?"


def add(db: sqlite3.Connection, record: Record) -> bool:
    """Take in what a record says of a memory; say whether others were hidden or shown by it."""
    if record.purged or record.type != "record":
        return False
    operation = operation_of(record)
    if operation is not None:
        return _apply(db, operation, at=record.timestamp)
    changed = _add_derived(db, record)
    if record.is_fold:
        return _add_fold(db, record) or changed
    if record.event == CHECKPOINT:
        return _add_checkpoint(db, record)
    if record.event == REMEMBERED:
        _add_memory(db, record)
    return changed


def erase(db: sqlite3.Connection, seqs: Collection[int]) -> None:
    """Take out what these records said of memories, as if they had said nothing. They were no operations."""
    related = {other for seq in seqs for other in (*_of_same_task(db, seq), *_of_same_subject(db, seq))}
    for seq in seqs:
        db.execute("DELETE FROM memories WHERE seq = ?", (seq,))
        db.execute("DELETE FROM checkpoints WHERE seq = ?", (seq,))
        db.execute("DELETE FROM sources WHERE seq = ?", (seq,))
        db.execute("DELETE FROM episodes WHERE seq = ?", (seq,))
        db.execute("DELETE FROM layers WHERE seq = ?", (seq,))
    _show(db, sorted(related))


def _add_memory(db: sqlite3.Connection, record: Record) -> None:
    identity = record.metadata.get("identity")
    event_id = identity.get("event_id") if isinstance(identity, dict) else None
    values = (record.seq, str(event_id), 1, 0, 0, due_after(record.timestamp, 0), record.timestamp)
    db.execute("INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?, ?)", values)


def _add_derived(db: sqlite3.Connection, record: Record) -> bool:
    """A later memory of a subject takes the place of the one before, for good."""
    subject = subject_of(record)
    if subject is None:
        return False
    values = (packed(record.scope), subject.layer, subject.name)
    db.execute("INSERT INTO layers VALUES (?, ?, ?, ?, ?)", (record.seq, *values, seen_by(record)))
    if subject.layer is Layer.TREND:
        rows = [(original, record.seq) for original in originals_of(record)]
        db.executemany("INSERT OR IGNORE INTO episodes VALUES (?, ?)", rows)
    seqs = _of_same_subject(db, record.seq)
    _show(db, seqs)
    return len(seqs) > 1


def _of_same_subject(db: sqlite3.Connection, seq: int) -> list[int]:
    """The memories of the subject that a record is a memory of, itself too; none for another record."""
    found = db.execute(
        "SELECT other.seq FROM layers AS this JOIN layers AS other"
        " ON (other.layer, other.scope, other.name) = (this.layer, this.scope, this.name) WHERE this.seq = ?",
        (seq,),
    )
    return [other for (other,) in found]


def _add_fold(db: sqlite3.Connection, fold: Record) -> bool:
    rows = [(original, fold.seq) for original in originals_of(fold)]
    db.executemany("INSERT OR IGNORE INTO sources VALUES (?, ?)", rows)
    db.execute(
        "INSERT OR IGNORE INTO sources SELECT s.original, :fold FROM sources AS s JOIN records USING (seq)"
        " WHERE record_id IN (SELECT original FROM sources WHERE seq = :fold)",
        {"fold": fold.seq},
    )
    _show(db, [fold.seq])
    return bool(rows)


def _add_checkpoint(db: sqlite3.Connection, record: Record) -> bool:
    """What was said of the same task before is history, and not found as long as this is not forgotten."""
    task = record.metadata.get("task")
    if not isinstance(task, dict):
        return False
    values = (packed(record.scope), str(task.get("id")), task.get("progress"), record.timestamp)
    db.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, 0)", (record.seq, *values))
    before = _of_same_task(db, record.seq, only="r.searchable AND other.seq < this.seq")
    _show(db, before)
    return bool(before)


def _of_same_task(db: sqlite3.Connection, seq: int, *, only: str = "true") -> list[int]:
    """The checkpoints of the task that a record is a checkpoint of; none for another record."""
    query = "\n".join(
        (
            "SELECT other.seq FROM checkpoints AS this",
            "JOIN checkpoints AS other ON (other.scope, other.task) = (this.scope, this.task)",
            "JOIN records AS r ON r.seq = other.seq WHERE this.seq = ? AND",
            only,
        )
    )
    return [other for (other,) in db.execute(query, (seq,))]


def _apply(db: sqlite3.Connection, operation: Operation, *, at: str) -> bool:
    """Do to the target what was done; one that is unknown, as after a change of journals, has no fate."""
    target = operation.target
    found = db.execute("SELECT seq FROM records WHERE record_id = ?", (target,)).fetchone()
    if found is None:
        return False
    [seq] = found
    match operation.act:
        case Act.REPEATED:
            db.execute("UPDATE memories SET count = count + 1, touched = ? WHERE seq = ?", (at, seq))
        case Act.REINFORCED:
            _confirm(db, seq, at)
        case Act.DEMOTED:
            db.execute("UPDATE checkpoints SET demoted = 1 WHERE seq = ?", (seq,))
        case Act.FORGOTTEN:
            db.execute("INSERT OR IGNORE INTO forgotten VALUES (?, ?, ?)", (target, at, operation.due or at))
        case Act.RESTORED:
            db.execute("DELETE FROM forgotten WHERE record_id = ?", (target,))
            db.execute("DELETE FROM marks WHERE record_id = ?", (target,))
        case Act.ERASED:
            rows = [(mark, target) for mark in operation.marks]
            db.executemany("INSERT OR IGNORE INTO marks VALUES (?, ?)", rows)
    if operation.act not in (Act.FORGOTTEN, Act.RESTORED):
        return False
    made = db.execute(
        "SELECT seq FROM sources WHERE original = :of UNION SELECT seq FROM episodes WHERE original = :of",
        {"of": target},
    )
    _show(db, [seq, *_of_same_task(db, seq), *(derived for (derived,) in made.fetchall())])
    return True


def _confirm(db: sqlite3.Connection, seq: int, at: str) -> None:
    found = db.execute("SELECT step FROM memories WHERE seq = ?", (seq,)).fetchone()
    if found is not None:
        step = found[0] + 1
        db.execute(
            "UPDATE memories SET confirmed = confirmed + 1, step = ?, due = ?, touched = ? WHERE seq = ?",
            (step, due_after(at, step), at, seq),
        )


def _show(db: sqlite3.Connection, seqs: Iterable[int]) -> None:
    """Let searches find records, unless they or what they were made of is to be forgotten."""
    rows = [(seq,) for seq in seqs]
    db.executemany(_SHOW, rows)
    db.executemany(_SHOW_AS_TURN, rows)
