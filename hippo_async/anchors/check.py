"""Checking old anchors against the journal, and their time-stamps against root certificates (J11).

An anchor stays what was published. A record may have been appended since with a date that was anchored
before, so each anchor is compared with the first records of its date, as many as it counts: up to its
``last_id`` (FORMAT.md §11).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from hippo_async.anchors.day import AnchoredDay
from hippo_async.anchors.ledger import Ledger
from hippo_async.anchors.tally import DayTally
from hippo_async.anchors.timestamp import verify_receipt
from hippo_async.errors import AnchorDamaged, TimestampRefused
from hippo_async.journal.anchor import Anchored
from hippo_async.journal.proof import AnchorV2
from hippo_async.records import utc_timestamp

if TYPE_CHECKING:
    from cryptography.x509 import Certificate


@dataclass(frozen=True, slots=True)
class DayCheck:
    """What :func:`check_ledger` found of a day: ``reason`` says why it does not hold, or is ``None``.

    ``added_since`` counts records of this date that came after its anchor. ``stamped`` maps each publisher
    whose time-stamp was verified to the time it swears to.
    """

    date: str
    reason: str | None
    added_since: int = 0
    stamped: Mapping[str, str] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether the anchor is that of the journal, and its time-stamps, if asked for, are good."""
        return self.reason is None

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain JSON values."""
        return {"holds": self.holds, **asdict(self)}


def check_ledger(
    ledger: Ledger, records: Iterable[Anchored], *, roots: Sequence[Certificate] = ()
) -> list[DayCheck]:
    """Recompute every stored anchor in one pass over the journal's records, given in its order (J11).

    With ``roots``, stored time-stamps are verified too, offline. Blocks; never raises for what it finds in
    the ledger. Raises what reading ``records`` raises, :class:`MissingExtra`, and ``OSError``.
    """
    damaged: list[DayCheck] = []
    days: dict[str, _Comparison] = {}
    stamps: dict[str, _Stamps] = {}
    for date in ledger.dates():
        try:
            day = ledger.read(date)
        except AnchorDamaged as error:
            damaged.append(DayCheck(date, error.reason))
        else:
            days[date] = _Comparison(day.anchor_v2)
            stamps[date] = _verified(day, roots)
    for record in records:
        comparison = days.get(record.timestamp[:10])
        if comparison is not None:
            comparison.take(record)
    found = [
        DayCheck(date, compared.reason or stamps[date].reason, compared.added_since, stamps[date].times)
        for date, compared in days.items()
    ]
    return sorted(damaged + found, key=lambda check: check.date)


class _Comparison:
    """A stored anchor beside the records of its date; their ids are let go once it is complete."""

    def __init__(self, stored: AnchorV2) -> None:
        self._stored = stored
        self._tally = DayTally()
        self._same: bool | None = None
        self.added_since: int = 0
        self._compare_if_complete()

    @property
    def reason(self) -> str | None:
        """Why the anchor is not that of the journal, or ``None``."""
        if self._same is None:
            return f"the journal has {len(self._tally)} records of this day, the anchor {self._stored.count}"
        return None if self._same else "the records of this day lead to another anchor"

    def take(self, record: Anchored) -> None:
        """Take the next record of the date."""
        if self._same is not None:
            self.added_since += 1
            return
        self._tally.add(record)
        self._compare_if_complete()

    def _compare_if_complete(self) -> None:
        if len(self._tally) == self._stored.count:
            made = self._tally.anchor(self._stored.date, agent_id=self._stored.agent_id)
            self._same = made == self._stored
            self._tally = DayTally()


@dataclass(frozen=True, slots=True)
class _Stamps:
    times: Mapping[str, str]
    reason: str | None = None


def _verified(day: AnchoredDay, roots: Sequence[Certificate]) -> _Stamps:
    """Verify the time-stamps of a day, as far as the first that does not hold."""
    times: dict[str, str] = {}
    for receipt in day.receipts if roots else ():
        try:
            stamped = verify_receipt(receipt, bytes.fromhex(day.anchor_v2_hash), roots=roots)
        except TimestampRefused as error:
            return _Stamps(times, f"{receipt.publisher}: {error}")
        if stamped is not None:
            times[receipt.publisher] = utc_timestamp(stamped)
    return _Stamps(times)
