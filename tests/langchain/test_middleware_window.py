"""The middleware keeps each model call within its window and folds what leaves it, once (M3, L17)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from scripted_tools import thread

from hippo_async import Hippocampus, Record, Turn
from hippo_async.errors import WriteFailed
from hippo_async.records import FOLDED_TAG
from hippo_langchain import HippoMiddleware
from hippo_langchain.testing import ScriptedModel
from hippo_langchain.tokens import message_tokens

WINDOW = 1000


@tool
def look_up(page: int) -> str:
    """Read a page."""
    return f"page {page}: " + "so many words " * 20


def reading() -> ScriptedModel:
    """A model that reads as many pages as a question says, one after the other, then answers."""
    pages: dict[str | None, int] = {}

    def answer(messages: list[BaseMessage]) -> AIMessage | str:
        question = next(message for message in reversed(messages) if message.type == "human")
        wanted = int(question.text.split()[1]) if question.text.startswith("read") else 0
        read = pages.setdefault(question.id, 0)
        if read == wanted:
            return "noted: " + question.text[:40]
        pages[question.id] += 1
        call = {"name": "look_up", "args": {"page": read}, "id": f"{question.id}-{read}", "type": "tool_call"}
        return AIMessage("", tool_calls=[call])

    return ScriptedModel(script=answer)


def memory_at(path: Path) -> Hippocampus:
    return Hippocampus(path / "store", agent_id="tester", embedder="none")


def agent_with(memory: Hippocampus, model: ScriptedModel, *, checkpointer: Any = None, **options: Any) -> Any:
    chosen = {"max_tokens": WINDOW, "tools": False, **options}
    return create_agent(
        model, [look_up], middleware=[HippoMiddleware(memory, **chosen)], checkpointer=checkpointer
    )


def pairs_hold(messages: list[BaseMessage]) -> bool:
    """Each tool call is answered right after it, and nothing is answered that was not called."""
    asked: set[str] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            if message.tool_call_id not in asked:
                return False
            asked.remove(message.tool_call_id)
        elif asked:
            return False
        elif isinstance(message, AIMessage):
            asked = {str(call["id"]) for call in message.tool_calls}
    return not asked


def size(memory: Hippocampus, messages: list[BaseMessage]) -> int:
    return sum(message_tokens(message, memory.count_tokens) for message in messages)


def of_state(messages: list[BaseMessage]) -> list[BaseMessage]:
    """What is not the middleware's own: its section of the system prompt, and the briefing."""
    return [one for one in messages if one.type != "system" and not one.additional_kwargs.get("lc_source")]


async def folds(memory: Hippocampus) -> list[Record]:
    return await memory.latest(tags=[FOLDED_TAG], n=1000)


def fact(number: int) -> str:
    return f"Locker {number * 7919 % 100_000} belongs to student number {number} of the evening class."


async def tell_facts(agent: Any, count: int, name: str = "t") -> None:
    for number in range(count):
        await agent.ainvoke({"messages": [HumanMessage(fact(number))]}, thread(name))


@pytest.mark.parametrize(
    "question", ["just talk, and a lot of it, for the {}th time " * 4, "read {}", "read 9 pages"]
)
async def test_every_request_is_whole_and_within_the_window(memory: Hippocampus, question: str) -> None:
    """It starts with a human message, pairs hold, and it is no larger than the window."""
    model = reading()
    agent = agent_with(memory, model, checkpointer=InMemorySaver())
    for number in range(8):
        await agent.ainvoke({"messages": [HumanMessage(question.replace("{}", str(number % 5)))]}, thread())
    for seen in model.seen:
        assert of_state(seen)[0].type == "human"
        assert pairs_hold(seen)
        assert size(memory, seen) <= WINDOW
    assert len(await folds(memory)) > 0
    await memory.close()


