"""The demonstration's conversation is what it claims to be, and an agent without memory can replay it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolErrorMiddleware
from langchain.tools import tool
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from hippo_langchain.demo import (
    UNKNOWN,
    DemoCall,
    DemoSession,
    DemoTurn,
    Probe,
    answer_from_memory,
    build_demo_model,
    demo_tools,
    evidence,
    load_conversation,
)

CONVERSATION = load_conversation()
MONDAY, THURSDAY, TUESDAY = CONVERSATION.sessions
TURNS = [turn for session in CONVERSATION.sessions for turn in session.turns]
PROBES = [(turn, turn.probe) for turn in TUESDAY.turns if turn.probe is not None]
for_each_probe = pytest.mark.parametrize(
    ("turn", "probe"), PROBES, ids=[turn.user[:40] for turn, _ in PROBES]
)
TOOLS = {each.name: each for each in demo_tools()}
THREAD: Any = {"configurable": {"thread_id": "t"}}
HAN, CYRILLIC = "\u4e00-\u9fff", "\u0400-\u04ff"


def language(text: str) -> str:
    """Tell by the letters; Chinese and Russian turns may hold Latin names."""
    if re.search(f"[{HAN}]", text):
        return "zh"
    return "ru" if re.search(f"[{CYRILLIC}]", text) else "en"


def texts(session: DemoSession) -> list[str]:
    return [text for turn in session.turns for text in (turn.user, turn.assistant) if text]


def evidence_of(probe: Probe) -> Iterator[str]:
    """Yield the sentences in which the first thing that a probe asks for was said."""
    for _, text in sources(probe.asks_for[0]):
        yield from evidence([HumanMessage(text)], probe.asks_for[:1])


def words(text: str) -> float:
    """Count words; about 1.6 Chinese characters make one."""
    return len(re.findall(rf"[^\W{HAN}]+(?:['.,-]\w+)*", text)) + len(re.findall(f"[{HAN}]", text)) / 1.6


def content_words(text: str) -> set[str]:
    """Return longer words cut to five letters, as a crude stem, numbers, and pairs of Chinese characters."""
    pairs = {run[i : i + 2] for run in re.findall(f"[{HAN}]+", text) for i in range(len(run) - 1)}
    return pairs | {word[:5] for word in re.findall(rf"[^\W{HAN}]{{4,}}|\d+", text.casefold())}


def failing(turn: DemoTurn) -> bool:
    """Run the calls of a turn and say whether one of them raises."""
    try:
        run(turn)
    except ValueError:
        return True
    return False


def run(turn: DemoTurn) -> list[str]:
    return [TOOLS[call.tool].invoke(dict(call.args)) for call in turn.calls]


def sources(wanted: str) -> Iterator[tuple[int, str]]:
    """Yield session number and text of what was said on the first two days and holds a string."""
    for number, session in enumerate((MONDAY, THURSDAY), start=1):
        yield from ((number, text) for text in texts(session) if wanted in text)


# the file


def test_there_are_three_sessions_on_three_days_in_order() -> None:
    days = [session.day for session in CONVERSATION.sessions]
    assert days == sorted(set(days))
    assert [session.session for session in CONVERSATION.sessions] == [f"{day:%A}".lower() for day in days]


def test_there_are_over_two_hundred_turns_and_each_session_is_a_good_part_of_them() -> None:
    sizes = [sum(2 + len(turn.calls) for turn in session.turns) for session in CONVERSATION.sessions]
    assert min(sizes) >= 60
    assert sum(sizes) >= 200


@pytest.mark.parametrize("session", CONVERSATION.sessions, ids=lambda session: session.session)
def test_each_session_overflows_a_window_of_2000_tokens(session: DemoSession) -> None:
    """Four bytes a token is below what common tokenizers count, in each of the three languages."""
    assert sum(len(text.encode()) / 4 + 3 for text in texts(session)) >= 3_500


def test_the_users_write_english_chinese_and_russian_and_are_answered_in_their_language() -> None:
    spoken = [language(turn.user) for turn in TURNS]
    assert spoken.count("zh") >= 12
    assert spoken.count("ru") >= 12
    assert spoken.count("en") >= 60
    assert all(language(turn.assistant) == language(turn.user) for turn in TURNS if turn.assistant)


def test_no_text_is_said_twice_and_all_are_between_10_and_60_words() -> None:
    said = [text for session in CONVERSATION.sessions for text in texts(session)]
    assert len(said) == len(set(said))
    assert [text for text in said if not 10 <= words(text) <= 60] == []


def test_a_turn_has_either_a_scripted_answer_or_a_probe() -> None:
    assert [turn for turn in TURNS if bool(turn.assistant) is (turn.probe is not None)] == []


# the tools


def test_tools_are_called_in_every_session_and_exactly_one_call_fails() -> None:
    assert sum(len(turn.calls) for turn in TURNS) >= 6
    assert all(any(turn.calls for turn in session.turns) for session in CONVERSATION.sessions)
    assert {call.tool for turn in TURNS for call in turn.calls} == set(TOOLS)
    failed = [turn for turn in TURNS if failing(turn)]
    assert [turn.calls for turn in failed] == [
        (DemoCall("convert_currency", {"amount": 1250, "source": "EEK", "target": "EUR"}),)
    ]


def test_the_scripted_answers_say_what_the_tools_return() -> None:
    for turn in TURNS:
        if turn.calls and not failing(turn):
            (result,) = run(turn)
            value = result.partition(" = ")[2] or result.partition(": ")[2] or result
            assert value.split()[0] in turn.assistant


def test_tools_refuse_what_they_do_not_know_and_say_what_it_was() -> None:
    with pytest.raises(ValueError, match="EEK"):
        TOOLS["convert_currency"].invoke({"amount": 1, "source": "EUR", "target": "EEK"})
    with pytest.raises(ValueError, match="gold leaf"):
        TOOLS["stock_level"].invoke({"item": "gold leaf"})
    with pytest.raises(ValueError, match="day"):
        TOOLS["days_between"].invoke({"start": "2026-02-31", "end": "2026-03-01"})


# the probes


def test_only_the_last_session_asks_for_memories_and_from_both_earlier_ones() -> None:
    assert not any(turn.probe for turn in (*MONDAY.turns, *THURSDAY.turns))
    asked = [probe.from_sessions for _, probe in PROBES]
    assert len(asked) >= 10
    assert set(asked) == {(1,), (2,), (1, 2)}


@for_each_probe
def test_what_a_probe_asks_for_was_said_once_or_twice_and_only_in_the_sessions_it_names(
    turn: DemoTurn, probe: Probe
) -> None:
    said = [list(sources(wanted)) for wanted in probe.asks_for]
    assert all(1 <= len(found) <= 2 for found in said)
    assert sorted({number for found in said for number, _ in found}) == list(probe.from_sessions)


@for_each_probe
def test_what_a_probe_asks_for_is_not_to_be_had_in_its_own_session(turn: DemoTurn, probe: Probe) -> None:
    earlier = TUESDAY.turns[: TUESDAY.turns.index(turn)]
    heard = [f"{each.user} {each.assistant} {run(each)}" for each in earlier] + [turn.user, probe.lead]
    assert [wanted for wanted in probe.asks_for for text in heard if wanted in text] == []


@for_each_probe
def test_a_probe_shares_words_with_its_source_but_is_not_a_copy_of_it(turn: DemoTurn, probe: Probe) -> None:
    """Recall by words alone must have a chance, also across languages."""
    for wanted in probe.asks_for:
        shared = [content_words(turn.user) & content_words(text) for _, text in sources(wanted)]
        assert max(len(found) for found in shared) >= 2
        assert all(found < content_words(turn.user) for found in shared)


def test_what_probes_ask_for_holds_no_markup_that_a_prompt_would_have_to_escape() -> None:
    wanted = [text for _, probe in PROBES for text in probe.asks_for]
    assert [text for text in wanted if re.search(r"[<>&\"'`\[\]{}]", text)] == []


def test_probes_are_asked_in_three_languages_and_some_across_languages() -> None:
    asked = [
        (language(turn.user), {language(text) for wanted in probe.asks_for for _, text in sources(wanted)})
        for turn, probe in PROBES
    ]
    assert {("en", "en"), ("zh", "zh"), ("ru", "ru")} <= {
        (q, source) for q, found in asked for source in found
    }
    assert {(q, source) for q, found in asked for source in found if q != source} == {
        ("en", "ru"),
        ("en", "zh"),
        ("zh", "en"),
    }


# answers come from what was sent


def test_an_answer_quotes_the_sentences_that_hold_what_was_asked_for() -> None:
    messages = [
        SystemMessage("Notes:\n- The gate is green. The code is K-17.\n- 他说三点到。其他不知道。"),
        ToolMessage("Nothing here.", tool_call_id="1"),
    ]
    assert answer_from_memory(messages, ["K-17"], lead="Notes: ") == "Notes: The code is K-17."
    assert answer_from_memory(messages, ["三点", "green"]) == "- 他说三点到。 … - The gate is green."
    assert evidence(messages, ["K-17", "code is"]) == ("The code is K-17.",)


def test_an_answer_is_given_whole_or_not_at_all() -> None:
    messages = [SystemMessage("The gate is green.")]
    assert evidence(messages, ["green", "K-17"]) == ()
    assert answer_from_memory(messages, ["green", "K-17"], lead="Notes: ") == UNKNOWN


def test_the_question_itself_is_no_evidence() -> None:
    turn = DemoTurn("Is the code K-17?", probe=Probe(("K-17",), (1,), "Yes: "))
    model = build_demo_model(DemoSession(MONDAY.day, "x", (turn,)), recall_tool=None)
    assert model.invoke([HumanMessage(turn.user)]).text == UNKNOWN
    assert model.invoke([SystemMessage("K-17."), HumanMessage(turn.user)]).text == "Yes: K-17."


def test_a_model_asked_off_the_script_says_so() -> None:
    with pytest.raises(LookupError, match="tuesday"):
        build_demo_model(TUESDAY).invoke("Tell me a joke.")


def test_a_block_injected_as_a_human_message_is_not_taken_for_the_question() -> None:
    turn, probe = PROBES[0]
    block = HumanMessage(f"<memory>The policy is {probe.asks_for[0]}.</memory>")
    model = build_demo_model(TUESDAY, recall_tool=None)
    for messages in ([block, HumanMessage(turn.user)], [HumanMessage(turn.user), block]):
        assert probe.asks_for[0] in model.invoke(messages).text


# replays


def held(agent: Any, kind: type[BaseMessage]) -> list[str]:
    """Return the texts of one kind of message that the agent's state holds."""
    messages = agent.get_state(THREAD).values["messages"]
    return [message.text for message in messages if isinstance(message, kind) and message.text]


