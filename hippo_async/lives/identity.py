"""Which memories are the same (L22)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hippo_async.language.plain import regular

KEY = "key"
CONTENT = "content"
SCOPE = "scope"
"""Kinds of marks: of what a capture key was, of what a memory said (its content hash), and of the scope that
a record was in."""

KEY_PREFIX = "memory:"
"""Memories that are remembered are captured under this and their event id, so that one comes to be once."""


@dataclass(frozen=True, slots=True)
class Identity:
    """``content_hash`` says that two memories say the same, ``event_id`` that they are the same.

    ``event_time`` is the ISO-8601 moment that tells apart what is said of different days, or empty.
    ``occurrence`` counts what happened more than once at one time.
    """

    content_hash: str
    event_time: str = ""
    occurrence: int = 0

    @property
    def event_id(self) -> str:
        """32 hex digits over content, time and occurrence."""
        return _digest([self.content_hash, self.event_time, self.occurrence])[:32]

    @property
    def key(self) -> str:
        """The key under which the memory is captured."""
        return KEY_PREFIX + self.event_id

    @property
    def metadata(self) -> dict[str, Any]:
        """What the record's metadata say of it."""
        return {
            "content_hash": self.content_hash,
            "event_id": self.event_id,
            "event_time": self.event_time,
            "occurrence": self.occurrence,
        }


def content_hash(
    text: str, *, tags: Sequence[str] = (), scope: Sequence[str] = (), media: Mapping[str, str] | None = None
) -> str:
    """Return 64 hex digits that are the same for memories that say the same.

    Case, width, composition and white space of the text do not matter, nor the order and repeats of tags.
    Another scope is another memory: what two users say alike stays theirs.
    """
    return _digest([regular(text), sorted(set(tags)), list(scope), dict(media or {})])


def _digest(value: object) -> str:
    written = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode("ascii")).hexdigest()