async def test_the_state_stays_as_it_is_and_each_message_is_folded_once(memory: Hippocampus) -> None:
    model = reading()
    agent = agent_with(memory, model, checkpointer=InMemorySaver())
    await tell_facts(agent, 39)
    result = await agent.ainvoke({"messages": [HumanMessage(fact(39))]}, thread())
    assert result.keys() == {"messages"}
    state = (await agent.aget_state(thread())).values["messages"]
    assert [message.text for message in state if message.type == "human"] == [
        fact(number) for number in range(40)
    ]
    shown = of_state(model.seen[-1])
    folded = sum(fold.metadata["turns"] for fold in await folds(memory))
    assert folded + len(shown) == len(state) - 1  # the last answer came after the last request
    await memory.close()


async def test_a_fold_points_to_the_turns_it_was_made_of(memory: Hippocampus) -> None:
    agent = agent_with(memory, reading(), checkpointer=InMemorySaver())
    await tell_facts(agent, 20)
    first = (await folds(memory))[-1]
    turns = {record.record_id: record.text for record in await memory.session("t")}
    assert [turns[record_id] for record_id in first.metadata["originals"]][:2] == [
        fact(0),
        "noted: " + fact(0)[:40],
    ]
    assert len(first.metadata["originals"]) == first.metadata["turns"]
    await memory.close()


async def test_a_fold_points_to_each_decision_of_a_tool_loop(memory: Hippocampus) -> None:
    agent = agent_with(memory, reading(), checkpointer=InMemorySaver())
    await agent.ainvoke({"messages": [HumanMessage("read 12")]}, thread())
    kept = {record.record_id: record.text for record in await memory.session("t")}
    pointed = [kept[record_id] for fold in await folds(memory) for record_id in fold.metadata["originals"]]
    assert len(pointed) > 4
    assert sorted(set(pointed)) == sorted(pointed)
    assert all(text.startswith("called look_up(page=") for text in pointed)
    await memory.close()


