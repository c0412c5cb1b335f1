"""Directories that are not to be written to: their memory moved away, or has not arrived yet (L13).

Two files of a data directory say so. ``MOVED`` names where the memory went; ``MIGRATING`` says that one is on
its way here. Both may be read, neither may be written to: whoever did would make two memories of one.
"""

from __future__ import annotations

import json
from pathlib import Path

from hippo_async.errors import MigrationLocked, StoreMoved
from hippo_async.files import Files

MOVED = "MOVED"
MIGRATING = "MIGRATING"


def refuse_moved(data_dir: Path, files: Files) -> None:
    """Raise :class:`StoreMoved` or :class:`MigrationLocked` unless the memory is to be written to here."""
    pointer = data_dir / MOVED
    if files.exists(pointer):
        raise StoreMoved(data_dir, pointer, _destination(pointer, files))
    if files.exists(data_dir / MIGRATING):
        reason = "a memory is being moved to here, or a crash cut that short; then run 'hippo migrate' again"
        raise MigrationLocked(f"{data_dir}: {reason}")


def _destination(pointer: Path, files: Files) -> str:
    try:
        return str(json.loads(files.read(pointer))["to"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"somewhere that {pointer.name} does not name"
