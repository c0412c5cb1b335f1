"""Saying what is wrong with a setting: the key as it was spelled, the value, what it takes."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from hippo_async.config.checks import BadCron, Contradiction, Takes
from hippo_async.errors import ConfigError

if TYPE_CHECKING:
    from hippo_async.config.names import Given

OUT_OF_RANGE = ConfigError.code
UNKNOWN_KEY = "MEM_E_CONFIG_UNKNOWN_KEY"
INVALID_CRON = "MEM_E_CONFIG_INVALID_CRON"
DUPLICATE_KEY = "MEM_E_CONFIG_DUPLICATE_KEY"
INVALID_TYPE = "MEM_E_CONFIG_INVALID_TYPE"
INVALID_FILE = "MEM_E_CONFIG_INVALID_FILE"
OVERRIDDEN = "MEM_E_CONFIG_OVERRIDDEN"

_OF_VALUES = frozenset(
    {"greater_than", "greater_than_equal", "less_than", "less_than_equal", "literal_error", "value_error"}
)
"""What pydantic calls a value of the right type that is not allowed."""

SHOWN_CHARS = 200
_KINDS = {int: "a whole number", float: "a number", str: "a text"}


def first_fault(
    error: ValidationError, given: Mapping[str, Given], fields: Mapping[str, FieldInfo]
) -> ConfigError:
    """Turn what pydantic found first into an error of ours."""
    fault = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in fault["loc"])
    cause = fault.get("ctx", {}).get("error")
    if isinstance(cause, Contradiction):
        return _contradiction(cause, key, given)
    one = given[key]
    because = f": {cause}" if isinstance(cause, ValueError) else ""
    reason = f"{shown(one.value)} is not allowed{because}; it takes {takes(fields[key])}{place(one.file)}"
    return ConfigError(one.spelled, reason, code=code_of(fault["type"], cause), value=one.value)


def takes(field: FieldInfo) -> str:
    """Say in words what a setting takes, such as ``a whole number from 8 to 1,024``."""
    for said in field.metadata:
        if isinstance(said, Takes):
            return said.words
    kinds = [kind for kind in get_args(field.annotation) or (field.annotation,) if kind is not NoneType]
    if get_origin(field.annotation) is Literal:
        return "one of " + ", ".join(repr(kind) for kind in kinds)
    if kinds == [bool]:
        return "true or false"
    return _KINDS[kinds[0]] + _bounds(field.metadata)


def shown(value: object) -> str:
    """Write a value into a message; a long one is cut."""
    text = repr(value)
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"


def place(file: str | None) -> str:
    """Say in which file a key stands, at the end of a message."""
    return f" (in {file})" if file else ""


def _contradiction(found: Contradiction, section: str, given: Mapping[str, Given]) -> ConfigError:
    """Name the one of the two that was given; what it contradicts may be a default."""
    keys = [f"{section}.{name}" if section else name for name in found.names]
    fault = next((key for key in keys if key in given), keys[0])
    first, second = (given[key].spelled if key in given else key for key in keys)
    reason = f"{first} {found.values[0]!r} {found.relation} {second} {found.values[1]!r}; change one of them"
    at = given.get(fault)
    if at is None:
        return ConfigError(fault, reason)
    return ConfigError(at.spelled, reason + place(at.file), value=at.value)


def code_of(kind: str, cause: object = None) -> str:
    """Return the stable code for what pydantic calls a fault of this kind."""
    if isinstance(cause, BadCron):
        return INVALID_CRON
    return OUT_OF_RANGE if kind in _OF_VALUES else INVALID_TYPE


def _bounds(metadata: list[Any]) -> str:
    """Say the bounds in words; the requirements give a setting two or none."""
    low = high = ""
    for bound in metadata:
        match bound:
            case Ge(ge=least):
                low = f" from {least:,}"
            case Gt(gt=below):
                low = f" above {below:,}"
            case Le(le=most):
                high = f" to {most:,}" if low.startswith(" from") else f" and up to {most:,}"
            case Lt(lt=above):
                high = f" and below {above:,}"
    return low + high
