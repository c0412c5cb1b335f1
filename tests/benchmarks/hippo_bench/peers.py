"""What people use today: LangChain's chat histories, and an offline model to put around them."""

from __future__ import annotations

import json
import uuid
import warnings
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hippo_bench import texts

if TYPE_CHECKING:
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage


@contextmanager
def quiet() -> Iterator[None]:
    """Silence deprecations: the peers are deprecated or sunset, and are measured all the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        yield


def conversation(count: int) -> list[BaseMessage]:
    """Return ``count`` messages with ids, the human first, then the model, in turn."""
    from langchain_core.messages import AIMessage, HumanMessage

    return [
        (AIMessage if number % 2 else HumanMessage)(content=texts.message(number), id=f"m{number}")
        for number in range(count)
    ]


def echo_model() -> BaseChatModel:
    """Return a chat model that answers at once, with 146 characters and an id of its own."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class EchoModel(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "echo"

        def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
            return self

        def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
            answer = AIMessage(content=texts.message(len(messages)), id=str(uuid.uuid4()))
            return ChatResult(generations=[ChatGeneration(message=answer)])

        async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
            return self._generate(messages)

    return EchoModel()


def file_history(folder: Path, stored: int) -> BaseChatMessageHistory:
    """Return a ``FileChatMessageHistory`` that already holds ``stored`` messages.

    They are laid down in one write: its own ``add_messages`` writes the whole file again for each.
    """
    from langchain_core.messages import messages_to_dict

    with quiet():
        from langchain_community.chat_message_histories import FileChatMessageHistory

        file = folder / f"history-{stored}.json"
        file.write_text(json.dumps(messages_to_dict(conversation(stored))))
        return FileChatMessageHistory(str(file))


@asynccontextmanager
async def sql_history(folder: Path, stored: int) -> AsyncIterator[BaseChatMessageHistory]:
    """Open an asynchronous ``SQLChatMessageHistory`` over SQLite that already holds ``stored`` messages."""
    with quiet():
        from langchain_community.chat_message_histories import SQLChatMessageHistory

        url = f"sqlite+aiosqlite:///{folder / f'history-{stored}.db'}"
        history = SQLChatMessageHistory("s", connection=url, async_mode=True)
    await history.aadd_messages(conversation(stored))
    try:
        yield history
    finally:
        await history.async_engine.dispose()
