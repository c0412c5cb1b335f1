"""How much of a model's window memory may use: as told, else as the memory's settings say at that moment."""

from __future__ import annotations

from dataclasses import dataclass

from hippo_async import Hippocampus

BRIEFING_SHARE = 4
RECALL_SHARE = 4
"""One part in this many of the window is the most that a briefing, or what a tool recalls, may take."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Asked at each call: settings are read when the memory is opened, and may be changed while it is."""

    memory: Hippocampus
    max_tokens: int | None
    briefing_tokens: int
    briefs: bool
    """Whether the middleware was told a place for briefings."""

    @property
    def window(self) -> int:
        """Return the tokens that a model call has to fit in."""
        return self.max_tokens or self.memory.settings.context.max_tokens

    @property
    def injects(self) -> bool:
        """Return whether a briefing goes into the prompt (L29)."""
        return self.briefs and self.memory.settings.context.inject_prompt

    @property
    def briefing(self) -> int:
        """Return the tokens that are kept for the briefing."""
        return min(self.briefing_tokens, self.window // BRIEFING_SHARE) if self.injects else 0

    def recalled(self) -> int:
        """Return the tokens that a tool's recall may take."""
        return self.window // RECALL_SHARE
