"""What scripted agents call in tests: tools, the calls of them, and the thread they run in."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import ToolCall
from langchain_core.tools import BaseTool, tool
from langgraph.types import interrupt

from hippo_async import Hippocampus
from hippo_langchain import memory_tools


@tool
def weather(city: str) -> str:
    """Say what the weather of a city is."""
    return f"{city}: 21 degrees"


@tool
def broken(city: str) -> str:
    """Fail, always."""
    raise LookupError(f"no such city as {city}")


@tool
def confirm(city: str) -> str:
    """Ask the user first."""
    return f"the user said {interrupt('go on?')} to {city}"


def call_of(name: str, number: int) -> ToolCall:
    """A call of one of the tools above; the number tells calls of one conversation apart."""
    return ToolCall(name=name, args={"city": "Oslo"}, id=f"call-{number}", type="tool_call")


def thread(name: str = "t") -> Any:
    """The configuration that names a thread."""
    return {"configurable": {"thread_id": name}}


def every_tool(memory: Hippocampus) -> dict[str, BaseTool]:
    """All tools that an agent can have for a memory, by what they do."""
    made = memory_tools(memory, tools="all", verbatim=True)
    return {tool.name.removesuffix("_memory"): tool for tool in made}
