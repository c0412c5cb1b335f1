"""Messages that bear a name are found by who said them, whichever door they come in by."""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

from hippo_async import Hippocampus
from hippo_langchain import HippoChatMessageHistory, HippoMiddleware
from hippo_langchain.testing import ScriptedModel

SAID = [
    HumanMessage("I would like to see the mountains in autumn.", name="Ada"),
    HumanMessage("I would like to see the sea in autumn.", name="Boris"),
]


async def first_said(memory: Hippocampus, question: str) -> tuple[str | None, str]:
    found = await memory.recall(question)
    return found[0].record.speaker, found[0].record.text


async def test_through_the_middleware(memory: Hippocampus) -> None:
    async with memory:
        agent = create_agent(
            ScriptedModel(script=lambda messages: "Noted."), middleware=[HippoMiddleware(memory)]
        )
        await agent.ainvoke({"messages": SAID})
        for message in SAID:
            asked = f"What would {message.name} like to see in autumn?"
            assert await first_said(memory, asked) == (message.name, message.text)


async def test_through_a_chat_history(memory: Hippocampus) -> None:
    async with memory:
        history = HippoChatMessageHistory(memory, "s")
        await history.aadd_messages(SAID)
        for message in SAID:
            asked = f"What would {message.name} like to see in autumn?"
            assert await first_said(memory, asked) == (message.name, message.text)
        assert [message.name for message in await history.aget_messages()] == ["Ada", "Boris"]
