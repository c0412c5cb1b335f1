"""``hippo config``: what is set and by whom, changing it, and checking a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hippo_async.cli.app import build
from hippo_async.config.settings import NAMES


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "config.toml").write_text('# mine\n[raw]\nmode = "all"  # everything\n')
    return folder


def hippo(*arguments: str, store: Path) -> Result:
    return CliRunner().invoke(build(), ["config", *arguments, "--data-dir", str(store)])


def as_json(result: Result, code: int = 0) -> Any:
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_show_tells_each_value_where_it_comes_from_and_what_it_takes(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPO_RETRIEVAL__TOP_K", "5")
    shown = as_json(hippo("show", "--json", store=store))
    file = str(store / "config.toml")
    assert (shown["data_dir"], shown["file"]) == (str(store), file)
    assert set(shown["settings"]) == set(NAMES.fields)
    assert shown["settings"]["raw.mode"]["value"] == "all"
    assert shown["settings"]["raw.mode"]["source"] == file
    assert shown["settings"]["retrieval.top_k"] == {
        "value": 5,
        "source": "HIPPO_RETRIEVAL__TOP_K",
        "takes": "a whole number from 1 to 1,000",
    }
    assert shown["settings"]["briefing"]["source"] == "default"


def test_show_is_a_table_for_people(store: Path) -> None:
    result = hippo("show", store=store)
    assert result.exit_code == 0
    for said in ("raw.mode", "all", "maintenance_cron", "0 */6 * * *", "default"):
        assert said in result.stdout


def test_show_defaults_reads_nothing(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (store / "config.toml").write_text("no TOML")
    monkeypatch.setenv("HIPPO_BRIEFING", "perhaps")
    shown = as_json(hippo("show", "--defaults", "--json", store=store))
    assert shown["settings"]["raw.mode"]["value"] == "salience"
    assert {facts["source"] for facts in shown["settings"].values()} == {"default"}


@pytest.mark.parametrize("key", ["raw.max_turn_kb", "raw.maxTurnKb"])
def test_set_changes_one_key_in_either_spelling_and_nothing_else(store: Path, key: str) -> None:
    done = as_json(hippo("set", key, "9", "--json", store=store))
    assert done == {"file": str(store / "config.toml"), "key": "raw.max_turn_kb", "value": 9}
    text = (store / "config.toml").read_text()
    assert text == '# mine\n[raw]\nmode = "all"  # everything\nmax_turn_kb = 9\n'
    assert as_json(hippo("show", "--json", store=store))["settings"]["raw.max_turn_kb"]["value"] == 9


def test_set_makes_the_file_where_there_is_none(tmp_path: Path) -> None:
    fresh = tmp_path / "new" / "store"
    result = hippo("set", "briefing", "false", store=fresh)
    assert result.exit_code == 0, result.output
    assert "briefing = false" in result.stdout
    assert (fresh / "config.toml").read_text().strip() == "briefing = false"


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("raw.maxTurnKb", "7", "MEM_E_CONFIG_OUT_OF_RANGE"),
        ("raw.maxTurnKb", "many", "MEM_E_CONFIG_INVALID_TYPE"),
        ("raw.maxTurn", "8", "MEM_E_CONFIG_UNKNOWN_KEY"),
        ("raw", "8", "MEM_E_CONFIG_UNKNOWN_KEY"),
        ("maintenanceCron", "0 0 30 2 *", "MEM_E_CONFIG_INVALID_CRON"),
        ("retrieval.topK", "101", "MEM_E_CONFIG_OUT_OF_RANGE"),
        ("data_dir", "/somewhere/else", "MEM_E_CONFIG_OUT_OF_RANGE"),
    ],
)
def test_set_refuses_what_is_not_allowed_and_leaves_the_file(
    store: Path, key: str, value: str, code: str
) -> None:
    before = (store / "config.toml").read_bytes()
    error = as_json(hippo("set", key, value, "--json", store=store), code=2)["error"]
    assert error["code"] == code
    assert key in error["message"]
    assert code in hippo("set", key, value, store=store).stderr
    assert (store / "config.toml").read_bytes() == before


def test_set_changes_nothing_where_a_memory_was_moved_away(store: Path) -> None:
    before = (store / "config.toml").read_bytes()
    (store / "MOVED").write_text('{"to": "/elsewhere"}')
    result = hippo("set", "raw.mode", "off", "--json", store=store)
    error = as_json(result, code=result.exit_code)["error"]
    assert (error["code"], "/elsewhere" in error["message"]) == ("MEM_E_MOVED", True)
    assert (store / "config.toml").read_bytes() == before


def test_set_says_that_the_environment_goes_before_the_file(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPO_RAW__MODE", "salience")
    result = hippo("set", "raw.mode", "off", store=store)
    assert result.exit_code == 0
    assert "HIPPO_RAW__MODE" in result.stderr
    assert 'mode = "off"' in (store / "config.toml").read_text()


def test_check_of_good_settings_is_silent_success(store: Path, tmp_path: Path) -> None:
    assert as_json(hippo("check", "--json", store=store))["state"] == "good"
    assert "good" in hippo("check", store=store).stdout
    assert hippo("check", str(store / "config.toml"), store=tmp_path / "none").exit_code == 0
    assert hippo("check", store=tmp_path / "none").exit_code == 0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[raw]\nmode = 'some'\n", "MEM_E_CONFIG_OUT_OF_RANGE"),
        ("[rwa]\nmode = 'all'\n", "MEM_E_CONFIG_UNKNOWN_KEY"),
        ("raw\n", "MEM_E_CONFIG_INVALID_FILE"),
    ],
)
def test_check_of_a_wrong_file_says_what_is_wrong_with_exit_code_2(
    store: Path, tmp_path: Path, text: str, code: str
) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(text)
    error = as_json(hippo("check", str(wrong), "--json", store=store), code=2)["error"]
    assert error["code"] == code
    assert str(wrong) in error["message"]


def test_check_of_a_file_that_is_not_there_is_wrong_use(store: Path) -> None:
    assert hippo("check", str(store / "none.toml"), store=store).exit_code == 2


def test_check_looks_at_the_environment_of_the_memory_and_not_beside_a_file(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPO_RAW__MOD", "all")
    assert "HIPPO_RAW__MODE" in hippo("check", store=store).stderr
    assert hippo("check", store=store).exit_code == 2
    assert hippo("check", str(store / "config.toml"), store=store).exit_code == 0


def test_a_command_that_opens_a_memory_with_wrong_settings_is_wrong_use(store: Path) -> None:
    (store / "config.toml").write_text("breifing = true\n")
    result = CliRunner().invoke(build(), ["recall", "tea", "--embedder", "none", "--data-dir", str(store)])
    assert result.exit_code == 2
    assert "did you mean 'briefing'" in result.stderr
