"""When a memory is to be looked at again (L12)."""

from __future__ import annotations

from datetime import datetime, timedelta

from hippo_async.records import utc_timestamp

DAYS = (1, 2, 4, 7, 15, 30)
"""Days to a review. Each confirmation moves a memory one step on; after the last it is known."""


def due_after(moment: str, step: int) -> str | None:
    """Return when the review of a step is due, for a memory written or last confirmed at ``moment``.

    Both are ISO-8601 UTC as the journal writes them. ``None`` after the last step.
    """
    if step >= len(DAYS):
        return None
    return utc_timestamp(datetime.fromisoformat(moment) + timedelta(days=DAYS[step]))
