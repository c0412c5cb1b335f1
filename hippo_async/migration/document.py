"""What is written down about a move, at both ends. Pure.

One document of canonical JSON and a newline, with the same bytes wherever it stands: as ``MIGRATING`` in a
target in which all is verified, as ``MOVED`` in its source, and at last as ``MIGRATED`` in the target.

=========== ==========================================================================
field       value
=========== ==========================================================================
agent_id    whose memory it is
bytes       how much was copied, without the keys
files       how many files that were
from        the old data directory
journal_id  the id of the agent's first journal
moved_at    when it was moved
record_id   the last record
records     how many records there are
settings    whether ``config.toml`` is part of it: not where the target had one of its own
to          the new data directory
=========== ==========================================================================

Until then ``MIGRATING`` holds ``from``, ``settings`` and ``to`` only.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from hippo_async.journal.canon import canonical

MIGRATED = "MIGRATED"


@dataclass(frozen=True, slots=True)
class Move:
    """A memory that was moved. ``moved_at`` is in UTC."""

    agent_id: str
    source: Annotated[str, Field(alias="from")]
    target: Annotated[str, Field(alias="to")]
    journal_id: str
    records: int
    record_id: str
    files: int
    size: Annotated[int, Field(alias="bytes")]
    moved_at: str
    settings: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of the document."""
        fields: dict[str, Any] = _DOCUMENT.dump_python(self, by_alias=True)
        return fields

    def encode(self) -> bytes:
        """Write the document."""
        return canonical(self.as_dict()) + b"\n"


def decode(data: bytes) -> Move:
    """Read a document. Raises ``ValueError`` if it is none."""
    try:
        return _DOCUMENT.validate_json(data)
    except ValidationError as error:
        raise ValueError(f"not what a migration writes: {error.errors()[0]['msg']}") from None


@dataclass(frozen=True, slots=True)
class Announcement:
    """What ``MIGRATING`` holds while a memory is copied."""

    source: str
    target: str
    settings: bool

    def encode(self) -> bytes:
        """Write the document."""
        return canonical({"from": self.source, "settings": self.settings, "to": self.target}) + b"\n"


def announced(migrating: bytes) -> Announcement:
    """Read what ``MIGRATING`` holds, at any moment of a move. Raises ``ValueError`` if that says nothing."""
    try:
        found = json.loads(migrating)
        return Announcement(str(found["from"]), str(found["to"]), found.get("settings") is not False)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not what a migration writes: {error}") from None


@dataclass(frozen=True, slots=True)
class End:
    """How many records a journal has, and which is the last."""

    journal_id: str
    records: int
    record_id: str


def difference(source: End, copy: End) -> str | None:
    """Say how a copy ends in another way than its source, ``None`` if it does not."""
    if copy == source:
        return None
    return (
        f"the copy has {copy.records:,} records of journal {copy.journal_id}, last {copy.record_id}; "
        f"the source has {source.records:,} of {source.journal_id}, last {source.record_id}"
    )


_DOCUMENT = TypeAdapter(Move)
