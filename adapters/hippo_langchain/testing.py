"""A chat model for tests: offline, it says what a script says and keeps what it was sent."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, InstanceOf

STREAM_PIECE = 8
"""Characters in one streamed chunk: short enough that words and facts are torn apart, as real models do."""


class ScriptedModel(BaseChatModel):
    """A test double for agents with tools (M5, M6): sync, async and streaming, no network.

    ``script`` is called with the messages of each call and returns the reply; or it is a list of replies,
    taken in order (``IndexError`` when it runs out). A reply is a text or an ``AIMessage``, which may call
    tools and is copied, so that a reply given twice never shares an id.

    ``failures`` maps the number of a call, from 1, to the exception that this call raises, as a provider that
    is down would; such a call uses up no reply of a list. ``seen`` holds the messages of every call, failed
    ones included, and ``offered`` the names of the tools that were bound in it.
    """

    script: Callable[[list[BaseMessage]], AIMessage | str] | list[InstanceOf[AIMessage] | str]
    failures: Mapping[int, Exception] = Field(default_factory=dict)
    seen: list[list[BaseMessage]] = Field(default_factory=list, exclude=True)
    offered: list[tuple[str, ...]] = Field(default_factory=list, exclude=True)

    @property
    def _llm_type(self) -> str:
        return "hippo-scripted"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return this model bound to the tools. The script alone decides which of them is called."""
        return self.bind(
            tools=[convert_to_openai_tool(tool) for tool in tools], tool_choice=tool_choice, **kwargs
        )

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages, kwargs))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages, kwargs))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        yield from _chunks(self._reply(messages, kwargs))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _chunks(self._reply(messages, kwargs)):
            yield chunk

    def _reply(self, messages: list[BaseMessage], settings: Mapping[str, Any]) -> AIMessage:
        self.seen.append(list(messages))
        self.offered.append(tuple(tool["function"]["name"] for tool in settings.get("tools") or ()))
        number = len(self.seen)
        if number in self.failures:
            raise self.failures[number]
        reply = self.script(messages) if callable(self.script) else self._listed_reply(number)
        return AIMessage(reply) if isinstance(reply, str) else reply.model_copy()

    def _listed_reply(self, number: int) -> AIMessage | str:
        replies = self.script if isinstance(self.script, list) else []
        position = number - 1 - sum(failed < number for failed in self.failures)
        if position >= len(replies):
            raise IndexError(f"the script holds {len(replies)} replies, and one more was asked for")
        return replies[position]


def _chunks(reply: AIMessage) -> Iterator[ChatGenerationChunk]:
    """Yield the text in pieces, then one last chunk with the tool calls and the metadata."""
    for piece in _pieces(reply.content):
        yield ChatGenerationChunk(message=AIMessageChunk(content=piece, id=reply.id))
    last = AIMessageChunk(
        content="",
        id=reply.id,
        tool_call_chunks=[
            tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=index)
            for index, call in enumerate(reply.tool_calls)
        ],
        additional_kwargs=reply.additional_kwargs,
        response_metadata=reply.response_metadata,
        usage_metadata=reply.usage_metadata,
        chunk_position="last",
    )
    yield ChatGenerationChunk(message=last)


def _pieces(content: str | list[Any]) -> Iterator[str | list[Any]]:
    if isinstance(content, str):
        yield from (content[start : start + STREAM_PIECE] for start in range(0, len(content), STREAM_PIECE))
    else:
        yield content
