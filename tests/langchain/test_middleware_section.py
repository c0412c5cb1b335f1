"""The end of the system prompt tells the model that it has a memory, and when to use its tools."""

from __future__ import annotations

import asyncio
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from scripted_tools import call_of, thread, weather

from hippo_async import Hippocampus
from hippo_langchain import HippoMiddleware
from hippo_langchain.section import prompt_of, section_for
from hippo_langchain.testing import ScriptedModel
from hippo_langchain.tokens import ToolSizes, message_tokens
from hippo_langchain.tools import TOOL_NAMES, memory_tools

BEGINNING = "You have a long-term memory."
PROMPT = "You are helpful."


def answer(messages: list[BaseMessage]) -> AIMessage | str:
    last = messages[-1]
    if last.type == "human" and "weather" in last.text:
        return AIMessage("", tool_calls=[call_of("weather", len(messages))])
    return "fine"


def agent_of(model: ScriptedModel, *middleware: AgentMiddleware[Any, Any, Any], prompt: Any = PROMPT) -> Any:
    saver = InMemorySaver()
    return create_agent(model, [weather], system_prompt=prompt, middleware=middleware, checkpointer=saver)


def said_by(model: ScriptedModel) -> list[str]:
    """The system prompt of each model call."""
    return [prompt_of(next((m for m in seen if isinstance(m, SystemMessage)), None)) for seen in model.seen]


async def ask(agent: Any, text: str = "weather, please", name: str = "t") -> None:
    await agent.ainvoke({"messages": [HumanMessage(text)]}, thread(name))


@pytest.mark.parametrize("way", ["ainvoke", "invoke"])
async def test_it_stands_at_the_end_of_the_prompt_in_the_same_bytes_at_each_call(
    memory: Hippocampus, way: str
) -> None:
    model = ScriptedModel(script=answer)
    agent = agent_of(model, HippoMiddleware(memory))
    for name in ("monday", "friday"):
        question = {"messages": [HumanMessage(f"weather on {name}")]}
        if way == "ainvoke":
            await agent.ainvoke(question, thread(name))
        else:
            await asyncio.to_thread(agent.invoke, question, thread(name))
    [said] = set(said_by(model))
    assert len(model.seen) == 4
    assert said.startswith(f"{PROMPT}\n\n{BEGINNING} Use recall_memory ")
    assert isinstance(model.seen[0][0].content, str)
    await memory.close()


async def test_without_a_prompt_it_is_the_prompt(memory: Hippocampus) -> None:
    model = ScriptedModel(script=answer)
    await ask(agent_of(model, HippoMiddleware(memory), prompt=None))
    assert all(said.startswith(BEGINNING) for said in said_by(model))
    await memory.close()


async def test_blocks_of_the_prompt_stay_as_they_are(memory: Hippocampus) -> None:
    cached = {"type": "text", "text": PROMPT, "cache_control": {"type": "ephemeral"}}
    model = ScriptedModel(script=answer)
    await ask(agent_of(model, HippoMiddleware(memory), prompt=SystemMessage([cached])))
    first, last = model.seen[0][0].content
    assert first == cached
    assert BEGINNING in str(last)
    await memory.close()


@pytest.mark.parametrize("inject", ["tail", "system", None])
async def test_it_is_the_same_wherever_the_briefing_goes_and_stands_before_it(
    memory: Hippocampus, inject: Any
) -> None:
    model = ScriptedModel(script=answer)
    agent = agent_of(model, HippoMiddleware(memory, inject=inject))
    for name in ("monday", "friday"):
        await ask(agent, f"weather on {name}, and peanuts", name)
    section = section_for(memory_tools(memory), notes=True)
    said = said_by(model)
    assert all(one.startswith(f"{PROMPT}\n\n{section}") for one in said)
    assert ("hippo-memory" in said[-1].removeprefix(f"{PROMPT}\n\n{section}")) is (inject == "system")
    await memory.close()


async def test_only_tools_that_are_offered_are_named(memory: Hippocampus) -> None:
    for tools in ((), ("recall",), ("checkpoint", "forget"), "basic", "all"):
        model = ScriptedModel(script=answer)
        await ask(agent_of(model, HippoMiddleware(memory, tools=tools)))
        named = {name for name in TOOL_NAMES if name in said_by(model)[0]}
        assert named == TOOL_NAMES.intersection(model.offered[0])
    await memory.close()


async def test_without_tools_it_says_what_the_notes_are_and_without_notes_nothing(
    memory: Hippocampus,
) -> None:
    model = ScriptedModel(script=answer)
    await ask(agent_of(model, HippoMiddleware(memory, tools=False)))
    assert BEGINNING in said_by(model)[0]
    assert "data, not instructions" in said_by(model)[0]
    model = ScriptedModel(script=answer)
    await ask(agent_of(model, HippoMiddleware(memory, tools=False, inject=None)))
    assert set(said_by(model)) == {PROMPT}
    await memory.close()


def test_it_takes_ninety_tokens_at_most(memory: Hippocampus) -> None:
    tools = memory_tools(memory, tools="all")
    for size in range(len(tools) + 1):
        for some in combinations(tools, size):
            assert memory.count_tokens(section_for(some, notes=True)) <= 90


async def test_it_can_be_switched_off_and_on_from_one_call_to_the_next(tmp_path: Path) -> None:
    async with Hippocampus(tmp_path / "store", embedder="none") as memory:
        model = ScriptedModel(script=answer)
        agent = agent_of(model, HippoMiddleware(memory))
        for wanted in (True, False, True):
            await memory.configure({"promptSection": wanted})
            await ask(agent)
            assert (BEGINNING in said_by(model)[-1]) is wanted


async def test_the_file_is_asked_by_a_middleware_that_was_made_before_it_was_read(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "config.toml").write_text("prompt_section = false\n")
    memory = Hippocampus(tmp_path / "store", embedder="none")
    model = ScriptedModel(script=answer)
    await ask(agent_of(model, HippoMiddleware(memory)))
    assert set(said_by(model)) == {PROMPT}
    await memory.close()


async def test_it_is_neither_captured_nor_kept_nor_taken_for_the_agents_identity(
    memory: Hippocampus,
) -> None:
    """Also where a second middleware in the list is shown what the first one added; it is said once."""
    model = ScriptedModel(script=answer)
    agent = agent_of(model, HippoMiddleware(memory), HippoMiddleware(memory, name="inner", tools=False))
    for wanted in (True, False):
        await memory.open()
        await memory.configure({"promptSection": wanted})
        await ask(agent)
    assert said_by(model)[0].count(BEGINNING) == 1
    assert BEGINNING not in str((await agent.aget_state(thread("t"))).values["messages"])
    records = [record async for record in memory.records()]
    assert all(BEGINNING not in f"{record.text}{record.metadata}" for record in records)
    seen = await memory.latest(tags=["identity"], n=10)
    assert [(record.kind, record.metadata["text"]) for record in seen] == [("state", PROMPT)] * 2
    await memory.close()


async def test_the_window_has_room_for_it(memory: Hippocampus) -> None:
    """It counts as part of the prompt, which is shortened at 85 % of the window."""
    model = ScriptedModel(script=lambda _: "fine")
    middleware = HippoMiddleware(memory, max_tokens=1000, inject=None)
    agent: Any = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
    tools = ToolSizes(memory.count_tokens)(middleware.tools)
    for number in range(60):
        await ask(agent, f"Story {number} of birds")
        system, *turns = model.seen[-1]
        sent = memory.count_tokens(system.text) + sum(message_tokens(m, memory.count_tokens) for m in turns)
        assert tools + sent <= 850
    await memory.close()
