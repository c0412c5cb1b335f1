"""Where settings come from: the environment before the file before the defaults."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import any_settings
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hippo_async.config import INVALID_FILE, INVALID_TYPE, OUT_OF_RANGE, UNKNOWN_KEY, ConfigError, Settings
from hippo_async.config.document import edited, parsed
from hippo_async.config.environment import VARIABLES, from_environment, variable
from hippo_async.config.layers import layered
from hippo_async.config.names import camel
from hippo_async.config.settings import NAMES, values_of
from hippo_async.configuring import load_settings

FILE = "config.toml"
thorough = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.filter_too_much])


def write(folder: Path, text: str) -> Path:
    (folder / FILE).write_text(text)
    return folder


def as_environment(patch: dict[str, Any]) -> dict[str, str]:
    """Values as a shell would hold them; null has no text."""
    said = {key: str(value) for key, value in patch.items() if value is not None and key != "data_dir"}
    return {variable(key): text for key, text in said.items()}


def fault(environ: dict[str, str]) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        layered("", environ, file=FILE)
    return caught.value


def test_with_no_file_and_no_variable_the_defaults_hold(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "not-there", {}) == Settings()
    assert not (tmp_path / "not-there").exists()


def test_the_environment_goes_before_the_file_and_the_file_before_the_defaults(tmp_path: Path) -> None:
    write(tmp_path, 'briefing = false\n[raw]\nmode = "all"\nmaxTurnKb = 9\n')
    found = load_settings(tmp_path, {"HIPPO_RAW__MODE": "off", "HIPPO_MAX_RECALL_TOP_K": "50"})
    assert (found.raw.mode, found.raw.max_turn_kb, found.briefing) == ("off", 9, False)
    assert (found.max_recall_top_k, found.raw.min_salience) == (50, 0.6)


def test_the_process_environment_is_asked_when_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPO_RAW__MAX_RESULT_TOKENS", "500")
    assert load_settings(tmp_path).raw.max_result_tokens == 500


@thorough
@given(any_settings.patches(), any_settings.patches())
def test_each_key_comes_from_the_first_source_that_has_it(file: dict[str, Any], env: dict[str, Any]) -> None:
    held = {key: value for key, value in env.items() if variable(key) in as_environment(env)}
    written = {key: value for key, value in file.items() if value is not None}
    assume(any_settings.fitting(written | held))
    found = layered(edited("", file, file=FILE), as_environment(env), file=FILE)
    assert values_of(found.settings) == values_of(Settings()) | written | held
    for key in NAMES.fields:
        assert found.source(key) == (variable(key) if key in held else FILE if key in written else "default")


def test_sources_are_judged_together_and_not_one_by_one() -> None:
    found = layered("[context]\ntarget = 0.9\n", {"HIPPO_CONTEXT__THRESHOLD": "0.95"}, file=FILE).settings
    assert (found.context.target, found.context.threshold) == (0.9, 0.95)
    with pytest.raises(ConfigError, match=rf"context\.target.*0\.9.*threshold.*0\.85.*in {FILE}"):
        layered("[context]\ntarget = 0.9\n", {}, file=FILE)


def test_every_setting_but_the_data_directory_has_a_variable() -> None:
    assert set(VARIABLES.values()) == set(NAMES.fields) - {"data_dir"}
    assert variable("active_set.cap") == "HIPPO_ACTIVE_SET__CAP"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("HIPPO_BRIEFING", "false", False),
        ("HIPPO_BRIEFING", "0", False),
        ("HIPPO_RAW__CAPTURE_TOOLS", "True", True),
        ("HIPPO_RAW__MIN_SALIENCE", "1", 1.0),
        ("HIPPO_DELETE__GRACE_HOURS", "0", 0),
        ("HIPPO_MIGRATE_FROM", "", ""),
        ("HIPPO_MAINTENANCE_CRON", "5 4 * * *", "5 4 * * *"),
        ("HIPPO_IDENTITY__EVENT_TIME_POLICY", "ingest", "ingest"),
    ],
)
def test_a_variable_is_read_by_the_type_of_its_setting(name: str, text: str, value: Any) -> None:
    [given] = from_environment({name: text}).values()
    assert (given.value, type(given.value)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("HIPPO_RAW__MAX_TURN_KB", "many", INVALID_TYPE),
        ("HIPPO_RAW__MAX_TURN_KB", "8.5", INVALID_TYPE),
        ("HIPPO_RAW__MAX_TURN_KB", "", INVALID_TYPE),
        ("HIPPO_RAW__MAX_TURN_KB", "7", OUT_OF_RANGE),
        ("HIPPO_BRIEFING", "perhaps", INVALID_TYPE),
        ("HIPPO_CONTEXT__THRESHOLD", "nan", OUT_OF_RANGE),
        ("HIPPO_MAINTENANCE_CRON", "0 0 30 2 *", "MEM_E_CONFIG_INVALID_CRON"),
    ],
)
def test_a_wrong_value_is_refused_under_the_name_of_its_variable(name: str, text: str, code: str) -> None:
    error = fault({name: text})
    assert (error.key, error.code) == (name, code)
    assert name in str(error)


def test_a_wrong_choice_names_the_variable_and_the_words() -> None:
    error = fault({"HIPPO_RAW__MODE": "some"})
    assert (error.key, error.code) == ("HIPPO_RAW__MODE", OUT_OF_RANGE)
    assert "'salience'" in str(error)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("HIPPO_RAW__MAX_RESULT_TOKEN", "HIPPO_RAW__MAX_RESULT_TOKENS"),
        ("HIPPO_ACTIVESET__CAP", "HIPPO_ACTIVE_SET__CAP"),
        ("HIPPO_RAW__maxTurnKb", "HIPPO_RAW__"),
    ],
)
def test_an_unknown_variable_with_a_section_is_refused_with_the_nearest_name(wrong: str, meant: str) -> None:
    error = fault({wrong: "1"})
    assert (error.key, error.code) == (wrong, UNKNOWN_KEY)
    assert f"did you mean '{meant}" in str(error)


def test_other_variables_that_share_the_prefix_are_let_alone() -> None:
    others = ("DATA_DIR", "WITNESS_DIR", "AGENT", "KEY_FILE", "CONFIG", "LONG", "SOMETHING")
    environ = {f"HIPPO_{name}": "x" for name in others} | {"RAW__MODE": "x", "PATH__X": "y"}
    assert from_environment(environ) == {}


def test_a_file_elsewhere_is_taken_when_it_is_named(tmp_path: Path) -> None:
    write(tmp_path, "briefing = false\n")
    named = tmp_path / "elsewhere.toml"
    named.write_text("max_recall_top_k = 50\n")
    found = load_settings(tmp_path, {"HIPPO_CONFIG": str(named)})
    assert (found.max_recall_top_k, found.briefing) == (50, True)
    assert load_settings(tmp_path, {"HIPPO_CONFIG": ""}).briefing is False


def test_a_named_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="HIPPO_CONFIG") as caught:
        load_settings(tmp_path, {"HIPPO_CONFIG": str(tmp_path / "none.toml")})
    assert caught.value.code == INVALID_FILE


@pytest.mark.parametrize("content", [b"raw = ", b"\xff\xfe", b"[raw]\nmode='a'\nmode='b'\n", b"{}"])
def test_a_file_that_is_no_toml_is_refused_with_its_path(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_settings(tmp_path, {})
    assert (caught.value.code, caught.value.key) == (INVALID_FILE, str(tmp_path / FILE))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[raw]\nmaxTurnKb = 7\n", OUT_OF_RANGE),
        ("[raw]\nmaxTurnKB = 8\n", UNKNOWN_KEY),
        ("raw = 5\n", INVALID_TYPE),
        ("briefing = 1979-05-27\n", INVALID_TYPE),
    ],
)
def test_a_fault_in_a_file_is_told_with_the_file(tmp_path: Path, text: str, code: str) -> None:
    write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_settings(tmp_path, {})
    assert caught.value.code == code
    assert f"(in {tmp_path / FILE})" in str(caught.value)


def test_a_file_that_names_another_directory_is_refused(tmp_path: Path) -> None:
    write(tmp_path, f'dataDir = "{tmp_path}"\n')
    assert load_settings(tmp_path, {}).data_dir == str(tmp_path)
    write(tmp_path, 'dataDir = "/somewhere/else"\n')
    with pytest.raises(ConfigError, match="not where this memory lies") as caught:
        load_settings(tmp_path, {})
    assert caught.value.key == "dataDir"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_an_error_of_the_system(tmp_path: Path) -> None:
    (write(tmp_path, "") / FILE).chmod(0)
    with pytest.raises(PermissionError):
        load_settings(tmp_path, {})


# ------------------------------------------------------------------ changing a file where it stands

COMMENTED = """\
# how this agent remembers
briefing = true  # asked for

