"""The text of a TOML file of settings: reading it, and changing keys where they stand."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, MutableMapping
from typing import Any

from hippo_async.config.faults import INVALID_FILE
from hippo_async.config.names import Given, Key
from hippo_async.config.settings import NAMES
from hippo_async.errors import ConfigError


def parsed(text: str, *, file: str) -> dict[Key, Given]:
    """Return what a file sets. Raises :class:`ConfigError` if it is no TOML or holds an unknown key."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(file, f"is no TOML: {error}", code=INVALID_FILE) from None
    return NAMES.flat(values, file=file)


def edited(text: str, changes: Mapping[Key, Any], *, file: str) -> str:
    """Return the text with some keys set, ``None`` taking one out; comments and all else stay.

    A key that is there already keeps its place and spelling. Raises :class:`ConfigError` for a text that
    :func:`parsed` does not take, or that is too oddly laid out to be changed.
    """
    import tomlkit

    wanted = {key: one.value for key, one in parsed(text, file=file).items()} | dict(changes)
    document = tomlkit.parse(text)
    for key, value in changes.items():
        _set(document, key, value)
    written = tomlkit.dumps(document)
    if {key: one.value for key, one in parsed(written, file=file).items()} != _without_none(wanted):
        names = ", ".join(changes)
        raise ConfigError(file, f"{names} could not be put into it; set it by hand", code=INVALID_FILE)
    return written


def _set(document: MutableMapping[str, Any], key: Key, value: Any) -> None:
    """Change the one entry that stands for a key, wherever it is, or add it to its section."""
    import tomlkit

    found = _find(document, key)
    if found is not None:
        table, name = found
        if value is None:
            del table[name]
        else:
            table[name] = value
    elif value is not None:
        section, _, name = key.rpartition(".")
        if not section:
            document[name] = value
            return
        spelled = _spelled_as(document, section)
        if spelled is None:
            document[section] = tomlkit.table()
        document[spelled or section][name] = value


def _find(
    table: MutableMapping[str, Any], key: Key, prefix: str = ""
) -> tuple[MutableMapping[str, Any], str] | None:
    """Return the table that holds a key, and the name it has there."""
    for name, value in table.items():
        here = NAMES.spelled[prefix + name]
        if here == key:
            return table, name
        if isinstance(value, MutableMapping) and key.startswith(f"{here}."):
            inner = _find(value, key, f"{prefix}{name}.")
            if inner is not None:
                return inner
    return None


def _spelled_as(document: Mapping[str, Any], section: Key) -> str | None:
    return next((name for name in document if NAMES.spelled[name] == section), None)


def _without_none(values: Mapping[Key, Any]) -> dict[Key, Any]:
    return {key: value for key, value in values.items() if value is not None}
