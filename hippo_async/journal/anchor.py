"""The daily anchor (J11, FORMAT.md §11): one hash that stands for all records of a day. Pure."""

from __future__ import annotations

import datetime
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from hippo_async.journal.canon import canonical
from hippo_async.records import Novelty


class Anchored(Protocol):
    """What an anchor needs of a record; records of v1 and v2 both have it."""

    @property
    def record_id(self) -> str: ...
    @property
    def timestamp(self) -> str: ...
    @property
    def novelty(self) -> Novelty: ...


@dataclass(frozen=True, slots=True)
class DailyAnchor:
    """The payload of one day's anchor (J11). Its owner keeps it; only its hash is published.

    ``date`` is ``YYYY-MM-DD``, ``dna_hash`` 64 hex digits. ``novelty_distribution`` counts each of the three
    values, zeros included. ``first_id`` and ``last_id`` follow the order of the journal; they are ``None``
    for a day without records.
    """

    agent_id: str
    date: str
    count: int
    dna_hash: str
    novelty_distribution: Mapping[str, int]
    first_id: str | None
    last_id: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the payload as plain JSON values."""
        return asdict(self)

    @property
    def anchor_payload_hash(self) -> bytes:
        """SHA-256 over the canonical payload: the 32 bytes that are published, and that reveal nothing."""
        return hashlib.sha256(canonical(self.as_dict())).digest()


def daily_anchor(records: Iterable[Anchored], *, agent_id: str, date: datetime.date) -> DailyAnchor:
    """Build the anchor of one day in UTC from the records of a journal, given in its order (J11).

    A record belongs to the day its timestamp begins with, whatever its type; others are passed over, so a
    whole journal can be handed in. A purged record counts as before: its id and novelty are still there.
    """
    day = date.isoformat()[:10]  # a datetime is a date too, and writes its time behind it
    found = [(record.record_id, record.novelty) for record in records if record.timestamp.startswith(day)]
    ids = [record_id for record_id, _ in found]
    novelties = Counter(novelty for _, novelty in found)
    return DailyAnchor(
        agent_id=agent_id,
        date=day,
        count=len(ids),
        dna_hash=hashlib.sha256("|".join(sorted(ids)).encode()).hexdigest(),
        novelty_distribution={novelty.value: novelties[novelty] for novelty in Novelty},
        first_id=ids[0] if ids else None,
        last_id=ids[-1] if ids else None,
    )
