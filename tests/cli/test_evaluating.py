"""``hippo bench``, on a small talk written for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hippo_async.cli.app import build

FILE = Path(__file__).parents[1] / "evaluation/small_talk.json"


def bench(command: str, *arguments: str | Path) -> Result:
    return CliRunner().invoke(build(), ["bench", command, *map(str, arguments)])


def facts(*arguments: str | Path, command: str = "locomo", code: int = 0) -> Any:
    result = bench(command, *arguments, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


@pytest.fixture(autouse=True)
def _temporary_folders_stay_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))


def test_figures_come_as_one_json_document() -> None:
    found = facts(FILE, "--embedder", "none")
    assert (found["embedder"], found["turns"], found["skipped"]) == (None, 8, 2)
    assert found["overall"]["questions"] == 5
    assert found["overall"]["recall"].keys() == {"5", "10", "20", "50"}
    assert found["overall"]["recall"]["50"] == 1
    assert found["overall"]["mrr"] > 0.7
    assert list(found["categories"]) == ["multi-hop", "temporal", "single-hop"]
    assert {name: part["questions"] for name, part in found["conversations"].items()} == {
        "talk-1": 4,
        "talk-2": 1,
    }
    assert found["turns_per_second"] > 0
    assert 0 < found["recall_ms"]["p50"] <= found["recall_ms"]["p95"] <= found["recall_ms"]["p99"]


def test_people_get_a_table_and_what_it_is_about() -> None:
    result = bench("locomo", FILE, "--embedder", "none")
    assert result.exit_code == 0, result.output
    for text in ("R@10", "MRR", "session", "single-hop", "talk-2", "words only", "2 questions skipped"):
        assert text in result.stdout


def test_briefings_are_measured_within_their_budget() -> None:
    found = facts(FILE, "--embedder", "none", "-b", "300", command="briefing")
    assert (found["budget"], found["overall"]["questions"]) == (300, 5)
    assert 0 < found["overall"]["tokens"] <= 300
    assert found["overall"]["asked"] > 0.7
    assert list(found["categories"]) == ["multi-hop", "temporal", "single-hop"]
    shown = bench("briefing", FILE, "--embedder", "none").stdout
    assert all(text in shown for text in ("asked", "before", "tokens", "single-hop"))


def test_one_conversation_is_measured_alone() -> None:
    assert list(facts(FILE, "--embedder", "none", "--conversation", "2")["conversations"]) == ["talk-2"]


def test_nothing_is_left_behind_and_no_other_memory_touched(tmp_path: Path) -> None:
    facts(FILE, "--embedder", "none")
    assert list((tmp_path / "temporary").iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]


def test_what_cannot_be_measured_is_an_error_with_a_code(tmp_path: Path) -> None:
    (tmp_path / "talk.json").write_text("[]")
    for file, code in (("nowhere.json", "MEM_E_OS"), ("talk.json", "MEM_E_INVALID_INPUT")):
        assert facts(tmp_path / file, "--embedder", "none", code=3)["error"]["code"] == code
    error = facts(FILE, "--conversation", "9", code=3)["error"]
    assert "conversation 9" in error["message"]
