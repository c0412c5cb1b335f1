"""``hippo demo`` as a newcomer runs it: three processes, one memory, one forgery."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from hippo_langchain.replay import BRIEFING, WINDOW


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    command = [sys.executable, "-c", "from hippo_async.cli import main; main()", "demo", "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=180)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.process
@pytest.mark.timeout(200)
def test_each_day_is_captured_folded_and_briefed_within_its_limits(facts: dict[str, Any]) -> None:
    assert [day["session"] for day in facts["days"]] == ["monday", "thursday", "tuesday"]
    for day in facts["days"]:
        assert day["captured"] >= 2 * day["user_turns"]
        assert day["folds"] > 0
        assert 0 < day["largest_briefing"] <= BRIEFING
        assert day["largest_prompt"] <= WINDOW
    assert sum(day["tool_errors"] for day in facts["days"]) == 1


@pytest.mark.process
def test_the_third_day_is_answered_from_the_first_two(facts: dict[str, Any]) -> None:
    answers = [answer for day in facts["days"] for answer in day["answers"]]
    assert [answer["question"] for answer in answers if not answer["right"]] == []
    assert {answer["session"] for answer in answers} == {"monday", "thursday"}
    assert all(answer["record_id"] for answer in answers)


@pytest.mark.process
def test_the_chain_is_intact_and_a_changed_copy_is_refused_with_its_place(facts: dict[str, Any]) -> None:
    assert facts["verify_chain"]["intact"]
    forgery = facts["forgery"]
    assert forgery["refused"]
    assert forgery["code"] == "MEM_E_JOURNAL_CORRUPT"
    assert forgery["path"].startswith("copy/journal/")
    assert forgery["seq"] > 0
    assert forgery["offset"] > 0
    assert "committed" in forgery["reason"]