def agent_for(session: DemoSession) -> Any:
    """Make the demonstration's agent without its memory."""
    tolerant = ToolErrorMiddleware(lambda error, _: f"{type(error).__name__}: {error}")
    return create_agent(
        build_demo_model(session, recall_tool=None),
        demo_tools(),
        middleware=[tolerant],
        checkpointer=InMemorySaver(),
    )


def test_monday_is_replayed_word_for_word_by_invoke() -> None:
    agent = agent_for(MONDAY)
    for turn in MONDAY.turns:
        agent.invoke({"messages": [HumanMessage(turn.user)]}, THREAD)
    assert held(agent, AIMessage) == [turn.assistant for turn in MONDAY.turns]
    assert held(agent, ToolMessage) == [result for turn in MONDAY.turns for result in run(turn)]


async def test_monday_is_replayed_word_for_word_by_ainvoke() -> None:
    agent = agent_for(MONDAY)
    for turn in MONDAY.turns:
        await agent.ainvoke({"messages": [HumanMessage(turn.user)]}, THREAD)
    assert held(agent, AIMessage) == [turn.assistant for turn in MONDAY.turns]


async def test_monday_is_replayed_word_for_word_by_astream() -> None:
    agent = agent_for(MONDAY)
    for turn in MONDAY.turns:
        heard = agent.astream({"messages": [HumanMessage(turn.user)]}, THREAD, stream_mode="messages")
        pieces = [chunk.text async for chunk, _ in heard if chunk.type == "AIMessageChunk"]
        assert "".join(pieces) == turn.assistant


