"""Counting the same text once: most of a prompt is the same at the next turn."""

from __future__ import annotations

from hippo_async.protocols import TokenCounter

COUNTS_KEPT = 65_536


class RememberedCounts:
    """A :data:`~hippo_async.protocols.TokenCounter` that remembers what it counted.

    It keeps no texts, only their hashes and lengths. May be used from any thread.
    """

    def __init__(self, count: TokenCounter) -> None:
        self._count = count
        self._known: dict[tuple[int, int], int] = {}

    def __call__(self, text: str) -> int:
        key = (hash(text), len(text))
        tokens = self._known.get(key)
        if tokens is None:
            if len(self._known) >= COUNTS_KEPT:
                self._known.clear()
            tokens = self._known[key] = self._count(text)
        return tokens
