"""Finding records by anything but words and meaning: ids, seqs, keys, sessions, order."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence

from hippo_async.index.filters import condition
from hippo_async.index.held import Held
from hippo_async.index.rows import COLUMNS, Counts, Row, Traits, packed, row_from, undamaged
from hippo_async.index.seqs import Seqs, read_seqs
from hippo_async.records import Filters, Kind, Novelty

_FIRST_PAGE = 32
_PAGE = 512
_NO_SEQ = 2**63 - 1


def by_record_id(db: sqlite3.Connection, record_ids: Sequence[str]) -> list[Row]:
    """Return the rows of these ids in their order, without those that are unknown."""
    return _asked_for(db, "r.record_id", list(record_ids))


def by_seq(db: sqlite3.Connection, seqs: Sequence[int]) -> list[Row]:
    """Return the rows of these seqs in their order, without those that are unknown."""
    return _asked_for(db, "r.seq", [int(seq) for seq in seqs])


def _asked_for(db: sqlite3.Connection, column: str, values: Sequence[str | int]) -> list[Row]:
    query = "\n".join(
        (
            "SELECT",
            COLUMNS,
            "FROM json_each(?) AS asked CROSS JOIN records AS r ON asked.value =",
            column,
            "ORDER BY asked.key",
        )
    )
    return [row_from(columns) for columns in db.execute(query, (json.dumps(values),))]


def known_keys(db: sqlite3.Connection, keys: Sequence[str]) -> dict[str, str]:
    """Return the record id of each capture key that is there; of the first record, if there are more."""
    found = db.execute(
        "SELECT r.key, r.record_id FROM json_each(?) AS asked CROSS JOIN records AS r ON r.key = asked.value"
        " ORDER BY r.seq DESC",
        (json.dumps(list(keys)),),
    )
    return dict(found)


def traits(db: sqlite3.Connection, seqs: Sequence[int]) -> dict[int, Traits]:
    """Return the traits of each of these records; only a turn of a session has turns around it.

    They are sorted, so that SQLite does all of it before the first row, and lets go of the interpreter for as
    long. Row by row it lets go and takes back too fast for an event loop that waits (``step_aside``).
    """
    found = db.execute(
        "SELECT r.seq, r.session, r.speaker, r.timestamp, r.substance, r.asks,"
        " EXISTS (SELECT 1 FROM sources AS s WHERE s.seq = r.seq)"
        "  OR EXISTS (SELECT 1 FROM layers AS l WHERE l.seq = r.seq),"
        " ifnull((SELECT count + confirmed - 1 FROM memories AS m WHERE m.seq = r.seq), 0),"
        " CASE WHEN r.turn THEN (SELECT max(o.seq) FROM records AS o"
        "  WHERE o.thread AND o.turn AND o.session = r.session AND o.scope = r.scope AND o.seq < r.seq) END,"
        " CASE WHEN r.turn THEN (SELECT min(o.seq) FROM records AS o"
        "  WHERE o.thread AND o.turn AND o.session = r.session AND o.scope = r.scope AND o.seq > r.seq) END"
        " FROM json_each(?) AS asked CROSS JOIN records AS r ON r.seq = asked.value ORDER BY r.seq",
        (json.dumps([int(seq) for seq in seqs]),),
    )
    return {seq: Traits(*values) for seq, *values in found}


def followers(db: sqlite3.Connection, seqs: Sequence[int]) -> list[int]:
    """Return the turns after these in their sessions: up to the first that is not hidden, ascending."""
    found = db.execute(
        "SELECT DISTINCT o.seq FROM json_each(?) AS asked CROSS JOIN records AS r ON r.seq = asked.value"
        " CROSS JOIN records AS o ON o.session = r.session AND o.scope = r.scope AND o.seq > r.seq"
        " AND o.thread AND o.seq <= ifnull((SELECT min(n.seq) FROM records AS n"
        "  WHERE n.thread AND n.turn AND n.session = r.session AND n.scope = r.scope AND n.seq > r.seq),"
        "  o.seq)"
        " ORDER BY o.seq",
        (json.dumps([int(seq) for seq in seqs]),),
    )
    return [seq for (seq,) in found]


def around(db: sqlite3.Connection, seq: int, count: int) -> list[Row]:
    """Return up to ``count`` turns before and after a record in its session and scope, in their order."""
    before = _beside(db, seq, count, "AND r.seq < o.seq ORDER BY r.seq DESC LIMIT :count")
    after = _beside(db, seq, count, "AND r.seq > o.seq ORDER BY r.seq LIMIT :count")
    return [*reversed(before), *after]


def _beside(db: sqlite3.Connection, seq: int, count: int, side: str) -> list[Row]:
    query = "\n".join(
        (
            "SELECT",
            COLUMNS,
            "FROM records AS o CROSS JOIN records AS r ON r.thread AND r.turn AND r.session = o.session",
            "AND r.scope = o.scope WHERE o.seq = :seq",
            side,
        )
    )
    return [row_from(columns) for columns in db.execute(query, {"seq": int(seq), "count": count})]


def speakers(db: sqlite3.Connection, scope: Sequence[str] | None) -> list[str]:
    """Return the names under which people spoke in a scope, in any if it is ``None``."""
    if scope is None:
        found = db.execute("SELECT DISTINCT speaker FROM speakers ORDER BY speaker")
    else:
        found = db.execute("SELECT speaker FROM speakers WHERE scope = ?", (packed(scope),))
    return [speaker for (speaker,) in found]


def newest(db: sqlite3.Connection, *, filters: Filters, include_routine: bool) -> Iterator[Row]:
    """Yield what the filters let through from the tail to the head, in pages that grow."""
    where, values = condition(filters)
    routine = () if include_routine else ("AND r.novelty <> 'routine'",)
    query = "\n".join(
        (
            "SELECT",
            COLUMNS,
            "FROM records AS r WHERE",
            where,
            *routine,
            "AND r.seq < :before ORDER BY r.seq DESC LIMIT :page",
        )
    )
    before, size = _NO_SEQ, _FIRST_PAGE
    while page := [row_from(row) for row in db.execute(query, values | {"before": before, "page": size})]:
        yield from page
        before, size = page[-1].seq, min(2 * size, _PAGE)


def allowed(db: sqlite3.Connection, filters: Filters, *, held: Held) -> Seqs:
    """Return the seqs of all that the filters let through, ascending; nearly always that is a whole scope."""
    if filters.scope is not None and filters == Filters(scope=filters.scope):
        return held.visible(db, filters.scope)
    where, values = condition(filters)
    return read_seqs(db, "\n".join(("SELECT r.seq AS seq FROM records AS r WHERE", where)), values)


def counts(db: sqlite3.Connection) -> Counts:
    """Count what searches can find, by kind and by novelty."""
    groups = db.execute("SELECT kind, novelty, count(*) FROM records WHERE searchable GROUP BY kind, novelty")
    kinds = dict.fromkeys(Kind, 0)
    novelties = dict.fromkeys(Novelty, 0)
    for kind, novelty, count in groups:
        with undamaged(count):
            kinds[Kind(kind)] += count
            novelties[Novelty(novelty)] += count
    return Counts(total=sum(kinds.values()), kinds=kinds, novelties=novelties)
