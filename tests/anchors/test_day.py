"""A day of the ledger: what is written is what is read, and nothing else passes for it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from anchored_days import AGENT, anchored, noted

from hippo_async.anchors.day import AnchoredDay, back_off, read_day
from hippo_async.errors import RecordRejected
from hippo_async.journal.canon import canonical

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
DAY = anchored("2026-03-01", noted("2026-03-01", "2026-03-01"))


def read(data: bytes) -> AnchoredDay:
    return read_day(data, date="2026-03-01", agent_id=AGENT)


def changed(**fields: Any) -> bytes:
    return canonical(json.loads(DAY.encode()) | fields) + b"\n"


def test_what_is_written_is_read_again() -> None:
    day = DAY.published("file", {"line": 3, "deep": [{"a": None}]}, NOON).failed("post", "refused", NOON)
    assert read(day.encode()) == day
    assert read(DAY.encode()) == DAY


def test_both_hashes_are_those_of_the_payloads_that_are_kept() -> None:
    assert bytes.fromhex(DAY.anchor_payload_hash) == DAY.anchor.anchor_payload_hash
    assert bytes.fromhex(DAY.anchor_v2_hash) == DAY.anchor_v2.anchor_payload_hash
    assert DAY.anchor_payload_hash != DAY.anchor_v2_hash
    assert set(DAY.hashes) == {"date", "anchor_payload_hash", "anchor_v2_hash"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        DAY.encode()[:-1],
        b" " + DAY.encode(),
        changed(more=1),
        changed(anchor_v2_hash="0" * 64),
        changed(anchor_payload_hash="0" * 64),
        changed(anchor=json.loads(canonical(replace(DAY.anchor, count=3).as_dict()))),
        changed(anchor_v2=json.loads(canonical(replace(DAY.anchor_v2, merkle_root="0" * 64).as_dict()))),
        anchored("2026-03-02").encode(),
    ],
    ids=["nothing", "empty", "cut", "spaced", "more", "v2 hash", "hash", "payload", "root", "other day"],
)
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"not a day of the ledger|differ|another day"):
        read(data)


def test_the_ledger_of_another_agent_is_refused() -> None:
    with pytest.raises(ValueError, match="another day or agent"):
        read_day(DAY.encode(), date="2026-03-01", agent_id="somebody else")


def test_back_off_is_a_minute_doubling_up_to_a_day() -> None:
    waits = [back_off(attempts) / timedelta(minutes=1) for attempts in (1, 2, 3, 10, 11, 12, 10_000)]
    assert waits == [1, 2, 4, 512, 1024, 1440, 1440]


def test_a_failure_rests_until_its_back_off_is_over_and_no_other_publisher_does() -> None:
    failed = DAY.failed("post", "refused", NOON)
    assert failed.is_resting("post", NOON)
    assert failed.is_resting("post", NOON + timedelta(seconds=59))
    assert not failed.is_resting("post", NOON + timedelta(seconds=60))
    assert not failed.is_resting("file", NOON)
    assert failed.failed("post", "again", NOON).pending[0].attempts == 2


def test_a_receipt_ends_what_was_pending_and_there_is_one_a_publisher() -> None:
    day = DAY.failed("post", "refused", NOON).failed("file", "full", NOON).published("post", {"n": 1}, NOON)
    assert [failed.publisher for failed in day.pending] == ["file"]
    assert day.is_published_by("post")
    assert day.published("post", {"n": 2}, NOON) == day


def test_a_long_error_is_cut() -> None:
    assert len(DAY.failed("post", "x" * 10_000, NOON).pending[0].last_error) == 300


def test_a_receipt_that_is_not_json_cannot_be_kept() -> None:
    with pytest.raises(RecordRejected):
        DAY.published("post", {"nan": float("nan")}, NOON).encode()
