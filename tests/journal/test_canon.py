"""Canonical JSON is RFC 8785, byte for byte; what has no such form is refused with its path."""

from __future__ import annotations

import json
from collections import OrderedDict
from datetime import UTC, datetime
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hippo_async.errors import RecordRejected
from hippo_async.journal.canon import MAX_DEPTH, MAX_INTEGER, canonical

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
INTEGERS = st.integers(-MAX_INTEGER, MAX_INTEGER)
NUMBERS = st.floats(-(2.0**53) + 1, 2.0**53 - 1, allow_nan=False)


def values(scalars: st.SearchStrategy[Any], keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=6) | st.dictionaries(keys, inner, max_size=6),
        max_leaves=30,
    )


PLAIN = values(st.none() | st.booleans() | INTEGERS | TEXT, st.text(st.characters(codec="ascii")))
ANY_VALUE = values(st.none() | st.booleans() | INTEGERS | NUMBERS | TEXT, TEXT)


@settings(max_examples=200)
@given(PLAIN)
def test_what_the_standard_serialiser_writes_is_rfc_8785(value: Any) -> None:
    """No floats, ASCII keys: the quick way, which must agree with the reference."""
    assert canonical(value) == rfc8785.dumps(value)


@settings(max_examples=200)
@given(ANY_VALUE)
@example({"\ufb33": 1, "😀": 2, "é": 1.0, "e\u0301": -0.0})
@example([1e-7, 5e-324, 0.1, 100.0, -0.0, 1e-5, 123456789.125])
def test_any_value_that_is_taken_is_written_as_rfc_8785(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(ANY_VALUE)
def test_what_was_written_reads_back_equal_and_is_written_the_same_again(value: Any) -> None:
    written = canonical(value)
    again = json.loads(written)
    assert again == value
    assert canonical(again) == written


@given(st.dictionaries(TEXT, INTEGERS, min_size=2))
def test_the_order_in_which_keys_were_set_does_not_matter(value: dict[str, int]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        ([True, 1, False, 0], "[true,1,false,0]"),
        ({"b": 1, "a": {"d": [], "c": {}}}, '{"a":{"c":{},"d":[]},"b":1}'),
        ({"\ufb33": 1, "😀": 2}, '{"😀":2,"\ufb33":1}'),
        ("é \u2028\u2029\x7f\x85", '"é \u2028\u2029\x7f\x85"'),
        ('\x00\x1f\b\t\n\f\r"\\/', r'"\u0000\u001f\b\t\n\f\r\"\\/"'),
        ([1.0, -0.0, 1e-7, 0.00001, 4.5], "[1,0,1e-7,0.00001,4.5]"),
        ([MAX_INTEGER, -MAX_INTEGER], "[9007199254740991,-9007199254740991]"),
        ("e\u0301", '"e\u0301"'),
    ],
)
def test_the_known_traps(value: Any, written: str) -> None:
    """Whole floats, minus zero, exponents, UTF-16 key order, raw separators, no normal forms."""
    assert canonical(value) == written.encode()


class Text(str):
    __slots__ = ()


class Number(IntEnum):
    ONE = 1


class Word(StrEnum):
    WORD = "word"


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ({"a": [0, {"b": float("nan")}]}, "$.a[1].b"),
        ([float("inf")], "$[0]"),
        ([-float("inf")], "$[0]"),
        ({"a": MAX_INTEGER + 1}, "$.a"),
        ({"a": -MAX_INTEGER - 1}, "$.a"),
        ([10**5000], "$[0]"),
        ({"a": (1, 2)}, "$.a"),
        ([{1, 2}], "$[0]"),
        (b"bytes", "$"),
        ([Decimal(1)], "$[0]"),
        ([datetime(2026, 1, 1, tzinfo=UTC)], "$[0]"),
        ([Text("subclass")], "$[0]"),
        ([Word.WORD], "$[0]"),
        ([Number.ONE], "$[0]"),
        ([OrderedDict(a=1)], "$[0]"),
        ({"a": object()}, "$.a"),
        ({"a": "\ud800"}, "$.a"),
        (["fine", "x\udfff"], "$[1]"),
    ],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_what_is_no_exact_json_value_is_refused_with_its_path(value: Any, at: str) -> None:
    with pytest.raises(RecordRejected) as caught:
        canonical(value)
    assert caught.value.at == at


@pytest.mark.parametrize("key", [1, None, True, 1.5, b"a", ("a",), Text("a"), Word.WORD, "\ud83d"], ids=repr)
def test_a_key_that_is_no_text_is_refused(key: Any) -> None:
    with pytest.raises(RecordRejected, match="key"):
        canonical({"fine": {key: 1}})


@given(TEXT, st.integers(0xD800, 0xDFFF).map(chr), TEXT)
def test_a_lone_surrogate_anywhere_is_refused(before: str, lone: str, after: str) -> None:
    text = before + lone + after
    for value in (text, [text], {"a": text}, {text: 1}, {"é": [1.5, {"b": text}]}):
        with pytest.raises(RecordRejected, match="surrogate"):
            canonical(value)


@pytest.mark.parametrize("empty", [list, dict])
def test_nesting_is_bounded(empty: type) -> None:
    """Also far past what the interpreter's own stack would take."""

    def nested(levels: int) -> Any:
        value: Any = empty()
        for _ in range(levels - 1):
            value = [value] if empty is list else {"a": value}
        return value

    deepest = nested(MAX_DEPTH)
    assert canonical(deepest) == rfc8785.dumps(deepest)
    for levels in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(RecordRejected, match="nested"):
            canonical(nested(levels))


def test_the_path_of_a_refusal_starts_where_the_caller_says() -> None:
    with pytest.raises(RecordRejected) as caught:
        canonical({"a": [float("nan")]}, at="$.metadata")
    assert caught.value.at == "$.metadata.a[0]"
