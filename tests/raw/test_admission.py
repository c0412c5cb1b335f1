"""What the black box keeps and what it leaves out (L10 and the limits raw.*)."""

from datetime import UTC, datetime

import pytest

from hippo_async.config import RawSettings
from hippo_async.raw.admission import Candidate, Reason, admit
from hippo_async.raw.turn import RawTurn, encode

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ALL = RawSettings(mode="all")


def candidate(
    role: str = "user", *, salience: float = 1.0, error: bool = False, content: str = "x"
) -> Candidate:
    return Candidate(RawTurn("t", NOON, role, content), salience, error)


def reason(one: Candidate, settings: RawSettings, sizes: dict[str, int] | None = None) -> Reason:
    return admit([one], settings=settings, sizes=sizes or {})[0].reason


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_what_users_and_assistants_say_is_kept(role: str):
    assert reason(candidate(role, salience=0.0), ALL) is Reason.KEPT


def test_the_salience_mode_keeps_from_the_threshold_on():
    settings = RawSettings()
    assert reason(candidate(salience=0.6), settings) is Reason.KEPT
    assert reason(candidate(salience=0.59), settings) is Reason.SALIENCE


def test_tool_output_is_left_out_unless_asked_for():
    assert reason(candidate("tool"), ALL) is Reason.TOOL
    assert reason(candidate("tool"), RawSettings(mode="all", capture_tools=True)) is Reason.KEPT


def test_tool_output_that_is_asked_for_still_has_to_be_salient():
    settings = RawSettings(mode="salience", capture_tools=True)
    assert reason(candidate("tool", salience=0.1), settings) is Reason.SALIENCE


def test_a_tool_result_that_is_an_error_is_kept_whatever_its_salience():
    assert reason(candidate("tool", salience=0.0, error=True), RawSettings()) is Reason.KEPT


def test_what_the_host_injects_is_left_out():
    assert reason(candidate("system"), RawSettings(mode="all", capture_tools=True)) is Reason.ROLE


def test_off_keeps_nothing_not_even_errors():
    assert reason(candidate(error=True), RawSettings(mode="off")) is Reason.OFF


def test_a_turn_over_the_size_limit_is_left_out_and_one_at_the_limit_kept():
    settings = RawSettings(mode="all", max_turn_kb=8)
    room = 8 * 1024 - len(encode(candidate(content="").turn))
    assert reason(candidate(content="x" * room), settings) is Reason.KEPT
    assert reason(candidate(content="x" * (room + 1)), settings) is Reason.TURN_SIZE
    assert reason(candidate(content="x" * (room + 1), error=True), settings) is Reason.TURN_SIZE


def test_the_day_fills_up_within_one_batch():
    line = len(encode(candidate().turn))
    limit = ALL.max_bytes_per_day
    decisions = admit([candidate()] * 3, settings=ALL, sizes={"2026-03-01": limit - 2 * line})
    assert [decision.reason for decision in decisions] == [Reason.KEPT, Reason.KEPT, Reason.DAY_SIZE]


def test_other_days_count_for_the_total_only():
    full = {f"2026-02-{day:02}": ALL.max_bytes_per_day for day in range(1, 29)}
    assert reason(candidate(), ALL, full) is Reason.KEPT
    total = ALL.max_total_mb * 1024 * 1024
    assert reason(candidate(), ALL, {"2026-02-01": total}) is Reason.TOTAL_SIZE


def test_what_is_left_out_takes_no_room():
    line = len(encode(candidate().turn))
    sizes = {"2026-03-01": ALL.max_bytes_per_day - line}
    decisions = admit([candidate("system"), candidate()], settings=ALL, sizes=sizes)
    assert [decision.kept for decision in decisions] == [False, True]