def test_the_next_reply_is_read_off_the_messages_so_that_a_new_process_can_go_on() -> None:
    for turn in THURSDAY.turns:
        reply = build_demo_model(THURSDAY).invoke([HumanMessage(turn.user)])
        assert [call["args"] for call in reply.tool_calls] == [dict(call.args) for call in turn.calls]
        assert reply.text == ("" if turn.calls else turn.assistant)


def test_tool_call_ids_differ_throughout_the_conversation() -> None:
    ids = [
        call["id"]
        for session in CONVERSATION.sessions
        for turn in session.turns
        for call in build_demo_model(session).invoke([HumanMessage(turn.user)]).tool_calls
    ]
    assert len(ids) == len(set(ids)) == sum(len(turn.calls) for turn in TURNS) + len(PROBES)


async def test_the_failing_call_becomes_an_error_message_and_the_talk_goes_on() -> None:
    (turn,) = [turn for turn in TURNS if failing(turn)]
    for state in (
        agent_for(THURSDAY).invoke({"messages": [HumanMessage(turn.user)]}, THREAD),
        await agent_for(THURSDAY).ainvoke({"messages": [HumanMessage(turn.user)]}, THREAD),
    ):
        *_, error, answer = state["messages"]
        assert (error.status, "EEK" in error.text) == ("error", True)
        assert answer.text == turn.assistant


