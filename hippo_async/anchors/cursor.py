"""From which record on a ledger has still to read its journal (J11): ``anchors/CURSOR.json``.

It saves reading and decides nothing: one that is missing, damaged, of another journal or of other anchors
than there are costs one whole reading. The file is canonical JSON and a newline, of exactly these fields:

============ ===================================================================================
field        value
============ ===================================================================================
digest       SHA-256 in hex over the canonical form of the other fields and ``anchored``: all
             anchored dates, in order
first        the day of the journal's first record that names one: from it on, empty days are
             anchored too
journal_id   the journal's, 32 hex digits
record_id    of the record with ``seq``: a repair, or an older copy, may have another one there
seq          of the first record whose day has no anchor yet, or else of the last one read
============ ===================================================================================

Timestamps are labels in no order. A record that is dated far ahead is read again until its day is over, with
all that follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import date
from hashlib import sha256
from itertools import chain
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from hippo_async.errors import RecordRejected
from hippo_async.journal.anchor import Anchored
from hippo_async.journal.canon import canonical


class Numbered(Anchored, Protocol):
    """What an anchor needs of a record, and where it stands in its journal."""

    @property
    def seq(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Cursor:
    """That every record in front of ``seq`` is of an anchored day, or of none."""

    first: date
    journal_id: str
    record_id: str
    seq: int

    def encode(self, dates: Iterable[str]) -> bytes:
        """Write the file of a ledger that has the anchors of these dates."""
        fields = asdict(self) | {"first": self.first.isoformat()}
        digest = sha256(canonical(fields | {"anchored": list(dates)})).hexdigest()
        return canonical(fields | {"digest": digest}) + b"\n"


def read_cursor(data: bytes, dates: Iterable[str]) -> Cursor | None:
    """Read what :meth:`Cursor.encode` wrote for just these dates; ``None`` for anything else."""
    try:
        cursor = _CURSOR.validate_json(data)
        return cursor if cursor.encode(dates) == data else None
    except (ValidationError, RecordRejected):
        return None


@dataclass(frozen=True, slots=True)
class Source:
    """The journal whose days are anchored: its id, and what reads its records with a seq above a given one.

    ``read(after)`` yields them in the journal's order, all of them for -1. It blocks.
    """

    journal_id: str
    read: Callable[[int], Iterable[Numbered]]

    def resumed(self, cursor: Cursor | None) -> tuple[Iterator[Numbered], date | None]:
        """Return the records from the cursor on, and the journal's first day.

        All records, and no day, if there is no cursor or the journal has another record there.
        """
        if cursor is not None and cursor.journal_id == self.journal_id:
            records = iter(self.read(cursor.seq - 1))
            found = next(records, None)
            if found is not None and (found.seq, found.record_id) == (cursor.seq, cursor.record_id):
                return chain([found], records), cursor.first
        return iter(self.read(-1)), None


_CURSOR = TypeAdapter(Cursor)
