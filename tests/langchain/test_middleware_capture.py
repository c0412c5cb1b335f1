"""The middleware captures each turn once, however the caller keeps the conversation (M2, L10, J14)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware, ToolErrorMiddleware
from langchain.tools import tool
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolCall, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command
from scripted_tools import broken, call_of, confirm, thread, weather

from hippo_async import Hippocampus, Kind, Record
from hippo_langchain import HippoMiddleware
from hippo_langchain.testing import ScriptedModel

Ask = Callable[[str], Awaitable[Any]]


@tool(return_direct=True)
def refused(city: str) -> str:
    """Answer in the assistant's place."""
    return f"straight from {city}"


def answer(messages: list[BaseMessage]) -> AIMessage | str:
    """Call a tool when the question names one, else say the same thing every time."""
    last = messages[-1]
    if isinstance(last, HumanMessage):
        for name in ("weather", "broken", "refused", "confirm"):
            if name in last.text:
                return AIMessage("let me look", tool_calls=[call_of(name, len(messages))])
    return "the same answer"


def memory_at(path: Path, **options: Any) -> Hippocampus:
    return Hippocampus(path / "store", agent_id="tester", embedder="none", **options)


def agent_with(memory: Hippocampus, *others: AgentMiddleware[Any, Any, Any], **options: Any) -> Any:
    model = ScriptedModel(script=answer, failures=options.pop("failures", {}))
    tools = [weather, broken, refused, confirm]
    return create_agent(model, tools, middleware=[HippoMiddleware(memory), *others], **options)


def spoken(records: list[Record]) -> list[tuple[str | None, str]]:
    return [(record.role, record.text) for record in records if record.kind is Kind.OBSERVATION]


async def turns_in(memory: Hippocampus, session: str) -> list[tuple[str | None, str]]:
    return spoken(await memory.session(session))


def checkpointed(memory: Hippocampus) -> Ask:
    agent = agent_with(memory, checkpointer=InMemorySaver())
    return lambda text: agent.ainvoke({"messages": [HumanMessage(text)]}, thread())


def streamed(memory: Hippocampus) -> Ask:
    agent = agent_with(memory, checkpointer=InMemorySaver())

    async def ask(text: str) -> None:
        async for _ in agent.astream({"messages": [HumanMessage(text)]}, thread(), stream_mode="messages"):
            pass

    return ask


def summarised_after_ours(memory: Hippocampus) -> Ask:
    return _summarised(memory, ours_first=True)


def summarised_before_ours(memory: Hippocampus) -> Ask:
    return _summarised(memory, ours_first=False)


def _summarised(memory: Hippocampus, *, ours_first: bool) -> Ask:
    summary = SummarizationMiddleware(
        ScriptedModel(script=lambda _: "a summary"), trigger=("messages", 4), keep=("messages", 2)
    )
    ours = HippoMiddleware(memory)
    order = [ours, summary] if ours_first else [summary, ours]
    agent = create_agent(
        ScriptedModel(script=answer), [weather], middleware=order, checkpointer=InMemorySaver()
    )
    return lambda text: agent.ainvoke({"messages": [HumanMessage(text)]}, thread())


def resent_as_role_dicts(memory: Hippocampus) -> Ask:
    return _resent(memory, keep=None)


def resent_as_role_dicts_cut_by_the_caller(memory: Hippocampus) -> Ask:
    return _resent(memory, keep=5)


def _resent(memory: Hippocampus, *, keep: int | None) -> Ask:
    agent = agent_with(memory)
    history: list[dict[str, str]] = []

    async def ask(text: str) -> None:
        history.append({"role": "user", "content": text})
        sent = history if keep is None else history[-keep:]
        result = await agent.ainvoke({"messages": list(sent)}, thread())
        history.append({"role": "assistant", "content": result["messages"][-1].text})

    return ask


def resent_as_returned_objects(memory: Hippocampus) -> Ask:
    agent = agent_with(memory)
    state: dict[str, Any] = {"messages": []}

    async def ask(text: str) -> None:
        state.update(await agent.ainvoke({"messages": [*state["messages"], HumanMessage(text)]}, thread()))

    return ask