async def test_nothing_leaves_when_the_fold_fails_and_the_next_turn_tries_again(
    memory: Hippocampus, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(*_args: Any, **_options: Any) -> Record:
        raise WriteFailed("disk full")

    model = reading()
    agent = agent_with(memory, model, checkpointer=InMemorySaver(), inject=None)
    with monkeypatch.context() as patch:
        patch.setattr(memory, "fold", failing)
        await tell_facts(agent, 20)
    assert len(model.seen[-1]) == 39
    await agent.ainvoke({"messages": [HumanMessage("and now?")]}, thread())
    assert len(model.seen[-1]) < 39
    assert sum(fold.metadata["turns"] for fold in await folds(memory)) + len(model.seen[-1]) == 41
    await memory.close()


async def test_a_long_history_is_folded_in_parts_that_a_summarizer_can_take(tmp_path: Path) -> None:
    sizes: list[int] = []

    async def summarizer(turns: Sequence[Turn]) -> str:
        sizes.append(sum(turn.tokens for turn in turns))
        return f"summary number {len(sizes)}"

    async with Hippocampus(tmp_path / "store", embedder="none", summarizer=summarizer) as memory:
        model = reading()
        history: list[BaseMessage] = []
        for number in range(150):
            history += [HumanMessage(fact(number)), AIMessage("noted: " + fact(number))]
        agent = agent_with(memory, model)
        await agent.ainvoke({"messages": [*history, HumanMessage("and now?")]}, thread())
        assert len(sizes) > 5
        assert max(sizes) <= WINDOW
        assert f"summary number {len(sizes)}" in "".join(message.text for message in model.seen[0])
        kept = len(of_state(model.seen[0]))
        assert sum(fold.metadata["turns"] for fold in await folds(memory)) + kept == 301


async def test_the_question_stays_through_a_tool_loop_that_fills_the_window(memory: Hippocampus) -> None:
    model = reading()
    agent = agent_with(memory, model, checkpointer=InMemorySaver())
    await agent.ainvoke({"messages": [HumanMessage("read 30")]}, thread())
    assert len(model.seen) == 31
    for seen in model.seen:
        assert any(message.text == "read 30" for message in seen)
        assert pairs_hold(seen)
        assert size(memory, seen) <= WINDOW
    await agent.ainvoke({"messages": [HumanMessage("just talk")]}, thread())
    await memory.close()


async def test_a_model_that_raises_after_the_fold_does_not_cause_a_second_one(memory: Hippocampus) -> None:
    """The cursor never reached the checkpoint then; this process remembers it."""
    model = reading()
    model.failures = {number: RuntimeError("down") for number in range(11, 20)}
    agent = agent_with(memory, model, checkpointer=InMemorySaver())
    await tell_facts(agent, 10)
    before = len(await folds(memory))
    long = "a long question " * 20
    for _ in range(5):
        with pytest.raises(RuntimeError):
            await agent.ainvoke({"messages": [HumanMessage(long, id="one")]}, thread())
    assert len(await folds(memory)) == before + 1
    await memory.close()


@pytest.mark.parametrize("question", ["read {}", "a long story that is told again and again " * 6 + "{}"])
async def test_state_mode_removes_from_the_state_what_was_folded(memory: Hippocampus, question: str) -> None:
    """Also when the very same words are said later: those are not taken for folded."""
    model = reading()
    agent = agent_with(memory, model, checkpointer=InMemorySaver(), evict="state", inject=None)
    state: list[BaseMessage] = []
    reads = [number % 4 if question.startswith("read") else 0 for number in range(15)]
    for number in reads:
        text = question.replace("{}", str(number))
        await agent.ainvoke({"messages": [HumanMessage(text)]}, thread())
        state = (await agent.aget_state(thread())).values["messages"]
        assert pairs_hold(state)
        assert size(memory, state) <= WINDOW + 200  # it may hold the last answer above what was sent
    folded = sum(fold.metadata["turns"] for fold in await folds(memory))
    assert folded + len(state) == sum(2 + 2 * number for number in reads)
    await memory.close()


async def test_a_history_resent_as_role_dicts_is_folded_once(memory: Hippocampus) -> None:
    """Without ids and without a checkpoint the place is known again by the texts."""
    model = reading()
    agent = agent_with(memory, model, inject=None)
    history: list[dict[str, str]] = []
    for number in range(40):
        history.append({"role": "user", "content": fact(number)})
        result = await agent.ainvoke({"messages": list(history)}, thread())
        history.append({"role": "assistant", "content": result["messages"][-1].text})
    assert sum(fold.metadata["turns"] for fold in await folds(memory)) + len(model.seen[-1]) == 79
    await memory.close()


async def test_a_restart_folds_nothing_twice(tmp_path: Path) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        model = reading()
        for _ in range(3):
            async with memory_at(tmp_path) as memory:
                await tell_facts(agent_with(memory, model, checkpointer=saver, inject=None), 10)
        async with memory_at(tmp_path) as memory:
            assert sum(fold.metadata["turns"] for fold in await folds(memory)) + len(model.seen[-1]) == 59


async def test_what_was_folded_is_still_told_after_a_restart(tmp_path: Path) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        async with memory_at(tmp_path) as memory:
            await tell_facts(agent_with(memory, reading(), checkpointer=saver), 30)
        async with memory_at(tmp_path) as memory:
            model = reading()
            agent = agent_with(memory, model, checkpointer=saver)
            await agent.ainvoke({"messages": [HumanMessage("short")]}, thread())
            block = next(message for message in model.seen[0] if message.additional_kwargs.get("lc_source"))
            assert "Earlier in this conversation" in block.text


async def test_checkpoints_do_not_grow(tmp_path: Path) -> None:
    """Memory adds no step to the graph and only a small cursor to the state."""

    async def written(name: str, middleware: list[Any]) -> int:
        path = tmp_path / f"{name}.db"
        async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
            agent = create_agent(reading(), [look_up], middleware=middleware, checkpointer=saver)
            await tell_facts(agent, 40)
            rows = await saver.conn.execute("select sum(length(checkpoint)) from checkpoints")
            found = await rows.fetchone()
            return int(found[0]) if found else 0

    async with memory_at(tmp_path) as memory:
        plain = await written("plain", [])
        ours = await written("ours", [HippoMiddleware(memory, max_tokens=WINDOW)])
    assert plain <= ours <= plain * 1.05


async def test_calls_left_open_and_results_without_a_call_are_mended_in_the_request_only(
    memory: Hippocampus,
) -> None:
    model = reading()
    agent = agent_with(memory, model, inject=None)
    broken: list[AnyMessage] = [
        HumanMessage("first"),
        AIMessage(
            "", tool_calls=[{"name": "look_up", "args": {"page": 1}, "id": "open", "type": "tool_call"}]
        ),
        ToolMessage("nobody asked", tool_call_id="orphan", name="look_up"),
        HumanMessage("second"),
    ]
    result = await agent.ainvoke({"messages": broken}, thread())
    assert pairs_hold(model.seen[0])
    assert [message.type for message in model.seen[0]] == ["human", "ai", "tool", "human"]
    assert model.seen[0][2].text == "This tool call was not completed."
    assert [message.text for message in result["messages"]][2] == "nobody asked"
    await memory.close()


async def test_a_picture_is_not_counted_by_its_bytes(memory: Hippocampus) -> None:
    picture = {"type": "image", "base64": "A" * 400_000, "mime_type": "image/png"}
    message = HumanMessage([{"type": "text", "text": "what is this?"}, picture])
    assert 1600 < message_tokens(message, memory.count_tokens) < 1650


async def test_no_fact_is_lost_in_a_small_window(memory: Hippocampus) -> None:
    """Two hundred facts in four hundred messages: each is in the window, in a fold, or found by recall."""
    model = reading()
    agent = agent_with(memory, model, checkpointer=InMemorySaver(), inject=None)
    await tell_facts(agent, 200)
    shown = {message.text for message in model.seen[-1]}
    folded = "\n".join(fold.text for fold in await folds(memory))
    lost = []
    for number in range(200):
        if fact(number) in shown or fact(number) in folded:
            continue
        found = await memory.recall(f"whose is locker {number * 7919 % 100_000}?", top_k=3)
        if not any(hit.record.text == fact(number) for hit in found):
            lost.append(number)
    assert lost == []
    assert len(shown) < 40
    await memory.close()


async def test_what_was_recalled_is_not_folded_into_the_memory_again(memory: Hippocampus) -> None:
    def answer(messages: list[BaseMessage]) -> AIMessage | str:
        if messages[-1].text != "what did I say of the kettle?":
            return "noted"
        call = {"name": "recall_memory", "args": {"query": "kettle"}, "id": "recall-1", "type": "tool_call"}
        return AIMessage("", tool_calls=[call])

    async with memory:
        await memory.record("The kettle came from Aunt Ottilie.", role="user", session="last year")
        model = ScriptedModel(script=answer)
        agent = agent_with(memory, model, checkpointer=InMemorySaver(), tools=True, max_tokens=1500)
        await agent.ainvoke({"messages": [HumanMessage("what did I say of the kettle?")]}, thread())
        assert "Ottilie" in model.seen[-1][-1].text
        await tell_facts(agent, 40)
        folded = await folds(memory)
        assert folded
        assert not any("Ottilie" in fold.text for fold in folded)


def test_invoke_evicts_and_folds_too(memory: Hippocampus) -> None:
    model = reading()
    agent = agent_with(memory, model, checkpointer=InMemorySaver())
    with memory:
        for number in range(30):
            agent.invoke({"messages": [HumanMessage(fact(number))]}, thread())
        assert all(size(memory, seen) <= WINDOW for seen in model.seen)
        assert memory.status().captured == 60


async def test_nothing_is_evicted_when_eviction_is_off(memory: Hippocampus) -> None:
    model = reading()
    agent = agent_with(memory, model, checkpointer=InMemorySaver(), evict=None, inject=None)
    await tell_facts(agent, 30)
    assert len(model.seen[-1]) == 59
    assert await folds(memory) == []
    await memory.close()
