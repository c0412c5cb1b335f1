"""Settings from environment variables: ``HIPPO_RAW__MAX_RESULT_TOKENS=500``.

Two underscores stand for the dot. A variable without them is a setting only if one has that name: others,
such as ``HIPPO_KEY_FILE``, share the prefix.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hippo_async.config.names import Given, Key, nearest, unknown
from hippo_async.config.settings import NAMES, from_text

PREFIX = "HIPPO_"
DOT = "__"


def variable(key: Key) -> str:
    """Return the name of the variable that sets a key."""
    return PREFIX + key.replace(".", DOT).upper()


VARIABLES: Mapping[str, Key] = MappingProxyType(
    {variable(key): key for key in NAMES.fields if key != "data_dir"}
)
"""``HIPPO_DATA_DIR`` is none of them: it says where to look for the other settings."""


def from_environment(environ: Mapping[str, str]) -> dict[Key, Given]:
    """Return the settings that the environment holds, read by their types; others are left alone.

    Raises :class:`~hippo_async.errors.ConfigError`, under the variable's name, for a value of the wrong type
    and for a variable with two underscores that is none of ours.
    """
    found: dict[Key, Given] = {}
    for name in sorted(environ):
        key = VARIABLES.get(name)
        if key is not None:
            found[key] = Given(name, from_text(key, environ[name], spelled=name))
        elif name.startswith(PREFIX) and DOT in name.removeprefix(PREFIX):
            raise unknown(name, nearest(name, VARIABLES))
    return found
