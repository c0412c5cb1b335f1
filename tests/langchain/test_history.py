"""A chat message history in the journal: equal messages back, one copy of each, O(new) adds (M5)."""

from __future__ import annotations

import asyncio
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables.history import RunnableWithMessageHistory
from scripted_tools import call_of, weather

from hippo_async import Hippocampus
from hippo_langchain import HippoChatMessageHistory, HippoMiddleware
from hippo_langchain.testing import ScriptedModel


def answer(messages: list[BaseMessage]) -> AIMessage | str:
    last = messages[-1]
    if last.type == "human" and "weather" in last.text:
        return AIMessage("", tool_calls=[call_of("weather", len(messages))])
    return f"answer to {last.text}"


def with_history(runnable: Any, memory: Hippocampus, **keys: Any) -> Any:
    histories: dict[str, HippoChatMessageHistory] = {}

    def history(session_id: str) -> HippoChatMessageHistory:
        return histories.setdefault(session_id, HippoChatMessageHistory(memory, session_id))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LangChain deprecates the wrapper; people still use it
        return RunnableWithMessageHistory(runnable, history, **keys)


def session(name: str = "s") -> Any:
    return {"configurable": {"session_id": name}}


def told(messages: list[BaseMessage]) -> list[tuple[str, str]]:
    return [(message.type, message.text) for message in messages]


EXACT: list[BaseMessage] = [
    SystemMessage("be brief", id="1"),
    HumanMessage("你好 👋", id="2"),
    AIMessage(
        "", id="3", tool_calls=[{"name": "weather", "args": {"city": "Oslo"}, "id": "c", "type": "tool_call"}]
    ),
    ToolMessage("21 degrees", tool_call_id="c", name="weather", id="4"),
    AIMessage([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "warm"}], id="5"),
    HumanMessage(
        [{"type": "text", "text": "see"}, {"type": "image", "url": "https://example.org/a.png"}], id="6"
    ),
    HumanMessage("of Ada", name="ada", id="7"),
    ToolMessage("no such city", tool_call_id="c", status="error", id="8"),
    AIMessage(
        "calling",
        id="9",
        invalid_tool_calls=[
            {"name": "w", "args": "{", "id": "d", "error": "bad", "type": "invalid_tool_call"}
        ],
    ),
    HumanMessage("a note", additional_kwargs={"lc_source": "reminder"}, id="10"),
    AIMessage("", id="11"),
]


async def test_messages_come_back_equal_and_in_order(memory: Hippocampus) -> None:
    history = HippoChatMessageHistory(memory, "s")
    await history.aadd_messages(EXACT)
    assert await history.aget_messages() == EXACT
    assert await HippoChatMessageHistory(memory, "other").aget_messages() == []
    assert await HippoChatMessageHistory(memory, "s", scope=("ada",)).aget_messages() == []
    await memory.close()


def test_the_blocking_doors_do_the_same(memory: Hippocampus) -> None:
    history = HippoChatMessageHistory(memory, "s")
    history.add_messages(EXACT)
    assert history.messages == EXACT
    history.add_user_message("and now?")
    history.add_ai_message("now it rains")
    assert told(history.messages[-2:]) == [("human", "and now?"), ("ai", "now it rains")]
    history.clear()
    assert history.messages == []
    asyncio.run(memory.close())


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=5))
async def test_any_text_comes_back(memory: Hippocampus, texts: list[str]) -> None:
    history = HippoChatMessageHistory(memory, "s")
    await history.aclear()
    added = [
        (HumanMessage if index % 2 else AIMessage)(text, id=f"{index}-{text}")
        for index, text in enumerate(texts)
    ]
    await history.aadd_messages(added)
    assert await history.aget_messages() == added


async def test_equal_texts_without_ids_are_all_kept(memory: Hippocampus) -> None:
    history = HippoChatMessageHistory(memory, "s")
    for _ in range(3):
        await history.aadd_messages([HumanMessage("yes"), AIMessage("yes")])
    assert told(await history.aget_messages()) == [("human", "yes"), ("ai", "yes")] * 3
    ids = [message.id for message in await history.aget_messages()]
    assert len(set(ids)) == 6
    assert ids == [message.id for message in await history.aget_messages()]
    await memory.close()


async def test_a_message_that_comes_again_is_stored_once(memory: Hippocampus) -> None:
    history = HippoChatMessageHistory(memory, "s")
    for _ in range(3):
        await history.aadd_messages(EXACT)
    assert await history.aget_messages() == EXACT
    assert len(await memory.session("s")) == len(EXACT)
    await memory.close()


async def test_a_message_that_comes_twice_in_one_batch_is_stored_once(memory: Hippocampus) -> None:
    """Without its id as what was asked, with one among what came back; notes that were injected are left
    out."""
    history = HippoChatMessageHistory(memory, "s")
    note = HumanMessage("<hippo-memory>\n- tea\n</hippo-memory>")
    await history.aadd_messages(
        [HumanMessage("yes"), note, HumanMessage("yes", id="1"), AIMessage("yes", id="2")]
    )
    assert await history.aget_messages() == [HumanMessage("yes", id="1"), AIMessage("yes", id="2")]
    await memory.close()


