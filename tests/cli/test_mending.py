"""``hippo repair``, ``hippo salvage`` and ``hippo witness accept``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from closed_memories import recalled, tell
from directories import contents
from typer.testing import CliRunner, Result

from hippo_async.cli.app import build


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A closed memory of four records."""
    tell(tmp_path / "store", "The kettle is blue.", "The pan is small.", "Tea at five.", "No sugar.")
    return tmp_path / "store"


def edit(store: Path, old: bytes, new: bytes) -> None:
    [segment] = (store / "journal").glob("gen-*/seg-*")
    segment.write_bytes(segment.read_bytes().replace(old, new))


def hippo(*arguments: str, store: Path) -> Result:
    return CliRunner().invoke(build(), [*arguments, "--data-dir", str(store)])


def as_json(result: Result, code: int = 0) -> Any:
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_a_sound_store_needs_no_repair(store: Path) -> None:
    assert as_json(hippo("repair", "--json", store=store))["journals"][0]["verdict"] is None
    assert "nothing is wrong" in hippo("repair", "--apply", store=store).output


def test_a_dry_run_says_what_would_be_done_and_does_nothing(store: Path) -> None:
    edit(store, b"The pan is small.", b"The pan is huge.")
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    result = hippo("repair", store=store)
    assert result.exit_code == 1
    assert "MEM_E_JOURNAL_CORRUPT" in result.output
    assert "5 records keep their place, 1 of them without their text" in result.output
    assert "hippo repair --apply" in result.output
    assert {path: path.read_bytes() for path in store.rglob("*") if path.is_file()} == before


def test_a_store_that_was_moved_away_is_not_repaired_where_it_was(store: Path, tmp_path: Path) -> None:
    target = tmp_path / "new"
    assert CliRunner().invoke(build(), ["migrate", "--from", str(store), str(target)]).exit_code == 0
    edit(store, b"The pan is small.", b"The pan is huge.")
    before = contents(store)
    error = as_json(hippo("repair", "--apply", "--json", store=store), 3)["error"]
    assert (error["code"], str(target) in error["message"]) == ("MEM_E_MOVED", True)
    assert contents(store) == before
    assert hippo("repair", store=store).exit_code == 1, "it may be looked at"


def test_a_repaired_store_is_remembered_from_again(store: Path) -> None:
    edit(store, b"The pan is small.", b"The pan is huge.")
    [journal] = as_json(hippo("repair", "--apply", "--json", store=store))["journals"]
    assert (journal["kept"], journal["texts_lost"], journal["lost"]) == (5, 1, 0)
    assert journal["damages"][0]["outcome"] == "text_lost"
    assert recalled(store, "pan") == []
    assert recalled(store, "kettle") == ["The kettle is blue."]


def test_salvage_takes_out_what_can_be_proved_and_changes_nothing(store: Path, tmp_path: Path) -> None:
    edit(store, b"The pan is small.", b"The pan is huge.")
    [segment] = (store / "journal").glob("gen-*/seg-*")
    data = segment.read_bytes()
    segment.write_bytes(b"no genesis\n" + data.partition(b"\n")[2])
    assert "salvage" in hippo("repair", store=store).output

    facts = as_json(hippo("salvage", "-o", str(tmp_path / "out.jsonl"), "--json", store=store))

    assert facts["damages"] == 2
    kept = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [record["content"] for record in kept if record["content"]] == [
        "The kettle is blue.",
        "Tea at five.",
        "No sugar.",
    ]


def test_an_older_copy_is_refused_until_it_is_accepted_and_the_log_shows_it(
    store: Path, tmp_path: Path
) -> None:
    shutil.copytree(store, tmp_path / "backup")
    tell(store, "Later.")
    shutil.rmtree(store)
    shutil.copytree(tmp_path / "backup", store)
    refused = hippo("status", store=store)
    assert (refused.exit_code, "MEM_E_ROLLED_BACK" in refused.output) == (1, True)
    assert "hippo witness accept" in hippo("repair", store=store).output

    accepted = as_json(hippo("witness", "accept", "--json", store=store))

    assert accepted["accepted"]["code"] == "MEM_E_ROLLED_BACK"
    newest = as_json(hippo("log", "-n", "1", "--json", store=store))[0]
    assert (newest["seq"], newest["type"]) == (accepted["seq"], "accept")
    assert recalled(store, "kettle") == ["The kettle is blue."]


def test_nothing_is_accepted_where_the_witness_has_nothing_against_it(store: Path) -> None:
    assert as_json(hippo("witness", "accept", "--json", store=store)) == {"accepted": None, "seq": 4}
