"""Where the settings of a memory come from, and where changes go: the edge around :mod:`hippo_async.config`.

An explicit ``settings=`` counts alone. Else the environment goes before ``config.toml`` in the data
directory, or the file that ``HIPPO_CONFIG`` names, and that before the defaults. All of it blocks.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfoNotFoundError

from hippo_async.config import INVALID_FILE, OVERRIDDEN, Settings
from hippo_async.config.document import edited, parsed
from hippo_async.config.environment import from_environment
from hippo_async.config.faults import place
from hippo_async.config.layers import Layered, layered
from hippo_async.config.names import Given, Key
from hippo_async.config.settings import NAMES, validated
from hippo_async.errors import ConfigError
from hippo_async.files import Files
from hippo_async.lives.calendar import Calendar

CONFIG_FILE = "config.toml"
NAMED_BY = "HIPPO_CONFIG"


def config_file(data_dir: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the file that holds the settings of the memory in ``data_dir``; it need not be there."""
    named = environ.get(NAMED_BY)
    return Path(named) if named else data_dir / CONFIG_FILE


def load_settings(
    data_dir: str | Path, environ: Mapping[str, str] = os.environ, *, files: Files | None = None
) -> Settings:
    """Return the settings of the memory in ``data_dir``, from environment, file and defaults (L23).

    Raises :class:`~hippo_async.errors.ConfigError` for the first fault, and says in which file or variable
    it is; ``OSError`` if the file cannot be read.
    """
    return load_layers(Path(data_dir), environ, files=files or Files()).settings


def load_layers(data_dir: Path, environ: Mapping[str, str], *, files: Files) -> Layered:
    """Do as :func:`load_settings` does, and say where each value comes from."""
    file = config_file(data_dir, environ)
    if environ.get(NAMED_BY) and not files.exists(file):
        raise ConfigError(NAMED_BY, f"there is no file {file}", code=INVALID_FILE, value=str(file))
    found = layered(read_text(file, files), environ, file=str(file))
    _stay(found.given, data_dir)
    _find_zone(found.settings, found.given)
    return found


def read_text(file: Path, files: Files) -> str:
    """Return a file's text, nothing for one that is not there."""
    if not files.exists(file):
        return ""
    try:
        return files.read(file).decode()
    except UnicodeDecodeError as error:
        raise ConfigError(str(file), f"is no UTF-8: {error}", code=INVALID_FILE) from None


def save(
    changes: Mapping[Key, Given], data_dir: Path, environ: Mapping[str, str], *, files: Files
) -> Layered:
    """Put changes into the file, atomically and durably; return what a memory opened now would go by.

    The file is as it was if a :class:`~hippo_async.errors.ConfigError` or ``OSError`` is raised. Two
    processes that save at the same time do not mix their files, but one change may be lost.
    """
    _stay(changes, data_dir)
    file = config_file(data_dir, environ)
    values = {key: one.value for key, one in changes.items() if key != "data_dir"}
    text = edited(read_text(file, files), values, file=str(file))
    found = layered(text, environ, file=str(file), changes=changes)
    files.mkdir(file.parent)
    files.write_atomic(file, text.encode())
    return found


class Configuration:
    """The settings of one memory, now. ``given`` are those that its owner passed in, if any.

    ``data_dir`` is where the memory lies.
    """

    def __init__(self, data_dir: Path, given: Settings | None, files: Files) -> None:
        self.data_dir = data_dir
        self._explicit = given is not None
        self._files = files
        self._changing = threading.Lock()
        self.current: Settings = given or Settings()

    def load(self) -> Settings:
        """Read environment and file, unless the settings were passed in. Raises as :func:`load_settings`."""
        if self._explicit:
            _find_zone(self.current)
        else:
            self.current = load_settings(self.data_dir, files=self._files)
        return self.current

    def change(self, patch: Mapping[str, Any], adopter: Callable[[], Callable[[Settings], None]]) -> Settings:
        """Validate, save, then go by the changed settings; ``adopter`` says who tells those who hold some.

        Nothing has changed when it raises, or ``adopter`` does. Safe from several threads.
        """
        with self._changing:
            adopt = adopter()
            changes = NAMES.flat(patch)
            environ = {
                name: text for name, text in os.environ.items() if not self._explicit or name == NAMED_BY
            }
            _refuse_overridden(changes, environ)
            settings = validated(changes, base=self.current)
            _find_zone(settings, changes)
            save(changes, self.data_dir, environ, files=self._files)
            self.current = settings
            adopt(settings)
            return settings

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Have changes wait. Blocks while one is being made."""
        with self._changing:
            yield

    def refuse_pinned(self) -> None:
        """Raise :class:`ConfigError` if the file names the directory: it would not be read in another one."""
        file = config_file(self.data_dir)
        pinned = parsed(read_text(file, self._files), file=str(file)).get("data_dir")
        if not self._explicit and pinned is not None and pinned.value is not None:
            reason = f"it names where this memory lies; take it out, then move the memory{place(pinned.file)}"
            raise ConfigError(pinned.spelled, reason, value=pinned.value)


def _refuse_overridden(changes: Mapping[Key, Given], environ: Mapping[str, str]) -> None:
    """Refuse what the next opening would undo."""
    held = from_environment(environ)
    for key, one in changes.items():
        if key in held:
            reason = f"the environment sets it; change {held[key].spelled} instead"
            raise ConfigError(one.spelled, reason, code=OVERRIDDEN, value=one.value)


def _find_zone(settings: Settings, given: Mapping[Key, Given] | None = None) -> None:
    """Read the time zone from the disk, once and for all. Raises :class:`ConfigError` if there is none."""
    try:
        Calendar(settings.time_zone).find()
    except (ZoneInfoNotFoundError, OSError, ValueError):
        one = (given or {}).get("time_zone")
        reason = f"there is no time zone {settings.time_zone!r} on this machine"
        where = place(one.file) if one else ""
        raise ConfigError(
            one.spelled if one else "time_zone", reason + where, value=settings.time_zone
        ) from None


def _stay(given: Mapping[Key, Given], data_dir: Path) -> None:
    """Refuse a file or patch that names another directory: a memory is moved, it does not jump."""
    one = given.get("data_dir")
    if one is None or one.value is None or Path(one.value) == data_dir.absolute():
        return
    reason = (
        f"{one.value!r} is not where this memory lies, {data_dir}; a setting does not move it: migrate it "
        f"there (memory.migrate(), hippo migrate), or name the directory when you open it (data_dir=, "
        f"HIPPO_DATA_DIR){place(one.file)}"
    )
    raise ConfigError(one.spelled, reason, value=one.value)
