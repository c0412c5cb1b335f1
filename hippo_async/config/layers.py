"""Which source counts: the environment before the file before the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hippo_async.config.document import parsed
from hippo_async.config.environment import from_environment
from hippo_async.config.names import Given, Key
from hippo_async.config.settings import Settings, validated


@dataclass(frozen=True, slots=True)
class Layered:
    """Settings, and who gave the value of each key that is not left at its default."""

    settings: Settings
    given: Mapping[Key, Given] = field(default_factory=dict)

    def source(self, key: Key) -> str:
        """Say where a value comes from: ``default``, a file, or a variable."""
        one = self.given.get(key)
        return "default" if one is None else one.file or one.spelled


def layered(
    text: str, environ: Mapping[str, str], *, file: str, changes: Mapping[Key, Given] | None = None
) -> Layered:
    """Put the sources together and validate the whole.

    ``changes`` were just made to the file: an error names them as their author spelled them. Raises
    :class:`~hippo_async.errors.ConfigError`, which says in which file or variable the fault is.
    """
    given = parsed(text, file=file) | dict(changes or {}) | from_environment(environ)
    return Layered(validated(given), given)
