"""The shape that was asked for (M1-M6): one test a requirement, by the numbers it names."""

from __future__ import annotations

import asyncio
import inspect
import re
import socket
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest
from eventual import eventually
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from scripted_tools import thread

from hippo_async import Hippocampus, Turn
from hippo_async.errors import Closed
from hippo_async.files import Files
from hippo_async.testing import FakeClock, ScriptedOps
from hippo_langchain import (
    HippoCallbackHandler,
    HippoChatMessageHistory,
    HippoMiddleware,
    HippoRetriever,
    memory_tools,
)
from hippo_langchain.testing import ScriptedModel

MakeMemory = Callable[..., Hippocampus]
ROOT = Path(__file__).parents[2]


def noting() -> ScriptedModel:
    return ScriptedModel(script=lambda messages: "noted")


def names_of(requirements: Sequence[str]) -> set[str]:
    return {re.split(r"[\[<>=]", one)[0] for one in requirements}


def test_m1_core_adapters_examples_and_tests_lie_side_by_side() -> None:
    for name in (
        "hippo_async",
        "adapters/hippo_langchain",
        "examples",
        "tests",
        "pyproject.toml",
        "README.md",
    ):
        assert (ROOT / name).exists(), name
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {name: names_of(needs) for name, needs in project["optional-dependencies"].items()}
    assert names_of(project["dependencies"]) >= {"anyio", "aiofiles", "numpy"}
    assert "sentence-transformers" in extras["semantic"]
    assert "langchain-core" in extras["langchain"]
    assert "pytest-asyncio" in extras["test"]
    assert all(map(inspect.iscoroutinefunction, (Hippocampus.record, Hippocampus.recall, Hippocampus.fold)))


async def test_m2_turns_are_flushed_at_ten_or_after_one_second_and_nobody_waits_for_it(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    ops = ScriptedOps(syncing=False)
    async with make_memory(files=Files(ops)) as memory:
        one = memory.capture("tea")
        await eventually(lambda: clock.waiting > 0)
        clock.advance(0.99)
        await asyncio.sleep(0.02)
        assert (one.done(), memory.status().buffered) == (False, 1)
        clock.advance(0.01)
        assert (await one).content == "tea"
        ten = [memory.capture(str(number)) for number in range(10)]
        assert [(await receipt).content for receipt in ten] == [str(number) for number in range(10)]
        gate = ops.hold("sync_data", name="seg-*")
        held = [memory.capture("while the disk stands still") for _ in range(10)]
        await asyncio.to_thread(gate.wait_reached)
        assert not any(receipt.done() for receipt in held)
        gate.open()
    refused = memory.capture("too late")
    with pytest.raises(Closed):
        await refused


async def test_m3_what_leaves_the_window_is_folded_and_written_down(make_memory: MakeMemory) -> None:
    facts = [
        f"Locker {number * 7919} belongs to student number {number} of the class." for number in range(30)
    ]
    async with make_memory() as memory:
        model = noting()
        middleware = HippoMiddleware(memory, max_tokens=600, tools=False)
        agent = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
        for fact in facts:
            await agent.ainvoke({"messages": [HumanMessage(fact)]}, thread())
        seen = [message.text for message in model.seen[-1]]
        evicted = {fact for fact in facts if fact not in seen}
        folds = await memory.latest(tags=["status:folded"], n=100)
        folded = {name for fold in folds for name in fold.metadata["originals"]}
        kept = {record.text async for record in memory.records() if record.record_id in folded}
        assert evicted
        assert evicted <= kept
        assert all(fold.text for fold in folds)


async def test_m4_a_briefing_within_its_budget_is_put_into_the_prompt(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        await memory.record("My sister Vera is allergic to walnuts.", role="user")
        for number in range(60):
            memory.capture(f"Some talk about the weather of Vera, part {number}, with rain and wind.")
        await memory.flush()
        for budget in (0, 50, 200, 1000):
            briefing = await memory.brief("what is Vera allergic to?", budget=budget)
            assert memory.count_tokens(briefing.text) == briefing.tokens <= budget
        model = noting()
        agent = create_agent(model, middleware=[HippoMiddleware(memory, briefing_tokens=200, tools=False)])
        await agent.ainvoke({"messages": [HumanMessage("what is Vera allergic to?")]})
        [_, block, question] = model.seen[0]
        assert "walnuts" in block.text
        assert memory.count_tokens(block.text) <= 200
        assert question.text == "what is Vera allergic to?"


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_m5_every_door_of_langchain_is_there_for_invoke_and_ainvoke(
    make_memory: MakeMemory, way: str
) -> None:
    async def call(runnable: Any, *given: Any) -> Any:
        if way == "ainvoke":
            return await runnable.ainvoke(*given)
        return await asyncio.to_thread(runnable.invoke, *given)

    async with make_memory() as memory:
        agent = create_agent(noting(), [], middleware=[HippoMiddleware(memory)])
        await call(agent, {"messages": [HumanMessage("My boat is called Nimbus.")]}, thread())
        await call(noting(), "My cat is called Ada.", {"callbacks": [HippoCallbackHandler(memory)]})
        history = HippoChatMessageHistory(memory, "h")
        await history.aadd_messages([HumanMessage("My dog is called Bo.")])
        assert [message.text for message in await history.aget_messages()] == ["My dog is called Bo."]
        found = [page.page_content for page in await call(HippoRetriever(memory), "boat, cat, dog")]
        assert {"My boat is called Nimbus.", "My cat is called Ada.", "My dog is called Bo."} <= set(found)
        tools = {tool.name: tool for tool in memory_tools(memory)}
        assert "Remembered" in await call(tools["remember_memory"], {"text": "My horse is called Rex."})
        assert "Rex" in await call(tools["recall_memory"], {"query": "horse"})


async def test_m6_nothing_is_needed_but_the_disk(
    make_memory: MakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("the network was asked")

    async def summarizer(turns: Sequence[Turn]) -> str:
        return f"{len(turns)} turns, said a model"

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, unreachable)
    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    turns = [Turn("user", "The kettle is blue.", 5), Turn("user", "Anna must buy tea.", 5)]
    async with make_memory() as memory:
        await memory.remember("The kettle is blue.")
        assert len(await memory.recall("kettle")) == 1
        assert "kettle" in (await memory.brief("kettle")).text
        assert "Anna must buy tea." in (await memory.fold(turns)).text
        assert (await memory.run_maintenance()).failed == ()
    async with make_memory(summarizer=summarizer) as memory:
        assert (await memory.fold(turns)).text == "2 turns, said a model"
