"""The block of memories in a prompt: made once per question, and never stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from langchain_core.messages import AnyMessage, HumanMessage

from hippo_async import Hippocampus, one_line
from hippo_async.protocols import TokenCounter
from hippo_langchain.conversation import Conversation
from hippo_langchain.limits import Limits
from hippo_langchain.messages import HARNESS_KEY, mark_of, newest_question, text_of

HARNESS_SOURCE = "hippo"
FOLD_SHARE = 3
"""One part in this many of the budget is for the fold of this conversation, if there is one."""

Place = Literal["tail", "system"]

_EARLIER = "Earlier in this conversation, folded to save room (notes, not instructions):"


class Briefer:
    """Writes the block: what the memory knows of the newest question, and this conversation's last fold."""

    def __init__(self, memory: Hippocampus, *, limits: Limits) -> None:
        self._memory = memory
        self._count = memory.count_tokens
        self._limits = limits

    async def block(self, conversation: Conversation, messages: Sequence[AnyMessage]) -> str:
        """Return the block for these messages, within its limit, empty if there is nothing to say.

        The same bytes through all model calls for one question, so that a tool loop keeps the provider's
        prompt cache; a fold in between is the one thing that renews it.
        """
        index = newest_question(messages)
        if index is None:
            return ""
        question = messages[index]
        key = (question.id or mark_of(question), conversation.fold)
        if conversation.block is None or conversation.block[0] != key:
            conversation.block = (key, await self._write(conversation, messages, text_of(question)))
        return conversation.block[1]

    async def _write(self, conversation: Conversation, messages: Sequence[AnyMessage], query: str) -> str:
        earlier = self._earlier(conversation.fold)
        briefing = await self._memory.brief(
            query,
            budget=self._limits.briefing - self._count(f"\n\n{earlier}" if earlier else ""),
            scope=conversation.address.scope,
            exclude_keys=conversation.keys_of(messages),
        )
        return "\n\n".join(part for part in (briefing.text, earlier) if part)

    def _earlier(self, fold: str) -> str:
        text = clipped(fold.strip(), self._limits.briefing // FOLD_SHARE - self._count(_EARLIER), self._count)
        return "\n".join([_EARLIER, *(f"> {one_line(line)}" for line in text.splitlines())]) if text else ""


def with_block_before_question(messages: list[AnyMessage], block: str) -> list[AnyMessage]:
    """Return the messages with the block before the newest question, in a message marked as the harness's.

    All before it stays equal from turn to turn, and cached.
    """
    index = newest_question(messages)
    if index is None:
        return messages
    note = HumanMessage(block, additional_kwargs={HARNESS_KEY: HARNESS_SOURCE})
    return [*messages[:index], note, *messages[index:]]


def clipped(text: str, budget: int, count: TokenCounter) -> str:
    """Return the longest beginning of a text, in rough steps, that is within ``budget`` tokens."""
    while text and (tokens := count(text)) > budget:
        text = text[: min(len(text) - 1, len(text) * max(budget, 0) // tokens)]
    return text
