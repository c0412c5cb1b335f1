"""Chat message history in the journal, for ``RunnableWithMessageHistory`` and code like it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    message_chunk_to_message,
    message_to_dict,
    messages_from_dict,
)

from hippo_async import Hippocampus, Kind, Record, blocking, is_briefing
from hippo_async.records import Source
from hippo_langchain.address import Address
from hippo_langchain.capturing import capture_key
from hippo_langchain.messages import HARNESS_KEY, MEDIA, calls_line, mark_of, role_of, text_of

CLEARED_TAG = "history:cleared"
NO_TEXT = "(no text)"
_PLAIN: dict[str, type[BaseMessage]] = {"user": HumanMessage, "assistant": AIMessage, "system": SystemMessage}
_BYTES = ("base64", "data")


class HippoChatMessageHistory(BaseChatMessageHistory):
    """The messages of one session. Adding costs what is added, whatever is stored already (M5).

    What is added is captured: it is durable after ten turns or one second, at a normal exit, and before it
    is read back. A message that comes again (same id, in whatever batch) is not stored again.

    Messages come back equal in type, text, tool calls, content blocks and id. Usage and response metadata
    of a plain answer, artifacts of tools and the bytes of inline media (a note such as ``[image]`` takes
    their place, L16) are not kept.

    The journal only grows, so :meth:`clear` deletes nothing: it writes a mark, and this history no longer
    shows what stands before. Recall still finds it. Messages that are added again after it are stored
    again.

    It shows what came in by this door. Beside :class:`HippoMiddleware` on the same session, texts are kept
    by both.
    """

    def __init__(self, memory: Hippocampus, session_id: str, *, scope: Sequence[str] = ()) -> None:
        """Set up; touches neither disk nor loop, so it may be built inside ``get_session_history``."""
        super().__init__()
        self._memory = memory
        self._address = Address(tuple(scope), session_id)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # the base declares an attribute
        """The messages since the last :meth:`clear`, oldest first. Blocks; :meth:`aget_messages` does not."""
        return blocking(self.aget_messages)()

    async def aget_messages(self) -> list[BaseMessage]:
        """Return the messages since the last :meth:`clear`, oldest first. Raises what opening or reading
        raises."""
        await self._memory.open()
        records = await self._memory.session(self._address.session, scope=self._address.scope)
        return _messages_of(records)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages. Blocks only to open the memory and, once a session, to look for its last mark."""
        if self._memory.is_open and self._mark_known():
            self._capture(messages)
        else:
            blocking(self.aadd_messages)(messages)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages."""
        await self._memory.open()
        if not self._mark_known():
            marks = await self._memory.latest(
                tags=[CLEARED_TAG], session=self._address.session, scope=self._address.scope
            )
            self._marks().setdefault(self._address, marks[0].record_id if marks else "")
        self._capture(messages)

    def clear(self) -> None:
        """Show nothing of what was added so far any more; see the class. Blocks until that is durable."""
        blocking(self.aclear)()

    async def aclear(self) -> None:
        """Show nothing of what was added so far any more; durable when it returns."""
        await self._memory.open()
        mark = await self._memory.record(
            "The chat message history was cleared.",
            kind=Kind.STATE,
            source=Source.SELF,
            session=self._address.session,
            scope=self._address.scope,
            tags=[CLEARED_TAG],
        )
        self._marks()[self._address] = mark.record_id

    def _capture(self, messages: Sequence[BaseMessage]) -> None:
        since = self._marks()[self._address]
        for message in _once(messages):
            self._memory.capture(**_entry(message, self._address, since))

    def _mark_known(self) -> bool:
        return self._address in self._marks()

    def _marks(self) -> dict[Address, str]:
        """The id of the last mark of each session of this memory, whichever history object wrote it."""
        return _marks_of_memories.setdefault(self._memory, {})


_marks_of_memories: WeakKeyDictionary[Hippocampus, dict[Address, str]] = WeakKeyDictionary()


def _once(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return whole messages, without an id-less one that comes again with an id in the same batch.

    That is what ``RunnableWithMessageHistory`` adds around an agent: its input, then all that the agent
    returns.
    """
    whole = [message_chunk_to_message(message) for message in messages]
    named = {mark_of(message) for message in whole if message.id is not None}
    return [
        message
        for message in whole
        if not is_briefing(text_of(message)) and (message.id is not None or mark_of(message) not in named)
    ]


def _entry(message: BaseMessage, address: Address, since: str) -> dict[str, Any]:
    """Return the arguments of the capture that keeps a message; one added again after a mark is new."""
    message_id = message.id or uuid4().hex
    role = "system" if message.additional_kwargs.get(HARNESS_KEY) else role_of(message) or "system"
    labels = {
        "history": True,
        "message_id": message_id,
        "message": None if _is_plain(message) else _as_json(message),
        "tool": message.name if role == "tool" else None,
    }
    return {
        "content": _readable(message),
        "role": role,
        "speaker": None if role == "tool" else message.name,
        "kind": _kind(message),
        "session": address.session,
        "scope": address.scope,
        "key": capture_key(address, ["history", since, message_id, mark_of(message)]),
        "metadata": {name: value for name, value in labels.items() if value},
    }


def _is_plain(message: BaseMessage) -> bool:
    """Whether role, text and id say all that is kept of a message."""
    extras = {name for name, value in message.additional_kwargs.items() if value is not None}
    calls = isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls)
    kind = type(message) in _PLAIN.values()
    return (
        kind
        and isinstance(message.content, str)
        and bool(message.content.strip())
        and not (extras or calls or message.name)
    )


def _as_json(message: BaseMessage) -> dict[str, Any]:
    data = message_to_dict(message.model_copy(update={"content": _without_bytes(message.content)}))
    data["data"].pop("artifact", None)
    plain: dict[str, Any] = json.loads(json.dumps(data, default=str))
    return plain


def _without_bytes(content: str | list[Any]) -> str | list[Any]:
    return content if isinstance(content, str) else [_light(block) for block in content]


def _light(block: Any) -> Any:
    if not isinstance(block, dict) or block.get("type") not in MEDIA:
        return block
    inline = any(block.get(name) for name in _BYTES) or "data:" in json.dumps(block, default=str)
    return {"type": "text", "text": f"[{MEDIA[block['type']]}]"} if inline else block


def _kind(message: BaseMessage) -> Kind:
    if isinstance(message, ToolMessage) and message.status == "error":
        return Kind.ERROR
    return Kind.OBSERVATION if text_of(message).strip() else Kind.DECISION


def _readable(message: BaseMessage) -> str:
    text = text_of(message)
    if not text.strip() and isinstance(message, AIMessage) and message.tool_calls:
        return f"called {calls_line(message.tool_calls)}"
    return text if text.strip() else NO_TEXT


def _messages_of(records: Sequence[Record]) -> list[BaseMessage]:
    """Rebuild the messages since the last mark; one that was edited stands where it first stood."""
    found: dict[str, BaseMessage] = {}
    for record in records:
        if CLEARED_TAG in record.tags:
            found.clear()
        elif record.metadata.get("history"):
            message_id = str(record.metadata["message_id"])
            found[message_id] = _message_of(record, message_id)
    return list(found.values())


def _message_of(record: Record, message_id: str) -> BaseMessage:
    exact = record.metadata.get("message")
    if isinstance(exact, dict):
        (message,) = messages_from_dict([exact])
        return message.model_copy(update={"id": message_id})
    plain = _PLAIN[record.role or "user"]
    return plain(record.text, id=message_id)
