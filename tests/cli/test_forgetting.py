"""``hippo forget``, ``unforget`` and ``deletes``; and no other command that tells what they hide."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hippo_async import Hippocampus, Settings, Turn
from hippo_async.cli.app import build

SECRET = "zanzibarquokka"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def secret(store: Path) -> str:
    """The id of a record with the secret, of which a fold was made, among others."""

    async def fill() -> str:
        async with Hippocampus(store, embedder="none") as memory:
            said = [await memory.record(text, role="user") for text in ("good day", f"it is {SECRET}", "bye")]
            await memory.fold([Turn("user", one.text, 9, record_id=one.record_id) for one in said])
            return said[1].record_id

    return asyncio.run(fill())


def hippo(store: Path, *arguments: str) -> Result:
    return CliRunner().invoke(build(), [*arguments, "--data-dir", str(store)], env={"COLUMNS": "200"})


def told(store: Path, *arguments: str, code: int = 0) -> Any:
    result = hippo(store, *arguments, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_what_is_forgotten_is_not_found_and_comes_back(store: Path, secret: str) -> None:
    assert "nothing is to be forgotten" in hippo(store, "deletes").stdout
    pending = told(store, "forget", secret[:8])
    assert (pending["record_id"], pending["erased"]) == (secret, False)
    assert told(store, "deletes") == [pending]
    assert secret[:8] in hippo(store, "deletes").stdout
    assert "is hidden" in hippo(store, "forget", secret[:6]).stdout
    assert told(store, "recall", SECRET, "--embedder", "none")["hits"] == []
    assert told(store, "unforget", secret[:8]) == {"record_id": secret, "is_back": True}
    assert told(store, "recall", SECRET, "--embedder", "none")["hits"] != []


def test_what_was_erased_is_said_to_be(store: Path, secret: str) -> None:
    async def erase() -> None:
        at_once = Settings.from_mapping({"delete": {"grace_hours": 0}})
        async with Hippocampus(store, embedder="none", settings=at_once) as memory:
            await memory.forget(secret)

    asyncio.run(erase())
    assert [one["erased"] for one in told(store, "deletes")] == [True]
    assert "erased" in hippo(store, "deletes").stdout
    assert told(store, "unforget", secret[:8])["is_back"] is False


def test_it_stays_within_its_scope(store: Path, secret: str) -> None:
    for command in ("forget", "unforget"):
        for name in (secret, secret[:8]):
            assert told(store, command, name, "--scope", "ann", code=3)["error"]["code"] == "MEM_E_NOT_FOUND"
    told(store, "forget", secret)
    assert told(store, "deletes", "--scope", "ann") == []


def test_they_are_refused_while_an_agent_has_the_memory_open(store: Path, secret: str) -> None:
    async def beside() -> Result:
        async with Hippocampus(store, embedder="none"):
            return await asyncio.to_thread(hippo, store, "forget", secret, "--json")

    refused = asyncio.run(beside())
    assert refused.exit_code == 3
    assert json.loads(refused.stdout)["error"]["code"] == "MEM_E_JOURNAL_LOCKED"


def test_log_shows_neither_what_is_to_be_forgotten_nor_folds_of_it(store: Path, secret: str) -> None:
    assert hippo(store, "log").stdout.count(SECRET) == 2
    told(store, "forget", secret)
    for options in ((), ("--json",), ("-n", "2"), ("--after", "1")):
        result = hippo(store, "log", *options)
        assert result.exit_code == 0
        assert SECRET not in result.output
    assert hippo(store, "log").stdout.count("[forgotten]") == 2
    told(store, "unforget", secret)
    assert hippo(store, "log").stdout.count(SECRET) == 2


def test_no_file_that_outlives_an_erasure_is_made_with_it(store: Path, secret: str, tmp_path: Path) -> None:
    """What is taken out of a journal by hand, and what is proved to others."""
    told(store, "forget", secret)
    saved = tmp_path / "saved.jsonl"
    told(store, "salvage", "--output", str(saved))
    records = [json.loads(line) for line in saved.read_text().splitlines()]
    assert secret in {record["record_id"] for record in records}
    assert SECRET not in saved.read_text()
    assert told(store, "prove", secret)["record_id"] == secret
    refused = told(store, "prove", secret, "--reveal", code=3)
    assert refused["error"]["code"] == "MEM_E_FORGOTTEN"
