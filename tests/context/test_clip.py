"""Cutting a text to a budget."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.context import clip, estimate_tokens, fits

FAMILY = "👨‍👩‍👧"
WHOLE = ["e\u0301", FAMILY, "👍🏽", "🇵🇹", "❤️", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "क्षि", "\ud83d\ude00"]


def test_a_text_that_fits_is_returned_as_it_is():
    assert clip("Hello, world. ", 14, len) == "Hello, world. "


def test_a_longer_text_ends_in_an_ellipsis_at_the_limit():
    assert clip("Hello, world.", 6, len) == "Hello…"


def test_no_white_space_stands_before_the_ellipsis():
    assert clip("Hello, world.", 8, len) == "Hello,…"


def test_nothing_is_returned_where_not_even_the_ellipsis_fits():
    assert clip("Hello", 0, len) == ""
    assert clip("Hello", -3, len) == ""


@pytest.mark.parametrize("whole", WHOLE)
def test_what_is_one_sign_to_a_reader_is_not_cut(whole):
    text = "ab" + whole + "cd"
    for limit in range(3, len(text)):
        kept = clip(text, limit, len).removesuffix("…")
        assert kept in ("ab", "ab" + whole, "ab" + whole + "c"), (limit, kept)


def test_flags_in_a_row_are_cut_between_flags():
    assert clip("🇵🇹🇷🇺🇨🇳🇫🇷", 6, len) == "🇵🇹🇷🇺…"


@given(st.text(max_size=300), st.integers(-1, 80))
def test_the_limit_holds_for_the_estimate(text, limit):
    kept = clip(text, limit, estimate_tokens)
    assert kept == "" or estimate_tokens(kept) <= limit
    assert text.startswith(kept.removesuffix("…"))


@given(st.text(st.characters(categories=["L", "Nd"]), max_size=200), st.integers(1, 100))
def test_the_longest_beginning_is_found_for_a_counter_that_grows(text, limit):
    text = "".join(character for character in text if not unicodedata.combining(character))
    assert clip(text, limit, len) == (text if len(text) <= limit else text[: limit - 1] + "…")


@given(st.text(max_size=1200), st.integers(-1, 1300))
def test_a_text_fits_if_it_takes_no_more_than_the_limit(text, limit):
    assert fits(text, limit, len) == (len(text) <= limit)


def test_little_more_of_a_long_text_is_read_than_is_returned():
    read = 0

    def count(text):
        nonlocal read
        read += len(text)
        return len(text)

    assert len(clip("x" * 1_000_000, 100, count)) == 100
    assert read < 5000
