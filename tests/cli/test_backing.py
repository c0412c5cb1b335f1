"""``hippo backup`` and ``hippo restore``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from closed_memories import recalled, tell
from typer.testing import CliRunner, Result

from hippo_async import Hippocampus
from hippo_async.cli.app import build


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A closed memory of two records."""
    tell(tmp_path / "store", "The kettle is blue.", "The pan is small.")
    return tmp_path / "store"


def hippo(*arguments: str | Path, store: Path) -> Result:
    return CliRunner().invoke(build(), [*map(str, arguments), "--data-dir", str(store)])


def as_json(result: Result, code: int = 0) -> Any:
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_a_backup_without_the_key_says_loudly_what_it_needs(store: Path, tmp_path: Path) -> None:
    result = hippo("backup", tmp_path / "backup", store=store)
    assert result.exit_code == 0, result.output
    assert "3 records of agent 'agent'" in result.output
    assert "NOT in it" in result.output
    assert str(store / "agent.key") in result.output
    assert not (tmp_path / "backup/agent.key").exists()


def test_a_backup_with_the_key_says_what_that_means_and_never_shows_it(store: Path, tmp_path: Path) -> None:
    result = hippo("backup", tmp_path / "backup", "--with-key", store=store)
    assert "read this memory and forge it" in result.output
    assert (store / "agent.key").read_text().strip() not in result.output
    assert (tmp_path / "backup/agent.key").stat().st_mode & 0o777 == 0o600


def test_the_report_is_one_json_document(store: Path, tmp_path: Path) -> None:
    facts = as_json(hippo("backup", tmp_path / "backup", "--json", store=store))
    assert (facts["records"], facts["with_keys"]) == (3, False)
    assert facts["key_files"] == [str(store / "agent.key")]
    assert "worthless" in facts["warning"]
    restored = as_json(
        hippo(
            "restore",
            tmp_path / "backup",
            "--json",
            "--key-file",
            store / "agent.key",
            store=tmp_path / "fresh",
        )
    )
    assert restored["record_id"] == facts["record_id"]
    assert restored["rolled_back"] is None


def test_a_store_that_an_agent_has_open_is_backed_up(store: Path, tmp_path: Path) -> None:
    with Hippocampus(store, embedder="none"):
        result = hippo("backup", tmp_path / "backup", store=store)
    assert result.exit_code == 0, result.output


def test_what_was_restored_recalls(store: Path, tmp_path: Path) -> None:
    hippo("backup", tmp_path / "backup", "--with-key", store=store)
    shutil.rmtree(store)
    result = hippo("restore", tmp_path / "backup", store=store)
    assert result.exit_code == 0, result.output
    assert "verified" in result.output
    assert "witness" not in result.output
    assert recalled(store, "kettle") == ["The kettle is blue."]


def test_an_older_state_has_to_be_accepted_and_the_log_shows_it(store: Path, tmp_path: Path) -> None:
    hippo("backup", tmp_path / "backup", "--with-key", store=store)
    tell(store, "Later.")
    shutil.rmtree(store)

    result = hippo("restore", tmp_path / "backup", store=store)

    assert result.exit_code == 0, result.output
    assert "older than what the witness outside the store saw" in result.output
    assert "hippo witness accept" in result.output
    assert "MEM_E_ROLLED_BACK" in hippo("status", store=store).output
    accepted = as_json(hippo("witness", "accept", "--json", store=store))
    assert accepted["accepted"]["code"] == "MEM_E_ROLLED_BACK"
    newest = as_json(hippo("log", "-n", "1", "--json", store=store))[0]
    assert (newest["seq"], newest["type"]) == (accepted["seq"], "accept")
    assert recalled(store, "kettle") == ["The kettle is blue."]


def test_a_damaged_store_is_not_backed_up(store: Path, tmp_path: Path) -> None:
    [segment] = (store / "journal").glob("gen-*/seg-*")
    segment.write_bytes(segment.read_bytes().replace(b"small", b"large"))
    result = hippo("backup", tmp_path / "backup", store=store)
    assert result.exit_code == 1
    assert "MEM_E_JOURNAL_CORRUPT" in result.output
    assert "hippo repair" in result.output
    assert not (tmp_path / "backup").exists()


def test_a_damaged_backup_is_not_restored(store: Path, tmp_path: Path) -> None:
    hippo("backup", tmp_path / "backup", "--with-key", store=store)
    [segment] = (tmp_path / "backup/journal").glob("gen-*/seg-*")
    segment.write_bytes(segment.read_bytes().replace(b"small", b"large"))
    error = as_json(hippo("restore", tmp_path / "backup", "--json", store=tmp_path / "fresh"), 1)["error"]
    assert error["code"] == "MEM_E_INTEGRITY"
    assert error["path"] == str(segment)
    assert not (tmp_path / "fresh").exists()


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_nothing_is_written_over(store: Path, tmp_path: Path, command: str) -> None:
    hippo("backup", tmp_path / "backup", "--with-key", store=store)
    result = hippo(command, tmp_path / "backup", store=store)
    assert result.exit_code == 3
    assert "MEM_E_INVALID_INPUT" in result.output
