"""A turn on its way into memory, and the record it becomes. Pure."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any

from hippo_async.errors import CaptureRefused, InvalidInput
from hippo_async.records import (
    CHECKPOINT,
    FOLDED_EVENT,
    OPERATION,
    REMEMBERED,
    TREND_EVENT,
    Draft,
    Kind,
    Novelty,
    Record,
    Source,
)

RESERVED = {"hippo", OPERATION}
OUR_EVENTS = (FOLDED_EVENT, TREND_EVENT, REMEMBERED, CHECKPOINT)

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_SOURCE_OF_ROLE = {
    "user": Source.USER,
    "assistant": Source.ASSISTANT,
    "tool": Source.TOOL,
    "system": Source.SELF,
}


def turn_ids() -> Iterator[str]:
    """Yield ids that no other memory, process or machine yields: 8 random bytes and a count.

    Asking the system for random bytes at each turn would hand the interpreter lock to whoever is busy, and
    the event loop would wait to get it back. Safe to take from in any thread.
    """
    return map(f"{secrets.token_hex(8)}{{:08x}}".format, count())


@dataclass(frozen=True, slots=True)
class Captured:
    """One turn as it was handed in, waiting in the buffer.

    ``explicit`` turns come from calls that raise: they flush at once, and a failing disk fails them instead
    of keeping them.
    """

    turn_id: str
    content: str
    kind: Kind
    metadata: Mapping[str, Any]
    at: datetime
    key: str | None = None
    explicit: bool = False
    future: Future[Record] = field(default_factory=Future)

    @property
    def role(self) -> str:
        """Who spoke; empty if nobody is named."""
        return str(self.metadata.get("role", ""))

    @property
    def is_operation(self) -> bool:
        """Whether this only says what was done to another memory."""
        return OPERATION in self.metadata

    @property
    def wants_tags(self) -> bool:
        """Whether this is something said or remembered that nobody gave tags."""
        spoken = self.role in ("", "user", "assistant") and self.kind is not Kind.ERROR
        return spoken and not self.is_operation and not self.metadata.get("tags")

    def draft(self, novelty: Novelty, tags: Sequence[str] = ()) -> Draft:
        """The record that this turn becomes; with these tags, if there are any."""
        metadata = {**self.metadata, "tags": sorted(tags)} if tags else self.metadata
        return Draft(self.content, self.kind, novelty, metadata, self.at)


@dataclass(frozen=True, slots=True)
class Labels:
    """What a caller says of a turn beside its text."""

    role: str | None
    session: str | None
    scope: Sequence[str]
    tags: Sequence[str]
    source: str | None
    key: str | None
    metadata: Mapping[str, Any] | None
    speaker: str | None = None
    ours: Mapping[str, Any] = field(default_factory=dict)
    """What the library itself says of it: names and values that no caller may write."""


def metadata_of(labels: Labels, *, turn_id: str) -> dict[str, Any]:
    """Build a record's metadata from what was said of a turn; what is empty is left out.

    Raises :class:`InvalidInput` for labels of another type or an unknown source, and for metadata that would
    pass for the library's own, which move and hide memories.
    """
    own = labels.metadata or {}
    for name in RESERVED & own.keys():
        raise InvalidInput(f"metadata[{name!r}] belongs to the journal itself; take another name")
    if own.get("event") in OUR_EVENTS:
        raise InvalidInput(f"metadata['event'] = {own['event']!r} is the library's own; take another value")
    for name, values in (("scope", labels.scope), ("tags", labels.tags)):
        if isinstance(values, str) or not all(isinstance(value, str) for value in values):
            raise InvalidInput(f"{name} is a list of strings, got {values!r}")
    known = {
        "role": labels.role,
        "speaker": labels.speaker,
        "source": _source(labels.source, labels.role),
        "session": labels.session,
        "scope": list(labels.scope),
        "tags": sorted(set(labels.tags)),
        "key": labels.key,
        "turn_id": turn_id,
    }
    return {**own, **labels.ours, **{name: value for name, value in known.items() if value}}


def captured(
    turn_id: str,
    content: str,
    labels: Labels,
    *,
    kind: Kind,
    at: datetime,
    explicit: bool,
    max_turn_kb: int,
) -> Captured:
    """Build a turn from what was said of it.

    Raises :class:`InvalidInput` for labels that cannot be, :class:`CaptureRefused` for a text that no buffer
    should hold. A lone surrogate, which is no Unicode, becomes ``\\udXXX`` in a turn that is captured: the
    turn is not lost for it. In one that is recorded explicitly it is left to be refused.
    """
    if len(content) > max_turn_kb * 1024:
        raise CaptureRefused(
            f"a turn of {len(content):,} characters; capture.max_turn_kb allows {max_turn_kb * 1024:,}"
        )
    if at.tzinfo is None:
        raise InvalidInput("timestamp: a naive one does not say which moment it means; add a time zone")
    return Captured(
        turn_id=turn_id,
        content=content if explicit else _storable(content),
        kind=kind,
        metadata=metadata_of(labels, turn_id=turn_id),
        at=at,
        key=labels.key,
        explicit=explicit,
    )


def _storable(content: str) -> str:
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", content)


def _source(source: str | None, role: str | None) -> str | None:
    if source is None:
        return None if role is None else str(_SOURCE_OF_ROLE.get(role, Source.EXTERNAL))
    try:
        return str(Source(source))
    except ValueError:
        raise InvalidInput(f"source {source!r} is unknown; it is one of {', '.join(Source)}") from None
