"""Taking what is new in a conversation into the memory, once (M2, L10)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from langchain_core.messages import BaseMessage, ToolMessage

from hippo_async import Hippocampus
from hippo_langchain.address import Address
from hippo_langchain.conversation import Conversation
from hippo_langchain.messages import Note, digest, notes_of


class Capturer:
    """Captures the notes of messages. Never blocks and never raises; may be used from any thread.

    ``tool_results`` says whether those that are no errors are kept; ``None`` leaves it to the settings.
    """

    def __init__(
        self, memory: Hippocampus, *, tool_results: bool | None, silent: Collection[str] = ()
    ) -> None:
        self._memory = memory
        self._tool_results = tool_results
        self._silent = silent

    def take(
        self, conversation: Conversation, messages: Sequence[BaseMessage], *, limit: int | None = None
    ) -> bool:
        """Capture the messages at the end that were not seen before, at most ``limit`` of them.

        Returns whether some are left.
        """
        with conversation.lock:
            unseen = conversation.unseen(messages)
            for message in unseen[:limit]:
                self._keep(conversation, message)
        return limit is not None and len(unseen) > limit

    def add(self, conversation: Conversation, messages: Sequence[BaseMessage]) -> None:
        """Capture messages that are known to be new: a model's answer."""
        with conversation.lock:
            for message in messages:
                self._keep(conversation, message)

    def report(self, address: Address, note: Note) -> None:
        """Capture something that is not a message: an error that was raised."""
        self._capture(address, note, message_id=None)

    def _keep(self, conversation: Conversation, message: BaseMessage) -> None:
        keys = [
            self._capture(conversation.address, note, message_id=message.id)
            for note in self._notes(conversation, message)
        ]
        conversation.saw(message, keys[0] if keys else None)

    def _notes(self, conversation: Conversation, message: BaseMessage) -> list[Note]:
        if isinstance(message, ToolMessage) and message.tool_call_id in conversation.reported_calls:
            return []  # its error was captured when it was raised
        keep = self._tool_results
        if keep is None:
            keep = self._memory.settings.raw.capture_tools
        return notes_of(message, tool_results=keep, silent=self._silent)

    def _capture(self, address: Address, note: Note, *, message_id: str | None) -> str | None:
        labels = {"message_id": message_id, "tool": note.tool}
        key = capture_key(address, note.identity) if note.identity is not None else None
        self._memory.capture(
            note.content,
            role=note.role,
            speaker=note.speaker,
            kind=note.kind,
            source=note.source,
            session=address.session,
            scope=address.scope,
            key=key,
            metadata={name: value for name, value in labels.items() if value},
        )
        return key


def capture_key(address: Address, identity: Sequence[str]) -> str:
    """Return the journal's key of a message: equal whichever door it comes through, and after a restart."""
    return digest(*address.scope, "", address.session, *identity)
