"""One day of the ledger: its anchor, and who has published it (J11, J12). Pure.

A day's file is canonical JSON and a newline, of exactly these fields:

===================== ==========================================================================
field                 value
===================== ==========================================================================
anchor                payload of J11
anchor_payload_hash   its SHA-256 in hex
anchor_v2             the same payload with ``merkle_root`` (FORMAT.md §11)
anchor_v2_hash        its SHA-256 in hex
ledger                ``montana.agent.hippocampus.v2.ledger``
pending               for each publisher that failed: attempts, last_error, publisher, retry_at
receipts              for each publisher that succeeded: published_at, publisher, returned
===================== ==========================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from pydantic import JsonValue, TypeAdapter, ValidationError

from hippo_async.journal.anchor import DailyAnchor
from hippo_async.journal.canon import canonical
from hippo_async.journal.proof import AnchorV2
from hippo_async.records import utc_timestamp

FORMAT: Final = "montana.agent.hippocampus.v2.ledger"
FIRST_RETRY = timedelta(minutes=1)
LONGEST_RETRY = timedelta(days=1)
MAX_ERROR = 300


@dataclass(frozen=True, slots=True)
class Receipt:
    """That a publisher has an anchor: when it took it, and what it returned."""

    publisher: str
    published_at: str
    returned: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Pending:
    """That a publisher failed: how often so far, why the last time, and when to try again."""

    publisher: str
    attempts: int
    last_error: str
    retry_at: str


@dataclass(frozen=True, slots=True)
class AnchoredDay:
    """A finished day: the payloads, which the owner keeps, and the two hashes, which may be published."""

    anchor: DailyAnchor
    anchor_payload_hash: str
    anchor_v2: AnchorV2
    anchor_v2_hash: str
    receipts: tuple[Receipt, ...] = ()
    pending: tuple[Pending, ...] = ()
    ledger: Literal["montana.agent.hippocampus.v2.ledger"] = FORMAT

    @classmethod
    def of(cls, anchor: AnchorV2) -> AnchoredDay:
        """Take a day's anchor, published by nobody yet."""
        plain = _without_root(anchor)
        return cls(plain, plain.anchor_payload_hash.hex(), anchor, anchor.anchor_payload_hash.hex())

    @property
    def date(self) -> str:
        """The day in UTC, ``YYYY-MM-DD``."""
        return self.anchor.date

    @property
    def hashes(self) -> dict[str, str]:
        """All that a publisher of documents tells: the date and the two hashes in hex."""
        return {
            "anchor_payload_hash": self.anchor_payload_hash,
            "anchor_v2_hash": self.anchor_v2_hash,
            "date": self.date,
        }

    def is_published_by(self, publisher: str) -> bool:
        """Whether there is a receipt of this publisher."""
        return any(receipt.publisher == publisher for receipt in self.receipts)

    def is_resting(self, publisher: str, now: datetime) -> bool:
        """Whether a publisher failed and its back-off still runs."""
        moment = utc_timestamp(now)
        return any(failed.publisher == publisher and failed.retry_at > moment for failed in self.pending)

    def published(self, publisher: str, returned: Mapping[str, JsonValue], at: datetime) -> AnchoredDay:
        """Return the day with a receipt; whatever failed before is forgotten. A second receipt is none."""
        if self.is_published_by(publisher):
            return self
        receipt = Receipt(publisher, utc_timestamp(at), returned)
        return replace(self, receipts=(*self.receipts, receipt), pending=self._pending_of_others(publisher))

    def failed(self, publisher: str, error: str, at: datetime) -> AnchoredDay:
        """Return the day with one more failure, to be tried again after 1 minute, doubling up to a day."""
        attempts = 1 + sum(failed.attempts for failed in self.pending if failed.publisher == publisher)
        retry_at = utc_timestamp(at + back_off(attempts))
        failure = Pending(publisher, attempts, error[:MAX_ERROR], retry_at)
        return replace(self, pending=(*self._pending_of_others(publisher), failure))

    def encode(self) -> bytes:
        """Write the file. Raises :class:`RecordRejected` if a publisher returned what is not JSON."""
        document = asdict(self)
        document["receipts"] = [
            asdict(receipt) | {"returned": dict(receipt.returned)} for receipt in self.receipts
        ]
        document["pending"] = [asdict(failed) for failed in self.pending]
        return canonical(document) + b"\n"

    def _pending_of_others(self, publisher: str) -> tuple[Pending, ...]:
        return tuple(failed for failed in self.pending if failed.publisher != publisher)


def back_off(attempts: int) -> timedelta:
    """Return how long to wait after so many failures."""
    minutes: int = 2 ** min(attempts - 1, 16)  # far beyond the longest, and still a number of minutes
    return min(FIRST_RETRY * minutes, LONGEST_RETRY)


def read_day(data: bytes, *, date: str, agent_id: str) -> AnchoredDay:
    """Read a file that :meth:`AnchoredDay.encode` wrote.

    Raises ``ValueError`` with the reason if it holds anything else, is of another day or agent, or its hashes
    are not those of its payloads.
    """
    try:
        day = _DOCUMENT.validate_json(data)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "it"
        raise ValueError(f"not a day of the ledger: {where}: {error.errors()[0]['msg']}") from None
    if day.encode() != data:
        raise ValueError("not a day of the ledger: other fields, or not written canonically")
    if (day.date, day.anchor.agent_id) != (date, agent_id):
        raise ValueError("the anchor is of another day or agent")
    fresh = AnchoredDay.of(day.anchor_v2)
    if replace(fresh, receipts=day.receipts, pending=day.pending) != day:
        raise ValueError("the two payloads differ, or the hashes are not theirs")
    return day


def _without_root(anchor: AnchorV2) -> DailyAnchor:
    payload: dict[str, Any] = anchor.as_dict()
    del payload["merkle_root"]
    return DailyAnchor(**payload)


_DOCUMENT = TypeAdapter(AnchoredDay)
