"""The pure parts under the middleware: what is new in a list of messages, pairs, the cursor, sizes."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.runtime import ExecutionInfo, Runtime

from hippo_async import estimate_tokens, plan_eviction
from hippo_langchain.address import Address, address_of
from hippo_langchain.conversation import TAIL, Conversation
from hippo_langchain.eviction import Cursor, furthest, moved, shown, unanswered, with_pairs
from hippo_langchain.injection import clipped
from hippo_langchain.messages import calls_line, notes_of
from hippo_langchain.tokens import message_tokens, sizes_of, turn_of

WORDS = st.sampled_from(["yes", "ok", "tell me more", "thanks"])


def call(call_id: str) -> dict[str, Any]:
    return {"name": "look", "args": {}, "id": call_id, "type": "tool_call"}


def copied(messages: list[BaseMessage], run: int) -> list[BaseMessage]:
    """What becomes of role dicts: the same words, new ids."""
    return [message.model_copy(update={"id": f"run-{run}-{index}"}) for index, message in enumerate(messages)]


def take(conversation: Conversation, messages: list[BaseMessage]) -> list[BaseMessage]:
    new = list(conversation.unseen(messages))
    for message in new:
        conversation.saw(message)
    return new


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=30), st.integers(1, 40))
def test_each_turn_of_a_resent_history_is_new_once(dialogue: list[tuple[str, str]], kept: int) -> None:
    """Whatever is said, however often, and however much of the past the caller still sends."""
    conversation = Conversation(Address())
    history: list[BaseMessage] = []
    found: list[str] = []
    for run, (question, reply) in enumerate(dialogue):
        history.append(HumanMessage(question))
        window = history[-(2 * kept + 1) :]
        found += [message.text for message in take(conversation, copied(window, run))]
        answer = AIMessage(reply, id=f"answer-{run}")
        conversation.saw(answer)
        history.append(answer)
    assert found == [question for question, _ in dialogue]


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=30))
def test_each_message_with_a_lasting_id_is_new_once(dialogue: list[tuple[str, str]]) -> None:
    conversation = Conversation(Address())
    state: list[BaseMessage] = []
    found: list[BaseMessage] = []
    for number, (question, reply) in enumerate(dialogue):
        state += [HumanMessage(question, id=f"h{number}"), AIMessage(reply, id=f"a{number}")]
        found += take(conversation, state)
        assert take(conversation, state) == []
    assert found == state


def test_what_is_remembered_of_a_conversation_is_bounded() -> None:
    conversation = Conversation(Address())
    for number in range(3 * TAIL):
        conversation.saw(HumanMessage(f"text {number}", id=str(number)), f"key {number}")
    assert len(conversation.ids) == len(conversation.tail) == len(conversation.keys) == TAIL


MESSAGES = st.lists(
    st.one_of(
        WORDS.map(HumanMessage),
        WORDS.map(AIMessage),
        st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True).map(
            lambda ids: AIMessage("", tool_calls=[call(call_id) for call_id in ids])
        ),
        st.sampled_from("abcd").map(lambda call_id: ToolMessage("done", tool_call_id=call_id)),
    ),
    max_size=25,
)


@given(MESSAGES)
def test_pairs_hold_in_whatever_is_sent(messages: list[Any]) -> None:
    whole = with_pairs(messages, unanswered)
    asked: list[str] = []
    for message in whole:
        if isinstance(message, ToolMessage):
            asked.remove(message.tool_call_id)
        else:
            assert asked == []
            asked = (
                [str(found["id"]) for found in message.tool_calls] if isinstance(message, AIMessage) else []
            )
    assert asked == []
    assert [message for message in whole if message.type != "tool"] == [
        m for m in messages if m.type != "tool"
    ]
    assert with_pairs(whole, unanswered) == whole


def test_a_list_whose_pairs_hold_is_sent_as_it_is() -> None:
    messages = [
        HumanMessage("go"),
        AIMessage("", tool_calls=[call("a")]),
        ToolMessage("done", tool_call_id="a"),
    ]
    assert with_pairs(messages, unanswered) == messages


@given(st.data())
def test_a_cursor_hides_what_was_folded_and_nothing_else(data: st.DataObject) -> None:
    """Also when the list has grown, and when ids changed; the cursor survives being written down."""
    texts = data.draw(st.lists(WORDS, min_size=2, max_size=40))
    messages: list[BaseMessage] = [HumanMessage(text, id=f"h{index}") for index, text in enumerate(texts)]
    visible = list(range(len(messages)))
    evicted = data.draw(st.sets(st.sampled_from(visible[:-1]), min_size=1))
    cursor = moved(messages, visible, evicted)
    assert Cursor.from_state(cursor.as_state()) == cursor
    grown = [*messages, HumanMessage("later", id="later")]
    left = [index for index in visible if index not in evicted]
    assert shown(grown, [cursor]) == [*left, len(messages)]
    assert shown(copied(grown, 1), [cursor]) == [*left, len(messages)]


def test_a_cursor_finds_its_place_after_the_front_was_cut_off() -> None:
    messages: list[BaseMessage] = [HumanMessage(f"text {index}", id=f"h{index}") for index in range(40)]
    cursor = moved(messages, list(range(40)), list(range(20)))
    assert shown(messages[10:], [cursor]) == list(range(10, 30))
    assert shown(copied(messages[2:], 1), [cursor]) == list(range(18, 38))


def test_a_text_that_is_said_again_later_does_not_move_a_cursor() -> None:
    """Where ids do not last, what was said before it has to be equal too."""
    texts = [f"text {index}" for index in range(40)]
    texts[19] = texts[24] = "ok"
    messages: list[BaseMessage] = [HumanMessage(text) for text in texts]
    cursor = moved(messages, list(range(40)), list(range(20)))
    assert shown(messages[3:], [cursor]) == list(range(17, 37))


def test_a_cursor_whose_place_is_gone_hides_nothing() -> None:
    """What it stood for was removed by somebody else; the rest was never folded."""
    messages: list[BaseMessage] = [HumanMessage(f"text {index}", id=f"h{index}") for index in range(40)]
    cursor = moved(messages, list(range(40)), list(range(20)))
    assert shown(messages[25:], [cursor]) == list(range(15))
    assert furthest(messages[25:], [cursor]) == (0, None)


def test_of_two_cursors_the_one_that_reaches_further_counts() -> None:
    messages: list[BaseMessage] = [HumanMessage(f"text {index}", id=f"h{index}") for index in range(40)]
    near, far = (moved(messages, list(range(40)), list(range(count))) for count in (5, 30))
    assert shown(messages, [far, near]) == shown(messages, [near, far]) == list(range(30, 40))


@given(st.lists(st.integers(0, 60), min_size=1, max_size=60), st.integers(60, 600))
def test_rough_sizes_of_old_messages_change_nothing_about_what_stays(lengths: list[int], window: int) -> None:
    """They leave in any case; counting them exactly would be work for nothing."""
    messages = [
        (HumanMessage if index % 2 == 0 else AIMessage)("word " * length)
        for index, length in enumerate(lengths)
    ]

    def kept(exact: int) -> tuple[int, ...]:
        sizes = sizes_of(messages, estimate_tokens, exact=exact)
        turns = [turn_of(message, tokens=size) for message, size in zip(messages, sizes, strict=True)]
        return plan_eviction(turns, max_tokens=window, threshold=0.85, target=0.7).keep

    assert kept(window) == kept(10**9)


def test_tool_call_arguments_count() -> None:
    small, large = (
        AIMessage("", tool_calls=[{**call("a"), "args": {"text": "word " * times}}]) for times in (1, 500)
    )
    assert message_tokens(large, estimate_tokens) - message_tokens(small, estimate_tokens) > 450


def test_harness_messages_reasoning_and_bytes_are_not_captured() -> None:
    assert notes_of(HumanMessage("a summary", additional_kwargs={"lc_source": "summarization"})) == []
    blocks: list[str | dict[Any, Any]] = [
        {"type": "reasoning", "reasoning": "the user seems to be in a hurry"},
        {"type": "text", "text": "here it is"},
        {"type": "image", "base64": "A" * 1000, "mime_type": "image/png"},
    ]
    assert [note.content for note in notes_of(AIMessage(blocks))] == ["here it is [image]"]


def test_long_arguments_are_cut_in_the_line_of_a_decision() -> None:
    line = calls_line([{"name": "write", "args": {"path": "a.txt", "text": "x" * 5000}}])
    assert line.startswith('write(path="a.txt", text="xxx')
    assert len(line) < 300


@given(st.text(max_size=400), st.integers(-5, 60))
def test_a_clipped_text_is_within_its_budget(text: str, budget: int) -> None:
    short = clipped(text, budget, estimate_tokens)
    assert text.startswith(short)
    assert short == "" or estimate_tokens(short) <= budget


def runtime(context: Any = None, thread_id: str | None = None) -> Runtime[Any]:
    info = ExecutionInfo(checkpoint_id="c", checkpoint_ns="", task_id="t", thread_id=thread_id)
    return Runtime(context=context, execution_info=info)


def test_the_address_is_looked_for_in_the_argument_the_context_and_the_thread() -> None:
    assert address_of(runtime()) == Address((), "default")
    assert address_of(runtime(thread_id="t")) == Address((), "t")
    assert address_of(runtime({"session": "s", "user_id": 7}, "t")) == Address(("7",), "s")
    assert address_of(runtime({"user_id": "u"}), session="mine", scope=("a", "b")) == Address(
        ("a", "b"), "mine"
    )
    by_function = address_of(
        runtime(thread_id="t"), session=lambda _: "f", scope=lambda run: [run.execution_info.thread_id]
    )
    assert by_function == Address(("t",), "f")
