"""Tags from a text's own words: what becomes one, what never does, in three languages."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippo_async.language.plain import regular
from hippo_async.tagging import suggest
from hippo_async.tagging.generic import CHINESE, ENGLISH, RUSSIAN


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        (
            "My new manager is called Priya, she's coming over from the Antwerp office on Monday.",
            ("priya", "antwerp", "manager", "office"),
        ),
        ("Turns out penicillin gives me a nasty rash.", ("rash", "penicillin")),
        ("I decorated this tree myself with a Harry Potter theme!", ("harry potter", "theme", "tree")),
        ("The dentist says I grind my teeth at night.", ("tooth", "dentist")),
    ],
)
def test_an_english_text_has_its_names_first_and_then_its_nouns_in_the_singular(text, tags):
    assert suggest(text) == tags


def test_a_text_cannot_pin_itself():
    assert suggest("The pinned notes hang on the Pinned board.") == ("board",)


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("movies", "movie"),
        ("cities", "city"),
        ("boxes", "box"),
        ("prizes", "prize"),
        ("potatoes", "potato"),
        ("shoes", "shoe"),
        ("pies", "pie"),
        ("children", "child"),
        ("tennis", "tennis"),
        ("series", "series"),
        ("glass", "glass"),
        ("daughter's", "daughter"),
    ],
)
def test_an_english_noun_is_brought_to_its_singular(plural, singular):
    assert suggest(f"We talked about the {plural} there.") == (singular,)


@pytest.mark.parametrize("word", ["how've", "sooo", "went", "quickly", "beautiful", "decided", "everyone's"])
def test_an_english_word_that_cannot_be_a_noun_is_no_tag(word):
    assert suggest(f"It is {word} of the house.") == ("house",)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("Вчера я говорила с сестрой Марией о билетах в Казань.", ("мария", "казань", "сестра", "билет")),
        ("На даче потекла крыша, Рустам обещал перекрыть её.", ("рустам", "дача", "крыша")),
        ("Одолжил Тиму пятнадцать тысяч, обещал отдать в августе.", ("тим",)),
        ("Дома я говорю с детьми только по-русски.", ("дом", "ребёнок")),
    ],
)
def test_a_russian_text_has_its_names_and_nouns_in_the_nominative(text, tags):
    assert suggest(text) == tags


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("成都那套房子年底就能交钥匙，在十七楼，能看到河。", ("成都", "房子", "钥匙")),
        ("美琳换工作了，现在给一家儿童出版社画插图。", ("美琳", "工作", "儿童", "出版社", "插图")),
        ("岳父下个月要做膝盖手术，医院说得住十天左右。", ("岳父", "膝盖", "手术", "医院")),
    ],
)
def test_a_chinese_text_is_cut_into_words_and_has_those_that_name_something(text, tags):
    assert suggest(text) == tags


def test_languages_mix_within_one_text():
    assert set(suggest("我在用Docker部署LangChain项目")) == {"docker", "langchain", "部署", "项目"}
    assert set(suggest("Мы обсуждали LangChain с Анной в Москве")) == {"langchain", "анна", "москва"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ok",
        "Thanks! That's great.",
        "No problem. Talk to you soon!",
        "Спасибо, пока!",
        "好的，谢谢你！",
        "👍",
        "1234",
    ],
)
def test_a_text_that_says_too_little_has_none(text):
    assert suggest(text) == ()


def test_tags_that_differ_in_case_or_width_are_one():
    assert suggest("I met ANNA. Anna paid for lunch.") == ("anna", "lunch")
    assert regular("  Ａｎｎａ  Smith ") == regular("anna smith") == "anna smith"


@pytest.mark.parametrize(
    "data",
    [
        "https://example.org/secret/path?token=abc",
        "www.example.org",
        "anna@example.org",
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo" * 4,
        "4111111111111111",
        "blue-kettle-42",
        "sk-Zq3hT9x8",
        "```python\ndef deploy(server): ...\n```",
        "`rm -rf folder`",
    ],
)
def test_addresses_data_passwords_and_code_give_no_tags(data):
    assert suggest(f"We saw this at the market: {data}") == ("market",)


def test_a_text_in_a_language_that_is_not_known_gives_its_names_only():
    german = "Ich habe gestern mit Anna in Berlin gegessen und das war wirklich sehr lecker"
    assert suggest(german) == ("anna", "berlin")


def test_days_and_months_are_no_names():
    assert suggest("See you on Monday or in March") == ()


def test_what_is_said_more_often_comes_first():
    text = "The garden and a fence. The fence is old. A fence again, and the gate."
    assert suggest(text)[0] == "fence"


def test_no_more_are_given_than_were_asked_for():
    text = "Bring the tent, a lamp, the map, some rope, an axe, the stove and a kettle."
    assert len(suggest(text)) == 5
    assert suggest(text, most=2) == suggest(text)[:2]
    assert suggest(text, most=0) == suggest(text, most=-1) == ()


def test_only_the_beginning_of_a_huge_text_is_looked_at():
    assert suggest("The kettle is new. " + "x" * 1_000_000 + " in Lisbon") == ("kettle",)


@pytest.mark.parametrize(
    "unit", ["a", "Я", "我", "A.", "a-", "a ", "Anna ", "а-", "://", "`", "@", "'", "\ud800"]
)
def test_a_megabyte_of_anything_is_read_without_an_error(unit):
    assert len(suggest(unit * (1_000_000 // len(unit)))) <= 5


def test_several_threads_may_ask_at_once():
    texts = ["Вера ждёт ребёнка в Казани", "成都那套房子年底就能交钥匙", "We moved to a house in Delft"]
    alone = [suggest(text) for text in texts]
    found: list[list[tuple[str, ...]]] = []
    threads = [
        threading.Thread(target=lambda: found.append([suggest(each) for each in texts])) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 8


WORDS = [
    *("Anna", "the", "kettle", "we", "moved", "in", "Delft", "Марией", "на", "даче", "крыша", "美琳换工作了"),
    *("`x`", "```", "://", "\ud800", "👨‍👩‍👧", "नमस्ते", "foo_bar", "\n", ".", "，", "it's", "co-op", "x" * 50),
]
CYRILLIC_AND_HAN = st.text(
    st.characters(min_codepoint=0x400, max_codepoint=0x52F) | st.sampled_from("一丁七我们换, .-")
)
TEXTS = st.text(max_size=300) | CYRILLIC_AND_HAN | st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)


@settings(deadline=None)
@given(TEXTS, st.integers(0, 8))
def test_any_text_gives_few_short_folded_tags_and_the_same_ones_again(text, most):
    tags = suggest(text, most=most)
    assert tags == suggest(text, most=most)
    assert len(tags) == len(set(tags)) <= most
    assert all(0 < len(tag) <= 40 and tag == regular(tag) and tag.encode() for tag in tags)
    assert not set(tags) & (ENGLISH | RUSSIAN | CHINESE)
