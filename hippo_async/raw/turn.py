"""One captured turn, and the line that it is on disk (L2). Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from hippo_async.records import utc_timestamp

FIELDS = ("turn_id", "timestamp", "role", "content")


@dataclass(frozen=True, slots=True)
class RawTurn:
    """A turn as it was said. ``timestamp`` is aware; ``content`` is any text, lone surrogates too."""

    turn_id: str
    timestamp: datetime
    role: str
    content: str

    @property
    def day(self) -> str:
        """The UTC date that names the turn's shard, ``YYYY-MM-DD``."""
        return utc_timestamp(self.timestamp)[:10]


def encode(turn: RawTurn) -> bytes:
    """Return the turn's line with its newline: exactly the four fields, one JSON object (L2).

    What UTF-8 cannot hold (lone surrogates) is kept by writing the whole line in ASCII escapes. Raises
    ``ValueError`` for a naive timestamp.
    """
    values = (turn.turn_id, utc_timestamp(turn.timestamp), turn.role, turn.content)
    fields = dict(zip(FIELDS, values, strict=True))
    try:
        return json.dumps(fields, ensure_ascii=False).encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(fields).encode("ascii") + b"\n"


def decode(line: bytes) -> RawTurn:
    """Return the turn of a line, with or without its newline. Raises ``ValueError`` for any other line."""
    fields = json.loads(line)
    if not isinstance(fields, dict) or set(fields) != set(FIELDS):
        raise ValueError("not exactly the fields of a raw turn")
    if not all(isinstance(value, str) for value in fields.values()):
        raise ValueError("a field of a raw turn is not a string")
    timestamp = datetime.fromisoformat(fields["timestamp"])
    if timestamp.tzinfo is None:
        raise ValueError("a raw turn's timestamp has no time zone")
    return RawTurn(fields["turn_id"], timestamp, fields["role"], fields["content"])
