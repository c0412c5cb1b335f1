"""Settings as mappings: nested and dotted, in both spellings, there and back, all of a patch or nothing."""

from __future__ import annotations

import tomllib
from typing import Any

import any_settings
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hippo_async.config import DUPLICATE_KEY, INVALID_TYPE, UNKNOWN_KEY, ConfigError, Settings
from hippo_async.config.document import edited
from hippo_async.config.names import camel, nested
from hippo_async.config.settings import NAMES, values_of

FILE = "config.toml"
thorough = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.filter_too_much])


def as_toml(values: dict[str, Any]) -> str:
    return edited("", values, file=FILE)


@thorough
@given(any_settings.settings())
def test_settings_come_back_from_toml_as_they_were(before: Settings) -> None:
    text = as_toml(values_of(before))
    after = Settings.from_mapping(tomllib.loads(text))
    assert after == before
    assert after.as_mapping() == before.as_mapping()


@thorough
@given(any_settings.settings(), st.booleans())
def test_settings_come_back_from_either_mapping_as_they_were(before: Settings, camelled: bool) -> None:
    assert Settings.from_mapping(before.as_mapping(camel=camelled)) == before
    assert Settings().patched(before.as_mapping(camel=camelled)) == before


@thorough
@given(any_settings.patches())
def test_all_spellings_of_a_patch_mean_the_same(patch: dict[str, Any]) -> None:
    camelled = {camel(key): value for key, value in patch.items()}
    spelled = [patch, camelled, nested(patch), nested(camelled)]
    made = [Settings.from_mapping(mapping) for mapping in spelled]
    assert all(one == made[0] for one in made)
    assert values_of(made[0]) == values_of(Settings()) | patch


@thorough
@given(any_settings.settings(), any_settings.patches(), st.sampled_from(sorted(NAMES.fields)))
def test_a_patch_with_one_fault_changes_nothing(before: Settings, patch: dict[str, Any], key: str) -> None:
    values = values_of(before)
    with pytest.raises(ConfigError):
        before.patched({**patch, key: object()})
    with pytest.raises(ConfigError):
        before.patched({**patch, "no.such": 1})
    assert values_of(before) == values


def test_a_patch_leaves_what_it_does_not_name() -> None:
    before = Settings.from_mapping({"raw": {"mode": "all", "max_turn_kb": 8}})
    after = before.patched({"raw": {"mode": "off"}, "briefing": False})
    assert (after.raw.mode, after.raw.max_turn_kb, after.briefing) == ("off", 8, False)
    assert (before.raw.mode, before.briefing) == ("all", True)
    assert before.patched({}) == before.patched({"raw": {}}) == before


def test_a_patch_is_judged_together_with_what_holds_already() -> None:
    wide = Settings().patched({"maxRecallTopK": 500})
    assert wide.patched({"retrieval.topK": 500}).retrieval.top_k == 500
    with pytest.raises(ConfigError, match=r"retrieval\.topK"):
        Settings().patched({"retrieval.topK": 500})


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("breifing", "briefing"),
        ("raw.maxResultToken", "raw.maxResultTokens"),
        ("raw.max_result_token", "raw.max_result_tokens"),
        ("maxResultTokens", "raw.maxResultTokens"),
        ("graceHours", "delete.graceHours"),
        ("rwa.mode", "raw.mode"),
        ("activeset.cap", "active_set.cap"),
        ("tags.automatik", "tags.automatic"),
        ("maintenance_corn", "maintenance_cron"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_name(wrong: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"did you mean '{meant}'") as caught:
        Settings.from_mapping({wrong: 1})
    assert (caught.value.key, caught.value.code) == (wrong, UNKNOWN_KEY)


@pytest.mark.parametrize("wrong", ["xyzzy", "", ".", "raw.", "Raw.mode", "RAW.MODE", 5, None, "raw.mode.x"])
def test_what_is_like_no_key_is_refused_all_the_same(wrong: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        Settings.from_mapping({wrong: 1})
    assert caught.value.code == UNKNOWN_KEY


def test_an_unknown_key_within_a_section_is_named_with_its_section() -> None:
    with pytest.raises(ConfigError, match=r"raw\.mod: .*'raw\.mode'"):
        Settings.from_mapping({"raw": {"mod": "off"}})


@pytest.mark.parametrize("value", [5, "all", None, [], True])
def test_a_value_in_the_place_of_a_section_is_refused(value: Any) -> None:
    with pytest.raises(ConfigError, match="raw: is a section") as caught:
        Settings.from_mapping({"raw": value})
    assert caught.value.code == INVALID_TYPE


def test_a_key_given_twice_is_refused_whatever_the_spelling() -> None:
    with pytest.raises(ConfigError, match="same setting") as caught:
        Settings.from_mapping({"raw.maxTurnKb": 8, "raw": {"max_turn_kb": 9}})
    assert caught.value.code == DUPLICATE_KEY


@pytest.mark.parametrize("wrong", [[], "raw.mode", None, 5])
def test_what_is_no_mapping_is_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        Settings.from_mapping(wrong)
    assert caught.value.code == INVALID_TYPE


def test_a_huge_value_does_not_make_a_huge_message() -> None:
    with pytest.raises(ConfigError) as caught:
        Settings.from_mapping({"raw.mode": "x" * 1_000_000})
    assert len(str(caught.value)) < 1000
