"""Reading LangChain messages: who spoke, the words, and what of it is worth keeping. Pure functions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage

from hippo_async import is_briefing
from hippo_async.records import Kind, Source

HARNESS_KEY = "lc_source"
"""LangChain's own mark in ``additional_kwargs`` for a message that the user did not write."""

MEDIA = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "file": "file",
    "input_file": "file",
    "document": "file",
}
"""Content block types that carry bytes or a link, by what they are."""

_ROLES = {
    "human": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "tool": "tool",
    "ToolMessageChunk": "tool",
    "system": "system",
    "SystemMessageChunk": "system",
}

ERROR_CHARS = 2_000
ARGUMENT_CHARS = 200


@dataclass(frozen=True, slots=True)
class Note:
    """One thing to capture from a message.

    ``identity`` is what stays equal when the same message comes by again; ``None`` when nothing does.
    ``speaker`` is the name that a message bears, where several people or agents speak.
    """

    content: str
    role: str
    kind: Kind
    source: Source
    identity: tuple[str, ...] | None
    tool: str | None = None
    speaker: str | None = None


def role_of(message: BaseMessage) -> str | None:
    """Return ``user``, ``assistant``, ``tool`` or ``system``; ``None`` for a kind of message unknown here."""
    return _ROLES.get(message.type)


def text_of(message: BaseMessage) -> str:
    """Return the words of a message. Media become a note such as ``[image]``, never their bytes (L16);
    reasoning is left out."""
    if isinstance(message.content, str):
        return message.content
    return "".join(_block_text(block) for block in message.content).strip()


def calls_of(message: BaseMessage) -> list[ToolCall]:
    """Return the tool calls that a message makes; none unless the assistant said it."""
    return message.tool_calls if role_of(message) == "assistant" and isinstance(message, AIMessage) else []


def is_harness(message: BaseMessage) -> bool:
    """Whether the message was put there by a program and not said by anyone: summaries, briefings (L10)."""
    if message.additional_kwargs.get(HARNESS_KEY):
        return True
    return role_of(message) == "user" and is_briefing(text_of(message))


def is_spoken(message: BaseMessage) -> bool:
    """Whether the message is a turn of the conversation: user or assistant, with words of its own (L10)."""
    if role_of(message) not in {"user", "assistant"} or is_harness(message):
        return False
    return bool(text_of(message).strip())


def mark_of(message: BaseMessage) -> str:
    """Return a fingerprint of who said what; equal for a message and for its copy rebuilt from a role
    dict."""
    return fingerprint(role_of(message) or message.type, text_of(message))


def exact_mark_of(message: BaseMessage) -> str:
    """Return a fingerprint that also tells tool calls apart: two messages that say nothing may call for
    much."""
    calls = [call["id"] or "" for call in calls_of(message)]
    return digest(mark_of(message), *calls) if calls else mark_of(message)


def fingerprint(role: str, text: str) -> str:
    """Return 32 hex digits that stand for a role and its text, whatever white space surrounds it."""
    return digest(role, text.strip())


def digest(*parts: str) -> str:
    """Return 32 hex digits over the parts; their boundaries count."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.hexdigest()


def newest_question(messages: Sequence[BaseMessage]) -> int | None:
    """Return the index of the last message that the user wrote, or ``None``."""
    for index in range(len(messages) - 1, -1, -1):
        if role_of(messages[index]) == "user" and not is_harness(messages[index]):
            return index
    return None


def notes_of(message: BaseMessage, *, tool_results: bool = False, silent: Collection[str] = ()) -> list[Note]:
    """Return what to keep of a message (L10, J14).

    User and assistant text is an ``observation``; the tool calls of an assistant message are one ``decision``
    line; a tool result is kept when it is an error, or when ``tool_results`` asks for all of them. Of the
    tools named in ``silent``, the memory's own, only errors are: what came out of the memory is in there, and
    a copy would outlive a forgetting.
    """
    if is_harness(message):
        return []
    if isinstance(message, ToolMessage):
        return _tool_notes(message, tool_results=tool_results and message.name not in silent)
    notes = []
    if is_spoken(message):
        notes.append(_spoken_note(message))
    notes.extend(_decision_notes(message, silent))
    return notes


def error_note(what: str, error: BaseException, *, tool: str | None = None) -> Note:
    """Return the note of something that raised, cut to 2,000 characters. Each raise is an event of its
    own."""
    return Note(
        content=f"{what} failed: {type(error).__name__}: {error}"[:ERROR_CHARS],
        role="tool" if tool else "system",
        kind=Kind.ERROR,
        source=Source.TOOL if tool else Source.SELF,
        identity=None,
        tool=tool,
    )


def calls_line(calls: Iterable[Mapping[str, Any]]) -> str:
    """Write tool calls on one line, ``weather(city="Oslo"); search(q="rain")``, long arguments cut."""
    return "; ".join(f"{call['name']}({_arguments(call['args'])})" for call in calls)


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    kind = str(block.get("type", ""))
    if kind in {"text", "text-plain"}:
        return str(block.get("text") or "")
    return f" [{MEDIA[kind]}] " if kind in MEDIA else ""


def _spoken_note(message: BaseMessage) -> Note:
    role = role_of(message) or "user"
    identity = None
    if message.id is not None:  # a user may edit a message and keep its id: the edit is a turn of its own
        identity = (role, message.id, mark_of(message)) if role == "user" else (role, message.id)
    return Note(text_of(message), role, Kind.OBSERVATION, Source(role), identity, speaker=message.name)


def _decision_notes(message: BaseMessage, silent: Collection[str]) -> list[Note]:
    calls = [call for call in calls_of(message) if call["name"] not in silent]
    if not calls:
        return []
    line = calls_line(calls)
    identity = ("calls", line, *(call["id"] or "" for call in calls))
    return [Note(f"called {line}", "assistant", Kind.DECISION, Source.ASSISTANT, identity)]


def _tool_notes(message: ToolMessage, *, tool_results: bool) -> list[Note]:
    failed = message.status == "error"
    if not failed and not tool_results:
        return []
    text = text_of(message)
    identity = ("tool", message.tool_call_id, mark_of(message))
    kind = Kind.ERROR if failed else Kind.OBSERVATION
    content = f"{message.name or 'tool'} failed: {text}"[:ERROR_CHARS] if failed else text
    return [Note(content, "tool", kind, Source.TOOL, identity, tool=message.name)] if text.strip() else []


def _arguments(args: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_short(value)}" for name, value in args.items())


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= ARGUMENT_CHARS else text[: ARGUMENT_CHARS - 1] + "…"
