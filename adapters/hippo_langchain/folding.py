"""Keeping a model call within its window: what leaves is folded into the memory first (M3, L17)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import AnyMessage, RemoveMessage

from hippo_async import Hippocampus, Turn, plan_eviction
from hippo_langchain.conversation import Conversation
from hippo_langchain.eviction import Cursor, furthest, moved, shown
from hippo_langchain.faults import Faults
from hippo_langchain.limits import Limits
from hippo_langchain.messages import text_of
from hippo_langchain.tokens import ToolSizes, sizes_of, turn_of
from hippo_langchain.tools import TOOL_NAMES

CURSOR = "hippo_cursor"
"""The private state key under which a checkpoint holds the cursor."""

Mode = Literal["view", "state"]


@dataclass(frozen=True, slots=True)
class Window:
    """The messages that one model call is shown, and the state update that goes with it."""

    messages: list[AnyMessage]
    update: dict[str, Any] | None = None


class Folder:
    """Fits conversations into the window of ``limits``, in which room is kept for the briefing.

    ``mode`` ``view`` leaves the agent's state as it is and shows the model less of it; ``state`` also removes
    from the state what was folded.
    """

    def __init__(self, memory: Hippocampus, *, mode: Mode, limits: Limits, faults: Faults) -> None:
        self._memory = memory
        self._count = memory.count_tokens
        self._tool_sizes = ToolSizes(memory.count_tokens)
        self._mode = mode
        self._limits = limits
        self._faults = faults

    async def fit(self, conversation: Conversation, request: ModelRequest[Any]) -> Window:
        """Return what the model is to be shown.

        Over ``threshold`` of the window the oldest messages are folded down to ``target`` of it, each
        message once; a long history that is seen for the first time in several folds. They leave only after
        their fold is durable: if it fails, they stay, and the next call tries again.
        """
        messages = request.messages
        cursors = self._cursors(conversation, request)
        visible = shown(messages, cursors)
        for leaving in _batches(self._plan(request, visible), self._limits.window):
            if not await self._folded(conversation, messages, leaving):
                break
            conversation.cursor = self._moved(messages, visible, leaving)
            visible = shown(messages, [conversation.cursor])
            cursors = [conversation.cursor]
        return Window([messages[index] for index in visible], self._update(request, visible, cursors))

    def _cursors(self, conversation: Conversation, request: ModelRequest[Any]) -> list[Cursor]:
        stored = Cursor.from_state(request.state.get(CURSOR))
        cursors = [] if stored is None else [stored]
        if conversation.cursor is not None and conversation.cursor not in cursors:
            cursors.append(conversation.cursor)
        return cursors

    def _moved(
        self, messages: Sequence[AnyMessage], visible: Sequence[int], leaving: Collection[int]
    ) -> Cursor:
        cursor = moved(messages, visible, leaving)
        # once removed from the state, a message may only be known by its id: its text may well come again
        return replace(cursor, mark="") if self._mode == "state" else cursor

    def _plan(self, request: ModelRequest[Any], visible: Sequence[int]) -> dict[int, Turn]:
        """Return the turns that have to leave now, by index; none as long as there is room."""
        settings = self._memory.settings.context
        messages = [request.messages[index] for index in visible]
        sizes = sizes_of(messages, self._count, exact=self._limits.window)
        fixed = self._fixed_tokens(request)
        if fixed + sum(sizes) <= settings.threshold * self._limits.window:
            return {}
        turns = [turn_of(message, tokens=size) for message, size in zip(messages, sizes, strict=True)]
        plan = plan_eviction(
            turns,
            max_tokens=self._limits.window,
            threshold=settings.threshold,
            target=settings.target,
            fixed_tokens=fixed,
        )
        return {visible[place]: turns[place] for place in plan.evict}

    async def _folded(
        self, conversation: Conversation, messages: Sequence[AnyMessage], leaving: Mapping[int, Turn]
    ) -> bool:
        return await self._faults.attempt("fold", self._fold(conversation, messages, leaving), False)

    async def _fold(
        self, conversation: Conversation, messages: Sequence[AnyMessage], leaving: Mapping[int, Turn]
    ) -> bool:
        with conversation.lock:
            turns = [
                replace(_own_words(turn), key=conversation.key_of(messages[index]))
                for index, turn in leaving.items()
            ]
        address = conversation.address
        record = await self._memory.fold(turns, scope=address.scope, session=address.session)
        conversation.fold = record.text
        return True

    def _update(
        self, request: ModelRequest[Any], visible: Sequence[int], cursors: Sequence[Cursor]
    ) -> dict[str, Any] | None:
        if self._mode == "state":
            return self._removal(request, visible)
        _, cursor = furthest(request.messages, cursors)
        if cursor is None or cursor.as_state() == request.state.get(CURSOR):
            return None
        return {CURSOR: cursor.as_state()}

    def _removal(self, request: ModelRequest[Any], visible: Sequence[int]) -> dict[str, Any] | None:
        """Return the update that removes folded messages by id; an id not in the state would be refused."""
        if len(visible) == len(request.messages):
            return None
        held = {message.id for message in request.state["messages"]}
        stays = set(visible)
        gone = [message.id for index, message in enumerate(request.messages) if index not in stays]
        removals = [RemoveMessage(id=message_id) for message_id in gone if message_id and message_id in held]
        return {"messages": removals} if removals else None

    def _fixed_tokens(self, request: ModelRequest[Any]) -> int:
        system = self._count(text_of(request.system_message)) if request.system_message else 0
        return system + self._tool_sizes(request.tools) + self._limits.briefing


def _own_words(turn: Turn) -> Turn:
    """Return a turn without what came out of the memory itself: folding that would remember it twice."""
    return replace(turn, content="") if turn.role == "tool" and turn.name in TOOL_NAMES else turn


def _batches(leaving: Mapping[int, Turn], most: int) -> Iterator[dict[int, Turn]]:
    """Cut what leaves into parts of at most ``most`` tokens (or one turn), as a summarizer can take in."""
    batch: dict[int, Turn] = {}
    tokens = 0
    for index, turn in leaving.items():
        if batch and tokens + turn.tokens > most:
            yield batch
            batch, tokens = {}, 0
        batch[index] = turn
        tokens += turn.tokens
    if batch:
        yield batch
