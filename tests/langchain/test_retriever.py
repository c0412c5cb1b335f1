"""The retriever works in chains, with and without a loop, under callbacks and in the scope of a run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import create_retriever_tool

from hippo_async import Hippocampus
from hippo_async.errors import HippoError, InvalidInput, JournalLocked
from hippo_langchain import HippoMiddleware, HippoRetriever
from hippo_langchain.testing import ScriptedModel


def texts(documents: Sequence[Document]) -> list[str]:
    return [document.page_content for document in documents]


async def test_a_memory_becomes_a_document_that_says_where_it_is_from(memory: Hippocampus) -> None:
    await memory.open()
    record = await memory.record("The boat is called Nimbus.", role="user", speaker="Ada", session="monday")
    [document] = await HippoRetriever(memory).ainvoke("boat")
    assert document.page_content == "The boat is called Nimbus."
    assert document.id == record.record_id
    score, why = document.metadata.pop("score"), document.metadata.pop("why")
    assert score == pytest.approx(sum(why.values()))
    assert document.metadata == {
        "record_id": record.record_id,
        "seq": record.seq,
        "role": "user",
        "speaker": "Ada",
        "session": "monday",
        "timestamp": record.timestamp,
    }
    await memory.close()


def test_it_works_in_code_without_a_loop_and_opens_the_memory(memory: Hippocampus) -> None:
    retriever = HippoRetriever(memory, k=1)
    assert retriever.invoke("tea") == []
    memory.capture("Tea at four.")
    memory.capture("Tea with lemon.")
    assert len(retriever.invoke("tea")) == 1
    assert len(retriever.invoke("tea", k=2)) == 2
    with memory:
        pass


async def test_its_fields_are_filters(memory: Hippocampus) -> None:
    await memory.open()
    for day, labels in enumerate(({"tags": ["hot"]}, {"role": "assistant"}, {"session": "s"}), start=1):
        at = datetime(2026, 3, day, tzinfo=UTC)
        memory.capture(f"tea {day}", timestamp=at, scope=("ann",), **labels)  # type: ignore[arg-type]
    memory.capture("tea of ben", scope=("ben",), kind="decision")

    async def found(**fields: Any) -> set[str]:
        return set(texts(await HippoRetriever(memory, **({"scope": ("ann",)} | fields)).ainvoke("tea")))

    assert await found() == {"tea 1", "tea 2", "tea 3"}
    assert await found(tagged=("hot",)) == {"tea 1"}
    assert await found(roles=("assistant",)) == {"tea 2"}
    assert await found(session="s") == {"tea 3"}
    assert await found(start=datetime(2026, 3, 2, tzinfo=UTC), end=datetime(2026, 3, 3, tzinfo=UTC)) == {
        "tea 2"
    }
    assert await found(scope=("ben",), kinds=("decision",)) == {"tea of ben"}
    assert await found(scope=("ben",), max_tokens=0) == set()
    await memory.close()


async def test_what_was_said_again_is_one_document_with_the_last_time(memory: Hippocampus) -> None:
    await memory.open()
    for day in (1, 2):
        memory.capture("The tea is cold.", timestamp=datetime(2026, 3, day, tzinfo=UTC))
    [document] = await HippoRetriever(memory).ainvoke("tea")
    said = {document.metadata["timestamp"], document.metadata["repeated"]}
    assert said == {"2026-03-01T00:00:00.000000Z", "2026-03-02T00:00:00.000000Z"}
    await memory.close()


@pytest.mark.parametrize("way", ["ainvoke", "invoke"])
async def test_it_is_the_beginning_of_a_chain(memory: Hippocampus, way: str) -> None:
    await memory.open()
    memory.capture("The boat is called Nimbus.")
    model = ScriptedModel(script=lambda messages: f"read: {messages[0].text}")
    chain = (
        {
            "notes": HippoRetriever(memory) | RunnableLambda(lambda found: "; ".join(texts(found))),
            "question": RunnablePassthrough(),
        }
        | ChatPromptTemplate.from_template("{notes} {question}")
        | model
        | StrOutputParser()
    )
    said = (
        await chain.ainvoke("boat?")
        if way == "ainvoke"
        else await RunnableLambda(chain.invoke).ainvoke("boat?")
    )
    assert said == "read: The boat is called Nimbus. boat?"
    await memory.close()


class Watching(BaseCallbackHandler):
    def __init__(self) -> None:
        self.seen: list[object] = []

    def on_retriever_start(self, serialized: Any, query: str, **kwargs: Any) -> None:
        self.seen.append(query)

    def on_retriever_end(self, documents: Sequence[Document], **kwargs: Any) -> None:
        self.seen.append(texts(documents))

    def on_retriever_error(self, error: BaseException, **kwargs: Any) -> None:
        self.seen.append(type(error))


async def test_callbacks_see_the_question_and_the_answer_or_the_error(memory: Hippocampus) -> None:
    await memory.open()
    memory.capture("Tea at four.")
    watching = Watching()
    await HippoRetriever(memory, tags=["traced"]).ainvoke("tea", config={"callbacks": [watching]})
    with pytest.raises(InvalidInput):
        await HippoRetriever(memory, k=0).ainvoke("tea", config={"callbacks": [watching]})
    assert watching.seen == ["tea", ["Tea at four."], "tea", InvalidInput]
    await memory.close()


async def test_a_store_that_is_in_use_is_an_error_of_the_memorys_own(
    memory: Hippocampus, tmp_path: Path
) -> None:
    async with Hippocampus(tmp_path / "store", agent_id="tester", embedder="none"):
        with pytest.raises(JournalLocked) as caught:
            await HippoRetriever(memory).ainvoke("tea")
    assert isinstance(caught.value, HippoError)


async def test_in_an_agent_it_looks_in_the_scope_of_the_run(memory: Hippocampus) -> None:
    await memory.open()
    memory.capture("The boat of Ada is called Nimbus.", scope=("ada",))
    memory.capture("The boat of Ben is called Pearl.", scope=("ben",))
    await memory.flush()
    call = {"name": "notes", "args": {"query": "boat"}, "id": "1", "type": "tool_call"}
    model = ScriptedModel(script=[AIMessage("", tool_calls=[call]), "done"])
    tool = create_retriever_tool(HippoRetriever(memory), "notes", "What is known.")
    agent = create_agent(model, [tool], middleware=[HippoMiddleware(memory, inject=None, tools=False)])
    state: Any = {"messages": [HumanMessage("Which ship?")]}
    messages: list[BaseMessage] = (await agent.ainvoke(state, context={"user_id": "ada"}))["messages"]
    assert "The boat of Ada is called Nimbus." in messages[-2].text
    assert "Ben" not in messages[-2].text
    await memory.close()


def test_it_shows_nothing_of_the_store_when_it_is_printed_or_traced(memory: Hippocampus) -> None:
    assert "store" not in repr(HippoRetriever(memory, k=3))
    assert HippoRetriever(memory, k=3).model_dump(exclude_defaults=True) == {"k": 3}
