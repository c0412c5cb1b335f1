"""What the index says about records: where they are and what labels they carry, never what they say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hippo_async.errors import HippoError
from hippo_async.records import OPERATION, Kind, Location, Novelty, Record

COLUMNS = (
    "r.seq, r.record_id, r.segment, r.byte_offset, r.byte_length, r.timestamp, r.kind, r.novelty, r.role,"
    " r.speaker, r.session, r.scope, r.tags, r.length"
)
"""The columns of ``records r``, in the order that :func:`row_from` reads them."""

TURN_ROLES = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Position:
    """The last record that the index holds. ``Position(-1, "")`` is an empty one's."""

    seq: int
    record_id: str


@dataclass(frozen=True, slots=True)
class Row:
    """One record as the index knows it. ``length`` is that of its content, in characters."""

    seq: int
    record_id: str
    location: Location
    timestamp: str
    kind: Kind
    novelty: Novelty
    role: str | None
    speaker: str | None
    session: str | None
    scope: tuple[str, ...]
    tags: tuple[str, ...]
    length: int


@dataclass(frozen=True, slots=True)
class Traits:
    """What ranking asks of a record beside its text.

    ``substance`` counts its different content words, ``asks`` says that it ends as a question does.
    ``before`` and ``after`` are the turns around it in the same session and scope. ``derived`` says that it
    was made of other records, ``again`` how often it was remembered again or confirmed.
    """

    session: str | None
    speaker: str | None
    timestamp: str
    substance: int
    asks: bool
    derived: bool = False
    again: int = 0
    before: int | None = None
    after: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many records a search can find, in all and by label; absent labels count zero."""

    total: int
    kinds: Mapping[Kind, int]
    novelties: Mapping[Novelty, int]


class Misled(HippoError):
    """Raised when the index says of a record what cannot be; the index is then made anew."""

    code = "MEM_E_INDEX_MISLED"


def row_from(columns: tuple[Any, ...]) -> Row:
    """Read a :class:`Row` out of the values of :data:`COLUMNS`. Raises :class:`Misled` for a damaged one."""
    (seq, record_id, segment, offset, size, timestamp, kind, novelty, role, speaker, session, *rest) = columns
    scope, tags, length = rest
    with undamaged(seq, segment, offset, size, length):
        return Row(
            seq=seq,
            record_id=record_id,
            location=Location(segment, offset, size),
            timestamp=timestamp,
            kind=Kind(kind),
            novelty=Novelty(novelty),
            role=role,
            speaker=speaker,
            session=session,
            scope=unpacked(scope),
            tags=unpacked(tags),
            length=length,
        )


@contextmanager
def undamaged(*numbers: object) -> Iterator[None]:
    """Turn values that the index never wrote into :class:`Misled`; the numbers are whole and not negative."""
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise Misled(f"the index holds a row with {numbers!r} for numbers")
    try:
        yield
    except (ValueError, TypeError, RecursionError) as error:
        raise Misled(f"the index holds a row that was not written so ({error})") from None


def describes(row: Row, record: Record) -> bool:
    """Say whether the labels of a row are the record's own, which are sealed."""
    labels = (row.seq, row.timestamp, row.kind, row.novelty, row.role, row.speaker)
    return (*labels, row.session, row.scope, row.tags) == (
        record.seq,
        record.timestamp,
        record.kind,
        record.novelty,
        record.role,
        record.speaker,
        record.session,
        record.scope,
        record.tags,
    )


def findable(record: Record) -> bool:
    """Say whether searches may find a record, as long as it is not to be forgotten.

    They may not find the journal's own, the purged ones, and those that only say what was done to another.
    """
    return record.type == "record" and not record.purged and OPERATION not in record.metadata


def is_turn(record: Record) -> bool:
    """Say whether a record is a searchable turn of a session, and so has turns before and after it."""
    return findable(record) and record.session is not None and record.role in TURN_ROLES


def packed(strings: Sequence[str]) -> str:
    """Write strings so that equal lists, and only they, give equal texts: a JSON array."""
    return json.dumps(list(strings), ensure_ascii=False, separators=(",", ":"))


def unpacked(text: str) -> tuple[str, ...]:
    """Read what :func:`packed` wrote."""
    return tuple(json.loads(text))
