"""Secrets do not leave the black box (L5)."""

import base64
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.raw.redact import redact

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"Authorization: Bearer {JWT}", "Authorization: Bearer [redacted]"),
        ('{"Authorization": "Bearer abc"}', '{"Authorization": "Bearer [redacted]"}'),
        ("use bearer tok3n-abcdef please", "use bearer [redacted] please"),
        ("BEARER=abcdefghijklmnop", "BEARER=[redacted]"),
        ("key sk-proj-abcdEFGH1234ijklMNOP5678, ok?", "key [redacted], ok?"),
        ("密钥是sk-abcdEFGH1234ijklMNOP5678。", "密钥是[redacted]。"),
        ("ключ sk_live_4eC39HqLyjWDarjtT1zdp7dc", "ключ [redacted]"),
        ("x" * 200, "[redacted]"),
        ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "[redacted]"),
        ("da39a3ee5e6b4b0d3255bfef95601890afd80709", "[redacted]"),
    ],
)
def test_secrets_are_taken_out(text: str, left: str):
    assert redact(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "He was the bearer of bad news, and a ring bearer somewhere.",
        "pip install sk-learn and sk-estimators",
        "a task-12345678 and a disk-87654321abc",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "see https://example.com/docs/getting-started/with-long-term-memory/for-agents/2026-03-01/",
        "src/components/UserProfile/SettingsPanel/NotificationPreferences/index",
        "test_that_a_torn_tail_is_cut_and_kept_aside_and_reported_to_the_owner",
        "-" * 80,
        "我们决定在三月一日把数据库迁移到新的服务器上，请提醒我提前做好备份。" * 3,
        "Достопримечательности превысокомногорассмотрительствующий человеконенавистничество",
    ],
)
def test_plain_text_stays(text: str):
    assert redact(text) == text


@given(st.binary(min_size=30, max_size=400), st.sampled_from([base64.b64encode, base64.urlsafe_b64encode]))
def test_no_long_piece_of_base64_is_left(data: bytes, encoder):
    secret = encoder(random.Random(data).randbytes(len(data))).decode()
    left = redact(f"here it is: {secret} .")
    assert not re.search(r"[A-Za-z0-9+/_=-]{12,}", left.replace("[redacted]", ""))


@given(st.text())
def test_redacting_twice_changes_nothing_more(text: str):
    assert redact(redact(text)) == redact(text)


@given(st.text(st.sampled_from("bearer sk-_=:/aA1. \n"), max_size=200))
def test_redacting_twice_changes_nothing_more_around_secrets(text: str):
    assert redact(redact(text)) == redact(text)
