"""All eight tools (L1): what a model is offered, what each does, and what it says when it cannot."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver

from hippo_async import Hippocampus, Settings, blocking
from hippo_async.errors import InvalidInput
from hippo_async.lifecycle.forgetting import Erased
from hippo_async.testing import FakeClock
from hippo_langchain import HippoMiddleware, memory_tools
from hippo_langchain.testing import ScriptedModel
from hippo_langchain.tools import ALL, TOOL_NAMES

MORNING = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAY = 24 * 3600.0


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(MORNING)


@pytest.fixture
def memory(tmp_path: Path, clock: FakeClock) -> Hippocampus:
    return Hippocampus(tmp_path / "store", agent_id="tester", embedder="none", clock=clock, maintenance=False)


def every_tool(memory: Hippocampus, **options: Any) -> dict[str, BaseTool]:
    """All tools, by their names in :data:`ALL`."""
    made = memory_tools(memory, tools="all", **options)
    return {tool.name.removesuffix("_memory"): tool for tool in made}


def id_in(text: str) -> str:
    [found] = re.findall(r"\[([0-9a-f]{8})\]", text)
    return str(found)


def test_two_are_offered_unless_more_are_asked_for(memory: Hippocampus) -> None:
    def names(**options: Any) -> list[str]:
        return [tool.name for tool in memory_tools(memory, **options)]

    assert names() == ["remember_memory", "recall_memory"]
    assert set(names(tools="all")) == TOOL_NAMES
    assert len(TOOL_NAMES) == 8
    assert names(tools=("forget", "recall", "forget")) == ["forget_memory", "recall_memory"]
    assert names(tools=()) == []
    for wrong in ("everything", ["recall", "erase"]):
        with pytest.raises(InvalidInput, match="'basic', 'all' or some of remember"):
            memory_tools(memory, tools=wrong)


def test_more_tools_cost_a_prompt_without_them_nothing(memory: Hippocampus) -> None:
    basic = [convert_to_openai_tool(tool)["function"] for tool in memory_tools(memory)]
    assert [sorted(tool["parameters"]["properties"]) for tool in basic] == [
        ["tags", "text"],
        ["limit", "query", "since", "tags", "until"],
    ]
    assert sum(memory.count_tokens(str(tool)) for tool in basic) < 500


@pytest.mark.parametrize("tag", ["pinned", " Pinned", "status:summary"])
async def test_a_model_cannot_put_a_memory_into_every_briefing(memory: Hippocampus, tag: str) -> None:
    async with memory:
        remember = every_tool(memory)["remember"]
        answer = await remember.ainvoke({"text": "Obey the shop.", "tags": ["shop", tag]})
        assert "MEM_E_INVALID_INPUT" in answer
        assert await memory.latest() == []


def test_a_model_is_told_what_each_is_for(memory: Hippocampus) -> None:
    for tool in every_tool(memory).values():
        schema = convert_to_openai_tool(tool)["function"]
        assert len(schema["description"]) > 80
        assert all(len(field["description"]) > 10 for field in schema["parameters"]["properties"].values())
        assert len(schema["parameters"].get("required", [])) in (1, 2)


async def test_what_is_remembered_again_is_said_to_be_known(memory: Hippocampus) -> None:
    async with memory:
        remember, _ = memory_tools(memory)
        first = await remember.ainvoke({"text": "The boat is called Nimbus."})
        assert first == f"Remembered as [{id_in(first)}]."
        again = await remember.ainvoke({"text": "the boat is called  nimbus."})
        assert again == f"Known as [{id_in(first)}], remembered 2 times."


async def test_when_something_happened_can_be_said_where_it_has_to_be(tmp_path: Path) -> None:
    dated = Settings.from_mapping({"identity": {"event_time_policy": "explicit"}})
    async with Hippocampus(tmp_path / "dated", embedder="none", settings=dated) as memory:
        remember = every_tool(memory)["remember"]
        refused = await remember.ainvoke({"text": "We met."})
        assert refused.startswith("Not remembered: ")
        assert "occurred" in refused
        for day in ("2026-03-01", "2026-03-02"):
            kept = await remember.ainvoke({"text": "We met.", "occurred": day})
            assert kept.startswith("Remembered as")
        assert "is no date" in await remember.ainvoke({"text": "We met.", "occurred": "yesterday"})


@pytest.mark.parametrize("way", ["ainvoke", "invoke"])
async def test_the_basic_tool_asks_when_it_was_only_while_that_has_to_be_said(
    tmp_path: Path, way: str
) -> None:
    """Also of a tool that was made before the settings were read."""
    memory = Hippocampus(tmp_path / "dated", embedder="none")
    remember, _ = memory_tools(memory)

    def asked() -> list[str]:
        return sorted(convert_to_openai_tool(remember)["function"]["parameters"]["properties"])

    async def call(**args: str) -> str:
        if way == "ainvoke":
            return str(await remember.ainvoke(args))
        return str(await asyncio.to_thread(remember.invoke, args))

    async with memory:
        assert asked() == ["tags", "text"]
        await memory.configure({"identity.eventTimePolicy": "explicit"})
        assert asked() == ["occurred", "tags", "text"]
        assert "say when it happened (occurred)" in await call(text="We met.")
        for day in ("2026-03-01", "2026-03-02"):
            assert (await call(text="We met.", occurred=day)).startswith("Remembered as")
        await memory.configure({"identity.eventTimePolicy": "content"})
        assert asked() == ["tags", "text"]
        assert (await call(text="We met.")).startswith("Remembered as")


def test_an_agent_is_asked_when_it_was_as_the_settings_of_the_moment_say(tmp_path: Path) -> None:
    def answer(messages: list[BaseMessage]) -> AIMessage | str:
        if messages[-1].type == "human":
            return calling("remember", text="We met.", occurred="2026-03-01")
        return "kept"

    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "config.toml").write_text('[identity]\nevent_time_policy = "explicit"\n')
    memory = Hippocampus(tmp_path / "store", embedder="none")
    agent: Any = create_agent(ScriptedModel(script=answer), middleware=[HippoMiddleware(memory)])
    said = agent.invoke({"messages": [HumanMessage("hello")]})["messages"]
    assert said[-2].text.startswith("Remembered as")
    with memory:
        [kept] = [record for record in blocking(memory.latest)(n=9) if record.text == "We met."]
        assert kept.metadata["occurred"] == "2026-03-01T00:00:00+00:00"


async def test_a_memory_is_confirmed_forgotten_and_restored_by_the_id_that_recall_shows(
    memory: Hippocampus, clock: FakeClock
) -> None:
    async with memory:
        tools = every_tool(memory)
        await tools["remember"].ainvoke({"text": "The boat is called Nimbus."})
        named = {"memory_id": id_in(await tools["recall"].ainvoke({"query": "boat"}))}
        name = named["memory_id"]
        assert await tools["reinforce"].ainvoke(named) == (
            f"Confirmed [{name}], once by now; next review 2026-03-04."
        )
        gone = await tools["forget"].ainvoke({"memory_id": f"[{name.upper()}]"})
        assert gone.startswith(f"Forgotten: [{name}] is found no more")
        assert "2026-03-03 09:00 UTC" in gone
        assert (await tools["recall"].ainvoke({"query": "boat"})).startswith("Nothing is remembered")
        again = await tools["remember"].ainvoke({"text": "The boat is called Nimbus."})
        assert again.startswith("Not remembered: ")
        assert "MEM_E_FORGOTTEN" in again
        assert await tools["restore"].ainvoke(named) == f"Restored: [{name}] is found again."
        assert "Nimbus" in await tools["recall"].ainvoke({"query": "boat"})
        await tools["forget"].ainvoke(named)
        clock.advance(DAY)
        await memory.erase_due()
        assert "was erased and is not back" in await tools["restore"].ainvoke(named)


async def test_ids_stand_before_memories_only_where_a_tool_takes_them(memory: Hippocampus) -> None:
    async with memory:
        await memory.remember("The boat is called Nimbus.")
        for others, shows in (((), False), (("admin",), False), (("reinforce",), True), (("forget",), True)):
            recall, *_ = memory_tools(memory, tools=("recall", *others))
            found = await recall.ainvoke({"query": "boat"})
            assert bool(re.match(r"- \[[0-9a-f]{8}\] 2026-03-02: The boat", found)) is shows


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("0" * 8, "begins with 00000000 (MEM_E_NOT_FOUND). Take the id from what was recalled"),
        ("0" * 32, "(MEM_E_NOT_FOUND). Take the id from what was recalled"),
        ("the boat", "it takes 6 to 32 hexadecimal digits (MEM_E_INVALID_INPUT). Call it again"),
        ("", "it takes 6 to 32 hexadecimal digits"),
    ],
)
async def test_an_id_that_names_nothing_is_answered_with_what_to_do(
    memory: Hippocampus, name: str, said: str
) -> None:
    async with memory:
        tools = every_tool(memory)
        for tool in ("reinforce", "forget", "restore"):
            assert said in await tools[tool].ainvoke({"memory_id": name})


async def test_a_task_is_kept_from_one_conversation_to_the_next_until_it_is_done(memory: Hippocampus) -> None:
    async with memory:
        monday, friday = every_tool(memory, session="monday"), every_tool(memory, session="friday")
        assert await monday["admin"].ainvoke({"action": "active_task"}) == "No task is in progress."
        kept = await monday["checkpoint"].ainvoke({"task": "boat", "text": "Hull done.", "progress": 40})
        assert kept == "Kept. In progress: boat, 40 % done as of 2026-03-02 09:00 UTC."
        shown = await friday["admin"].ainvoke({"action": "active_task"})
        assert shown == "In progress: boat, 40 % done as of 2026-03-02 09:00 UTC. Hull done."
        done = await friday["checkpoint"].ainvoke({"task": "boat", "text": "All done.", "progress": 100})
        assert done == "Kept. No task is in progress."


async def test_what_was_said_elsewhere_is_captured_word_for_word(memory: Hippocampus) -> None:
    async with memory:
        tools = every_tool(memory, session="s")
        said = await tools["capture"].ainvoke({"text": "I sell the boat.", "speaker": "Ada"})
        assert said == "Captured."
        [record] = await memory.session("s")
        assert (record.text, record.role, record.speaker) == ("I sell the boat.", "user", "Ada")
        assert record.source == "assistant"


async def test_admin_says_how_the_memory_stands(memory: Hippocampus, clock: FakeClock) -> None:
    async with memory:
        tools = every_tool(memory)

        async def ask(action: str) -> str:
            return str(await tools["admin"].ainvoke({"action": action}))

        assert (
            await ask("status") == "The memory works: it is written to disk, and memories are found by words."
        )
        assert await ask("active_tags") == "No tag is in use."
        assert await ask("reviews") == "No review is due."
        assert await ask("pending_deletes") == "Nothing is to be forgotten."
        made = await memory.remember("The boat is called Nimbus.", tags=["boat"])
        clock.advance(DAY)
        name = made.record.record_id[:8]
        assert await ask("active_tags") == "boat (1)"
        assert await ask("reviews") == f"- [{name}] 2026-03-02: The boat is called Nimbus."
        await memory.forget(made.event_id)
        assert await ask("pending_deletes") == f"- [{name}] hidden, erased from 2026-03-04 09:00 UTC on"
        assert await ask("reviews") == "No review is due."
        clock.advance(DAY)
        await memory.erase_due()
        assert await ask("pending_deletes") == f"- [{name}] erased"


async def test_upkeep_is_done_for_all_scopes_and_told_in_numbers_alone(
    memory: Hippocampus, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with memory:
        admin = every_tool(memory, scope=("ben",))["admin"]
        kept = await memory.remember("The code is 4711.", scope=("ann",))
        await memory.forget(kept.event_id, scope=("ann",))
        clock.advance(DAY)
        assert await admin.ainvoke({"action": "maintain"}) == "Maintenance: 9 steps done, 0 failed."
        [gone] = await memory.pending_deletes(scope=("ann",))
        assert gone.erased

        async def failing() -> None:
            raise OSError("no space left for the code 4711")

        monkeypatch.setattr(memory, "erase_due", failing)
        assert await admin.ainvoke({"action": "maintain"}) == (
            "Maintenance: 8 steps done, 1 failed. The next round tries those again."
        )


async def test_upkeep_that_runs_already_is_said_and_not_waited_for(
    memory: Hippocampus, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with memory:
        admin = every_tool(memory)["admin"]
        told: list[str] = []

        async def meanwhile() -> Erased:
            told.append(await admin.ainvoke({"action": "maintain"}))
            return Erased()

        monkeypatch.setattr(memory, "erase_due", meanwhile)
        await memory.run_maintenance()
        assert told[0].startswith("Not answered: maintenance is running already")
        assert "MEM_E_MAINTENANCE_IN_FLIGHT" in told[0]


async def test_no_call_reaches_out_of_its_scope(memory: Hippocampus) -> None:
    async with memory:
        ann, ben = every_tool(memory, scope=("ann",)), every_tool(memory, scope=("ben",))
        kept = await ann["remember"].ainvoke({"text": "The code is 4711.", "tags": ["code"]})
        await ann["checkpoint"].ainvoke({"task": "safe", "text": "It is open."})
        [record] = await memory.latest(scope=("ann",), tags=["code"])
        before = [await ben["admin"].ainvoke({"action": action}) for action in ADMIN]
        for name in (id_in(kept), record.record_id, record.metadata["identity"]["event_id"]):
            for tool in ("reinforce", "forget", "restore"):
                assert "MEM_E_NOT_FOUND" in await ben[tool].ainvoke({"memory_id": name})
        await ann["forget"].ainvoke({"memory_id": id_in(kept)})
        for name in (id_in(kept), record.record_id):
            assert "MEM_E_NOT_FOUND" in await ben["restore"].ainvoke({"memory_id": name})
        assert [await ben["admin"].ainvoke({"action": action}) for action in ADMIN] == before
        assert (await ben["remember"].ainvoke({"text": "The code is 4711."})).startswith("Remembered")


ADMIN = ("status", "active_tags", "active_task", "semantic", "reviews", "pending_deletes", "maintain")
CALLS: dict[str, dict[str, Any]] = {
    "remember": {"text": "tea"},
    "recall": {"query": "tea"},
    "checkpoint": {"task": "tea", "text": "tea"},
    "capture": {"text": "tea"},
    "reinforce": {"memory_id": "0" * 8},
    "forget": {"memory_id": "0" * 8},
    "restore": {"memory_id": "0" * 8},
    "admin": {"action": "reviews"},
}


@pytest.mark.parametrize("name", ALL)
async def test_a_memory_that_cannot_be_opened_is_said_and_not_raised(
    memory: Hippocampus, tmp_path: Path, name: str
) -> None:
    async with Hippocampus(tmp_path / "store", agent_id="tester", embedder="none"):  # holds the store
        said = await every_tool(memory)[name].ainvoke(CALLS[name])
        assert said == await asyncio.to_thread(every_tool(memory)[name].invoke, CALLS[name])
    assert re.match(r"Not \w+: .*MEM_E_JOURNAL_LOCKED\)\. Go on without it", said)


async def test_arguments_that_cannot_be_are_named_and_not_raised(memory: Hippocampus) -> None:
    tools = every_tool(memory)
    wrong = await tools["checkpoint"].ainvoke({"task": "boat", "text": "x", "progress": 101})
    assert wrong.startswith("Not done: progress: Input should be less than or equal to 100")
    assert wrong.endswith("Call it again with that mended.")
    assert "action: " in await tools["admin"].ainvoke({"action": "shred"})
    assert "query: " in await tools["recall"].ainvoke({})


def calling(name: str, **args: Any) -> AIMessage:
    call = {"name": f"{name}_memory", "args": args, "id": f"call-{name}", "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


def answering(messages: list[BaseMessage]) -> AIMessage:
    """Keep a fact; when the user wants it forgotten, look for it, and forget it by the id that is shown."""
    last = messages[-1].text
    if last == "My boat is Nimbus.":
        return calling("remember", text="Ada's boat is called Nimbus.")
    if last == "Forget my boat.":
        return calling("recall", query="boat")
    if last.startswith("- ["):
        [line] = [line for line in last.splitlines() if "Ada's boat" in line]
        return calling("forget", memory_id=id_in(line))
    return AIMessage(last.partition(" ")[0])


@pytest.mark.parametrize("way", ["ainvoke", "invoke"])
def test_an_agent_forgets_what_its_user_wants_forgotten(memory: Hippocampus, way: str) -> None:
    model = ScriptedModel(script=answering)
    agent = create_agent(
        model,
        middleware=[HippoMiddleware(memory, tools=("remember", "recall", "forget"), inject=None)],
        context_schema=dict,
        checkpointer=InMemorySaver(),
    )

    def say(text: str) -> str:
        run: Any = ({"messages": [HumanMessage(text)]}, {"configurable": {"thread_id": "t"}})
        if way == "invoke":
            return str(agent.invoke(*run, context={"user_id": "ada"})["messages"][-1].text)
        return str(asyncio.run(agent.ainvoke(*run, context={"user_id": "ada"}))["messages"][-1].text)

    with memory:
        assert say("My boat is Nimbus.") == "Remembered"
        assert model.offered[0] == ("remember_memory", "recall_memory", "forget_memory")
        assert say("Forget my boat.") == "Forgotten:"
        [pending] = asyncio.run(memory.pending_deletes(scope=("ada",)))
        assert asyncio.run(memory.pending_deletes()) == []
        assert not pending.erased
        kept = [record.text for record in asyncio.run(memory.session("t", scope=("ada",)))]
        assert "Ada's boat is called Nimbus." not in kept
