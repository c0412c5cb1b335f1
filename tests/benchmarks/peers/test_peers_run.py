"""The comparison runs; what it finds is judged by people, never by a test. Peers are not installed here."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hippo_async.evaluation import read_conversations

BENCHMARKS = Path(__file__).parents[1]
FILE = BENCHMARKS.parent / "evaluation/small_talk.json"


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find the comparison as its Makefile target does, in its processes too."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.setenv("PYTHONPATH", str(BENCHMARKS))


def module(name: str) -> Any:
    return import_module(f"peers.{name}")


def test_the_floor_finds_what_has_the_words_of_the_question(tmp_path: Path) -> None:
    talk = read_conversations(FILE)[0]
    floor = module("fts5").Fts5(tmp_path, None)
    floor.add(talk.turns)
    assert floor.ask("When did Tomas move to Porto?", 5)[0] == "D2:1"
    assert len(floor.ask("Tomas", 1)) == 1


def test_ours_is_measured_as_a_peer_is() -> None:
    figures = module("measuring").run("hippo-words", read_conversations(FILE))
    assert figures["overall"]["questions"] == 5
    assert figures["overall"]["recall"][50] == 1
    assert figures["add_ms"] > 0


@pytest.mark.process
def test_a_memory_that_fails_is_shown_with_its_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is no such file: each process finds out by itself, and the others still have their turn."""
    assert module("runner").main([str(tmp_path / "nowhere.json"), "fts5", "hippo-words", "--json"]) == 0
    captured = capsys.readouterr()
    assert [result["name"] for result in json.loads(captured.out)] == ["fts5", "hippo-words"]
    assert captured.err.count("FileNotFoundError") == 2


@pytest.mark.process
def test_figures_of_every_memory_stand_in_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert module("runner").main([str(FILE), "hippo-words", "--conversation", "2"]) == 0
    output = capsys.readouterr().out
    assert "hippo-words" in output
    assert "1.000" in output


def test_an_unknown_memory_is_named_and_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        module("runner").main([str(FILE), "elephant"])
    assert "no memory 'elephant'" in capsys.readouterr().err
