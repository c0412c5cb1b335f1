"""The middleware briefs from memory without a trace, and watches the system prompt (M4, J14)."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from scripted_tools import call_of, thread, weather

import hippo_langchain
from hippo_async import Hippocampus, Kind, Record, Settings
from hippo_async.errors import MissingExtra
from hippo_langchain import HippoMiddleware
from hippo_langchain.testing import ScriptedModel

EXAMPLE = Path(__file__).parents[2] / "examples" / "langchain_agent.py"


def answer(messages: list[BaseMessage]) -> AIMessage | str:
    last = messages[-1]
    if last.type == "human" and "weather" in last.text:
        return AIMessage("", tool_calls=[call_of("weather", len(messages))])
    return "fine"


def memory_at(path: Path, **options: Any) -> Hippocampus:
    return Hippocampus(path / "store", agent_id="tester", embedder="none", **options)


def agent_with(
    memory: Hippocampus, model: ScriptedModel, *, prompt: Any = "You are helpful.", **options: Any
) -> Any:
    middleware = [HippoMiddleware(memory, **options)]
    return create_agent(
        model, [weather], system_prompt=prompt, middleware=middleware, checkpointer=InMemorySaver()
    )


def injected(messages: list[BaseMessage]) -> list[BaseMessage]:
    return [message for message in messages if message.additional_kwargs.get("lc_source") == "hippo"]


async def test_what_was_said_in_one_thread_is_briefed_in_another(memory: Hippocampus) -> None:
    """The note stands right before the question, so that all before it stays cached."""
    model = ScriptedModel(script=answer)
    agent = agent_with(memory, model)
    await agent.ainvoke({"messages": [HumanMessage("I am allergic to peanuts.")]}, thread("monday"))
    await agent.ainvoke({"messages": [HumanMessage("Am I allergic to anything?")]}, thread("friday"))
    note, question = model.seen[-1][-2:]
    assert injected([note]) == [note]
    assert "I am allergic to peanuts." in note.text
    assert question.text == "Am I allergic to anything?"
    await memory.close()


async def test_the_system_prompt_can_carry_the_briefing_instead(memory: Hippocampus) -> None:
    """It comes last in there, after the blocks that were there before."""
    model = ScriptedModel(script=answer)
    cached = {"type": "text", "text": "You are helpful.", "cache_control": {"type": "ephemeral"}}
    agent = agent_with(memory, model, prompt=SystemMessage([cached]), inject="system")
    await agent.ainvoke({"messages": [HumanMessage("I am allergic to peanuts.")]}, thread("monday"))
    await agent.ainvoke({"messages": [HumanMessage("Am I allergic to anything?")]}, thread("friday"))
    system, *others = model.seen[-1]
    assert system.content[0] == cached
    assert "I am allergic to peanuts." in str(system.content[-1])
    assert injected(others) == []
    await memory.close()


@pytest.mark.parametrize("inject", ["tail", "system"])
async def test_a_briefing_is_never_captured_nor_kept_in_the_state(memory: Hippocampus, inject: Any) -> None:
    model = ScriptedModel(script=answer)
    agent = agent_with(memory, model, inject=inject)
    for number in range(10):
        await agent.ainvoke(
            {"messages": [HumanMessage(f"weather of day {number}, and peanuts")]}, thread(str(number % 3))
        )
    assert sum("hippo-memory" in str([message.content for message in seen]) for seen in model.seen) > 10
    for name in "012":
        assert all("hippo-memory" not in record.text for record in await memory.session(name))
        state = (await agent.aget_state(thread(name))).values["messages"]
        assert "hippo-memory" not in str(state)
    assert memory.status().captured == 30  # question, decision and answer of each turn
    await memory.close()


async def test_the_block_keeps_its_bytes_through_a_tool_loop(memory: Hippocampus) -> None:
    """Else each step of the loop would cost the provider's prompt cache. What is learnt meanwhile has to
    wait."""

    class Learning(AgentMiddleware[Any, Any, Any]):
        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            await memory.record("The weather in Oslo has just changed.")
            return await handler(request)

    model = ScriptedModel(script=answer)
    middleware = [HippoMiddleware(memory), Learning()]
    agent = create_agent(model, [weather], middleware=middleware, checkpointer=InMemorySaver())
    await agent.ainvoke({"messages": [HumanMessage("The weather in Oslo matters to me.")]}, thread("monday"))
    model.seen.clear()
    await agent.ainvoke({"messages": [HumanMessage("What is the weather in Oslo?")]}, thread("friday"))
    first, second = model.seen
    assert injected(first)[0].content == injected(second)[0].content
    assert [message.content for message in second[: len(first)]] == [message.content for message in first]
    await memory.close()


async def test_what_the_prompt_shows_anyway_is_not_briefed(memory: Hippocampus) -> None:
    model = ScriptedModel(script=answer)
    agent = agent_with(memory, model)
    for text in ("I am allergic to peanuts.", "Am I allergic to anything?"):
        await agent.ainvoke({"messages": [HumanMessage(text)]}, thread("monday"))
        await memory.flush()
    assert all("I am allergic" not in note.text for note in injected(model.seen[-1]))
    await memory.close()


async def test_what_left_the_window_is_briefed_again(memory: Hippocampus) -> None:
    """In the same conversation, by recall and by the fold."""
    model = ScriptedModel(script=answer)
    agent = agent_with(memory, model, max_tokens=1200, tools=False)
    await agent.ainvoke({"messages": [HumanMessage("The key is under the blue flower pot.")]}, thread("t"))
    for number in range(12):
        text = f"Tell me story number {number} about ships, storms, islands and birds. " * 4
        await agent.ainvoke({"messages": [HumanMessage(text)]}, thread("t"))
    await agent.ainvoke({"messages": [HumanMessage("Where is the key?")]}, thread("t"))
    assert all("blue flower pot" not in message.text for message in model.seen[-1] if not injected([message]))
    block = injected(model.seen[-1])[0].text
    assert "under the blue flower pot" in block
    assert "Earlier in this conversation" in block
    assert memory.count_tokens(block) <= 300
    await memory.close()


async def test_the_block_stays_within_its_budget(memory: Hippocampus) -> None:
    model = ScriptedModel(script=answer)
    agent = agent_with(memory, model, briefing_tokens=120)
    for number in range(30):
        await agent.ainvoke(
            {"messages": [HumanMessage(f"Peanut fact {number}: 花生过敏 не шутка, remember it well.")]},
            thread(str(number)),
        )
    await agent.ainvoke({"messages": [HumanMessage("What do you know about peanuts?")]}, thread("last"))
    assert 60 < memory.count_tokens(injected(model.seen[-1])[0].text) <= 120
    await memory.close()


async def test_a_briefing_that_fails_does_not_stop_the_turn(
    memory: Hippocampus, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def failing(*_args: Any, **_options: Any) -> None:
        raise RuntimeError("the model of the embedder broke")

    monkeypatch.setattr(memory, "brief", failing)
    middleware = HippoMiddleware(memory)
    agent = create_agent(ScriptedModel(script=answer), middleware=[middleware])
    result = await agent.ainvoke({"messages": [HumanMessage("hello")]}, thread("t"))
    assert result["messages"][-1].text == "fine"
    assert middleware.faults["brief"] == 1
    assert "the model of the embedder broke" in caplog.text
    await memory.close()


async def test_nothing_is_injected_when_the_settings_say_so(tmp_path: Path) -> None:
    settings = Settings.from_mapping({"context": {"injectPrompt": False}})
    async with memory_at(tmp_path, settings=settings) as memory:
        model = ScriptedModel(script=answer)
        agent = agent_with(memory, model)
        for name in ("monday", "friday"):
            await agent.ainvoke({"messages": [HumanMessage("I am allergic to peanuts.")]}, thread(name))
        assert all(injected(seen) == [] for seen in model.seen)


async def test_a_user_sees_no_notes_of_another_user(memory: Hippocampus) -> None:
    model = ScriptedModel(script=answer)
    agent: Any = create_agent(model, middleware=[HippoMiddleware(memory)], context_schema=dict)
    for user in ("Xenia", "bob"):
        question = {"messages": [HumanMessage(f"I am {user}, and I am allergic to peanuts.")]}
        await agent.ainvoke(question, thread(user), context={"user_id": user})
    await agent.ainvoke(
        {"messages": [HumanMessage("Who is allergic?")]}, thread("x"), context={"user_id": "bob"}
    )
    assert "Xenia" not in str(model.seen[-1])
    assert "I am bob" in str(model.seen[-1])
    await memory.close()


async def identity_of(memory: Hippocampus) -> list[Record]:
    return (await memory.latest(tags=["identity"], n=100))[::-1]


async def test_a_swapped_system_prompt_is_recorded_once_even_across_a_restart(tmp_path: Path) -> None:
    for prompt in (
        "You are helpful.",
        "You are helpful.",
        "You sell cars.",
        "You sell cars.",
        "You are helpful.",
    ):
        async with memory_at(tmp_path) as memory:
            agent = agent_with(memory, ScriptedModel(script=answer), prompt=prompt)
            for _ in range(2):
                await agent.ainvoke({"messages": [HumanMessage("hello")]}, thread("t"))
    async with memory_at(tmp_path) as memory:
        records = await identity_of(memory)
        assert [record.kind for record in records] == [Kind.STATE, Kind.IDENTITY_CHANGE, Kind.IDENTITY_CHANGE]
        assert [record.metadata["text"] for record in records] == [
            "You are helpful.",
            "You sell cars.",
            "You are helpful.",
        ]
        assert records[1].metadata["previous_sha256"] == records[0].metadata["sha256"]
        assert (await memory.verify_chain()).intact


async def test_the_system_prompt_is_not_found_by_recall(memory: Hippocampus) -> None:
    """It is kept as evidence; a model that is told its own prompt as a memory learns nothing."""
    agent = agent_with(memory, ScriptedModel(script=answer), prompt="You are a pirate named Redbeard.")
    await agent.ainvoke({"messages": [HumanMessage("hello")]}, thread("t"))
    assert all("Redbeard" not in hit.record.text for hit in await memory.recall("pirate Redbeard"))
    await memory.close()


async def test_an_agent_without_a_system_prompt_has_no_identity_to_record(memory: Hippocampus) -> None:
    agent = agent_with(memory, ScriptedModel(script=answer), prompt=None)
    await agent.ainvoke({"messages": [HumanMessage("hello")]}, thread("t"))
    assert await identity_of(memory) == []
    await memory.close()


async def test_two_agents_of_one_memory_have_identities_of_their_own(memory: Hippocampus) -> None:
    for _ in range(2):
        for name in ("seller", "helper"):
            agent = agent_with(memory, ScriptedModel(script=answer), prompt=f"You are the {name}.", name=name)
            await agent.ainvoke({"messages": [HumanMessage("hello")]}, thread("t"))
    assert [record.kind for record in await identity_of(memory)] == [Kind.STATE, Kind.STATE]
    await memory.close()


def test_the_example_remembers_from_one_conversation_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["langchain_agent.py"])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    told = capsys.readouterr().out
    assert "Peanuts: you are allergic to them." in told
    assert "intact: True" in told


def test_a_missing_langchain_is_named_with_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "hippo_langchain.middleware")
    monkeypatch.setitem(sys.modules, "langchain.agents.middleware", None)
    with pytest.raises(MissingExtra, match=r"pip install 'hippo-async\[langchain\]'"):
        _ = hippo_langchain.HippoMiddleware
