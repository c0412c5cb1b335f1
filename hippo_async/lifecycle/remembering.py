"""Remembering once: which memory it is, and the record that it becomes (L1, L15, L16, L22). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from hippo_async.errors import InvalidInput
from hippo_async.lives.identity import Identity, content_hash
from hippo_async.recall.dates import time_spans
from hippo_async.records import CHECKPOINT, REMEMBERED, Record, utc_timestamp

EventTimePolicy = Literal["content", "explicit", "ingest"]
LONGEST_TASK_ID = 200


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory that is durable, how often it was remembered, and whether this time was the first."""

    record: Record
    event_id: str
    count: int
    is_new: bool


def identity_of(
    text: str,
    *,
    tags: Sequence[str],
    scope: Sequence[str],
    media: dict[str, str],
    policy: EventTimePolicy,
    occurred: datetime | None,
    occurrence: int,
    now: datetime,
) -> Identity:
    """Say which memory a text is (L22).

    Two that say the same are one if they are of the same time: ``occurred`` where it is given; else, by
    policy, the first day or span that the text names (``content``; texts that name none have none), the
    moment of remembering (``ingest``), or nothing: ``explicit`` asks for it. ``occurrence`` tells apart what
    happened more than once at that time. Raises :class:`InvalidInput`.
    """
    if occurred is not None and occurred.tzinfo is None:
        raise InvalidInput("occurred: a naive datetime does not say which moment it means; add a time zone")
    if not isinstance(occurrence, int) or occurrence < 0:
        raise InvalidInput(f"occurrence {occurrence!r}; it counts from 0")
    hashed = content_hash(text, tags=tags, scope=scope, media=media)
    return Identity(hashed, _event_time(text, policy=policy, occurred=occurred, now=now), occurrence)


def memory_metadata(identity: Identity, media: dict[str, str], occurred: datetime | None) -> dict[str, Any]:
    """What the metadata of a remembered memory's record say of it, beside its labels."""
    metadata: dict[str, Any] = {"event": REMEMBERED, "identity": identity.metadata}
    if media:
        metadata["media"] = media
    if occurred is not None:
        metadata["occurred"] = occurred.isoformat()
    return metadata


def checkpoint_metadata(task_id: str, progress: int) -> dict[str, Any]:
    """What the metadata of a checkpoint's record say of it (L14). Raises :class:`InvalidInput`."""
    if not isinstance(task_id, str) or not 0 < len(task_id.strip()) <= LONGEST_TASK_ID:
        raise InvalidInput(f"task_id {task_id!r:.80}; it takes 1 to {LONGEST_TASK_ID} characters")
    if not isinstance(progress, int) or isinstance(progress, bool) or not 0 <= progress <= 100:
        raise InvalidInput(f"progress {progress!r}; it takes 0 to 100")
    return {"event": CHECKPOINT, "task": {"id": task_id, "progress": progress}}


def _event_time(text: str, *, policy: EventTimePolicy, occurred: datetime | None, now: datetime) -> str:
    if occurred is not None:
        return utc_timestamp(occurred)
    if policy == "ingest":
        return utc_timestamp(now)
    if policy == "explicit":
        raise InvalidInput("identity.event_time_policy is 'explicit': say when it happened (occurred)")
    exact = [span for span in time_spans(text, now=now) if span.kind != "fuzzy"]
    # as the text says it: the same text is of the same time whatever zone it is read in
    return exact[0].start.replace(tzinfo=UTC).isoformat() if exact else ""
