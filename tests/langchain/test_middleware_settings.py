"""The middleware goes by the settings that its memory has at each call, not by those of when it was made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from scripted_tools import thread

from hippo_async import Hippocampus
from hippo_async.records import FOLDED_TAG
from hippo_langchain import HippoMiddleware
from hippo_langchain.address import Address
from hippo_langchain.capturing import Capturer
from hippo_langchain.conversation import Conversation
from hippo_langchain.limits import Limits
from hippo_langchain.testing import ScriptedModel


def agent_of(memory: Hippocampus, model: ScriptedModel) -> Any:
    return create_agent(model, middleware=[HippoMiddleware(memory, tools=False)])


async def test_a_window_set_in_the_file_is_kept_by_a_middleware_made_before_it_was_read(
    tmp_path: Path,
) -> None:
    write(tmp_path / "store", "[context]\nmax_tokens = 400\n")
    memory = Hippocampus(tmp_path / "store", embedder="none")
    history = [
        message
        for number in range(40)
        for message in (HumanMessage(f"question {number} about the weather"), AIMessage(f"rain {number}"))
    ]
    agent = agent_of(memory, ScriptedModel(script=lambda _: "fine"))
    await agent.ainvoke({"messages": [*history, HumanMessage("and now?")]}, thread("s"))
    assert await memory.latest(tags=[FOLDED_TAG])
    await memory.close()


async def test_injecting_can_be_switched_off_and_on_while_agents_run(tmp_path: Path) -> None:
    async with Hippocampus(tmp_path / "store", embedder="none") as memory:
        await memory.capture("I am allergic to peanuts.", session="monday")
        await memory.flush()
        model = ScriptedModel(script=lambda _: "fine")
        agent = agent_of(memory, model)
        for injects in (True, False, True):
            await memory.configure({"context.injectPrompt": injects})
            question = HumanMessage(f"Am I allergic to peanuts, {injects}?")
            await agent.ainvoke({"messages": [question]}, thread(f"thread {injects}"))
            sources = [message.additional_kwargs.get("lc_source") for message in model.seen[-1]]
            assert ("hippo" in sources) is injects


@pytest.mark.parametrize(
    ("told", "kept"), [(None, [False, True]), (True, [True, True]), (False, [False, False])]
)
async def test_tool_results_are_kept_as_told_or_as_the_settings_say(
    tmp_path: Path, told: bool | None, kept: list[bool]
) -> None:
    async with Hippocampus(tmp_path / "store", embedder="none") as memory:
        capturer = Capturer(memory, tool_results=told)
        for number, keeps in enumerate(kept):
            await memory.configure({"raw.captureTools": bool(number)})
            conversation = Conversation(Address(session=f"s{number}"))
            capturer.add(conversation, [ToolMessage(f"result {number}", tool_call_id="c")])
            await memory.flush()
            assert bool(await memory.session(f"s{number}")) is keeps


async def test_what_a_tool_recalls_is_a_share_of_the_window_of_the_moment(tmp_path: Path) -> None:
    async with Hippocampus(tmp_path / "store", embedder="none") as memory:
        limits = Limits(memory, None, 500, briefs=True)
        assert (limits.window, limits.briefing, limits.recalled()) == (4000, 500, 1000)
        await memory.configure({"context.maxTokens": 400})
        assert (limits.window, limits.briefing, limits.recalled()) == (400, 100, 100)
        assert Limits(memory, 800, 500, briefs=False).briefing == 0


def write(store: Path, text: str) -> None:
    store.mkdir()
    (store / "config.toml").write_text(text)
