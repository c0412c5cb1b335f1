"""A LangChain agent that remembers: what it is told in one conversation, it knows in the next.

    python examples/langchain_agent.py                    offline, with a scripted model
    python examples/langchain_agent.py openai:gpt-5.5     with any model that init_chat_model knows

The memory lies in ./hippo-memory; run it again, and it is still there.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage

from hippo_async import Hippocampus
from hippo_langchain import HippoMiddleware
from hippo_langchain.testing import ScriptedModel

TALK = [
    ("monday", "Hello! I am Ada, and I am allergic to peanuts."),
    ("friday", "Which foods should I avoid?"),
]


def scripted(messages: list[BaseMessage]) -> str:
    """Stand in for a model: answer from what stands in the prompt, and only from that."""
    *before, question = messages
    if "avoid" not in question.text:
        return "Nice to meet you."
    return "Peanuts: you are allergic to them." if "peanuts" in str(before) else "I do not know."


async def main(model: BaseChatModel) -> None:
    """Have two conversations, on two days, with the same agent."""
    async with Hippocampus("hippo-memory", agent_id="assistant") as memory:
        agent = create_agent(model, middleware=[HippoMiddleware(memory)])
        for day, text in TALK:
            config: Any = {"configurable": {"thread_id": day}}
            result = await agent.ainvoke({"messages": [HumanMessage(text)]}, config)
            print(f"[{day}] you:   {text}\n[{day}] agent: {result['messages'][-1].text}")
            await memory.flush()
        report = await memory.verify_chain()
        print(f"{memory.status().journal_seq + 1} records in {memory.data_dir}, intact: {report.intact}")


if __name__ == "__main__":
    named = sys.argv[1:2]
    asyncio.run(main(init_chat_model(named[0]) if named else ScriptedModel(script=scripted)))
