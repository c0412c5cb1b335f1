from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.index import analyzer


@pytest.mark.parametrize(
    ("document", "query"),
    [
        ("我去年夏天去了柏林", "柏林"),
        ("東京タワーに行きました", "東京"),
        ("ﾄｳｷｮｳﾀﾜｰ", "タワー"),
        ("저는 서울에서 일해요", "서울"),
        ("ฉันชอบกินข้าวผัด", "ข้าว"),
        ("मुझे हिन्दी पसंद है", "हिन्दी"),
        ("Grüße aus München", "MÜNCHEN"),
        (unicodedata.normalize("NFD", "Grüße aus München"), unicodedata.normalize("NFC", "münchen")),
        ("Grüße aus München", "munchen"),
        ("Die Straße ist lang", "STRASSE"),
        ("İstanbul is large", "istanbul"),
        ("call １２３４５", "12345"),
        ("Мы живём в Берлине с собакой", "Берлин"),
        ("Мы живём в Берлине с собакой", "собаки"),
        ("Мой брат Пётр", "Петр"),
        ("за\u0301мок на горе", "замок"),
        ("She was running home", "runs"),
        ("Nate's dog", "Nate"),
        ("Nate\u2019s dog", "nate"),
        ("l'été est chaud", "été"),
        ("call foo_bar twice", "foo_bar"),
        ("call foo_bar twice", "bar"),
        ("use getUserName here", "getusername"),
        ("use getUserName here", "user"),
        ("an HTTPServer crashed", "server"),
        ("write to john.smith@example.com", "john.smith@example.com"),
        ("write to john.smith@example.com", "smith"),
        ("released v1.2 today", "v1.2"),
        ("on 2023-10-05 at noon", "2023-10-05"),
        ("on 2023-10-05 at noon", "2023"),
        ("a state-of-the-art model", "art"),
        ("so happy 😀!", "😀"),
        ("thumbs up 👍🏽", "👍"),
        ("I ❤\ufe0f this", "❤"),
        ("moved to 🇷🇺 last year", "🇷🇺"),
        ("می\u200cخواهم", "میخواهم"),
    ],
)
def test_a_query_finds_the_document(document: str, query: str) -> None:
    """Each term of the query is one of the document's."""
    assert analyzer.terms(query)
    assert set(analyzer.terms(query)) <= set(analyzer.terms(document))


@pytest.mark.parametrize(("one", "other"), [("йод", "иод"), ("柏林", "林柏"), ("🇷🇺", "🇺🇸"), ("v1.2", "v1.3")])
def test_what_differs_stays_apart(one: str, other: str) -> None:
    assert analyzer.terms(one) != analyzer.terms(other)


def test_words_keep_order_and_repeats() -> None:
    assert analyzer.terms("Dog, cat! dog?") == ["dog", "cat", "dog"]


@pytest.mark.parametrize("text", ["", " \n\t", "!?.,;:()", "_ __ '", "\u200b\ufeff", "\x00", "\ud800"])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    assert analyzer.terms(text) == []


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("When did she go to Berlin?", ["go", "berlin"]),
        ("What's the dog's name?", ["dog", "name"]),
        ("Когда он поехал в Берлин?", ["поеха", "берлин"]),
        ("Who is my boss these days?", ["boss"]),
        ("What time is dinner?", ["dinner"]),
        ("How much time is left?", ["much", "time", "leav"]),
        ("Какого числа у них свадьба?", ["свадьб"]),
        ("Кто теперь начальник?", ["начальник"]),
        ("柏林的酒店", ["柏", "林", "酒", "店", "柏林", "林的", "的酒", "酒店"]),
    ],
)
def test_a_query_loses_its_question_words(question: str, terms: list[str]) -> None:
    assert analyzer.query_terms(question) == terms


@pytest.mark.parametrize("question", ["Who is it?", "что это", "什么"])
def test_a_query_of_nothing_but_question_words_keeps_them(question: str) -> None:
    assert analyzer.query_terms(question) == analyzer.terms(question) != []


def test_a_month_is_no_stop_word() -> None:
    assert analyzer.query_terms("What did we do in May?") == ["may"]


def test_a_term_is_cut_and_data_is_not_split_into_humps() -> None:
    assert analyzer.terms("aB" * 50_000) == ["ab" * (analyzer.LONGEST_TERM // 2)]


@given(st.text())
def test_terms_hold_nothing_that_the_full_text_table_would_split_or_read_as_syntax(text: str) -> None:
    for term in analyzer.terms(text):
        assert 0 < len(term) <= analyzer.LONGEST_TERM
        assert re.fullmatch(r"[a-z0-9_.@'+#\-\u0080-\U0010ffff]+", term)
        assert not any(character.isspace() for character in term)


@given(st.text())
def test_composition_does_not_matter(text: str) -> None:
    composed = analyzer.terms(unicodedata.normalize("NFC", text))
    assert analyzer.terms(unicodedata.normalize("NFD", text)) == composed


@given(st.text())
def test_query_terms_are_some_of_the_terms_and_never_fewer_than_one(text: str) -> None:
    terms, wanted = analyzer.terms(text), analyzer.query_terms(text)
    assert set(wanted) <= set(terms)
    assert bool(wanted) == bool(terms)
