"""Plain data that travels between the rooms.

A memory is a :class:`Record` of the journal. What it means to recall and briefing stands in its metadata
under the names below; anything else in there belongs to the caller.

========== ==============================================================================
key        meaning
========== ==============================================================================
role       ``user``, ``assistant``, ``tool`` or ``system``: who spoke
speaker    name of who spoke, where several people do; a question that names one finds what they said
source     a :class:`Source`: how far the text can be trusted
session    label of the conversation, a string
scope      list of strings, the wall between users; compared element by element
tags       list of strings
turn_id    random id of the captured turn
key        the capturer's own id of the turn, for deduplication
tool       name of the tool whose result this is
event      ``folded_summary`` for a fold (L17), a month's memo (L19) or a summary (L20), ``trend``,
           ``remembered``, ``checkpoint``
originals  record ids that a fold or a trend was made of
subject    ``{"layer", "name", "seen"}``: of which month or tag a memo, summary or trend is, and how many
           records there were of it
identity   which memories are the same as this one, of those that were remembered (L22)
media      ``{"url", "type"}`` of a picture, video, document or sound (L15)
task       ``{"id", "progress"}`` of a checkpoint (L14)
occurred   ISO-8601 time with offset, when it differs from the record's own timestamp
hippo…     reserved: ``hippo`` for the journal's own records, ``hippo_operation`` for what was done to another
           memory (:mod:`hippo_async.lives.operations`)
========== ==============================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from hippo_async.errors import InvalidInput

FOLDED_TAG = "status:folded"
FOLDED_EVENT = "folded_summary"
MONTH_TAG = "month:"
"""Begins the tag that names the month of a memo: ``month:2026-03``."""
PINNED_TAG = "pinned"
"""What carries it stands in every briefing of its scope."""
TREND_EVENT = "trend"
REMEMBERED = "remembered"
CHECKPOINT = "checkpoint"
OPERATION = "hippo_operation"


class Kind(StrEnum):
    """What a record is about (J3). A closed set: extending it needs a new domain version."""

    STATE = "state"
    DECISION = "decision"
    IDENTITY_CHANGE = "identity_change"
    TRANSFER = "transfer"
    ERROR = "error"
    OBSERVATION = "observation"


class Novelty(StrEnum):
    """How new a record was when it was written (J3, J7, J8). A closed set."""

    ROUTINE = "routine"
    NOVEL = "novel"
    PREDICTION_ERROR = "prediction_error"


class Source(StrEnum):
    """Where a text came from, which says how far a briefing may trust it."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    EXTERNAL = "external"
    SELF = "self"


@dataclass(frozen=True, slots=True)
class Draft:
    """A record before the journal has given it a place: everything but seq, link and seal.

    ``timestamp`` is aware; ``None`` takes the journal's clock at the moment of sealing.
    """

    content: str
    kind: Kind = Kind.OBSERVATION
    novelty: Novelty = Novelty.NOVEL
    metadata: Mapping[str, Any] = field(default_factory=dict)
    timestamp: datetime | None = None


class Location(NamedTuple):
    """Where a record's line stands: first seq of its segment, byte offset, length with its newline."""

    segment: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True, init=False)
class Record:
    """One sealed record (J2), as read from the journal and verified.

    ``timestamp`` is ISO-8601 UTC with microseconds and ``Z``. ``content`` and ``metadata`` are ``None`` and
    empty for a record whose payload was purged.
    """

    seq: int
    record_id: str
    agent_id: str
    timestamp: str
    kind: Kind
    novelty: Novelty
    content: str | None
    metadata: Mapping[str, Any]
    prev_id: str | None
    type: str = "record"

    def __init__(
        self,
        seq: int,
        record_id: str,
        agent_id: str,
        timestamp: str,
        kind: Kind,
        novelty: Novelty,
        content: str | None,
        metadata: Mapping[str, Any],
        prev_id: str | None,
        type: str = "record",  # noqa: A002 - named as the field
    ) -> None:
        # set by the slots themselves: the frozen class's own way takes twice as long, for every record
        _set_seq(self, seq)
        _set_record_id(self, record_id)
        _set_agent_id(self, agent_id)
        _set_timestamp(self, timestamp)
        _set_kind(self, kind)
        _set_novelty(self, novelty)
        _set_content(self, content)
        _set_metadata(self, metadata)
        _set_prev_id(self, prev_id)
        _set_type(self, type)

    @property
    def purged(self) -> bool:
        """Whether the text was forgotten for good while its place in the chain stays proved."""
        return self.content is None

    @property
    def text(self) -> str:
        """The content, or the empty string for a purged record."""
        return self.content or ""

    @property
    def at(self) -> datetime:
        """The timestamp as an aware datetime in UTC."""
        return datetime.fromisoformat(self.timestamp)

    @property
    def role(self) -> str | None:
        """Who spoke, if the record is a turn of a conversation."""
        value = self.metadata.get("role")
        return value if isinstance(value, str) else None

    @property
    def speaker(self) -> str | None:
        """Name of who spoke, where there are several people to tell apart."""
        value = self.metadata.get("speaker")
        return value if isinstance(value, str) and value else None

    @property
    def session(self) -> str | None:
        """Label of the conversation the record came from."""
        value = self.metadata.get("session")
        return value if isinstance(value, str) else None

    @property
    def source(self) -> str | None:
        """Provenance, one of :class:`Source`, if it was stated."""
        value = self.metadata.get("source")
        return value if isinstance(value, str) else None

    @property
    def scope(self) -> tuple[str, ...]:
        """The scope as a tuple; empty when the record belongs to the agent as a whole."""
        return _strings(self.metadata.get("scope"))

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags as a tuple."""
        return _strings(self.metadata.get("tags"))

    @property
    def event(self) -> str | None:
        """What made this record, where it was no turn: a fold, a memory that was remembered, a checkpoint."""
        value = self.metadata.get("event")
        return value if isinstance(value, str) else None

    @property
    def is_fold(self) -> bool:
        """Whether this record is a fold of evicted context (L17)."""
        return self.event == FOLDED_EVENT

    def without_text(self) -> Record:
        """Return the record as it would be read if it were purged."""
        return replace(self, content=None, metadata={})

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of J2 (without the seal) as plain JSON values."""
        return {
            "seq": self.seq,
            "record_id": self.record_id,
            "agent_id": self.agent_id,
            "timestamp": self.timestamp,
            "kind": str(self.kind),
            "novelty": str(self.novelty),
            "content": self.content,
            "metadata": dict(self.metadata),
            "prev_id": self.prev_id,
            "type": self.type,
        }


