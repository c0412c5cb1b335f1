"""Watching the agent's identity: its system prompt (J14)."""

from __future__ import annotations

import hashlib
import threading

from hippo_async import Hippocampus, Kind

IDENTITY_TAG = "identity"
KEPT_CHARS = 4_000


class IdentityWatch:
    """Records the system prompt an agent is first seen with, and each change of it.

    What was seen last is looked up in the journal, so a prompt that is swapped while the agent is down is
    noticed too. The text stands in the metadata, cut to 4,000 characters, where recall does not search it.
    """

    def __init__(self, memory: Hippocampus, *, agent: str) -> None:
        self._memory = memory
        self._agent = agent
        self._tags = (IDENTITY_TAG, f"{IDENTITY_TAG}:{agent}")
        self._lock = threading.Lock()
        self._text: str | None = None
        self._looking_at: str | None = None

    async def look(self, text: str) -> None:
        """Compare a system prompt with the last one and record the difference: ``state`` for the first one,
        ``identity_change`` after that. An agent that never had a prompt gets no record.

        Raises what the memory raises; the next call then tries again.
        """
        if not self._claim(text):
            return
        try:
            before = await self._last_digest()
            digest = _sha256(text)
            if digest != before and (text or before):
                await self._record(text, digest, before)
            self._text = text
        finally:
            self._looking_at = None

    def _claim(self, text: str) -> bool:
        """Whether the caller is the one to look: many runs may come by with the same prompt at once."""
        with self._lock:
            if text in (self._text, self._looking_at):
                return False
            self._looking_at = text
            return True

    async def _last_digest(self) -> str | None:
        if self._text is not None:
            return _sha256(self._text)
        found = await self._memory.latest(tags=self._tags)
        return str(found[0].metadata.get("sha256")) if found else None

    async def _record(self, text: str, digest: str, before: str | None) -> None:
        size = f"{len(text):,} characters, sha256 {digest[:16]}"
        await self._memory.record(
            f"System prompt of {self._agent}: {size}"
            if before is None
            else f"System prompt of {self._agent} changed: {size}",
            kind=Kind.STATE if before is None else Kind.IDENTITY_CHANGE,
            role="system",
            tags=self._tags,
            metadata={"sha256": digest, "previous_sha256": before, "text": text[:KEPT_CHARS]},
        )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
