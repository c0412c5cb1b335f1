"""Taking what is erased out of the raw shards (L6). Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from hippo_async.raw.turn import decode
from hippo_async.records import utc_timestamp

TOMBSTONE = "raw_tombstone"


class Erasure(NamedTuple):
    """A turn that is erased: by its id, and by what it says. ``mark`` is the keyed hash that remains."""

    turn_id: str
    content: str
    mark: str


def without(data: bytes, erasures: Sequence[Erasure], *, now: datetime) -> tuple[bytes, int]:
    """Return a shard with tombstones in place of what is erased, and how many were put there.

    What a crash left of the line of such a turn goes too. Every other byte stays, also of lines that are no
    turns.
    """
    by_turn = {erasure.turn_id: erasure for erasure in erasures}
    by_content = {erasure.content: erasure for erasure in erasures if erasure.content}
    lines = data.split(b"\n")
    erased = 0
    for at, line in enumerate(lines):
        erasure = _erasure_of(line, by_turn, by_content)
        if erasure is not None:
            lines[at] = _tombstone(erasure, now)
            erased += 1
    return b"\n".join(lines), erased


def is_tombstone(line: bytes) -> bool:
    """Whether a line stands for a turn that was erased."""
    try:
        fields = json.loads(line)
    except ValueError:
        return False
    return isinstance(fields, dict) and fields.get("type") == TOMBSTONE


def _erasure_of(line: bytes, by_turn: dict[str, Erasure], by_content: dict[str, Erasure]) -> Erasure | None:
    try:
        turn = decode(line)
    except ValueError:
        return _erasure_of_torn(line, by_content)
    return by_turn.get(turn.turn_id) or by_content.get(turn.content)


def _erasure_of_torn(line: bytes, by_content: dict[str, Erasure]) -> Erasure | None:
    """What is erased and begins as the line does where it broke off; the turn was written again then."""
    _, begins, rest = line.partition(b'"content": "')
    if not begins or not rest:
        return None
    for content, erasure in by_content.items():
        if any(_quoted(content, ascii_only)[1:].startswith(rest) for ascii_only in (False, True)):
            return erasure
    return None


def _quoted(text: str, ascii_only: bool) -> bytes:
    return json.dumps(text, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")


def _tombstone(erasure: Erasure, now: datetime) -> bytes:
    fields = {"type": TOMBSTONE, "hash": erasure.mark, "timestamp": utc_timestamp(now)}
    return json.dumps(fields).encode("ascii")