(
    _set_seq,
    _set_record_id,
    _set_agent_id,
    _set_timestamp,
    _set_kind,
    _set_novelty,
    _set_content,
    _set_metadata,
    _set_prev_id,
    _set_type,
) = (Record.__dict__[field.name].__set__ for field in fields(Record))


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a context window, in the form that eviction and folding look at.

    ``tool_calls`` are the ids of calls that an assistant turn issues, ``answers`` the id that a tool turn
    answers. ``record_id`` points to the journal, or ``key`` does if the turn was captured under one.
    ``tokens`` is its estimated size with overhead.
    """

    role: str
    content: str
    tokens: int
    tool_calls: tuple[str, ...] = ()
    answers: str | None = None
    name: str | None = None
    record_id: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Filters:
    """What every record found must meet (design §7, §10).

    ``scope`` is compared element by element and always: the empty scope sees the records of the agent as a
    whole, and no others. ``None`` sees all scopes; it is for the library's own book-keeping, and no caller's
    question ever has it. The rest narrows only when given: ``tags`` asks for all of them, ``kinds`` and
    ``roles`` for one of them, ``start`` is the first moment inside and ``end`` the first one after.

    Raises :class:`InvalidInput` for a naive moment.
    """

    tags: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    roles: tuple[str, ...] = ()
    scope: tuple[str, ...] | None = ()
    session: str | None = None
    start: datetime | None = None
    end: datetime | None = None

    def __post_init__(self) -> None:
        for name, moment in (("start", self.start), ("end", self.end)):
            if moment is not None and moment.tzinfo is None:
                raise InvalidInput(f"{name}: a naive datetime does not say which moment it means")


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory found: the verified record, its score, and why it is here.

    ``why`` maps each signal (``words``, ``meaning``, …) to what it added to ``score``. ``repeats`` are the
    records folded into this hit, in which the same person says the same, the newest last. ``around`` are the
    turns before and after it, if they were asked for, in the order in which they came. ``via`` is the tag
    beside one of the question's that led here, for what is only associated with it (L18).
    """

    record: Record
    score: float
    why: Mapping[str, float] = field(default_factory=dict)
    repeats: tuple[Record, ...] = ()
    around: tuple[Record, ...] = ()
    via: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the hit as plain JSON values; of repeats, whose text is known, only which they are."""
        return {
            "score": self.score,
            "why": dict(self.why),
            "record": self.record.as_dict(),
            "repeats": [{"record_id": same.record_id, "timestamp": same.timestamp} for same in self.repeats],
            "around": [record.as_dict() for record in self.around],
            "association": None if self.via is None else {"via": self.via},
        }


@dataclass(frozen=True, slots=True)
class RawHit:
    """A raw turn found: its address (UTC date of the shard, line from 1) and a redacted piece of it (L5)."""

    day: str
    line: int
    turn_id: str
    timestamp: str
    role: str
    snippet: str

    def __str__(self) -> str:
        """Return the hit as the text that its tokens are counted on."""
        return f"{self.day}:{self.line} {self.role}: {self.snippet}"


@dataclass(frozen=True, slots=True)
class Recall:
    """What a query found, best first, with notes on anything that was left out.

    ``hits`` are memories, and what iterating goes over; ``raw`` is what ``mode="deep_raw"`` found instead,
    oldest first.
    """

    query: str
    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    raw: tuple[RawHit, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain JSON values."""
        return {
            "query": self.query,
            "hits": [hit.as_dict() for hit in self.hits],
            "raw": [asdict(hit) for hit in self.raw],
            "notes": list(self.notes),
        }

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, index: int) -> Hit:
        return self.hits[index]


@dataclass(frozen=True, slots=True)
class Briefing:
    """The block that goes into a prompt: ``tokens`` never exceed ``budget``.

    ``text`` is empty when there is nothing to say. It is equal, byte for byte, as long as the memories in it
    are the same.
    """

    text: str
    tokens: int
    budget: int
    record_ids: tuple[str, ...] = ()


def fold_metadata(originals: Sequence[str], *, turns: int) -> dict[str, Any]:
    """What the metadata say of a fold of so many turns (L17)."""
    return {"event": FOLDED_EVENT, "turns": turns, "originals": list(originals)}


def utc_timestamp(moment: datetime) -> str:
    """Write an aware moment as ``YYYY-MM-DDTHH:MM:SS.ffffffZ``.

    Raises ``ValueError`` for a naive one: which moment it means cannot be known.
    """
    if moment.tzinfo is None:
        raise ValueError("a naive datetime does not say which moment it means; add a time zone")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _strings(value: object) -> tuple[str, ...]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(item for item in value if isinstance(item, str))
    return ()
