"""The main door: memory for an agent made by ``create_agent``.

Only wrap hooks are used. A node hook (``before_*``, ``after_*``) would be one more graph step and so one more
checkpoint of the whole conversation each time; what it would see, the next model call sees as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
)
from langchain.agents.middleware.types import PrivateStateAttr, ToolCallRequest
from langchain_core.messages import AnyMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from hippo_async import Hippocampus, blocking
from hippo_async.errors import Closed
from hippo_langchain.address import ScopeSource, SessionSource, address_of, current_address
from hippo_langchain.capturing import Capturer
from hippo_langchain.conversation import TAIL, Conversation, Conversations
from hippo_langchain.eviction import unanswered, with_pairs
from hippo_langchain.faults import Faults
from hippo_langchain.folding import Folder, Mode, Window
from hippo_langchain.identity import IdentityWatch
from hippo_langchain.injection import Briefer, Place, with_block_before_question
from hippo_langchain.limits import Limits
from hippo_langchain.messages import error_note
from hippo_langchain.section import prompt_of, section_for, with_text_in_system, without_section
from hippo_langchain.tools import TOOL_NAMES, Offer, memory_tools

CAPTURES_AT_ONCE = 250

ModelHandler = Callable[[ModelRequest[Any]], ModelResponse[Any]]
AsyncModelHandler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
ToolResult = ToolMessage | Command[Any]


class HippoState(AgentState[Any]):
    """What the middleware keeps in the agent's state: how far the conversation is folded, nothing else."""

    hippo_cursor: NotRequired[Annotated[dict[str, Any] | None, PrivateStateAttr]]


@dataclass(frozen=True, slots=True)
class _Call:
    """One model call with memory: what is sent, and what is to be done when its answer is here."""

    request: ModelRequest[Any]
    conversation: Conversation
    update: dict[str, Any] | None


class HippoMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Captures, briefs, evicts and folds for an agent; needs no further configuration.

    ``create_agent(model, tools, middleware=[HippoMiddleware(memory)])``. The memory is opened at the first
    call if it is not open. One instance serves any number of threads at once, with ``invoke`` and
    ``ainvoke``. No fault of the memory reaches the agent: it is logged, counted in ``faults``, and the turn
    goes on.

    For each model call it

    - captures what is new in the state, before the call, and the answer after it; each message once, however
      the history comes back (M2, L10); tool calls as ``decision``, errors of models and tools as ``error``;
    - records a changed system prompt as ``identity_change`` (J14);
    - tells the model at the end of that prompt, in what is sent only, that it has a memory and when to use
      the tools of it that it is offered (``prompt_section``);
    - folds the oldest messages into the memory once the window is full, and leaves them out (M3, L17);
    - answers tool calls that were left open, in what is sent only;
    - puts a briefing in front of the newest question, in what is sent only (M4).

    Place it first in the list: then it sees the system prompt before others change it.
    """

    state_schema = HippoState

    def __init__(
        self,
        memory: Hippocampus,
        *,
        session: SessionSource | None = None,
        scope: ScopeSource | None = None,
        max_tokens: int | None = None,
        briefing_tokens: int = 500,
        inject: Place | None = "tail",
        evict: Mode | None = "view",
        tools: Offer | bool = "basic",
        capture_tools: bool | None = None,
        name: str = "HippoMiddleware",
    ) -> None:
        """Set up; touches neither disk nor loop.

        ``session`` and ``scope`` are values or functions of LangGraph's runtime; unset, they come from the
        run's context or thread id (:func:`hippo_langchain.address.address_of`). ``max_tokens`` is the
        window a model call has to fit in, default ``settings.context.max_tokens``; ``briefing_tokens`` of
        it, at most a quarter, are for the briefing. ``inject`` says where that goes: before the newest
        question (``tail``), at the end of the system message (``system``), or nowhere. ``evict``: see
        :class:`Folder`; ``None`` never evicts. ``tools`` says which of :func:`memory_tools` come along,
        ``False`` for none. ``capture_tools`` keeps tool results that are no errors too, default
        ``settings.raw.capture_tools``. ``name`` must differ between two instances in one agent, and between
        agents that share a memory and have system prompts of their own. What the settings say is asked at
        each call.
        """
        super().__init__()
        self._memory = memory
        self._name = name
        self._session = session
        self._scope = scope
        self._opened = False
        self._conversations = Conversations()
        self._identity = IdentityWatch(memory, agent=name)
        self._faults = Faults()
        self.faults = self._faults.counts
        self._capturer = Capturer(memory, tool_results=capture_tools, silent=TOOL_NAMES)
        self._place = inject
        self._limits = Limits(memory, max_tokens, briefing_tokens, briefs=inject is not None)
        self._briefer = Briefer(memory, limits=self._limits)
        self._folder = Folder(memory, mode=evict, limits=self._limits, faults=self._faults) if evict else None
        offer: Offer = ("basic" if tools else ()) if isinstance(tools, bool) else tools
        self.tools = memory_tools(memory, tools=offer, max_tokens=self._limits.recalled)

    @property
    def name(self) -> str:
        """The name given; LangChain wants it unique within one agent."""
        return self._name

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: ModelHandler
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """See the class; for ``invoke`` and ``stream``."""
        call = blocking(self._before)(request)
        with self._model_errors(call):
            response = handler(call.request)
        return self._after(call, response)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: AsyncModelHandler
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """See the class; for ``ainvoke`` and ``astream``."""
        call = await self._before(request)
        with self._model_errors(call):
            response = await handler(call.request)
        return self._after(call, response)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolResult]
    ) -> ToolResult:
        """Capture the error if the tool raises or returns one; tell the memory tools whose run it is."""
        with self._tool_call(request) as conversation:
            result = handler(request)
        return self._after_tool(conversation, result)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolResult]]
    ) -> ToolResult:
        """The same for ``ainvoke`` and ``astream``."""
        with self._tool_call(request) as conversation:
            result = await handler(request)
        return self._after_tool(conversation, result)

    async def _before(self, request: ModelRequest[Any]) -> _Call:
        conversation = self._conversation(request.runtime)
        attempt = self._faults.attempt
        is_open = await attempt("open", self._open(), False)
        if is_open:
            await attempt("capture", self._capture(conversation, request.state["messages"]), None)
            section = section_for(request.tools, notes=self._limits.injects)
            prompt = without_section(prompt_of(request.system_message), section)
            await attempt("identity", self._identity.look(prompt), None)
            request = self._told(request, section)
        window = Window(request.messages)
        if self._folder is not None:
            window = await attempt("evict", self._folder.fit(conversation, request), window)
        block = ""
        if is_open and self._limits.injects:
            block = await attempt("brief", self._briefer.block(conversation, window.messages), "")
        return _Call(self._sent(request, window, block), conversation, window.update)

    async def _open(self) -> bool:
        """Open the memory for the first call. One that its owner closed later stays closed."""
        if not self._opened:
            await self._memory.open()
            self._opened = True
        if not self._memory.is_open:
            raise Closed("the memory was closed while its agent goes on")
        return True

    def _told(self, request: ModelRequest[Any], section: str) -> ModelRequest[Any]:
        """Return the request with the section in it, once, if the settings want it."""
        system = request.system_message
        if not self._memory.settings.prompt_section or prompt_of(system).endswith(section):
            return request
        return request.override(system_message=with_text_in_system(system, section))

    def _sent(self, request: ModelRequest[Any], window: Window, block: str) -> ModelRequest[Any]:
        messages, system = with_pairs(window.messages, unanswered), request.system_message
        if block and self._place == "system":
            system = with_text_in_system(system, block)
        elif block:
            messages = with_block_before_question(messages, block)
        return request.override(messages=messages, system_message=system)

    async def _capture(self, conversation: Conversation, messages: Sequence[AnyMessage]) -> None:
        if not conversation.restored:
            address = conversation.address
            earlier = self._memory.session(address.session, scope=address.scope, limit=TAIL)
            known = await self._faults.attempt("restore", earlier, [])
            conversation.restore(known)
        while self._capturer.take(conversation, messages, limit=CAPTURES_AT_ONCE):
            await self._make_room()  # a long history is seen for the first time

    async def _make_room(self) -> None:
        """Let others have the loop, and the disk catch up before the buffer is full."""
        if self._memory.status().buffered > self._memory.settings.capture.buffer_turns // 2:
            await self._memory.flush()
        await asyncio.sleep(0)

    def _after(
        self, call: _Call, response: ModelResponse[Any]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        if self._memory.is_open:  # else it is found in the state by the first call with an open memory
            self._capturer.add(call.conversation, response.result)
        if call.update is None:
            return response
        return ExtendedModelResponse(model_response=response, command=Command(update=call.update))

    def _after_tool(self, conversation: Conversation, result: ToolResult) -> ToolResult:
        if self._memory.is_open and isinstance(result, ToolMessage):
            self._capturer.add(conversation, [result])
        return result

    @contextmanager
    def _model_errors(self, call: _Call) -> Iterator[None]:
        try:
            yield
        except GraphBubbleUp:
            raise
        except Exception as error:
            self._capturer.report(call.conversation.address, error_note("model call", error))
            raise

    @contextmanager
    def _tool_call(self, request: ToolCallRequest) -> Iterator[Conversation]:
        conversation = self._conversation(request.runtime)
        token = current_address.set(conversation.address)
        try:
            yield conversation
        except GraphBubbleUp:
            raise
        except Exception as error:
            name = request.tool_call["name"]
            self._capturer.report(conversation.address, error_note(name, error, tool=name))
            conversation.reported_calls.append(request.tool_call["id"] or "")
            raise
        finally:
            current_address.reset(token)

    def _conversation(self, runtime: Any) -> Conversation:
        return self._conversations.at(address_of(runtime, session=self._session, scope=self._scope))
