"""``hippo recall``: every filter, budget and mode of the door it stands for."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hippo_async import Hippocampus, Settings
from hippo_async.cli.app import build

AGENT = "tester"
KEEPING = Settings.from_mapping({"raw": {"mode": "all"}})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed memory of a few days."""
    folder = tmp_path_factory.mktemp("finding") / "store"

    async def fill() -> None:
        memory = Hippocampus(folder, agent_id=AGENT, embedder="none", witness=None, settings=KEEPING)
        async with memory:
            for day in (1, 2, 3):
                at = datetime(2026, 3, day, 9, tzinfo=UTC)
                memory.capture(f"Tea number {day}.", session="s", timestamp=at, tags=[f"day-{day}"])
            memory.capture("The tea is cold.", role="assistant", session="s", timestamp=at)
            memory.capture("Green tea it is.", kind="decision", scope=("ada", "home"), timestamp=at)
            memory.capture("My key sk-abcdEFGH1234ijklMNOP5678 [bold]is new.", timestamp=at, speaker="Ada")

    asyncio.run(fill())
    return folder


def recall(store: Path, *arguments: str) -> Result:
    where = ["--data-dir", str(store), "--agent", AGENT, "--embedder", "none"]
    return CliRunner().invoke(build(), ["recall", *arguments, *where], env={"COLUMNS": "200"})


def found(store: Path, *arguments: str) -> Any:
    result = recall(store, *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def texts(store: Path, *arguments: str) -> list[str]:
    return sorted(hit["record"]["content"] for hit in found(store, *arguments)["hits"])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--tag", "day-2"], ["Tea number 2."]),
        (["--role", "assistant"], ["The tea is cold."]),
        (["--kind", "decision", "--scope", "ada", "--scope", "home"], ["Green tea it is."]),
        (["--session", "t"], []),
        (["--start", "2026-03-02", "--end", "2026-03-02"], ["Tea number 2."]),
        (["--end", "2026-03-01T09:00:00.000001Z"], ["Tea number 1."]),
        (["--end", "2026-03-01T09:00Z"], []),
    ],
)
def test_each_option_filters_as_the_door_does(store: Path, options: list[str], expected: list[str]) -> None:
    assert texts(store, "tea", *options) == expected


def test_k_and_max_tokens_bound_what_is_returned(store: Path) -> None:
    assert len(texts(store, "tea", "-k", "2")) == 2
    cut = found(store, "tea", "--max-tokens", "8")
    assert len(cut["hits"]) == 1
    assert "budget of 8 tokens" in cut["notes"][0]


def test_neighbours_stand_around_their_hit(store: Path) -> None:
    arguments = ("number 2", "-k", "1", "--neighbours", "1")
    [hit] = found(store, *arguments)["hits"]
    assert [turn["content"] for turn in hit["around"]] == ["Tea number 1.", "Tea number 3."]
    lines = recall(store, *arguments).stdout.splitlines()
    assert ["number 1" in lines[1], "number 2" in lines[2], "number 3" in lines[3]] == [True] * 3


def test_what_a_score_is_made_of_is_shown_when_asked_for(store: Path) -> None:
    assert "words 0." in recall(store, "tea", "--explain").stdout
    assert "words 0." not in recall(store, "tea").stdout
    assert found(store, "tea")["hits"][0]["why"]["words"] > 0


def test_deep_raw_quotes_with_secrets_taken_out(store: Path) -> None:
    window = ("--deep-raw", "--start", "2026-03-03", "--end", "2026-03-03")
    [hit] = found(store, "key", *window)["raw"]
    assert hit["snippet"] == "My key [redacted] [bold]is new."
    shown = recall(store, "key", *window).stdout
    assert "My key [redacted] [bold]is new." in shown
    assert f"{hit['day']}:{hit['line']}" in shown
    assert "nothing found" in recall(store, "submarine", *window).stdout


def test_deep_raw_without_a_window_is_refused(store: Path) -> None:
    result = recall(store, "key", "--deep-raw", "--start", "2026-03-03", "--json")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["error"]["code"] == "MEM_E_INVALID_INPUT"


@pytest.mark.parametrize("date", ["yesterday", "2026-13-01", "9999-12-31", "0001-01-01T00:00+09:00"])
def test_a_date_that_is_none_is_named(store: Path, date: str) -> None:
    result = recall(store, "tea", "--end", date, "--json")
    assert result.exit_code == 3
    assert date in json.loads(result.stdout)["error"]["message"]


def test_a_kind_that_is_none_is_wrong_use(store: Path) -> None:
    assert recall(store, "tea", "--kind", "opinion").exit_code == 2
