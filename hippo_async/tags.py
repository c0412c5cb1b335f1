"""Asking a tagger that was handed over, and doing without it when it fails (M3, M6, L20)."""

from __future__ import annotations

import asyncio
import logging

from hippo_async.protocols import Tagger
from hippo_async.tagging import sensible, suggest

logger: logging.Logger = logging.getLogger("hippo_async")

TAGGER_SECONDS = 20.0


async def tagged(text: str, tagger: Tagger | None = None, *, most: int = 5) -> tuple[str, ...]:
    """Return at most ``most`` tags for a text, the tagger's, awaited on the caller's own loop.

    Those that :func:`~hippo_async.tagging.suggest` finds if there is no tagger, it raises, takes over twenty
    seconds, or says nothing that can be a tag. Only the caller's own cancellation gets through. A tagger is
    given the whole text, and its answer trusted no more than the text: see
    :func:`~hippo_async.tagging.sensible`.
    """
    return (await _asked(text, tagger, most) if tagger is not None else ()) or suggest(text, most=most)


async def _asked(text: str, tagger: Tagger, most: int) -> tuple[str, ...]:
    try:
        async with asyncio.timeout(TAGGER_SECONDS):
            return sensible(await tagger(text), most=most)
    except Exception:
        logger.exception("the tagger failed; tags are taken from the text's own words")
        return ()
