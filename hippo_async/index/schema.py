"""The tables of one generation of the index, and the marks that say what it was made from."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from hippo_async.index import analyzer, fates, vectors

VERSION = 8
"""Raised with every change of the tables; an index of another version is rebuilt."""

CACHE_KIB = 32 * 1024

# The tokenizer `ascii` leaves every non-ASCII byte alone, and the tokenchars are those of a term: what was
# stored is what matches, byte for byte. `content=''` keeps the words findable without keeping them in order
# of reading: the table answers which record, never what it says. `threads` has the last turn of each session,
# for the next one to be indexed with. `findable` and `thread`, a turn of a session, are what a record is by
# itself, `searchable` and `turn` what it is now: what is to be forgotten is hidden.
_TABLES = """
PRAGMA journal_mode = WAL;
CREATE TABLE origin (
    journal_id TEXT NOT NULL, generation INTEGER NOT NULL, analyzer TEXT NOT NULL, vectors INTEGER NOT NULL,
    seq INTEGER NOT NULL, record_id TEXT NOT NULL
);
CREATE TABLE records (
    seq INTEGER PRIMARY KEY, record_id TEXT NOT NULL UNIQUE,
    segment INTEGER NOT NULL, byte_offset INTEGER NOT NULL, byte_length INTEGER NOT NULL,
    timestamp TEXT NOT NULL, kind TEXT NOT NULL, novelty TEXT NOT NULL,
    role TEXT, session TEXT, scope TEXT NOT NULL, tags TEXT NOT NULL, length INTEGER NOT NULL,
    key TEXT, findable INTEGER NOT NULL, searchable INTEGER NOT NULL,
    thread INTEGER NOT NULL, turn INTEGER NOT NULL, speaker TEXT,
    substance INTEGER NOT NULL, asks INTEGER NOT NULL
);
CREATE INDEX records_visible ON records (scope, seq, searchable) WHERE searchable;
CREATE INDEX records_sessions ON records (session, scope) WHERE searchable AND session IS NOT NULL;
CREATE INDEX records_times ON records (scope, timestamp) WHERE searchable;
CREATE INDEX records_threads ON records (session, scope, seq, turn) WHERE thread;
CREATE INDEX records_keys ON records (key) WHERE key IS NOT NULL;
CREATE TABLE tags (tag TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (tag, seq)) WITHOUT ROWID;
CREATE TABLE speakers (
    scope TEXT NOT NULL, speaker TEXT NOT NULL, PRIMARY KEY (scope, speaker)
) WITHOUT ROWID;
CREATE TABLE threads (
    session TEXT NOT NULL, scope TEXT NOT NULL, terms TEXT NOT NULL, PRIMARY KEY (session, scope)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (terms, context, content='', tokenize="ascii tokenchars '_.@+#-'''");
CREATE TABLE models (model INTEGER PRIMARY KEY, model_id TEXT NOT NULL UNIQUE, dim INTEGER NOT NULL);
CREATE TABLE vectors (
    model INTEGER NOT NULL, seq INTEGER NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, seq)
);
"""

# What SQLite says about a file that is no database, and about a damaged one.
_DAMAGED = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}

# A text that is no UTF-8 is mostly an `OperationalError`, but not where its message cannot be written either.
FAILURES = (sqlite3.DatabaseError, UnicodeDecodeError)


@dataclass(frozen=True, slots=True)
class Origin:
    """The journal, and the generation of its files, that an index was made from."""

    journal_id: str
    generation: int


def create(path: Path, *, origin: Origin) -> sqlite3.Connection:
    """Make an empty index file and return it open. Raises ``sqlite3.Error`` if the disk refuses."""
    db = sqlite3.connect(path)
    try:
        db.executescript(_TABLES + fates.TABLES)
        db.execute(
            "INSERT INTO origin VALUES (?, ?, ?, ?, -1, '')",
            (origin.journal_id, origin.generation, analyzer.VERSION, vectors.VERSION),
        )
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.commit()
        return _tuned(db)
    except BaseException:
        db.close()
        raise


def open_existing(path: Path, *, origin: Origin) -> sqlite3.Connection | None:
    """Open an index file, or return ``None`` when it is damaged, or made from or by something else.

    Any other failure, such as a lock or a refusing disk, is raised as ``sqlite3.Error``: it says nothing
    about what is in the file.
    """
    db = sqlite3.connect(path)
    try:
        if _is_sound(db, origin):
            return _tuned(db)
    except FAILURES as error:
        if not is_damage(error):
            db.close()
            raise
    db.close()
    return None


def is_damage(error: Exception) -> bool:
    """Say whether one of ``FAILURES`` means that the file is damaged, rather than locked, full or misused."""
    if isinstance(error, UnicodeDecodeError):
        return True
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # not SQLite's own: Python could not decode a text in it
        return "decode" in str(error)
    return code & 0xFF in _DAMAGED


def _is_sound(db: sqlite3.Connection, origin: Origin) -> bool:
    """Check what the file was made from, in no time; its pages are checked as they are read."""
    if db.execute("PRAGMA user_version").fetchone() != (VERSION,):
        return False
    found = db.execute("SELECT journal_id, generation, analyzer FROM origin").fetchall()
    return found == [(origin.journal_id, origin.generation, analyzer.VERSION)]


def _tuned(db: sqlite3.Connection) -> sqlite3.Connection:
    """Let a power cut lose the last commits, which the journal has, and overwrite what is deleted.

    Also what a process that died left in the log of the file: what it had just taken out of it.

    The page cache holds what BM25 reads for every match: with the usual 2 MB a search takes twice as long.
    """
    db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA secure_delete = ON")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return db
