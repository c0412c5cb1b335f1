"""``hippo`` as people and programs use it."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hippo_async import Hippocampus
from hippo_async.cli.app import build

AGENT = "tester"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A closed memory of a few records."""
    folder = tmp_path / "store"

    async def fill() -> None:
        async with Hippocampus(folder, agent_id=AGENT, embedder="none") as memory:
            await memory.record("The kettle is blue.", role="user", session="monday")
            await memory.record("Use the small pan.", kind="decision", role="assistant", session="monday")

    asyncio.run(fill())
    return folder


def hippo(*arguments: str, store: Path | None = None) -> Result:
    where = ["--data-dir", str(store), "--agent", AGENT] if store is not None else []
    return CliRunner().invoke(build(), [*arguments, *where])


def as_json(result: Result, code: int = 0) -> Any:
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_status_counts_what_the_store_holds(store: Path) -> None:
    facts = as_json(hippo("status", "--json", store=store))
    assert (facts["records"], facts["sessions"]) == (3, 1)
    assert facts["kinds"] == {"observation": 1, "decision": 1}
    assert "records" in hippo("status", store=store).stdout


def test_log_shows_the_newest_records(store: Path) -> None:
    records = as_json(hippo("log", "-n", "2", "--json", store=store))
    assert [record["content"] for record in records] == ["The kettle is blue.", "Use the small pan."]
    assert "small pan" in hippo("log", store=store).stdout


def test_recall_says_what_it_found_and_why(store: Path) -> None:
    found = as_json(hippo("recall", "kettle", "--embedder", "none", "--json", store=store))
    assert found["hits"][0]["record"]["content"] == "The kettle is blue."
    assert found["hits"][0]["why"]["words"] > 0
    assert "kettle" in hippo("recall", "kettle", "--embedder", "none", store=store).stdout
    assert "nothing found" in hippo("recall", "submarine", "--embedder", "none", store=store).stdout


def test_brief_prints_the_block_and_its_size(store: Path) -> None:
    made = as_json(hippo("brief", "kettle", "-b", "200", "--embedder", "none", "--json", store=store))
    assert "The kettle is blue." in made["text"]
    assert made["tokens"] <= made["budget"] == 200


def test_verify_of_a_sound_store_is_intact(store: Path) -> None:
    assert as_json(hippo("verify", "--json", store=store))["intact"] is True
    assert "intact" in hippo("verify", store=store).stdout


@pytest.mark.parametrize(
    "command", [["verify"], ["log"], ["status"], ["anchor", "day", "2026-01-01"], ["recall", "kettle"]]
)
def test_an_edited_store_is_refused_with_its_place_and_exit_code_1(store: Path, command: list[str]) -> None:
    [segment] = store.glob("journal/gen-*/seg-*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b"blue", b"teal"))
    error = as_json(hippo(*command, "--json", store=store), code=1)["error"]
    assert error["code"] == "MEM_E_JOURNAL_CORRUPT"
    assert error["path"] == str(segment)
    assert error["seq"] == "1"
    assert int(error["offset"]) > 0
    assert "committed" in error["reason"]


def test_reading_commands_work_while_an_agent_has_the_memory_open(store: Path) -> None:
    async def beside() -> tuple[Result, Result]:
        async with Hippocampus(store, agent_id=AGENT, embedder="none") as memory:
            await memory.record("third")
            verify = await asyncio.to_thread(hippo, "verify", "--json", store=store)
            recall = await asyncio.to_thread(
                hippo, "recall", "kettle", "--embedder", "none", "--json", store=store
            )
            return verify, recall

    verify, recall = asyncio.run(beside())
    assert as_json(verify)["records"] == 4
    assert as_json(recall, code=3)["error"]["code"] == "MEM_E_JOURNAL_LOCKED"


def test_an_anchor_is_one_hash_a_day_and_tells_nothing_else(store: Path) -> None:
    day = as_json(hippo("log", "--json", store=store))[0]["timestamp"][:10]
    made = as_json(hippo("anchor", "day", day, "--json", store=store))
    assert made["payload"]["count"] == 3
    assert len(made["anchor_payload_hash"]) == 64
    assert "kettle" not in json.dumps(made)


def test_a_store_that_is_not_there_is_an_error_with_a_code(tmp_path: Path) -> None:
    error = as_json(hippo("verify", "--json", store=tmp_path / "nowhere"), code=3)["error"]
    assert error["code"] == "MEM_E_KEY"
    assert not (tmp_path / "nowhere").exists(), "reading makes nothing"


def test_a_lost_key_is_not_replaced_by_a_new_one(store: Path) -> None:
    (store / "agent.key").unlink()
    assert as_json(hippo("recall", "x", "--json", store=store), code=3)["error"]["code"] == "MEM_E_KEY"
    assert not (store / "agent.key").exists()


def test_a_key_of_another_journal_is_told_apart_from_damage(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.key"
    assert hippo("key", "new", str(other)).exit_code == 0
    shutil.copy(other, store / "agent.key")
    assert as_json(hippo("verify", "--json", store=store), code=1)["error"]["code"] == "MEM_E_WRONG_KEY"


def test_keys_are_made_private_once_and_never_printed(tmp_path: Path) -> None:
    path = tmp_path / "agent.key"
    made = hippo("key", "new", str(path), "--json")
    assert as_json(made) == {"path": str(path), "state": "made"}
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text().strip() not in made.output
    assert hippo("key", "new", str(path)).exit_code == 3
    assert hippo("key", "check", str(path)).exit_code == 0
    path.chmod(0o644)
    assert as_json(hippo("key", "check", str(path), "--json"), code=3)["error"]["code"] == "MEM_E_KEY"


def test_wrong_use_has_exit_code_2(store: Path) -> None:
    assert hippo("anchor", "day", "yesterday", store=store).exit_code == 2
    assert hippo("sing", store=store).exit_code == 2


def test_the_demo_is_a_command_that_an_adapter_brings() -> None:
    assert "demo" in hippo("--help").stdout