async def test_chunks_are_stored_as_the_messages_they_add_up_to(memory: Hippocampus) -> None:
    history = HippoChatMessageHistory(memory, "s")
    await history.aadd_messages([AIMessageChunk(content="all of it", id="1")])
    assert await history.aget_messages() == [AIMessage("all of it", id="1")]
    await memory.close()


async def test_bytes_and_artifacts_stay_out_of_the_journal(memory: Hippocampus) -> None:
    history = HippoChatMessageHistory(memory, "s")
    picture = {"type": "image", "base64": "QUJD" * 300, "mime_type": "image/png"}
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 300}}
    await history.aadd_messages(
        [
            HumanMessage([{"type": "text", "text": "look"}, picture, url], id="1"),
            ToolMessage("three rows", tool_call_id="c", artifact=object(), id="2"),
        ]
    )
    seen, result = await history.aget_messages()
    assert [block["text"] for block in seen.content] == ["look", "[image]", "[image]"]  # type: ignore[index]
    assert result == ToolMessage("three rows", tool_call_id="c", id="2")
    assert "QUJD" not in json.dumps([record.as_dict() for record in await memory.session("s")])
    await memory.close()


async def test_clear_hides_what_was_and_shows_what_comes(memory: Hippocampus) -> None:
    """The journal keeps what it has: recall still finds it."""
    history = HippoChatMessageHistory(memory, "s")
    await history.aadd_messages([HumanMessage("the safe code is 4711")])
    await history.aclear()
    assert await history.aget_messages() == []
    await history.aadd_messages([HumanMessage("hello again")])
    assert told(await history.aget_messages()) == [("human", "hello again")]
    assert "4711" in (await memory.recall("safe code"))[0].record.text
    await memory.close()


async def test_what_is_added_again_after_clear_is_there_again(tmp_path: Path) -> None:
    """That is how people trim a history; it also works in another process, and through another object."""
    for _ in range(2):
        async with Hippocampus(tmp_path / "store", agent_id="tester", embedder="none") as memory:
            await HippoChatMessageHistory(memory, "s").aclear()
            for _ in range(2):
                await HippoChatMessageHistory(memory, "s").aadd_messages(EXACT[1:3])
            assert await HippoChatMessageHistory(memory, "s").aget_messages() == EXACT[1:3]


async def test_it_lasts_beyond_the_process(tmp_path: Path) -> None:
    for number in range(3):
        async with Hippocampus(tmp_path / "store", agent_id="tester", embedder="none") as memory:
            history = HippoChatMessageHistory(memory, "s")
            await history.aadd_messages([HumanMessage(f"turn {number}")])
    async with Hippocampus(tmp_path / "store", agent_id="tester", embedder="none") as memory:
        history = HippoChatMessageHistory(memory, "s")
        assert told(await history.aget_messages()) == [("human", f"turn {number}") for number in range(3)]


@pytest.mark.parametrize("way", ["ainvoke", "astream", "invoke"])
def test_a_chat_model_with_history_goes_on_where_it_was(memory: Hippocampus, way: str) -> None:
    model = ScriptedModel(script=answer)
    chain = with_history(model, memory)

    async def ask(text: str) -> None:
        if way == "ainvoke":
            await chain.ainvoke([HumanMessage(text)], session())
        else:
            async for _ in chain.astream([HumanMessage(text)], session()):
                pass

    with memory:
        for number in range(3):
            text = f"question {number}"
            if way == "invoke":
                chain.invoke([HumanMessage(text)], session())
            else:
                asyncio.run(ask(text))
        messages = HippoChatMessageHistory(memory, "s").messages
        expected = [
            pair for n in range(3) for pair in (("human", f"question {n}"), ("ai", f"answer to question {n}"))
        ]
        assert told(messages) == expected
        assert all(type(message) in (HumanMessage, AIMessage) for message in messages)
        assert told(model.seen[-1]) == expected[:5]


@pytest.mark.parametrize("asked", [str, HumanMessage])
@pytest.mark.parametrize("middleware", [False, True], ids=["alone", "with the middleware"])
async def test_an_agent_that_returns_the_whole_history_adds_only_what_is_new(
    memory: Hippocampus, middleware: bool, asked: Any
) -> None:
    """The wrapper hands over input and whole output each turn: fifteen messages for six."""
    inner = [HippoMiddleware(memory, inject=None)] if middleware else []
    agent = create_agent(ScriptedModel(script=answer), [weather], middleware=inner)
    keys = {"input_messages_key": "messages", "output_messages_key": "messages"}
    chain = with_history(agent, memory, **keys)
    for number in range(3):
        config = {"configurable": {"session_id": "s", "thread_id": "s"}}
        await chain.ainvoke({"messages": asked(f"weather please {number}")}, config)
    messages = await HippoChatMessageHistory(memory, "s").aget_messages()
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai"] * 3
    assert messages[1].tool_calls[0]["name"] == "weather"  # type: ignore[attr-defined]
    await memory.close()
