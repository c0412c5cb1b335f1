"""Settings of every kind, for tests that hold whatever the settings are."""

from __future__ import annotations

from typing import Any, get_args

from annotated_types import Ge, Gt, Le, Lt
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic.fields import FieldInfo

from hippo_async.config import Settings
from hippo_async.config.settings import NAMES

TEXTS = {
    "data_dir": st.sampled_from([None, "/var/lib/hippo", "/home/a b/记忆"]),
    "migrate_from": st.sampled_from([None, "", "/old", 'a "quoted" \\ place', "строка\nstroka"]),
    "time_zone": st.sampled_from(["UTC", "Europe/Berlin", "Etc/GMT+12", "America/Argentina/Buenos_Aires"]),
    "maintenance_cron": st.sampled_from(["0 */6 * * *", "5 4 * * SUN", "0 0 29 2 *"]),
}


def values(key: str) -> SearchStrategy[Any]:
    """Values that a setting takes on its own."""
    if key in TEXTS:
        return TEXTS[key]
    field = NAMES.fields[key]
    if field.annotation is bool:
        return st.booleans()
    if field.annotation in (int, float):
        return _numbers(field)
    return st.sampled_from(get_args(field.annotation))


def fitting(values: dict[str, Any]) -> bool:
    """Whether no two of these values, and the defaults, contradict each other."""
    whole = {
        "context.target": 0.7,
        "context.threshold": 0.85,
        "temp.ttl_days": 30,
        "temp.promotion_window_days": 20,
        "retrieval.top_k": 20,
        "max_recall_top_k": 100,
    } | values
    return (
        whole["context.target"] < whole["context.threshold"]
        and whole["temp.promotion_window_days"] <= whole["temp.ttl_days"]
        and whole["retrieval.top_k"] <= whole["max_recall_top_k"]
    )


def patches() -> SearchStrategy[dict[str, Any]]:
    """Dotted keys in snake_case with values that are allowed together."""
    return st.fixed_dictionaries({}, optional={key: values(key) for key in NAMES.fields}).filter(fitting)


def settings() -> SearchStrategy[Settings]:
    """Any settings at all."""
    return patches().map(Settings.from_mapping)


def _numbers(field: FieldInfo) -> SearchStrategy[Any]:
    bounds = {type(bound): bound for bound in field.metadata}
    low: Any = bounds[Ge].ge if Ge in bounds else bounds[Gt].gt
    high: Any = bounds[Le].le if Le in bounds else bounds[Lt].lt
    if field.annotation is int:
        return st.integers(low, high)
    return st.floats(low, high, exclude_min=Gt in bounds, exclude_max=Lt in bounds)