def test_the_failing_call_ends_the_run_of_an_agent_that_does_not_handle_errors() -> None:
    (turn,) = [turn for turn in TURNS if failing(turn)]
    agent = create_agent(build_demo_model(THURSDAY), demo_tools())
    with pytest.raises(ValueError, match="EEK"):
        agent.invoke({"messages": [HumanMessage(turn.user)]})


def test_without_memory_no_probe_is_answered() -> None:
    agent = agent_for(TUESDAY)
    for turn in TUESDAY.turns:
        state = agent.invoke({"messages": [HumanMessage(turn.user)]}, THREAD)
        assert state["messages"][-1].text == (UNKNOWN if turn.probe else turn.assistant)


@tool
def recall_memory(query: str) -> str:
    """Search the first two days by words: the two texts that share most with the query."""
    said = [*texts(MONDAY), *texts(THURSDAY)]
    said.sort(key=lambda text: -len(content_words(query) & content_words(text)))
    return "\n".join(said[:2])


def test_a_probe_that_the_prompt_does_not_answer_is_looked_up_once_and_answered_from_the_result() -> None:
    turn, probe = PROBES[0]
    model = build_demo_model(TUESDAY)
    state = create_agent(model, [recall_memory]).invoke({"messages": [HumanMessage(turn.user)]})
    assert [type(message) for message in state["messages"]] == [
        HumanMessage,
        AIMessage,
        ToolMessage,
        AIMessage,
    ]
    assert state["messages"][1].tool_calls[0]["args"] == {"query": turn.user}
    assert state["messages"][-1].text == f"{probe.lead}{next(evidence_of(probe))}"


def test_a_probe_that_the_prompt_answers_is_not_looked_up() -> None:
    turn, probe = PROBES[0]
    prompt = f"Notes: the number is {probe.asks_for[0]}."
    agent = create_agent(build_demo_model(TUESDAY), [recall_memory], system_prompt=prompt)
    state = agent.invoke({"messages": [HumanMessage(turn.user)]})
    assert [message.text for message in state["messages"]] == [turn.user, f"{probe.lead}{prompt}"]


def test_a_lookup_that_finds_nothing_is_not_repeated() -> None:
    turn, _ = PROBES[0]
    lookup = ToolMessage("nothing found", tool_call_id="1")
    assert build_demo_model(TUESDAY).invoke([HumanMessage(turn.user), lookup]).text == UNKNOWN
