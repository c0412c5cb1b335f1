"""Asking a summarizer that was handed over, and doing without it when it fails (M3, M6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from hippo_async.protocols import Summarizer
from hippo_async.records import Turn

logger: logging.Logger = logging.getLogger("hippo_async")

SUMMARY_SECONDS = 60.0


async def summarized(turns: Sequence[Turn], summarizer: Summarizer | None) -> str | None:
    """Return the summarizer's text, awaited on the caller's own loop.

    ``None`` if there is no summarizer, it raises, takes over a minute, or says nothing: then the extractive
    fold has to do. Only the caller's own cancellation gets through.
    """
    if summarizer is None:
        return None
    try:
        async with asyncio.timeout(SUMMARY_SECONDS):
            return (await summarizer(turns)).strip() or None
    except Exception:
        logger.exception("the summarizer failed; the fold is extractive")
        return None
