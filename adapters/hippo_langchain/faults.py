"""Memory faults that must not become the agent's (design, principle 1)."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")
logger: logging.Logger = logging.getLogger("hippo_langchain")


class Faults:
    """Counts what went wrong on the memory's side while agents went on. ``counts`` is by step."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    async def attempt(self, step: str, work: Awaitable[T], otherwise: T) -> T:
        """Await ``work``; if it raises, log that with its traceback, count it and return ``otherwise``.

        Cancellation passes through.
        """
        try:
            return await work
        except Exception:
            self.counts[step] += 1
            logger.exception("memory step %r failed; the agent goes on without it", step)
            return otherwise
