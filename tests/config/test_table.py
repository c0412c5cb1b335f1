"""Every row of the table of settings (L23): its default, its range, what is said of a value outside it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from hippo_async.config import INVALID_CRON, INVALID_TYPE, OUT_OF_RANGE, ConfigError, Settings
from hippo_async.config.settings import NAMES, values_of

MB = 1024 * 1024

WHOLE_NUMBERS = {
    "dream_idle_minutes": (180, 1, 525_600),
    "graph_max_edges": (500, 100, 2000),
    "storage_budget_mb": (50, 10, 1000),
    "max_recall_top_k": (100, 1, 1000),
    "capture.flush_turns": (10, 1, 10_000),
    "capture.buffer_turns": (10_000, 10, 1_000_000),
    "capture.max_turn_kb": (4096, 8, 8192),
    "context.max_tokens": (4000, 256, 1_000_000),
    "retrieval.top_k": (20, 1, 1000),
    "decay.half_life_days": (30, 7, 365),
    "active_set.cap": (200, 100, 1000),
    "temp.ttl_days": (30, 1, 36_500),
    "temp.promotion_window_days": (20, 1, 36_500),
    "raw.max_turn_kb": (64, 8, 1024),
    "raw.max_bytes_per_day": (8 * MB, MB, 128 * MB),
    "raw.max_total_mb": (256, 16, 4096),
    "raw.retention_days": (30, 1, 365),
    "raw.max_scan_mb": (16, 1, 256),
    "raw.max_result_tokens": (1000, 50, 20_000),
    "delete.grace_hours": (24, 0, 168),
    "migration.timeout_ms": (600_000, 10_000, 3_600_000),
}
NUMBERS = {
    # the default, allowed ones, and ones just outside
    "capture.flush_seconds": (1.0, (0.001, 60.0), (0.0, 60.001)),
    "context.threshold": (0.85, (0.71, 0.999), (0.0, 1.0)),
    "context.target": (0.7, (0.001, 0.849), (0.0, 1.0)),
    "raw.min_salience": (0.6, (0.0, 1.0), (-0.001, 1.001)),
}
SWITCHES = {
    "briefing": True,
    "prompt_section": True,
    "auto_maintain_on_boot": True,
    "enable_dream": True,
    "enable_reflection": True,
    "context.inject_prompt": True,
    "tags.automatic": True,
    "raw.auto_capture": True,
    "raw.capture_tools": False,
    "review.enabled": True,
}
CHOICES = {
    "identity.event_time_policy": ("content", ("content", "explicit", "ingest")),
    "novelty.rule": ("measured", ("measured", "literal")),
    "raw.mode": ("salience", ("off", "salience", "all")),
}
TEXTS = {
    "data_dir": None,
    "migrate_from": None,
    "time_zone": "UTC",
    "maintenance_cron": "0 */6 * * *",
}

DEFAULTS: dict[str, Any] = {
    **{key: row[0] for table in (WHOLE_NUMBERS, NUMBERS, CHOICES) for key, row in table.items()},
    **SWITCHES,
    **TEXTS,
}
NEVER_FIRE = [
    *("0 0 30 2 *", "0 0 31 4 *", "60 * * * *", "* 24 * * *", "0 0 0 * *", "0 0 * 13 *", "0 0 * * 8"),
    *("", "* * * *", "* * * * * *", "@daily", "soon", "*/0 * * * *", "5-1 * * * *"),
]
TIED = {
    # a setting that another one bounds, and what makes room for it
    "retrieval.top_k": {"max_recall_top_k": 1000},
    "max_recall_top_k": {"retrieval.top_k": 1},
    "temp.promotion_window_days": {"temp.ttl_days": 36_500},
    "temp.ttl_days": {"temp.promotion_window_days": 1},
}


def taken(key: str, value: Any) -> Any:
    return values_of(Settings.from_mapping({**TIED.get(key, {}), key: value}))[key]


def refusal(key: str, value: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        Settings.from_mapping({**TIED.get(key, {}), key: value})
    assert caught.value.key == key
    assert caught.value.value == value or value != value
    assert key in str(caught.value)
    assert repr(value) in str(caught.value)
    return caught.value


def test_there_is_a_row_for_every_setting_and_no_other() -> None:
    assert set(DEFAULTS) == set(NAMES.fields)


@pytest.mark.parametrize("key", sorted(DEFAULTS))
def test_a_setting_that_nobody_sets_has_its_default(key: str) -> None:
    value = values_of(Settings())[key]
    assert (value, type(value)) == (DEFAULTS[key], type(DEFAULTS[key]))


@pytest.mark.parametrize("key", sorted(WHOLE_NUMBERS))
def test_both_bounds_of_a_whole_number_are_taken_as_they_are(key: str) -> None:
    _, least, most = WHOLE_NUMBERS[key]
    assert (taken(key, least), taken(key, most)) == (least, most)


@pytest.mark.parametrize("key", sorted(WHOLE_NUMBERS))
def test_one_past_a_bound_is_refused_and_told_the_range(key: str) -> None:
    _, least, most = WHOLE_NUMBERS[key]
    for value in (least - 1, most + 1):
        error = refusal(key, value)
        assert error.code == OUT_OF_RANGE
        assert f"from {least:,} to {most:,}" in str(error)


@pytest.mark.parametrize("key", sorted(WHOLE_NUMBERS))
@pytest.mark.parametrize("wrong", ["30", 30.0, 30.5, True, None, [30]], ids=repr)
def test_a_whole_number_is_never_made_of_something_else(key: str, wrong: Any) -> None:
    assert refusal(key, wrong).code == INVALID_TYPE


@pytest.mark.parametrize("key", sorted(NUMBERS))
def test_numbers_are_taken_within_their_range_and_refused_outside(key: str) -> None:
    _, allowed, outside = NUMBERS[key]
    assert tuple(taken(key, value) for value in allowed) == allowed
    assert {refusal(key, value).code for value in (*outside, float("nan"), float("inf"))} == {OUT_OF_RANGE}
    assert {refusal(key, value).code for value in ("0.5", True, None)} == {INVALID_TYPE}


@pytest.mark.parametrize("key", sorted(SWITCHES))
def test_a_switch_is_true_or_false_and_nothing_like_it(key: str) -> None:
    assert taken(key, True) is True
    assert taken(key, False) is False
    for wrong in (1, 0, "true", "off", None):
        error = refusal(key, wrong)
        assert error.code == INVALID_TYPE
        assert "true or false" in str(error)


@pytest.mark.parametrize("key", sorted(CHOICES))
def test_a_choice_takes_its_words_and_tells_them(key: str) -> None:
    _, words = CHOICES[key]
    assert tuple(taken(key, word) for word in words) == words
    for wrong in ("ALL", "", 1, None):
        error = refusal(key, wrong)
        assert error.code == OUT_OF_RANGE
        assert all(repr(word) in str(error) for word in words)


@pytest.mark.parametrize("path", ["/", "/var/lib/hippo", None])
def test_a_data_directory_is_an_absolute_path(path: str | None) -> None:
    assert taken("data_dir", path) == path


@pytest.mark.parametrize("path", ["", "memory", "./memory", "~/memory", "/a\0b"])
def test_a_data_directory_that_depends_on_who_reads_it_is_refused(path: str) -> None:
    assert refusal("data_dir", path).code == OUT_OF_RANGE


def test_the_source_of_a_migration_is_a_path_or_empty_or_null() -> None:
    for path in ("/old", "old", "", None):
        assert taken("migrate_from", path) == path
    assert refusal("migrate_from", "a\0b").code == OUT_OF_RANGE
    assert refusal("migrate_from", 5).code == INVALID_TYPE


@pytest.mark.parametrize(
    "expression",
    [
        "0 */6 * * *",
        "* * * * *",
        "0 0 29 2 *",
        "0 0 L * *",
        "0 9 * * MON-FRI",
        "0 0 31 1,4 *",
        " 5  4 * * * ",
    ],
)
def test_a_cron_expression_that_fires_some_day_is_taken_as_it_is(expression: str) -> None:
    assert taken("maintenance_cron", expression) == expression


@pytest.mark.parametrize("expression", NEVER_FIRE)
def test_a_cron_expression_that_never_fires_is_refused_with_its_own_code(expression: str) -> None:
    error = refusal("maintenance_cron", expression)
    assert error.code == INVALID_CRON == "MEM_E_CONFIG_INVALID_CRON"
    assert "0 */6 * * *" in str(error)


@pytest.mark.parametrize(
    ("given", "named", "other"),
    [
        ({"context.target": 0.85}, "context.target", "context.threshold"),
        ({"context.threshold": 0.7}, "context.threshold", "context.target"),
        ({"context.target": 0.9, "context.threshold": 0.8}, "context.target", "context.threshold"),
        ({"temp.promotionWindowDays": 31}, "temp.promotionWindowDays", "temp.ttl_days"),
        ({"temp": {"ttlDays": 19}}, "temp.ttlDays", "temp.promotion_window_days"),
        ({"retrieval.topK": 101}, "retrieval.topK", "max_recall_top_k"),
        ({"maxRecallTopK": 19}, "maxRecallTopK", "retrieval.top_k"),
    ],
)
def test_settings_that_contradict_each_other_are_refused_under_the_one_that_was_given(
    given: dict[str, Any], named: str, other: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        Settings.from_mapping(given)
    assert (caught.value.key, caught.value.code) == (named, OUT_OF_RANGE)
    assert other in str(caught.value)


def test_settings_that_just_go_together_are_taken() -> None:
    for fitting in (
        {"temp": {"ttl_days": 20}},
        {"temp": {"promotion_window_days": 30}},
        {"retrieval": {"top_k": 100}},
        {"max_recall_top_k": 20},
        {"context": {"target": 0.5, "threshold": 0.500001}},
    ):
        Settings.from_mapping(fitting)


def test_every_setting_is_frozen() -> None:
    settings = Settings()
    with pytest.raises(ValueError, match="frozen"):
        settings.briefing = False  # type: ignore[misc]
    with pytest.raises(ValueError, match="frozen"):
        settings.raw.mode = "all"  # type: ignore[misc]


def test_the_camel_spelling_is_that_of_the_requirements() -> None:
    mapping = Settings().as_mapping(camel=True)
    assert mapping["raw"]["maxTurnKb"] == 64
    assert mapping["autoMaintainOnBoot"] is True
    assert mapping["activeSet"] == {"cap": 200}
    assert mapping["temp"] == {"ttlDays": 30, "promotionWindowDays": 20}
    assert mapping["migration"] == {"timeoutMs": 600_000}
    assert set(mapping) == {to_camel(name) for name in Settings.model_fields}


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+12"])
def test_a_time_zone_has_the_name_of_one(name: str) -> None:
    assert taken("time_zone", name) == name


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../UTC", "Europe/", "Mitteleuropäisch", "UTC\0", "a b"])
def test_what_cannot_name_a_time_zone_is_refused(name: str) -> None:
    error = refusal("time_zone", name)
    assert error.code == OUT_OF_RANGE
    assert "'Europe/Berlin'" in str(error)
