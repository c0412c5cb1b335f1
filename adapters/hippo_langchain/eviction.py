"""The window of messages that a model is shown: what has left it, and its tool-call pairs. Pure functions.

What leaves next is decided by :func:`hippo_async.plan_eviction`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from langchain_core.messages import AnyMessage, BaseMessage, ToolMessage

from hippo_langchain.messages import calls_of, digest, exact_mark_of

CONTEXT = 15
"""Messages before the last folded one that have to be equal too where ids do not last."""

UNANSWERED = "This tool call was not completed."

M = TypeVar("M", bound=BaseMessage)


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a conversation has been folded.

    The first ``count`` messages are folded, but for those at the distances ``kept`` before that point, which
    the model is still shown (the user's question in a long tool loop). The place is known again by the id of
    the last folded message or, where ids do not last, by its ``mark`` and that of the messages ``before`` it.
    """

    count: int
    last_id: str | None
    mark: str
    before: str
    kept: tuple[int, ...] = ()

    def as_state(self) -> dict[str, Any]:
        """Return the cursor as plain JSON values, the form in which a checkpoint holds it."""
        return {**asdict(self), "kept": list(self.kept)}

    @classmethod
    def from_state(cls, value: object) -> Cursor | None:
        """Read back what :meth:`as_state` wrote; ``None`` for anything else, such as another release's."""
        if not isinstance(value, dict) or value.keys() != {field.name for field in fields(cls)}:
            return None
        return cls(**{**value, "kept": tuple(value["kept"])})

    def position(self, messages: Sequence[BaseMessage]) -> int:
        """Return how many of these messages are folded; 0 when the last folded one is not among them.

        It is where it was, as a rule; else the list was rewritten and is searched from its end.
        """
        if self.count <= len(messages) and self._ends_at(messages, self.count):
            return self.count
        return next((place for place in range(len(messages), 0, -1) if self._ends_at(messages, place)), 0)

    def _ends_at(self, messages: Sequence[BaseMessage], place: int) -> bool:
        last = messages[place - 1]
        if self.last_id is not None and last.id == self.last_id:
            return True
        return exact_mark_of(last) == self.mark and _mark_before(messages, place - 1) == self.before


def furthest(messages: Sequence[BaseMessage], cursors: Iterable[Cursor]) -> tuple[int, Cursor | None]:
    """Return how many messages are folded, and the cursor that says so: the one that reaches furthest."""
    best: tuple[int, Cursor | None] = (0, None)
    for cursor in cursors:
        position = cursor.position(messages)
        if position > best[0]:
            best = (position, cursor)
    return best


def shown(messages: Sequence[BaseMessage], cursors: Iterable[Cursor]) -> list[int]:
    """Return the indexes of the messages that are not folded."""
    position, cursor = furthest(messages, cursors)
    kept = cursor.kept if cursor is not None else ()
    return [
        *(position - distance for distance in kept if distance <= position),
        *range(position, len(messages)),
    ]


def moved(messages: Sequence[BaseMessage], visible: Sequence[int], evicted: Collection[int]) -> Cursor:
    """Return the cursor after the messages ``evicted``, some of those at ``visible``, were folded."""
    position = max(evicted) + 1
    last = messages[position - 1]
    return Cursor(
        count=position,
        last_id=last.id,
        mark=exact_mark_of(last),
        before=_mark_before(messages, position - 1),
        kept=tuple(position - index for index in visible if index < position and index not in evicted),
    )


def with_pairs(messages: Sequence[M], answer: Callable[[str, str], M]) -> list[M]:
    """Return the messages with every tool call answered and every tool result asked for.

    A call left open (the process died, the tool raised) is answered by ``answer(call_id, tool_name)`` right
    after the results that are there; a result without its call is left out. Providers refuse both otherwise.
    """
    whole: list[M] = []
    open_calls: dict[str, str] = {}
    for message in messages:
        if isinstance(message, ToolMessage):
            if open_calls.pop(message.tool_call_id, None) is not None:
                whole.append(message)
            continue
        if open_calls:
            whole.extend(answer(call_id, name) for call_id, name in open_calls.items())
        whole.append(message)
        open_calls = {call["id"] or "": call["name"] for call in calls_of(message)}
    whole.extend(answer(call_id, name) for call_id, name in open_calls.items())
    return whole


def unanswered(call_id: str, name: str) -> AnyMessage:
    """Return the result that stands in for one which never came."""
    return ToolMessage(UNANSWERED, tool_call_id=call_id, name=name, status="error")


def _mark_before(messages: Sequence[BaseMessage], place: int) -> str:
    return digest(*(exact_mark_of(message) for message in messages[max(0, place - CONTEXT) : place]))
