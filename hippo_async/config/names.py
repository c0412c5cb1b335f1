"""The names of all settings, taken from the models: both spellings, and what is nearest to a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from hippo_async.config.faults import DUPLICATE_KEY, INVALID_TYPE, UNKNOWN_KEY, place, shown
from hippo_async.errors import ConfigError

Key = str
"""A setting's dotted name in snake_case, such as ``raw.max_turn_kb``."""


@dataclass(frozen=True, slots=True)
class Given:
    """A value as somebody gave it: how they spelled its key, and in which file, if in any."""

    spelled: str
    value: Any
    file: str | None = None


class Names:
    """All keys of a model. ``fields`` and ``sections`` go by snake_case; ``spelled`` knows every spelling."""

    def __init__(self, model: type[BaseModel]) -> None:
        self.fields: Mapping[Key, FieldInfo] = MappingProxyType(dict(_fields(model)))
        self.sections: frozenset[Key] = frozenset(_sections(model))
        self.spelled: Mapping[str, Key] = MappingProxyType(
            {spelling: key for key in (*self.fields, *self.sections) for spelling in _spellings(key)}
        )

    def flat(self, values: Any, *, file: str | None = None) -> dict[Key, Given]:
        """Take a mapping apart, nested or with dotted keys, in either spelling.

        Raises :class:`ConfigError` for a key that is unknown or comes twice, and for a section that is none.
        """
        if not isinstance(values, Mapping):
            reason = f"{shown(values)} is no mapping of keys to values"
            raise ConfigError("settings", reason, code=INVALID_TYPE, value=values)
        found: dict[Key, Given] = {}
        for key, given in self._leaves(values, "", file):
            if key in found:
                twice = f"{found[key].spelled} is the same setting; give one of them{place(file)}"
                raise ConfigError(given.spelled, twice, code=DUPLICATE_KEY, value=given.value)
            found[key] = given
        return found

    def key(self, spelled: str, *, file: str | None = None) -> Key:
        """Return the key that is meant. Raises :class:`ConfigError`, with the nearest name, if none is."""
        key = self.spelled.get(spelled)
        if key is None:
            raise unknown(spelled, nearest(spelled, self.spelled), file=file)
        return key

    def leaf(self, spelled: str) -> Key:
        """Return the key of one setting. Raises :class:`ConfigError` for a section as well."""
        key = self.key(spelled)
        if key in self.sections:
            raise ConfigError(spelled, "is a section; name one of its keys", code=UNKNOWN_KEY)
        return key

    def _leaves(
        self, values: Mapping[Any, Any], prefix: str, file: str | None
    ) -> Iterator[tuple[Key, Given]]:
        for name, value in values.items():
            spelled = f"{prefix}{name}"
            key = self.key(spelled, file=file)
            if key not in self.sections:
                yield key, Given(spelled, value, file)
            elif isinstance(value, Mapping):
                yield from self._leaves(value, f"{spelled}.", file)
            else:
                reason = f"is a section with keys of its own, and no {shown(value)}{place(file)}"
                raise ConfigError(spelled, reason, code=INVALID_TYPE, value=value)


def nested(values: Mapping[Key, Any]) -> dict[str, Any]:
    """Put dotted keys back into sections."""
    made: dict[str, Any] = {}
    for key, value in values.items():
        *sections, name = key.split(".")
        at = made
        for section in sections:
            at = at.setdefault(section, {})
        at[name] = value
    return made


def camel(key: Key) -> str:
    """Return the key as the HTTP API spells it, such as ``raw.maxTurnKb``."""
    return ".".join(to_camel(part) for part in key.split("."))


def nearest(spelled: str, names: Mapping[str, Key]) -> str | None:
    """Return the known name that is most like this one; a missing or wrong section may be the fault."""
    near = difflib.get_close_matches(spelled, names, n=1, cutoff=0.75)
    if near:
        return near[0]
    ends = {name.rpartition(".")[2]: name for name in names}
    near = difflib.get_close_matches(spelled.rpartition(".")[2], ends, n=1)
    return ends[near[0]] if near else None


def unknown(spelled: str, near: str | None, *, file: str | None = None) -> ConfigError:
    """Say that there is no such setting, and which one may be meant."""
    hint = f"did you mean {near!r}?" if near else "'hippo config show' lists all there are"
    return ConfigError(spelled, f"there is no such setting; {hint}{place(file)}", code=UNKNOWN_KEY)


def _fields(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[Key, FieldInfo]]:
    for name, field in model.model_fields.items():
        section = _section(field)
        if section is None:
            yield prefix + name, field
        else:
            yield from _fields(section, f"{prefix}{name}.")


def _sections(model: type[BaseModel], prefix: str = "") -> Iterator[Key]:
    for name, field in model.model_fields.items():
        section = _section(field)
        if section is not None:
            yield prefix + name
            yield from _sections(section, f"{prefix}{name}.")


def _section(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _spellings(key: Key) -> Iterator[str]:
    """Each part of a dotted key may be in either spelling."""
    first, _, rest = key.partition(".")
    for part in {first, to_camel(first)}:
        if rest:
            yield from (f"{part}.{tail}" for tail in _spellings(rest))
        else:
            yield part
