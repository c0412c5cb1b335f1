"""The extractive fold: what it finds, what it keeps, and that it stays within its limit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippo_async.context import estimate_tokens, fold_text
from hippo_async.records import Turn

TRIP = [
    Turn("user", "Hi! I moved to Lisbon with my husband Tom. Please remember: Tom is allergic to nuts.", 20),
    Turn("assistant", "Nice to meet you! The weather is lovely in spring, and the food is very good.", 20),
    Turn(
        "user", "We decided to take the flat for 120 euros, check-in on 14 May at 10:30, booking AB-1234.", 20
    ),
    Turn("user", "ok", 2),
]
RUSSIAN = [
    Turn("user", "Вчера я говорила с сестрой Марией. Мы решили лететь 14 мая. Нужно отправить паспорт.", 30),
]
CHINESE = [
    Turn(
        "user",
        "你好，我叫安娜，住在里斯本。请记得汤姆对花生过敏。我们决定租公寓，预算400欧元，5月14日入住。",
        40,
    )
]


def turn(text, **fields):
    return Turn(fields.pop("role", "user"), text, estimate_tokens(text), **fields)


def test_names_tasks_conclusions_and_exact_things_are_found():
    fold = fold_text(TRIP)
    assert {"Lisbon", "Tom"} <= set(fold.names)
    assert fold.tasks == ("Please remember: Tom is allergic to nuts.",)
    assert fold.conclusions == (TRIP[2].content,)
    assert fold.facts == ("120 euros", "14 May", "10:30", "AB-1234")


def test_a_russian_conversation_is_understood():
    fold = fold_text(RUSSIAN)
    assert fold.names == ("Марией",)
    assert fold.tasks == ("Нужно отправить паспорт.",)
    assert fold.conclusions == ("Мы решили лететь 14 мая.",)
    assert fold.facts == ("14 мая",)


def test_a_chinese_conversation_is_understood():
    fold = fold_text(CHINESE)
    assert fold.names == ("安娜", "里斯本")
    assert fold.tasks == ("请记得汤姆对花生过敏。",)
    assert fold.conclusions == ("我们决定租公寓，预算400欧元，5月14日入住。",)
    assert fold.facts == ("400欧元", "5月14日")


def test_a_word_that_only_begins_sentences_is_no_name():
    assert fold_text([turn("Yesterday it rained. Then Anna Smith came. Sunny now.")]).names == ("Anna Smith",)


def test_a_name_known_from_within_a_sentence_counts_at_its_beginning_too():
    assert fold_text([turn("I met Anna. Anna paid. Bob left.")]).names == ("Anna",)


def test_the_text_tells_how_many_turns_it_stands_for_and_keeps_their_words_in_order():
    lines = fold_text(TRIP).text.splitlines()
    assert lines[0].startswith("Folded from 4 turns, about Tom, Lisbon")
    assert lines[1] == f"- user: {TRIP[0].content}"
    assert lines.index(f"- user: {TRIP[2].content}") > 1


def test_what_carries_something_is_kept_before_small_talk():
    fold = fold_text(
        [*TRIP, *[turn("Thank you, that is very kind of you, I am glad.")] * 40], limit_tokens=240
    )
    assert "AB-1234" in fold.text
    assert "allergic" in fold.text


def test_a_turn_without_a_record_has_its_line_and_one_with_a_record_is_pointed_to():
    """LangChain #39261: nothing may leave without a trace, however many large tool results there are."""
    bare = [turn(f"step {number}: " + "word " * 400, role="tool") for number in range(10)]
    fold = fold_text(bare, limit_tokens=400)
    assert all(f"step {number}:" in fold.text for number in range(10))
    kept = [turn("word " * 400, record_id=f"id{number}") for number in range(50)]
    assert fold_text(kept).originals == tuple(f"id{number}" for number in range(50))


def test_two_hundred_facts_are_all_reachable_and_a_good_part_is_in_the_text():
    """LangChain's default summary saw 32 of 200 facts and kept 10."""
    turns = []
    for number in range(200):
        turns += [
            turn(f"The code of locker {number} is {7919 * number % 10007:05}.", record_id=f"q{number}"),
            turn("Thank you, I have noted that.", role="assistant", record_id=f"a{number}"),
        ]
    fold = fold_text(turns)
    assert len(fold.originals) == 400
    assert sum(f"locker {number} is" in fold.text for number in range(200)) >= 15


def test_one_endless_line_does_not_take_the_whole_fold():
    fold = fold_text([turn("1 " * 5000), turn("Meet Anna on 14 May.")], limit_tokens=100)
    assert "Meet Anna on 14 May." in fold.text


def test_the_name_of_a_tool_is_its_speaker():
    assert "- tool weather: 21 degrees" in fold_text([turn("21 degrees", role="tool", name="weather")]).text


def test_turns_without_words_leave_only_their_number():
    assert fold_text([turn("", role="assistant")]).text == "Folded from 1 turns."


def test_a_counter_that_counts_anything_else_is_obeyed():
    assert len(fold_text(TRIP, limit_tokens=120, count=len).text) <= 120
    assert fold_text(TRIP, limit_tokens=0).text == ""


SAYINGS = [
    "我们决定明天去北京。",
    "Нужно купить 3 билета! ",
    "Meet Anna at 10:30. ",
    "👨‍👩‍👧 ",
    "नमस्ते ",
    "\n",
    '{"a": 1} ',
]
TURNS = st.lists(
    st.builds(
        Turn,
        st.sampled_from(["user", "assistant", "tool", "system"]),
        st.one_of(st.text(max_size=200), st.lists(st.sampled_from(SAYINGS), max_size=20).map("".join)),
        st.just(1),
        record_id=st.one_of(st.none(), st.uuids().map(str)),
    ),
    max_size=8,
)


@settings(deadline=None)
@given(TURNS, st.integers(0, 300))
def test_the_limit_holds_for_any_turns(turns, limit):
    fold = fold_text(turns, limit_tokens=limit)
    assert estimate_tokens(fold.text) <= limit
    assert fold == fold_text(turns, limit_tokens=limit)
    assert set(fold.originals) == {each.record_id for each in turns if each.record_id}


@pytest.mark.parametrize("speech", [TRIP, RUSSIAN, CHINESE])
def test_a_short_conversation_survives_word_for_word(speech):
    text = fold_text(speech).text
    assert all(each.content in text for each in speech)
