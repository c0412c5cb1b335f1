"""Taking records out of one generation of the index, as if they had had no text from the first.

What stays is what an index has that is made anew of the journal after the purge; no byte of the file says
what they said.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hippo_async.index import analyzer, fates
from hippo_async.index.projection import columns_of, context_in
from hippo_async.index.rows import is_turn, packed
from hippo_async.language.plain import regular
from hippo_async.records import Location, Record

Terms = Mapping[int, Sequence[str]]
"""The terms of records by their seq: of those that are to go, and of the turns beside them."""


@dataclass(frozen=True, slots=True)
class Purged:
    """A record whose text is purged: as it was, and how long its line in the journal is now, in bytes."""

    record: Record
    length: int


def neighbours(db: sqlite3.Connection, seqs: Iterable[int]) -> list[int]:
    """Return the seqs of the turns before and after these in their threads, hidden or not, ascending.

    To take these out, it takes the words of those.
    """
    found = {near for seq in seqs for near in (_before(db, seq), _after(db, seq))}
    return sorted(seq for seq in found if seq is not None)


def erase(
    db: sqlite3.Connection,
    gone: Sequence[Purged],
    turns: Sequence[Record],
    *,
    embedded_with: Sequence[int],
    generation: int,
) -> None:
    """Take records out in one transaction; ``generation`` is the journal's, whose lines have moved up.

    ``turns`` are those that :func:`neighbours` names; those ``embedded_with`` what goes lose their vectors
    with it. An operation cannot be taken out: what it did stays done. Raises ``sqlite3.Error``; nothing is
    done then.
    """
    records = {one.record.seq: one.record for one in gone}
    terms = {record.seq: analyzer.terms(record.text) for record in (*records.values(), *turns)}
    with db:
        _take_out_words(db, records, terms)
        for one in gone:
            _make_bare(db, one)
        _remove_vectors(db, [*records, *embedded_with])
        _forget_speakers(db, records.values())
        fates.erase(db, list(records))
        db.execute("UPDATE origin SET generation = ?", (generation,))
    _scrub(db)


def _take_out_words(db: sqlite3.Connection, gone: Mapping[int, Record], terms: Terms) -> None:
    """Take out the words of what goes, and give the turns behind it the context of what stays.

    A table that holds no texts has to be told what it held of a row to take it out.
    """
    behind = {after for seq in gone if (after := _after(db, seq)) is not None} - set(gone)
    for seq in (*gone, *behind):
        held = (seq, " ".join(terms[seq]), _context(terms, _before(db, seq)))
        db.execute("INSERT INTO words (words, rowid, terms, context) VALUES ('delete', ?, ?, ?)", held)
    for seq in behind:
        words = (seq, " ".join(terms[seq]), _context(terms, _before(db, seq, without=gone)))
        db.execute("INSERT INTO words (rowid, terms, context) VALUES (?, ?, ?)", words)
    for thread in {(turn.session, packed(turn.scope)) for turn in gone.values() if is_turn(turn)}:
        _end_thread(db, thread, gone, terms)


def _end_thread(
    db: sqlite3.Connection, thread: tuple[str | None, str], gone: Collection[int], terms: Terms
) -> None:
    """If the last turn of a thread goes, the next one to come follows the last that stays."""
    query = "SELECT max(seq) FROM records WHERE thread AND session = ? AND scope = ?"
    [last] = db.execute(query, thread).fetchone()
    if last not in gone:
        return
    left = _before(db, last, without=gone)
    if left is None:
        db.execute("DELETE FROM threads WHERE session = ? AND scope = ?", thread)
    else:
        db.execute("REPLACE INTO threads VALUES (?, ?, ?)", (*thread, _context(terms, left)))


def _context(terms: Terms, before: int | None) -> str:
    return "" if before is None else context_in(terms[before])


def _before(db: sqlite3.Connection, seq: int, *, without: Collection[int] = ()) -> int | None:
    """Return the turn before one in its thread, passing over those ``without``."""
    before = _near(db, seq, "SELECT max(o.seq)", "o.seq < r.seq")
    while before is not None and before in without:
        before = _near(db, before, "SELECT max(o.seq)", "o.seq < r.seq")
    return before


def _after(db: sqlite3.Connection, seq: int) -> int | None:
    return _near(db, seq, "SELECT min(o.seq)", "o.seq > r.seq")


def _near(db: sqlite3.Connection, seq: int, chosen: str, side: str) -> int | None:
    query = "\n".join(
        (
            chosen,
            "FROM records AS r CROSS JOIN records AS o ON o.thread AND o.session = r.session",
            "AND o.scope = r.scope WHERE r.seq = ? AND r.thread AND",
            side,
        )
    )
    [found] = db.execute(query, (seq,)).fetchone()
    return None if found is None else int(found)


def _make_bare(db: sqlite3.Connection, one: Purged) -> None:
    """Leave of a record what is not of its text. Its line became shorter, and those behind it moved up."""
    record = one.record
    place = "SELECT segment, byte_offset, byte_length FROM records WHERE seq = ?"
    segment, offset, length = db.execute(place, (record.seq,)).fetchone()
    db.execute(
        "UPDATE records SET byte_offset = byte_offset - ? WHERE seq > ? AND segment = ?",
        (length - one.length, record.seq, segment),
    )
    columns = columns_of(record.without_text(), Location(segment, offset, one.length), [])
    db.execute(f"REPLACE INTO records VALUES ({', '.join('?' * len(columns))})", columns)  # noqa: S608
    tags = [(regular(tag), record.seq) for tag in record.tags]
    db.executemany("DELETE FROM tags WHERE tag = ? AND seq = ?", tags)


def _remove_vectors(db: sqlite3.Connection, seqs: Iterable[int]) -> None:
    rows = [(seq,) for seq in seqs]  # by model, too: that is how the table is ordered
    db.executemany("DELETE FROM vectors WHERE model IN (SELECT model FROM models) AND seq = ?", rows)


def _forget_speakers(db: sqlite3.Connection, records: Iterable[Record]) -> None:
    for scope, speaker in {(packed(one.scope), one.speaker) for one in records if one.speaker is not None}:
        db.execute(
            "DELETE FROM speakers WHERE scope = :scope AND speaker = :speaker AND NOT EXISTS"
            " (SELECT 1 FROM records WHERE scope = :scope AND speaker = :speaker AND findable)",
            {"scope": scope, "speaker": speaker},
        )


def _scrub(db: sqlite3.Connection) -> None:
    """Leave nothing of what was taken out in the file, nor in the log beside it.

    The words are merged into one piece: until then they are there, and marked as taken out.
    """
    with db:
        db.execute("INSERT INTO words (words) VALUES ('optimize')")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
