"""The memory tools work for a model, with and without an agent around them (L1)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver

from hippo_async import Hippocampus, Kind, Settings
from hippo_langchain import HippoMiddleware, memory_tools
from hippo_langchain.testing import ScriptedModel


async def test_what_one_tool_keeps_the_other_finds(memory: Hippocampus) -> None:
    remember, recall = memory_tools(memory, session="s")
    said = await remember.ainvoke({"text": "Ada's boat is called Nimbus.", "tags": ["boat"]})
    (record,) = await memory.session("s")
    assert said == f"Remembered as [{record.record_id[:8]}]."
    assert record.tags == ("boat",)
    assert record.source == "assistant"
    found = await recall.ainvoke({"query": "What is the name of the boat?"})
    assert found == f"- {record.timestamp[:10]}: Ada's boat is called Nimbus."
    await memory.close()


def test_they_work_in_code_without_a_loop(memory: Hippocampus) -> None:
    remember, recall = memory_tools(memory)
    with memory:
        assert remember.invoke({"text": "Tea at four."}).startswith("Remembered")
        assert "Tea at four." in recall.invoke({"query": "tea", "limit": 1})


async def test_scopes_wall_them_off(memory: Hippocampus) -> None:
    ada, _ = memory_tools(memory, scope=("ada",))
    _, bob = memory_tools(memory, scope=("bob",))
    await ada.ainvoke({"text": "The safe code is 4711."})
    assert (await bob.ainvoke({"query": "safe code"})).startswith("Nothing is remembered")
    await memory.close()


async def test_a_long_memory_is_cut_and_a_tag_that_fits_nothing_finds_nothing(memory: Hippocampus) -> None:
    remember, recall = memory_tools(memory)
    await remember.ainvoke({"text": "harbour " * 300})
    assert len(await recall.ainvoke({"query": "harbour"})) < 700
    assert (await recall.ainvoke({"query": "harbour", "tags": ["no-such-tag"]})).startswith("Nothing")
    await memory.close()


async def test_what_is_recalled_fits_its_budget_and_is_not_the_question_itself(memory: Hippocampus) -> None:
    _, recall = memory_tools(memory, max_tokens=120)
    await memory.open()
    for number in range(10):
        memory.capture(f"The harbour master's boat number {number} is painted in another colour each year.")
    memory.capture("Which boat is painted?")
    found = await recall.ainvoke({"query": "Which boat is painted?", "limit": 10})
    assert 0 < memory.count_tokens(found) <= 120
    assert "Which boat" not in found
    await memory.close()


async def test_what_goes_wrong_is_said_in_words_the_model_can_act_on(
    memory: Hippocampus, tmp_path: Path
) -> None:
    """Nothing is raised into the agent."""
    async with Hippocampus(tmp_path / "store", agent_id="tester", embedder="none"):  # holds the store
        remember, recall = memory_tools(memory)
        kept = await remember.ainvoke({"text": "Tea at four."})
        found = await recall.ainvoke({"query": "tea"})
    assert kept.startswith("Not remembered: ")
    assert "MEM_E_JOURNAL_LOCKED" in kept
    assert found.startswith("Not recalled: ")


async def test_dates_bound_what_is_recalled_and_the_last_day_counts(memory: Hippocampus) -> None:
    _, recall = memory_tools(memory)
    await memory.open()
    for day in (1, 2, 3):
        memory.capture(f"Tea number {day}.", timestamp=datetime(2026, 3, day, 15, tzinfo=UTC))
    found = await recall.ainvoke({"query": "tea", "since": "2026-03-02", "until": "2026-03-02"})
    assert found == "- 2026-03-02 (user): Tea number 2."
    wrong = await recall.ainvoke({"query": "tea", "since": "yesterday"})
    assert wrong.startswith("Not recalled: since 'yesterday' is no date; write 2026-03-31")
    assert wrong.endswith("Call it again with that mended.")
    await memory.close()


async def test_what_was_said_again_is_told_once_with_its_last_day(memory: Hippocampus) -> None:
    _, recall = memory_tools(memory)
    await memory.open()
    for day in (1, 2, 3):
        memory.capture("The tea is cold.", timestamp=datetime(2026, 3, day, tzinfo=UTC))
    found = await recall.ainvoke({"query": "tea"})
    assert found.count("The tea is cold.") == 1
    assert "again on 2026-03-0" in found
    await memory.close()


async def test_it_quotes_what_was_said_if_turns_are_kept_verbatim(tmp_path: Path) -> None:
    keeping = Settings.from_mapping({"raw": {"mode": "all"}})
    async with Hippocampus(tmp_path / "raw", embedder="none", settings=keeping) as memory:
        _, recall = memory_tools(memory, scope=("ann",), verbatim=True)
        at = datetime(2026, 3, 1, 15, tzinfo=UTC)
        memory.capture("The key is sk-abcdEFGH1234ijklMNOP5678.", scope=("ann",), timestamp=at)
        memory.capture("The key is mine.", scope=("ben",), timestamp=at)
        asked = {"query": "key", "mode": "deep_raw"}
        window = {"since": "2026-03-01", "until": "2026-03-01"}
        assert await recall.ainvoke(asked | window) == "- 2026-03-01T15:00 (user): The key is [redacted]."
        assert (await recall.ainvoke(asked | window | {"query": "boat"})).startswith("Nothing was said")
        assert "needs both since and until" in await recall.ainvoke(asked)


def test_quoting_is_offered_only_to_a_model_that_is_meant_to(memory: Hippocampus) -> None:
    """Every argument costs tokens in every prompt."""
    for verbatim in (False, True):
        _, recall = memory_tools(memory, verbatim=verbatim)
        assert ("mode" in recall.args) == verbatim


async def test_of_a_memory_longer_than_the_budget_the_beginning_is_told(memory: Hippocampus) -> None:
    remember, recall = memory_tools(memory, max_tokens=30)
    await remember.ainvoke({"text": "我们在柏林的会议室里谈到了水壶和茶叶。" * 20})
    found = await recall.ainvoke({"query": "柏林"})
    assert "柏林" in found
    assert memory.count_tokens(found) <= 30
    await memory.close()


def test_their_schemas_say_what_every_argument_is_for(memory: Hippocampus) -> None:
    for tool in memory_tools(memory):
        schema = convert_to_openai_tool(tool)["function"]
        assert len(schema["description"]) > 80
        assert all(argument["description"] for argument in schema["parameters"]["properties"].values())
        assert schema["parameters"]["required"] in (["text"], ["query"])


def calling(name: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"call-{name}", "type": "tool_call"}])


def replies() -> Iterator[AIMessage]:
    yield calling("remember_memory", text="Ada's boat is called Nimbus.")
    yield AIMessage("noted")
    yield calling("recall_memory", query="boat")
    yield AIMessage("Nimbus")


def scripted() -> ScriptedModel:
    script = replies()
    return ScriptedModel(script=lambda _messages: next(script))


@pytest.mark.parametrize("way", ["ainvoke", "invoke"])
def test_the_middleware_brings_them_along_in_the_scope_of_the_run(memory: Hippocampus, way: str) -> None:
    """Their own calls are not captured as decisions: what they did stands in the journal already."""
    import asyncio

    model = scripted()
    agent = create_agent(
        model,
        middleware=[HippoMiddleware(memory, inject=None)],
        context_schema=dict,
        checkpointer=InMemorySaver(),
    )

    def ask(text: str, name: str) -> list[BaseMessage]:
        run: Any = ({"messages": [HumanMessage(text)]}, {"configurable": {"thread_id": name}})
        if way == "invoke":
            return list(agent.invoke(*run, context={"user_id": "ada"})["messages"])
        return list(asyncio.run(agent.ainvoke(*run, context={"user_id": "ada"}))["messages"])

    with memory:
        assert model.offered == []
        ask("My boat is called Nimbus.", "monday")
        assert model.offered[0] == ("remember_memory", "recall_memory")
        messages = ask("What is my boat called?", "friday")
        assert "Ada's boat is called Nimbus." in messages[-2].text
        records = asyncio.run(memory.session("monday", scope=("ada",)))
        assert [record.text for record in records if record.role is None] == ["Ada's boat is called Nimbus."]
        assert [record for record in records if record.kind is Kind.DECISION] == []
