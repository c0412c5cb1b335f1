"""The scripted model that is shipped for users' tests behaves like a chat model, but for its words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from scripted_tools import weather

from hippo_langchain.testing import ScriptedModel

THREAD: Any = {"configurable": {"thread_id": "t"}}
QUESTION: Any = {"messages": [HumanMessage("weather?")]}


def calling(**args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "weather", "args": args, "id": "call-1", "type": "tool_call"}])


def weather_then_answer(messages: list[BaseMessage]) -> AIMessage | str:
    last = messages[-1]
    return f"It says: {last.text}" if isinstance(last, ToolMessage) else calling(city="Oslo")


async def test_listed_replies_come_in_order_and_running_out_is_an_error() -> None:
    model = ScriptedModel(script=["one", AIMessage("two")])
    assert [model.invoke("a").text, (await model.ainvoke("b")).text] == ["one", "two"]
    with pytest.raises(IndexError, match="2 replies"):
        model.invoke("c")


def test_a_callable_script_is_given_the_messages_of_the_call() -> None:
    model = ScriptedModel(script=lambda messages: f"{len(messages)}:{messages[-1].text}")
    assert model.invoke([HumanMessage("first"), AIMessage("x"), HumanMessage("last")]).text == "3:last"


def test_everything_that_was_sent_and_every_tool_that_was_offered_is_kept() -> None:
    model = ScriptedModel(script=["one", "two"])
    model.bind_tools([weather]).invoke("with tools")
    model.invoke("without")
    assert [[message.text for message in call] for call in model.seen] == [["with tools"], ["without"]]
    assert model.offered == [("weather",), ()]


def test_two_models_do_not_share_what_they_saw() -> None:
    one, other = ScriptedModel(script=["x"]), ScriptedModel(script=["y"])
    one.invoke("hello")
    assert other.seen == []


def test_a_reply_given_twice_gets_two_ids_and_stays_untouched_itself() -> None:
    reply = AIMessage("again")
    model = ScriptedModel(script=lambda _: reply)
    assert model.invoke("a").id != model.invoke("b").id
    assert reply.id is None


def test_an_agent_keeps_every_answer_when_the_script_returns_one_object() -> None:
    """A shared id would make the agent's state replace the older answer by the newer one."""
    reply = AIMessage("again")
    agent = create_agent(ScriptedModel(script=lambda _: reply), [weather], checkpointer=InMemorySaver())
    for text in ("a", "b", "c"):
        state = agent.invoke({"messages": [HumanMessage(text)]}, THREAD)
    assert [message.text for message in state["messages"]] == ["a", "again", "b", "again", "c", "again"]


async def test_the_failing_call_raises_in_each_way_of_calling_and_uses_up_no_reply() -> None:
    down = ConnectionError("down")
    model = ScriptedModel(script=["one", "two"], failures=dict.fromkeys((1, 2, 4, 5), down))
    with pytest.raises(ConnectionError):
        model.invoke("a")
    with pytest.raises(ConnectionError):
        await model.ainvoke("a")
    assert model.invoke("a").text == "one"
    with pytest.raises(ConnectionError):
        list(model.stream("b"))
    with pytest.raises(ConnectionError):
        [chunk async for chunk in model.astream("b")]
    assert model.invoke("b").text == "two"
    assert len(model.seen) == 6


@given(text=st.text(), args=st.dictionaries(st.text(), st.integers() | st.text() | st.booleans()))
def test_a_streamed_reply_adds_up_to_the_whole_reply(text: str, args: dict[str, Any]) -> None:
    model = ScriptedModel(script=lambda _: calling(**args).model_copy(update={"content": text}))
    first, *rest = model.stream("go")
    for chunk in rest:
        first += chunk
    assert (first.text, first.tool_calls) == (text, calling(**args).tool_calls)


async def test_usage_metadata_and_content_blocks_survive_streaming() -> None:
    blocks: list[str | dict[Any, Any]] = [{"type": "text", "text": "hello"}]
    usage: Any = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    model = ScriptedModel(script=[AIMessage(blocks, usage_metadata=usage, response_metadata={"model": "m"})])
    chunks = [chunk async for chunk in model.astream("go")]
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert (whole.text, whole.usage_metadata, whole.response_metadata["model"]) == ("hello", usage, "m")


def test_a_long_text_comes_in_several_chunks() -> None:
    assert len(list(ScriptedModel(script=["a rather long answer to stream"]).stream("go"))) > 3


async def test_an_agent_calls_a_tool_and_answers_from_its_result_sync_and_async() -> None:
    agent: Any = create_agent(ScriptedModel(script=weather_then_answer), [weather])
    for state in (agent.invoke(QUESTION), await agent.ainvoke(QUESTION)):
        assert state["messages"][-1].text == "It says: Oslo: 21 degrees"


async def test_an_agent_streams_a_tool_call_without_text_and_then_the_answer() -> None:
    model = ScriptedModel(script=weather_then_answer)
    agent: Any = create_agent(model, [weather], checkpointer=InMemorySaver())
    streamed = [chunk async for chunk, _ in agent.astream(QUESTION, THREAD, stream_mode="messages")]
    answer = agent.get_state(THREAD).values["messages"][-1]
    assert "".join(chunk.text for chunk in streamed if chunk.id == answer.id) == answer.text
    assert answer.text == "It says: Oslo: 21 degrees"