WAYS = [
    checkpointed,
    streamed,
    summarised_after_ours,
    summarised_before_ours,
    resent_as_role_dicts,
    resent_as_role_dicts_cut_by_the_caller,
    resent_as_returned_objects,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_each_turn_is_captured_once_though_all_texts_are_equal(memory: Hippocampus, way: Any) -> None:
    """Two equal texts at different places are two turns; the same turn coming back is none."""
    ask = way(memory)
    for _ in range(8):
        await ask("the same question")
    assert (
        await turns_in(memory, "t") == [("user", "the same question"), ("assistant", "the same answer")] * 8
    )
    await memory.close()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_turns_with_tools_are_captured_once(memory: Hippocampus, way: Any) -> None:
    """A caller may keep only the last answer of each turn; the ones in between are not captured anew."""
    ask = way(memory)
    for number in range(4):
        await ask(f"weather please, {number}")
        await ask(f"and what of {number}?")
    expected: list[tuple[str, str]] = []
    for number in range(4):
        expected += [
            ("user", f"weather please, {number}"),
            ("assistant", "let me look"),
            ("assistant", "the same answer"),
        ]
        expected += [("user", f"and what of {number}?"), ("assistant", "the same answer")]
    assert await turns_in(memory, "t") == expected
    await memory.close()


async def test_a_restart_captures_nothing_twice(tmp_path: Path) -> None:
    """A new process with the same store and checkpoints goes on where the old one stopped."""
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        for number in range(3):
            async with memory_at(tmp_path) as memory:
                agent = agent_with(memory, checkpointer=saver)
                await agent.ainvoke({"messages": [HumanMessage("the same question")]}, thread())
                await memory.flush()
                assert len(await turns_in(memory, "t")) == 2 * (number + 1)


async def test_role_dicts_that_are_resent_after_a_restart_are_known(tmp_path: Path) -> None:
    history: list[dict[str, str]] = []
    for number in range(3):
        async with memory_at(tmp_path) as memory:
            history.append({"role": "user", "content": "the same question"})
            result = await agent_with(memory).ainvoke({"messages": list(history)}, thread())
            history.append({"role": "assistant", "content": result["messages"][-1].text})
            assert len(await turns_in(memory, "t")) == 2 * (number + 1)


async def test_asking_the_same_lone_question_again_is_a_turn_of_its_own(memory: Hippocampus) -> None:
    """Without any history the same words come back: that is somebody asking again, and both are kept."""
    agent = agent_with(memory)
    for _ in range(3):
        await agent.ainvoke({"messages": [{"role": "user", "content": "hello"}]})
    assert await turns_in(memory, "default") == [("user", "hello"), ("assistant", "the same answer")] * 3
    await memory.close()


async def test_a_question_that_got_no_answer_is_not_captured_again_when_it_is_retried(
    memory: Hippocampus,
) -> None:
    agent = agent_with(memory, failures={1: RuntimeError("provider down")})
    question = {"messages": [{"role": "user", "content": "are you there?"}]}
    with pytest.raises(RuntimeError, match="provider down"):
        await agent.ainvoke(question)
    await agent.ainvoke(question)
    assert await turns_in(memory, "default") == [("user", "are you there?"), ("assistant", "the same answer")]
    await memory.close()


def test_invoke_captures_as_ainvoke_does(memory: Hippocampus) -> None:
    with memory:
        agent = agent_with(memory, checkpointer=InMemorySaver())
        for _ in range(3):
            agent.invoke({"messages": [HumanMessage("weather please")]}, thread())
        one_turn = [
            ("user", "weather please"),
            ("assistant", "let me look"),
            ("assistant", "the same answer"),
        ]
        assert asyncio.run(turns_in(memory, "t")) == one_turn * 3


async def test_a_question_that_was_edited_is_a_turn_of_its_own(memory: Hippocampus) -> None:
    """Chat windows let a user rewrite a question: its answer goes, its id stays."""
    agent = agent_with(memory, checkpointer=InMemorySaver())
    result = await agent.ainvoke({"messages": [HumanMessage("I like tea", id="one")]}, thread())
    edit = [RemoveMessage(id=result["messages"][-1].id), HumanMessage("I like coffee", id="one")]
    await agent.ainvoke({"messages": edit}, thread())
    assert [text for role, text in await turns_in(memory, "t") if role == "user"] == [
        "I like tea",
        "I like coffee",
    ]
    await memory.close()


async def test_the_question_survives_a_model_that_raises(memory: Hippocampus) -> None:
    """The error reaches the caller as it is, and is kept as one record of kind error."""
    agent = agent_with(memory, failures={1: ConnectionError("provider down")})
    with pytest.raises(ConnectionError, match="provider down"):
        await agent.ainvoke({"messages": [HumanMessage("my name is Ada")]}, thread())
    records = await memory.session("t")
    assert spoken(records) == [("user", "my name is Ada")]
    assert [record.text for record in records if record.kind is Kind.ERROR] == [
        "model call failed: ConnectionError: provider down"
    ]
    await memory.close()


@pytest.mark.parametrize("handled", [False, True], ids=["raised", "handled by another middleware"])
async def test_a_tool_that_raises_is_kept_once_as_an_error(memory: Hippocampus, handled: bool) -> None:
    handler = ToolErrorMiddleware(on_error=lambda error, _request: f"sorry: {error}")
    ours = HippoMiddleware(memory)
    order = [handler, ours] if handled else [ours]
    agent = create_agent(ScriptedModel(script=answer), [broken], middleware=order)
    try:
        await agent.ainvoke({"messages": [HumanMessage("broken please")]}, thread())
    except LookupError:
        assert not handled
    errors = [record for record in await memory.session("t") if record.kind is Kind.ERROR]
    assert [(error.role, error.metadata["tool"]) for error in errors] == [("tool", "broken")]
    assert "no such city as Oslo" in errors[0].text
    await memory.close()


async def test_an_error_result_is_kept_and_a_good_one_is_not(memory: Hippocampus) -> None:
    """Tool output is left out, unless it says that something went wrong (L10)."""

    class Failing(AgentMiddleware[Any, Any, Any]):
        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            return ToolMessage(
                "quota exceeded", tool_call_id=request.tool_call["id"], name="weather", status="error"
            )

    agent = agent_with(memory, Failing())
    await agent.ainvoke({"messages": [HumanMessage("weather please")]}, thread())
    kept = [record.text for record in await memory.session("t") if record.role == "tool"]
    assert kept == ["weather failed: quota exceeded"]
    await memory.close()


async def test_tool_results_are_kept_when_they_are_asked_for(memory: Hippocampus) -> None:
    middleware = HippoMiddleware(memory, capture_tools=True)
    agent = create_agent(ScriptedModel(script=answer), [weather, refused], middleware=[middleware])
    await agent.ainvoke({"messages": [HumanMessage("weather please")]}, thread())
    await agent.ainvoke({"messages": [HumanMessage("refused please")]}, thread("u"))
    assert [record.text for record in await memory.session("t") if record.role == "tool"] == [
        "Oslo: 21 degrees"
    ]
    assert [record.text for record in await memory.session("u") if record.role == "tool"] == [
        "straight from Oslo"
    ]
    await memory.close()


async def test_what_a_tool_recalled_is_not_captured_again(memory: Hippocampus) -> None:
    """A copy of it would stay when the memory is forgotten."""
    async with memory:
        await memory.remember("The boat is called Nimbus.")
        call = ToolCall(name="recall_memory", args={"query": "boat"}, id="1", type="tool_call")
        model = ScriptedModel(script=[AIMessage("", tool_calls=[call]), AIMessage("noted")])
        agent = create_agent(model, middleware=[HippoMiddleware(memory, capture_tools=True)])
        messages = (await agent.ainvoke({"messages": [HumanMessage("hello")]}, thread()))["messages"]
        assert "Nimbus" in messages[-2].text
        assert [record.text for record in await memory.session("t")] == ["hello", "noted"]


async def test_tool_calls_are_kept_as_decisions(memory: Hippocampus) -> None:
    """Each thing the agent did of its own accord is one line of kind decision (J14)."""
    agent = agent_with(memory, checkpointer=InMemorySaver())
    for _ in range(2):
        await agent.ainvoke({"messages": [HumanMessage("weather please")]}, thread())
    decisions = [record.text for record in await memory.session("t") if record.kind is Kind.DECISION]
    assert decisions == ['called weather(city="Oslo")'] * 2
    await memory.close()


async def test_an_interrupt_is_no_error_and_captures_nothing_twice(memory: Hippocampus) -> None:
    agent = agent_with(memory, checkpointer=InMemorySaver())
    await agent.ainvoke({"messages": [HumanMessage("confirm please")]}, thread())
    await agent.ainvoke(Command(resume="yes"), thread())
    records = await memory.session("t")
    assert spoken(records) == [
        ("user", "confirm please"),
        ("assistant", "let me look"),
        ("assistant", "the same answer"),
    ]
    assert [record for record in records if record.kind is Kind.ERROR] == []
    await memory.close()


async def test_a_cancelled_run_keeps_the_question_and_is_no_error(memory: Hippocampus) -> None:
    started = asyncio.Event()

    class Slow(AgentMiddleware[Any, Any, Any]):
        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            started.set()
            await asyncio.Event().wait()

    run = asyncio.create_task(
        agent_with(memory, Slow()).ainvoke({"messages": [HumanMessage("wait for me")]}, thread())
    )
    await started.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    records = await memory.session("t")
    assert spoken(records) == [("user", "wait for me")]
    assert all(record.kind is not Kind.ERROR for record in records)
    await memory.close()


async def test_what_was_missed_is_taken_up_at_the_next_turn(memory: Hippocampus) -> None:
    """What is in the checkpoint but was never captured, as after a crash, is found by the rescan."""
    saver = InMemorySaver()
    agent = agent_with(memory, checkpointer=saver)
    await agent.ainvoke({"messages": [HumanMessage("first")]}, thread())
    missed = [HumanMessage("said elsewhere"), AIMessage("answered elsewhere")]
    await agent.aupdate_state(thread(), {"messages": missed})
    await agent.ainvoke({"messages": [HumanMessage("second")]}, thread())
    assert [text for _, text in await turns_in(memory, "t")] == [
        "first",
        "the same answer",
        "said elsewhere",
        "answered elsewhere",
        "second",
        "the same answer",
    ]
    await memory.close()


async def test_forty_threads_on_one_instance_do_not_mix(memory: Hippocampus) -> None:
    agent = agent_with(memory, checkpointer=InMemorySaver())

    async def talk(name: str) -> None:
        for number in range(3):
            await agent.ainvoke({"messages": [HumanMessage(f"{name} asks {number}")]}, thread(name))

    names = [f"thread-{number}" for number in range(40)]
    await asyncio.gather(*(talk(name) for name in names))
    for name in names:
        asked = [text for role, text in await turns_in(memory, name) if role == "user"]
        assert asked == [f"{name} asks {number}" for number in range(3)]
    await memory.close()


async def test_five_runs_at_once_on_one_thread_lose_no_turn(memory: Hippocampus) -> None:
    """The last checkpoint wins and drops the others' turns; the memory keeps them."""
    agent = agent_with(memory, checkpointer=InMemorySaver())
    runs = (
        agent.ainvoke({"messages": [HumanMessage(f"question {number}")]}, thread()) for number in range(5)
    )
    await asyncio.gather(*runs)
    await agent.ainvoke({"messages": [HumanMessage("and now?")]}, thread())
    turns = await turns_in(memory, "t")
    assert sorted(text for role, text in turns if role == "user") == [
        "and now?",
        *(f"question {number}" for number in range(5)),
    ]
    assert len(turns) == 12
    await memory.close()


async def test_a_history_seen_for_the_first_time_is_taken_in_whole(memory: Hippocampus) -> None:
    history: list[BaseMessage] = []
    for number in range(1200):
        history += [HumanMessage(f"question {number}"), AIMessage(f"answer {number}")]
    agent = agent_with(memory)
    await agent.ainvoke({"messages": [*history, HumanMessage("and now?")]}, thread())
    assert len(await turns_in(memory, "t")) == 2402
    await memory.close()


async def test_a_memory_that_cannot_be_opened_does_not_stop_the_agent(
    memory: Hippocampus, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with memory_at(tmp_path):  # somebody else holds the store
        middleware = HippoMiddleware(memory)
        agent = create_agent(ScriptedModel(script=answer), middleware=[middleware])
        result = await agent.ainvoke({"messages": [HumanMessage("hello")]}, thread())
    assert result["messages"][-1].text == "the same answer"
    assert middleware.faults == {"open": 1}
    assert "memory step 'open' failed" in caplog.text


async def test_turns_of_a_time_without_memory_are_taken_up_later(memory: Hippocampus, tmp_path: Path) -> None:
    """They stand in the agent's state, and the first call with an open memory finds them there."""
    agent = agent_with(memory, checkpointer=InMemorySaver())
    async with memory_at(tmp_path):  # somebody else holds the store
        await agent.ainvoke({"messages": [HumanMessage("first")]}, thread())
    await agent.ainvoke({"messages": [HumanMessage("second")]}, thread())
    assert [text for role, text in await turns_in(memory, "t") if role == "user"] == ["first", "second"]
    await memory.close()


async def test_a_memory_that_its_owner_closed_stays_closed(memory: Hippocampus) -> None:
    agent = agent_with(memory)
    async with memory:
        await agent.ainvoke({"messages": [HumanMessage("first")]}, thread())
    await agent.ainvoke({"messages": [HumanMessage("second")]}, thread())
    assert not memory.is_open


async def test_users_are_walled_off_by_the_user_id_of_the_context(memory: Hippocampus) -> None:
    agent = agent_with(memory, context_schema=dict)
    await agent.ainvoke({"messages": [HumanMessage("I am Ada")]}, thread(), context={"user_id": "ada"})
    assert await memory.session("t") == []
    assert spoken(await memory.session("t", scope=("ada",)))[0] == ("user", "I am Ada")
    await memory.close()
