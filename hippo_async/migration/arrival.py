"""The directory that a memory is moved to: how far it has come, who is at it, and how it is emptied again."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path

from hippo_async.configuring import CONFIG_FILE
from hippo_async.engine import KEY_FILE
from hippo_async.errors import JournalLocked, MigrationLocked
from hippo_async.files import Files
from hippo_async.journal.lock import HOLDER, LOCK, WriterLock, holder_of
from hippo_async.journal.moved import MIGRATING
from hippo_async.migration.document import MIGRATED

_FOLDER = re.compile(r"journal(\.\d+)?|raw|anchors|index")
_KEY = re.compile(rf"{re.escape(KEY_FILE)}(\.\d+)?")
_UNFINISHED = re.compile(rf"({re.escape(KEY_FILE)}|{MIGRATING}|{HOLDER}).*\.new")
_OWN = frozenset({MIGRATING, LOCK, HOLDER})


class State(Enum):
    """How far a directory has come that a memory is to be moved to."""

    EMPTY = "nothing is there, or settings only"
    UNFINISHED = "a copy that a crash cut short, which counts for nothing"
    ARRIVED = "all is there, and the source names it"
    DONE = "the memory was moved here"
    OCCUPIED = "something else is there"


def state_of(names: Collection[str], *, migrating: bytes | None, moved: bytes | None) -> State:
    """Judge a directory by the names in it, its ``MIGRATING``, and the ``MOVED`` of the source."""
    if MIGRATED in names:
        return State.DONE
    if migrating is not None and migrating == moved:
        return State.ARRIVED
    if migrating is not None:
        return State.OCCUPIED if strangers(names) else State.UNFINISHED
    return State.EMPTY if is_free(names) else State.OCCUPIED


def is_free(names: Collection[str]) -> bool:
    """Whether a directory holds nothing, or only settings and what a lock or a crash left."""
    return all(name in _OWN or name == CONFIG_FILE or _UNFINISHED.fullmatch(name) for name in names)


def strangers(names: Collection[str]) -> list[str]:
    """Return the names that no migration makes."""
    return sorted(name for name in names if not (_is_copied(name) or name in _OWN))


@contextmanager
def kept_for_us(target: Path, files: Files) -> Iterator[None]:
    """Keep other migrations out of a directory. Raises :class:`MigrationLocked` that says who is at it.

    The lock of a process that died is free. Nothing of the lock is left behind.
    """
    lock = WriterLock(files, target)
    try:
        lock.acquire()
    except JournalLocked:
        who = holder_of(files, target)
        raise MigrationLocked(f"{target}: {who} is moving a memory to here; wait until it is done") from None
    try:
        yield
    finally:
        with suppress(OSError):
            files.remove(target / LOCK)
        lock.release()


def clear(target: Path, source: Path, files: Files, *, settings: bool) -> None:
    """Remove what was copied, durably; the ``settings`` only if they were. A key stays unless the source has
    the same.
    """
    for name in files.list(target):
        path = target / name
        if _FOLDER.fullmatch(name):
            files.remove_tree(path)
        elif _KEY.fullmatch(name):
            if read(source / name, files) == files.read(path):
                files.remove(path)
        elif _is_copied(name) and (settings or name != CONFIG_FILE):
            files.remove(path)
    files.sync_dir(target)


def abandon(target: Path, source: Path, files: Files, *, made: bool, settings: bool) -> None:
    """Remove what was copied, then the sign that it was; the directory too if it was ``made`` for it."""
    clear(target, source, files, settings=settings)
    files.remove(target / MIGRATING)
    files.sync_dir(target)
    if made and set(files.list(target)) <= _OWN:
        files.remove_tree(target)
        files.sync_dir(target.parent)


def read(path: Path, files: Files) -> bytes | None:
    """Return what a file holds, ``None`` if it is not there."""
    try:
        return files.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_copied(name: str) -> bool:
    return any(kind.fullmatch(name) for kind in (_FOLDER, _KEY, _UNFINISHED)) or name == CONFIG_FILE
