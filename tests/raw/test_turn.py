"""A raw turn is one line on disk, and comes back as it was said (L2)."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.raw.turn import RawTurn, decode, encode

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
# Two lone surrogates in a row may form a pair, which JSON cannot tell from the character that it stands for.
ANY_TEXT = st.text(st.characters(exclude_categories=())).filter(
    lambda text: text == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
)


def turn(content: str, *, at: datetime = NOON) -> RawTurn:
    return RawTurn("t1", at, "user", content)


@given(ANY_TEXT)
def test_any_text_survives_verbatim_on_one_line(content: str):
    line = encode(turn(content))
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    assert decode(line) == turn(content)


def test_a_line_has_exactly_the_four_fields_in_order():
    assert list(json.loads(encode(turn("hello")))) == ["turn_id", "timestamp", "role", "content"]


def test_readable_text_stays_readable_on_disk():
    assert "明天见, до завтра".encode() in encode(turn("明天见, до завтра"))


def test_a_lone_surrogate_is_kept_as_an_escape():
    line = encode(turn("broken \ud83d emoji"))
    assert b"\\ud83d" in line
    assert decode(line).content == "broken \ud83d emoji"


def test_the_shard_goes_by_the_utc_date():
    east = timezone(timedelta(hours=9))
    assert turn("x", at=datetime(2026, 3, 2, 1, 0, tzinfo=east)).day == "2026-03-01"


def test_a_naive_timestamp_is_refused():
    with pytest.raises(ValueError, match="naive"):
        encode(turn("x", at=NOON.replace(tzinfo=None)))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b'{"turn_id": "t1"}',
        b'{"turn_id": 1, "timestamp": "2026-03-01T12:00:00Z", "role": "user", "content": "x"}',
        b'{"turn_id": "t", "timestamp": "yesterday", "role": "user", "content": "x"}',
        b'{"turn_id": "t", "timestamp": "2026-03-01T12:00:00", "role": "user", "content": "x"}',
        b'{"turn_id": "t", "timestamp": "2026-03-01T12:00:00Z", "role": "user", "content": "x", "more": "y"}',
        b"\xff\xfe",
    ],
)
def test_any_other_line_is_refused(line: bytes):
    with pytest.raises(ValueError):
        decode(line)
