"""``hippo remember``, ``checkpoint``, ``task``, ``reinforce``, ``reviews`` and ``tags``."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hippo_async import Hippocampus
from hippo_async.cli.app import build
from hippo_async.testing import FakeClock

LONG_AGO = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def hippo(store: Path, *arguments: str) -> Result:
    return CliRunner().invoke(build(), [*arguments, "--data-dir", str(store)], env={"COLUMNS": "200"})


def told(store: Path, *arguments: str, code: int = 0) -> Any:
    result = hippo(store, *arguments, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def remembered_long_ago(store: Path, *texts: str) -> list[str]:
    async def fill() -> list[str]:
        async with Hippocampus(store, embedder="none", clock=FakeClock(LONG_AGO)) as memory:
            return [(await memory.remember(text)).record.record_id for text in texts]

    return asyncio.run(fill())


def test_what_is_remembered_twice_is_one_memory_that_counts(store: Path) -> None:
    first = told(store, "remember", "The boat is called Nimbus.", "--tag", "boat", "--kind", "decision")
    again = told(store, "remember", "the boat  is called Nimbus.", "--tag", "boat")
    assert (first["is_new"], first["count"]) == (True, 1)
    assert again == first | {"is_new": False, "count": 2}
    assert (
        "remembered 3 times" in hippo(store, "remember", "The boat is called Nimbus.", "--tag", "boat").stdout
    )
    [hit] = told(store, "recall", "boat", "--kind", "decision", "--embedder", "none")["hits"]
    assert hit["record"]["record_id"] == first["record_id"]


def test_another_scope_or_day_is_another_memory(store: Path) -> None:
    ways = ([], ["--scope", "ann"], ["--occurred", "2026-03-02"], ["--occurred", "2026-03-03T18:00+01:00"])
    made = [told(store, "remember", "We met.", *way) for way in ways]
    assert all(one["is_new"] for one in made)
    assert len({one["event_id"] for one in made}) == len(ways)


def test_a_medium_is_named_whole_or_refused(store: Path) -> None:
    url, of_type = ["--media-url", "https://example.org/boat.png"], ["--media-type", "image"]
    kept = told(store, "remember", "The boat.", *url, *of_type)
    [record] = [one for one in told(store, "log") if one["record_id"] == kept["record_id"]]
    assert record["metadata"]["media"] == {"url": url[1], "type": "image"}
    assert told(store, "remember", "The boat.", *url, code=3)["error"]["code"] == "MEM_E_INVALID_MEDIA"


def test_one_task_is_in_progress_until_it_is_done(store: Path) -> None:
    assert told(store, "task") == {"task": None}
    assert "no task" in hippo(store, "task").stdout
    kept = told(store, "checkpoint", "boat", "The hull is [red]done.", "--progress", "40")["task"]
    assert (kept["task_id"], kept["progress"]) == ("boat", 40)
    assert told(store, "task")["task"] == kept | {"content": "The hull is [red]done."}
    shown = hippo(store, "task").stdout
    assert "boat: 40 %" in shown
    assert "The hull is [red]done." in shown
    assert told(store, "task", "--scope", "ann") == {"task": None}
    assert told(store, "checkpoint", "boat", "All done.", "--progress", "100") == {"task": None}
    assert told(store, "checkpoint", "boat", "x", "--progress", "101", code=3)["error"]["code"] == (
        "MEM_E_INVALID_INPUT"
    )


def test_a_memory_comes_up_for_review_until_it_is_confirmed(store: Path) -> None:
    assert "no review" in hippo(store, "reviews").stdout
    boat, _ = remembered_long_ago(store, "The boat is called Nimbus.", "The tea is green.")
    due = told(store, "reviews")
    assert [one["content"] for one in due] == ["The boat is called Nimbus.", "The tea is green."]
    assert boat[:8] in hippo(store, "reviews").stdout
    state = told(store, "reinforce", boat[:6])
    assert (state["record_id"], state["confirmed"]) == (boat, 1)
    assert [one["content"] for one in told(store, "reviews")] == ["The tea is green."]
    assert "next review" in hippo(store, "reinforce", boat).stdout


def test_tags_are_counted_within_their_scope(store: Path) -> None:
    for text, tag in (("one", "tea"), ("two", "tea"), ("three", "[boat]")):
        told(store, "remember", text, "--tag", tag)
    told(store, "remember", "theirs", "--tag", "secret", "--scope", "ann")
    assert told(store, "tags") == [{"tag": "tea", "records": 2}, {"tag": "[boat]", "records": 1}]
    assert told(store, "tags", "-n", "1") == [{"tag": "tea", "records": 2}]
    assert "[boat]" in hippo(store, "tags").stdout
    assert "no tag" in hippo(store, "tags", "--scope", "bob").stdout


@pytest.mark.parametrize(
    ("name", "code"),
    [("abc", "MEM_E_INVALID_INPUT"), ("0" * 8, "MEM_E_NOT_FOUND"), ("0" * 32, "MEM_E_NOT_FOUND")],
)
def test_an_id_that_names_nothing_is_an_error_with_a_code(store: Path, name: str, code: str) -> None:
    remembered_long_ago(store, "The tea is green.")
    assert told(store, "reinforce", name, code=3)["error"]["code"] == code
