"""``hippo migrate``."""

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
from hippo_async.migration import MigrationReport, migrate


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A closed memory of two records."""
    tell(tmp_path / "store", "The kettle is blue.", "The pan is small.")
    return tmp_path / "store"


def hippo(*arguments: str | Path) -> Result:
    return CliRunner().invoke(build(), [*map(str, arguments)])


def as_json(result: Result, code: int = 0) -> Any:
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_a_memory_is_moved_and_recalls_where_it_is_now(store: Path, tmp_path: Path) -> None:
    result = hippo("migrate", "--from", store, tmp_path / "new")
    assert result.exit_code == 0, result.output
    assert "moved and verified" in result.output
    assert "3 records of agent 'agent'" in result.output
    assert recalled(tmp_path / "new", "kettle") == ["The kettle is blue."]
    again = hippo("migrate", "--from", store, tmp_path / "new")
    assert (again.exit_code, "moved before" in again.output) == (0, True)


def test_the_report_is_one_json_document(store: Path, tmp_path: Path) -> None:
    facts = as_json(hippo("migrate", "--from", store, tmp_path / "new", "--json"))
    assert (facts["from"], facts["to"]) == (str(store), str(tmp_path / "new"))
    assert (facts["records"], facts["already"]) == (3, False)
    assert as_json(hippo("migrate", "--from", store, tmp_path / "new", "--json"))["already"]


def test_the_default_directory_is_moved_if_none_is_named(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPO_DATA_DIR", str(store))
    for _ in range(2):
        assert as_json(hippo("migrate", tmp_path / "new", "--json"))["from"] == str(store)


def test_then_one_under_an_old_name(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home/data"))
    shutil.copytree(store, tmp_path / "home/.hippo")
    assert as_json(hippo("migrate", tmp_path / "new", "--json"))["from"] == str(tmp_path / "home/.hippo")


def test_where_none_is_found_it_says_where_it_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    result = hippo("migrate", tmp_path / "new")
    assert result.exit_code == 3
    assert "MEM_E_NOT_FOUND" in result.output
    assert str(tmp_path / "home/.hippocampus") in result.output
    assert "--from" in result.output


def test_an_open_memory_is_not_moved(store: Path, tmp_path: Path) -> None:
    with Hippocampus(store, embedder="none"):
        result = hippo("migrate", "--from", store, tmp_path / "new", "--json")
    assert as_json(result, 3)["error"]["code"] == "MEM_E_JOURNAL_LOCKED"
    assert not (tmp_path / "new").exists()


def test_a_damaged_memory_is_not_moved(store: Path, tmp_path: Path) -> None:
    [segment] = (store / "journal").glob("gen-*/seg-*")
    segment.write_bytes(segment.read_bytes().replace(b"small", b"large"))
    assert as_json(hippo("migrate", "--from", store, tmp_path / "new", "--json"), 1)["error"]["code"] == (
        "MEM_E_JOURNAL_CORRUPT"
    )


def test_what_is_in_the_way_is_named(store: Path, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new/diary").write_text("mine")
    result = hippo("migrate", "--from", store, tmp_path / "new")
    assert (result.exit_code, "diary" in result.output) == (3, True)


def test_what_migrate_from_names_goes_before_the_default_directory(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(tmp_path / "default", "The pot is green.")
    monkeypatch.setenv("HIPPO_DATA_DIR", str(tmp_path / "default"))
    for target in (tmp_path / "new", tmp_path / "newer"):
        target.mkdir()
        (target / "config.toml").write_text(f'migrate_from = "{store}"\n')
    for _ in range(2):
        assert as_json(hippo("migrate", tmp_path / "new", "--json"))["from"] == str(store)
    fetched = as_json(hippo("migrate", tmp_path / "newer", "--json"))
    assert fetched["from"] == str(tmp_path / "default"), "what it names was fetched before"


def test_where_migrate_from_names_no_memory_no_other_is_moved(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPO_DATA_DIR", str(store))
    monkeypatch.setenv("HIPPO_MIGRATE_FROM", str(tmp_path / "nowhere"))
    error = as_json(hippo("migrate", tmp_path / "new", "--json"), 3)["error"]
    assert error["code"] == "MEM_E_NOT_FOUND"
    assert str(tmp_path / "nowhere") in error["message"]
    assert as_json(hippo("migrate", "--from", store, tmp_path / "new", "--json"))["from"] == str(store)


def test_a_move_that_was_cut_short_goes_on_from_where_it_began(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hippo("migrate", "--from", store, tmp_path / "new").exit_code == 0
    (tmp_path / "new/MIGRATED").rename(tmp_path / "new/MIGRATING")
    tell(tmp_path / "default", "The pot is green.")
    monkeypatch.setenv("HIPPO_DATA_DIR", str(tmp_path / "default"))
    report = as_json(hippo("migrate", tmp_path / "new", "--json"))
    assert (report["from"], report["already"]) == (str(store), False)


@pytest.mark.parametrize(
    ("option", "expected"), [((), 20_000), (("--timeout", "30"), 30_000), (("--timeout", "3600"), 3_600_000)]
)
def test_it_takes_as_long_as_the_memory_lets_it_unless_it_is_told_otherwise(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...], expected: int
) -> None:
    (store / "config.toml").write_text("[migration]\ntimeout_ms = 20_000\n")
    seen = []

    def noted(*given: Any, timeout_ms: int, **options: Any) -> MigrationReport:
        seen.append(timeout_ms)
        return migrate(*given, timeout_ms=timeout_ms, **options)

    monkeypatch.setattr("hippo_async.cli.migrating.move", noted)
    assert hippo("migrate", "--from", store, tmp_path / "new", *option).exit_code == 0
    assert seen == [expected]


def test_a_setting_that_is_not_allowed_is_named_before_anything_is_moved(store: Path, tmp_path: Path) -> None:
    (store / "config.toml").write_text("[migration]\ntimeout_ms = 1\n")
    error = as_json(hippo("migrate", "--from", store, tmp_path / "new", "--json"), 2)["error"]
    assert error["code"] == "MEM_E_CONFIG_OUT_OF_RANGE"
    assert not (tmp_path / "new").exists()


def test_a_timeout_beyond_its_range_is_wrong_use(store: Path, tmp_path: Path) -> None:
    assert hippo("migrate", "--from", store, tmp_path / "new", "--timeout", "5").exit_code == 2
