"""What this process knows of the conversations it takes part in.

A caller may hand over a conversation in many ways: a checkpointer keeps the messages and their ids; returned
message objects come back with theirs; role dicts come back with new ids each time; a summariser or the caller
has cut the front off. :meth:`Conversation.unseen` finds what is new in all of them, looking from the end.
Everything here can be lost: the journal has it, and its keys keep out what is told twice.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TypeVar

from langchain_core.messages import BaseMessage, HumanMessage

from hippo_async import Record
from hippo_async.records import Kind
from hippo_langchain.address import Address
from hippo_langchain.eviction import Cursor
from hippo_langchain.messages import exact_mark_of, fingerprint, is_spoken, mark_of

TAIL = 256
"""Turns of a conversation that are remembered here, newest last."""

CONVERSATIONS = 256
"""Conversations that are remembered here; the ones unused longest make room."""

V = TypeVar("V")


class Recent(OrderedDict[str, V]):
    """A mapping that forgets its oldest entries past ``TAIL`` of them."""

    def __setitem__(self, key: str, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > TAIL:
            self.popitem(last=False)


@dataclass(slots=True, eq=False)
class Conversation:
    """One conversation. Change it under ``lock`` only, and never await while holding that.

    ``ids`` maps message ids that were seen to the mark of their text, ``tail`` holds the marks of the turns
    in order, ``keys`` the key under which a turn was captured, by mark. ``reported_calls`` are tool calls
    whose error was captured when it was raised. ``fold`` is the text of the latest fold, ``block`` what was
    injected last and for which question.
    """

    address: Address
    lock: threading.Lock = field(default_factory=threading.Lock)
    restored: bool = False
    ids: Recent[str] = field(default_factory=Recent)
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL))
    keys: Recent[str] = field(default_factory=Recent)
    reported_calls: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL))
    cursor: Cursor | None = None
    fold: str = ""
    block: tuple[tuple[str, str], str] | None = None

    def restore(self, records: Iterable[Record]) -> None:
        """Take up what an earlier process recorded of this conversation, oldest first; once."""
        with self.lock:
            if self.restored:
                return
            self.restored = True
            for record in records:
                if record.is_fold:
                    self.fold = record.text
                elif record.role in {"user", "assistant"} and record.kind is Kind.OBSERVATION:
                    self._restore_turn(record, fingerprint(record.role, record.text))

    def unseen(self, messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
        """Return the messages at the end that were not seen before, in order.

        Costs what is new, as long as ids are kept; else a comparison of the last turns.
        """
        for index in range(len(messages) - 1, -1, -1):
            if self._knows(messages[index]):
                return messages[index + 1 :]
        return messages[self._first_new_after_resend(messages) :]

    def saw(self, message: BaseMessage, key: str | None = None) -> None:
        """Note a message as seen and, when it is a turn, as the newest one, captured under ``key``."""
        mark = mark_of(message)
        if message.id is not None:
            self.ids[message.id] = mark
        if is_spoken(message):
            self.tail.append(mark)
        if key is not None:
            self.keys[exact_mark_of(message)] = key

    def key_of(self, message: BaseMessage) -> str | None:
        """Return the key under which a message was captured, while that is remembered."""
        return self.keys.get(exact_mark_of(message))

    def keys_of(self, messages: Sequence[BaseMessage]) -> list[str]:
        """Return the keys of the newest turns among these messages, as far as they are remembered."""
        found = (self.key_of(messages[index]) for index in _last_turns(messages))
        return [key for key in found if key is not None]

    def _restore_turn(self, record: Record, mark: str) -> None:
        message_id = record.metadata.get("message_id")
        if isinstance(message_id, str):
            self.ids[message_id] = mark
        self.tail.append(mark)
        key = record.metadata.get("key")
        if isinstance(key, str):
            self.keys[mark] = key

    def _knows(self, message: BaseMessage) -> bool:
        mark = self.ids.get(message.id) if message.id is not None else None
        if mark is None:
            return False
        return mark == mark_of(message) if isinstance(message, HumanMessage) else True

    def _first_new_after_resend(self, messages: Sequence[BaseMessage]) -> int:
        """Return where the new part begins in a history that came without known ids."""
        turns = _last_turns(messages)
        marks = [mark_of(messages[index]) for index in turns]
        *blocks, _end = SequenceMatcher(None, tuple(self.tail), marks, autojunk=False).get_matching_blocks()
        if not blocks:
            return 0
        ours, theirs = blocks[-1].a + blocks[-1].size, blocks[-1].b + blocks[-1].size
        last = turns[theirs - 1]
        answered_before = theirs == len(turns) and ours < len(self.tail)
        if answered_before and isinstance(messages[last], HumanMessage):
            return last  # asked once more, and the caller wants another answer: a turn of its own
        if (known_id := messages[last].id) is not None:
            self.ids[known_id] = marks[theirs - 1]
        return last + 1


class Conversations:
    """The conversations of one door, by address. May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_address: OrderedDict[Address, Conversation] = OrderedDict()

    def at(self, address: Address) -> Conversation:
        """Return the conversation at an address, the same object as long as it is remembered."""
        with self._lock:
            conversation = self._by_address.setdefault(address, Conversation(address))
            self._by_address.move_to_end(address)
            while len(self._by_address) > CONVERSATIONS:
                self._by_address.popitem(last=False)
            return conversation


def _last_turns(messages: Sequence[BaseMessage]) -> list[int]:
    turns: list[int] = []
    for index in range(len(messages) - 1, -1, -1):
        if is_spoken(messages[index]):
            turns.append(index)
        if len(turns) == TAIL:
            break
    return turns[::-1]
