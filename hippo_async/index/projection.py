"""Writing records into one generation. The same records give the same tables, however they are batched."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from hippo_async.embedding.texts import is_question
from hippo_async.errors import InvalidInput
from hippo_async.index import analyzer, fates
from hippo_async.index.rows import Position, findable, is_turn, packed
from hippo_async.language.plain import regular
from hippo_async.records import Location, Record

CONTEXT_TERMS = 100
"""How much of the turn before is indexed with a turn: its last terms, else a long answer of an assistant
would drown the few words of the user that follow it."""


def position_of(db: sqlite3.Connection) -> Position:
    """Return the last record written; ``Position(-1, "")`` if there is none."""
    seq, record_id = db.execute("SELECT seq, record_id FROM origin").fetchone()
    return Position(seq, record_id)


def add(db: sqlite3.Connection, entries: Sequence[tuple[Record, Location]]) -> bool:
    """Write records and the new position in one transaction; all of them or none.

    Records that are there already are passed over. Says whether earlier ones were hidden or shown by what
    these say of them. Raises :class:`InvalidInput` when one is missing in between, or when the index holds
    another record under one of these seqs.
    """
    changed = False
    with db:
        last = None
        for last, location in _missing(db, entries):
            _insert(db, last, location)
            changed |= fates.add(db, last)
        if last is not None:
            db.execute("UPDATE origin SET seq = ?, record_id = ?", (last.seq, last.record_id))
    return changed


def _missing(
    db: sqlite3.Connection, entries: Sequence[tuple[Record, Location]]
) -> Iterator[tuple[Record, Location]]:
    expected = position_of(db).seq + 1
    for record, location in entries:
        if record.seq < expected:
            _check_same(db, record)
            continue
        if record.seq > expected:
            raise InvalidInput(f"the index needs record {expected} next, not {record.seq}")
        expected += 1
        yield record, location


def _check_same(db: sqlite3.Connection, record: Record) -> None:
    found = db.execute("SELECT record_id FROM records WHERE seq = ?", (record.seq,)).fetchone()
    if found != (record.record_id,):
        raise InvalidInput(f"the index holds another record {record.seq}; it has to be rebuilt")


def _insert(db: sqlite3.Connection, record: Record, location: Location) -> None:
    terms = analyzer.terms(record.text) if findable(record) else []
    db.execute(
        "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        columns_of(record, location, terms),
    )
    if findable(record):
        tags = [(regular(tag), record.seq) for tag in record.tags]
        db.executemany("INSERT OR IGNORE INTO tags VALUES (?, ?)", tags)
        _insert_words(db, record, terms)
        if record.speaker is not None:
            known = (packed(record.scope), record.speaker)
            db.execute("INSERT OR IGNORE INTO speakers VALUES (?, ?)", known)


def columns_of(record: Record, location: Location, terms: Sequence[str]) -> tuple[object, ...]:
    """Return the row of a record in the table of records: what it is before anything is said of it."""
    key = record.metadata.get("key")
    return (
        record.seq,
        record.record_id,
        location.segment,
        location.offset,
        location.length,
        record.timestamp,
        str(record.kind),
        str(record.novelty),
        record.role,
        record.session,
        packed(record.scope),
        packed(record.tags),
        len(record.text),
        key if isinstance(key, str) else None,
        findable(record),
        findable(record),
        is_turn(record),
        is_turn(record),
        record.speaker,
        analyzer.substance(terms),
        is_question(record.text),
    )


def _insert_words(db: sqlite3.Connection, record: Record, terms: Sequence[str]) -> None:
    context = ""
    if is_turn(record):
        context = _swap_thread(db, record, context_in(terms))
    db.execute(
        "INSERT INTO words (rowid, terms, context) VALUES (?, ?, ?)", (record.seq, " ".join(terms), context)
    )


def context_in(terms: Sequence[str]) -> str:
    """Return what of the terms of a turn is indexed with the one that follows it."""
    return " ".join(terms[-CONTEXT_TERMS:])


def _swap_thread(db: sqlite3.Connection, turn: Record, terms: str) -> str:
    """Keep a turn's terms for the one that follows it, and return those of the turn before."""
    thread = (turn.session, packed(turn.scope))
    before = db.execute("SELECT terms FROM threads WHERE session = ? AND scope = ?", thread).fetchone()
    db.execute("INSERT OR REPLACE INTO threads VALUES (?, ?, ?)", (*thread, terms))
    return before[0] if before else ""
