"""The callback handler captures what runs by it, once, and holds nothing up (M5, L10)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from scripted_tools import broken, call_of, confirm, weather

from hippo_async import Hippocampus, Kind, Record
from hippo_langchain import HippoCallbackHandler, HippoMiddleware
from hippo_langchain.callbacks import RUNS
from hippo_langchain.testing import ScriptedModel


def answer(messages: list[BaseMessage]) -> AIMessage | str:
    last = messages[-1]
    for name in ("weather", "broken", "confirm"):
        if last.type == "human" and name in last.text:
            return AIMessage("let me look", tool_calls=[call_of(name, len(messages))])
    return "the same answer"


def spoken(records: list[Record]) -> list[tuple[str | None, str]]:
    return [(record.role, record.text) for record in records if record.kind is Kind.OBSERVATION]


async def test_a_bare_model_is_captured_though_its_history_has_no_ids(memory: Hippocampus) -> None:
    handler = HippoCallbackHandler(memory, session="s")
    model = ScriptedModel(script=answer)
    history: list[Any] = [("system", "be brief")]
    for _ in range(5):
        history.append(("user", "the same question"))
        reply = await model.ainvoke(history, {"callbacks": [handler]})
        history.append(("assistant", reply.text))
    assert (
        spoken(await memory.session("s"))
        == [("user", "the same question"), ("assistant", "the same answer")] * 5
    )
    await memory.close()


def test_invoke_and_stream_are_captured_too(memory: Hippocampus) -> None:
    model = ScriptedModel(script=answer)
    with memory:
        config: Any = {"callbacks": [HippoCallbackHandler(memory, session="s")]}
        model.invoke("first", config)
        list(
            model.stream(
                [HumanMessage("first"), AIMessage("the same answer"), HumanMessage("second")], config
            )
        )
        expected = [
            ("user", "first"),
            ("assistant", "the same answer"),
            ("user", "second"),
            ("assistant", "the same answer"),
        ]
        assert spoken(asyncio.run(memory.session("s"))) == expected


async def test_an_agent_is_captured_under_its_thread(memory: Hippocampus) -> None:
    agent = create_agent(ScriptedModel(script=answer), [weather], checkpointer=InMemorySaver())
    handler = HippoCallbackHandler(memory)
    for name in ("one", "two"):
        for _ in range(3):
            config: Any = {"configurable": {"thread_id": name}, "callbacks": [handler]}
            await agent.ainvoke({"messages": [HumanMessage("weather please")]}, config)
    one_turn = [("user", "weather please"), ("assistant", "let me look"), ("assistant", "the same answer")]
    for name in ("one", "two"):
        records = await memory.session(name)
        assert spoken(records) == one_turn * 3
        assert [record.text for record in records if record.kind is Kind.DECISION] == [
            'called weather(city="Oslo")'
        ] * 3
    await memory.close()


async def test_handler_and_middleware_together_capture_once(memory: Hippocampus) -> None:
    agent = create_agent(
        ScriptedModel(script=answer),
        [weather],
        middleware=[HippoMiddleware(memory)],
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "t"}, "callbacks": [HippoCallbackHandler(memory)]}
    for _ in range(3):
        await agent.ainvoke({"messages": [HumanMessage("weather please")]}, config)
    one_turn = [("user", "weather please"), ("assistant", "let me look"), ("assistant", "the same answer")]
    assert spoken(await memory.session("t")) == one_turn * 3
    await memory.close()


async def test_a_restart_captures_nothing_twice(tmp_path: Path) -> None:
    history: list[BaseMessage] = []
    for number in range(3):
        async with Hippocampus(tmp_path / "store", agent_id="tester", embedder="none") as memory:
            history.append(HumanMessage("the same question"))
            config: Any = {"callbacks": [HippoCallbackHandler(memory, session="s")]}
            reply = await ScriptedModel(script=answer).ainvoke(history, config)
            history.append(AIMessage(reply.text))
            assert len(await memory.session("s")) == 2 * (number + 1)


async def test_errors_of_models_and_tools_are_kept_and_raised_as_they_are(memory: Hippocampus) -> None:
    handler = HippoCallbackHandler(memory, session="s")
    model = ScriptedModel(script=answer, failures={1: ConnectionError("provider down")})
    with pytest.raises(ConnectionError, match="provider down"):
        await model.ainvoke("hello", {"callbacks": [handler]})
    agent = create_agent(ScriptedModel(script=answer), [broken])
    with pytest.raises(LookupError):
        await agent.ainvoke({"messages": [HumanMessage("broken please")]}, {"callbacks": [handler]})
    errors = [(record.role, record.text) for record in await memory.session("s") if record.kind is Kind.ERROR]
    assert errors == [
        ("system", "model call failed: ConnectionError: provider down"),
        ("tool", "broken failed: LookupError: no such city as Oslo"),
    ]
    await memory.close()


async def test_an_interrupt_is_no_error(memory: Hippocampus) -> None:
    agent = create_agent(ScriptedModel(script=answer), [confirm], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}, "callbacks": [HippoCallbackHandler(memory)]}
    await agent.ainvoke({"messages": [HumanMessage("confirm please")]}, config)
    assert [record for record in await memory.session("t") if record.kind is Kind.ERROR] == []
    await memory.close()


@pytest.mark.parametrize(
    "marks",
    [
        {"metadata": {"lc_source": "summarization"}},
        {"metadata": {"lc_internal_call": True}},
        {"tags": ["nostream"]},
    ],
    ids=["lc_source", "lc_internal_call", "nostream"],
)
async def test_calls_that_are_nobody_s_turn_are_left_out(memory: Hippocampus, marks: dict[str, Any]) -> None:
    config: Any = {"callbacks": [HippoCallbackHandler(memory, session="s")], **marks}
    await ScriptedModel(script=answer).ainvoke("Summarise this.", config)
    async with memory:
        assert await memory.session("s") == []


async def test_a_prompt_s_system_text_and_notes_are_not_captured(memory: Hippocampus) -> None:
    note = HumanMessage("<hippo-memory>\n- tea\n</hippo-memory>")
    prompt = [SystemMessage("You are helpful."), note, HumanMessage("hello")]
    await ScriptedModel(script=answer).ainvoke(
        prompt, {"callbacks": [HippoCallbackHandler(memory, session="s")]}
    )
    assert spoken(await memory.session("s")) == [("user", "hello"), ("assistant", "the same answer")]
    await memory.close()


async def test_runs_whose_end_never_comes_do_not_pile_up(memory: Hippocampus) -> None:
    handler = HippoCallbackHandler(memory, session="s")
    async with memory:
        for number in range(RUNS + 50):
            handler.on_chat_model_start({}, [[HumanMessage(f"hello {number}")]], run_id=uuid4())
        assert len(handler._runs) == RUNS


async def test_a_model_call_goes_on_when_the_memory_cannot_be_opened(
    memory: Hippocampus, tmp_path: Path
) -> None:
    async with Hippocampus(tmp_path / "store", agent_id="tester", embedder="none"):  # holds the store
        handler = HippoCallbackHandler(memory, session="s")
        reply = await ScriptedModel(script=answer).ainvoke("hello", {"callbacks": [handler]})
    assert reply.text == "the same answer"
    assert handler.faults["restore"] == 1


def test_it_is_a_plain_handler() -> None:
    """An async one would be run on a loop of its own for each event of a sync call."""
    assert issubclass(HippoCallbackHandler, BaseCallbackHandler)
    assert not asyncio.iscoroutinefunction(HippoCallbackHandler.on_llm_end)
    assert not HippoCallbackHandler.run_inline
