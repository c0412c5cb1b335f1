"""What an owner accepts when a journal is opened although something acknowledged is not there. Pure.

Accepting is an act of its own, and the chain remembers it (FORMAT.md §3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hippo_async.errors import AcknowledgedLoss, HeadMismatch, IntegrityError, JournalCorrupt, RolledBack
from hippo_async.journal.codec import RESERVED_KEY
from hippo_async.journal.head import HeadState
from hippo_async.records import Draft, Kind, Novelty

REASONS: dict[type[IntegrityError], str] = {
    JournalCorrupt: "corrupt",
    AcknowledgedLoss: "acknowledged_loss",
    HeadMismatch: "head_mismatch",
    RolledBack: "rolled_back",
}


def accept_draft(
    objections: Sequence[IntegrityError], head: HeadState | None, witnessed: HeadState | None
) -> Draft:
    """Compose the accept record: the first objection's verdict, and the latest state it goes against."""
    known = [state for state in (head, witnessed) if state is not None]
    latest = max(known, key=lambda state: (state.seq, state.number), default=None)
    reason = REASONS[type(objections[0])]
    what = "; ".join(f"{REASONS[type(objection)]}: {objection.reason}" for objection in objections)
    return Draft(
        f"The owner accepted this journal as it is. {what}",
        Kind.STATE,
        Novelty.NOVEL,
        {RESERVED_KEY: {"reason": reason, "seen": _seen(latest)}},
    )


def _seen(state: HeadState | None) -> dict[str, Any] | None:
    if state is None:
        return None
    return {name: value for name, value in asdict(state).items() if name != "journal_id"}