"context.maxTokens" = 500

[raw]  # the black box
maxTurnKb = 9  # small
mode = "all"
"""


def test_a_change_keeps_comments_order_and_spelling() -> None:
    changed = edited(COMMENTED, {"raw.max_turn_kb": 10, "context.max_tokens": 600}, file=FILE)
    assert changed == COMMENTED.replace("maxTurnKb = 9", "maxTurnKb = 10").replace("= 500", "= 600")


def test_a_new_key_goes_into_its_section_and_a_new_section_to_the_end() -> None:
    changed = edited(COMMENTED, {"raw.min_salience": 0.5, "delete.grace_hours": 0}, file=FILE)
    assert changed.startswith(COMMENTED.rstrip())
    assert "[delete]\ngrace_hours = 0" in changed


def test_null_takes_a_key_out() -> None:
    assert "mode" not in edited(COMMENTED, {"raw.mode": None}, file=FILE)
    assert edited(COMMENTED, {"migrate_from": None}, file=FILE) == COMMENTED


LAYOUTS = [
    "",
    COMMENTED,
    "raw.mode = 'all'\nraw.maxTurnKb = 9\nbriefing = false\n",
    "'raw.mode' = 'all'\n[raw]\nmaxTurnKb = 9\n",
    "raw = { mode = 'all', max_turn_kb = 9 }\n",
    "[activeSet]\ncap = 150\n[temp]\n[context]\nmaxTokens = 300\n",
    "# only a comment",
    "[raw]\n\n[delete]\ngraceHours = 1\n\n\n",
]


@settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.sampled_from(LAYOUTS), any_settings.patches())
def test_whatever_the_layout_a_change_sets_just_what_it_names(layout: str, patch: dict[str, Any]) -> None:
    before = {key: one.value for key, one in parsed(layout, file=FILE).items()}
    after = {key: one.value for key, one in parsed(edited(layout, patch, file=FILE), file=FILE).items()}
    assert after == {key: value for key, value in (before | patch).items() if value is not None}


@given(st.sampled_from(sorted(NAMES.fields)))
def test_every_key_has_two_spellings_that_are_known(key: str) -> None:
    assert NAMES.leaf(key) == NAMES.leaf(camel(key)) == key
