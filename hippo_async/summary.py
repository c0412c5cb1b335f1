"""Asking a summarizer that was handed over, and doing without it when it fails (M3, M6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hippo_async.protocols import Summarizer
from hippo_async.records import Turn

if TYPE_CHECKING:
    from hippo_async.engine import Engine

logger: logging.Logger = logging.getLogger("hippo_async")

SUMMARY_SECONDS = 60.0


async def without_forgotten(engine: Engine, turns: Sequence[Turn]) -> tuple[list[Turn], list[str]]:
    """Return the turns, empty where what they say is to be forgotten, and the records of the others.

    A context window may hold what its user has long asked to forget.
    """
    keys, library = [turn.key for turn in turns if turn.key is not None], engine.library
    known, erased = (
        await library.run(library.ids_by_key, keys),
        await library.run(library.erased_by_key, keys),
    )
    ids = [turn.record_id or known.get(turn.key or "") for turn in turns]
    hidden = await engine.lives.unseen([name for name in ids if name])
    gone = [name in hidden or turn.key in erased for name, turn in zip(ids, turns, strict=True)]
    kept = [replace(turn, content="") if is_gone else turn for turn, is_gone in zip(turns, gone, strict=True)]
    return kept, [name for name, is_gone in zip(ids, gone, strict=True) if name and not is_gone]


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
