"""How large messages are, in tokens, as the planner of the window sees them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from hippo_async import Turn
from hippo_async.protocols import TokenCounter
from hippo_langchain.messages import MEDIA, calls_of, role_of, text_of

MESSAGE_TOKENS = 4
"""What a message costs beside its text: role and delimiters."""

MEDIA_TOKENS = {"image": 1_600, "audio": 2_000, "video": 4_000, "file": 4_000}
"""What a picture, sound or file is taken to cost, whatever its bytes: the upper end of what providers
bill."""

UNKNOWN_CHARS = 16_000


class ToolSizes:
    """Counts tool definitions, each of which is written out once. May be used from any thread."""

    def __init__(self, count: TokenCounter) -> None:
        self._count = count
        self._known: dict[tuple[str, str], int] = {}

    def __call__(self, tools: Sequence[Any]) -> int:
        """Return the tokens of the tool definitions that go along with a prompt."""
        return sum(self._size(tool) for tool in tools)

    def _size(self, tool: Any) -> int:
        if isinstance(tool, dict):
            return self._count(_json(tool))
        key = (tool.name, tool.description)
        if key not in self._known:
            self._known[key] = self._count(_json(convert_to_openai_tool(tool)))
        return self._known[key]


def sizes_of(messages: Sequence[BaseMessage], count: TokenCounter, *, exact: int) -> list[int]:
    """Return the tokens of each message, counted from the newest until ``exact`` tokens are reached.

    What is older than that leaves the window in any case and is only estimated, a quarter of its characters.
    """
    sizes: list[int] = []
    total = 0
    for message in reversed(messages):
        sizes.append(message_tokens(message, count if total <= exact else _roughly))
        total += sizes[-1]
    return sizes[::-1]


def turn_of(message: BaseMessage, *, tokens: int) -> Turn:
    """Return a message as eviction and folding see it."""
    return Turn(
        role=role_of(message) or "system",
        content=text_of(message),
        tokens=tokens,
        tool_calls=tuple(call["id"] or "" for call in calls_of(message)),
        answers=message.tool_call_id if isinstance(message, ToolMessage) else None,
        name=message.name,
    )


def message_tokens(message: BaseMessage, count: TokenCounter) -> int:
    """Return the estimated tokens of a message: text, tool-call names and arguments, media, overhead."""
    content = message.content
    blocks = [content] if isinstance(content, str) else content
    tokens = sum(_block_tokens(block, count) for block in blocks)
    for call in calls_of(message):
        tokens += MESSAGE_TOKENS + count(call["name"]) + count(_json(call["args"]))
    return tokens + MESSAGE_TOKENS


def _roughly(text: str) -> int:
    return len(text) // 4


def _block_tokens(block: Any, count: TokenCounter) -> int:
    if isinstance(block, str):
        return count(block)
    kind = str(block.get("type", ""))
    if kind in MEDIA:
        return MEDIA_TOKENS[MEDIA[kind]]
    if kind in {"tool_use", "tool_call", "function_call"}:
        return 0  # counted as tool calls of the message
    text = block.get("text") or block.get("thinking") or block.get("reasoning")
    if isinstance(text, str):
        return count(text)
    return min(count(_json(block)[:UNKNOWN_CHARS]), MEDIA_TOKENS["file"])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
