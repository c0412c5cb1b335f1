from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.recall.query import understand
from hippo_async.records import Filters

PEOPLE = ["Caroline", "Nate", "Anna Lopez", "Пётр", "小明", "O'Brien", "Zoë"]


@pytest.mark.parametrize(
    ("text", "meaning", "names"),
    [
        ("What did Caroline paint?", "What did paint?", ("Caroline",)),
        ("what did caroline paint", "what did paint", ("Caroline",)),
        ("Nate's new dog", "new dog", ("Nate",)),
        ("Nate\u2019s new dog", "new dog", ("Nate",)),
        ("Where is the dog, Nate?", "Where is the dog,", ("Nate",)),
        ("Did Anna call Lopez?", "Did call", ("Anna Lopez",)),
        ("Собака Петра спит", "Собака спит", ("Пётр",)),
        ("小明的狗叫什么", "的狗叫什么", ("小明",)),
        ("O'Brien plays chess", "plays chess", ("O'Brien",)),
        ("Zoe\u0308 sings", "sings", ("Zoë",)),
        ("Did Nate meet Caroline at work?", "Did meet at work?", ("Caroline", "Nate")),
        ("The annual nativity play", "The annual nativity play", ()),
    ],
)
def test_known_people_are_taken_out_of_what_is_looked_for(
    text: str, meaning: str, names: tuple[str, ...]
) -> None:
    query = understand(text, names=PEOPLE)
    assert query.text == text
    assert query.meaning == meaning
    assert query.names == names


def test_terms_hold_neither_names_nor_question_words() -> None:
    assert understand("When did Caroline go to Berlin?", names=PEOPLE).terms == ("go", "berlin")


@pytest.mark.parametrize("text", ["Caroline?", "Nate, Caroline!", "小明"])
def test_a_question_of_nothing_but_names_keeps_them(text: str) -> None:
    query = understand(text, names=PEOPLE)
    assert query.meaning == text
    assert query.terms
    assert query.names


def test_no_name_is_known_unless_given() -> None:
    query = understand("What did Caroline paint?")
    assert query.meaning == "What did Caroline paint?"
    assert query.names == ()
    assert query.filters == Filters()


def test_filters_go_along() -> None:
    filters = Filters(scope=("a",))
    assert understand("dog", filters=filters).filters is filters


@given(text=st.text(), names=st.lists(st.text(max_size=5), max_size=3))
def test_any_text_can_be_asked(text: str, names: list[str]) -> None:
    """Terms are there whenever the text has any, whatever the names."""
    query = understand(text, names=names)
    assert bool(query.terms) == bool(understand(text).terms)
    assert set(query.names) <= set(names)
