"""Automatic capture for anything that runs with LangChain's callbacks."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, LLMResult

from hippo_async import Hippocampus, blocking
from hippo_langchain.address import DEFAULT_SESSION, Address
from hippo_langchain.capturing import Capturer
from hippo_langchain.conversation import TAIL, Conversation, Conversations
from hippo_langchain.faults import Faults
from hippo_langchain.messages import HARNESS_KEY, error_note
from hippo_langchain.tools import TOOL_NAMES

RUNS = 1024
INTERNAL_KEYS = (HARNESS_KEY, "lc_internal_call")
SILENT_TAG = "nostream"


@dataclass(frozen=True, slots=True)
class _Run:
    """A model or tool call under way."""

    conversation: Conversation
    tool: str | None = None


class HippoCallbackHandler(BaseCallbackHandler):
    """Captures user and assistant turns, and errors of models and tools (M5, L10).

    ``model.invoke(messages, {"callbacks": [HippoCallbackHandler(memory)]})``, and likewise for chains and
    graphs. Of a prompt only what is new is captured, however often its history comes by. Calls that
    LangChain marks as its own (summaries and the like) are left out. The session is ``session``, else the
    ``thread_id`` or ``session_id`` in the run's metadata, else ``"default"``.

    A plain handler: it works with ``invoke`` and ``ainvoke``, on any thread and next to any event loop. An
    event costs microseconds; the first of a conversation also reads its last turns from the journal, unless
    that would hold up a running event loop. Runs whose end never comes are forgotten past 1,024 of them.
    """

    def __init__(
        self,
        memory: Hippocampus,
        *,
        session: str | None = None,
        scope: Sequence[str] = (),
        capture_tools: bool | None = None,
    ) -> None:
        """Set up; touches neither disk nor loop. ``capture_tools`` as in :class:`HippoMiddleware`."""
        super().__init__()
        self._memory = memory
        self._session = session
        self._scope = tuple(scope)
        self._capturer = Capturer(memory, tool_results=capture_tools, silent=TOOL_NAMES)
        self._conversations = Conversations()
        self._runs: OrderedDict[UUID, _Run] = OrderedDict()
        self._faults = Faults()
        self.faults = self._faults.counts

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Capture what is new in the prompt."""
        if _is_internal(tags, metadata):
            return
        conversation = self._begin(run_id, metadata)
        self._restore(conversation)
        for prompt in messages:
            self._capturer.take(conversation, prompt)

    def on_llm_end(
        self, response: LLMResult, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Capture the answer."""
        run = self._runs.pop(run_id, None)
        if run is not None:
            generations = [candidates[0] for candidates in response.generations if candidates]
            answers = [found.message for found in generations if isinstance(found, ChatGeneration)]
            self._capturer.add(run.conversation, answers)

    def on_llm_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Capture the error, but not that somebody cancelled the call."""
        self._report(run_id, "model call", error)

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Remember whose run the tool is in."""
        self._begin(
            run_id, metadata, tool=str((serialized or {}).get("name") or kwargs.get("name") or "tool")
        )

    def on_tool_end(
        self, output: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Capture a result that is an error, or any if tool results are wanted."""
        run = self._runs.pop(run_id, None)
        if run is not None and isinstance(output, ToolMessage):
            self._capturer.add(run.conversation, [output])

    def on_tool_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Capture what the tool raised, but not an interrupt or a cancellation."""
        self._report(run_id, None, error)

    def _begin(
        self, run_id: UUID, metadata: dict[str, Any] | None, *, tool: str | None = None
    ) -> Conversation:
        labels = metadata or {}
        session = self._session or labels.get("thread_id") or labels.get("session_id") or DEFAULT_SESSION
        conversation = self._conversations.at(Address(self._scope, str(session)))
        self._runs[run_id] = _Run(conversation, tool)
        while len(self._runs) > RUNS:
            self._runs.popitem(last=False)
        return conversation

    def _report(self, run_id: UUID, what: str | None, error: BaseException) -> None:
        run = self._runs.pop(run_id, None)
        if run is not None and isinstance(error, Exception) and not _is_interrupt(error):
            self._capturer.report(
                run.conversation.address, error_note(what or run.tool or "tool", error, tool=run.tool)
            )

    def _restore(self, conversation: Conversation) -> None:
        if conversation.restored or _holds_a_loop():
            return
        earlier = blocking(self._faults.attempt)("restore", self._earlier(conversation.address), [])
        conversation.restore(earlier)

    async def _earlier(self, address: Address) -> Any:
        await self._memory.open()
        return await self._memory.session(address.session, scope=address.scope, limit=TAIL)


def _is_internal(tags: list[str] | None, metadata: dict[str, Any] | None) -> bool:
    return SILENT_TAG in (tags or ()) or any((metadata or {}).get(key) for key in INTERNAL_KEYS)


def _is_interrupt(error: BaseException) -> bool:
    """Whether LangGraph raised this to stop or steer a graph. By name: langgraph need not be installed."""
    return any(kind.__name__ == "GraphBubbleUp" for kind in type(error).__mro__)


def _holds_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
