"""Where a memory may lie that was made under an old name (L13)."""

from __future__ import annotations

from pathlib import Path

import platformdirs

from hippo_async.files import Files
from hippo_async.journal.layout import Layout
from hippo_async.journal.lineage import journal_directory
from hippo_async.journal.moved import MOVED
from hippo_async.migration.arrival import is_free

USER_DATA_NAMES = ("hippo_async", "hippocampus", "hippo")
"""Names in the platform's folder for user data. ``hippo-async`` is the one in use, so it is none of them."""

HOME_NAMES = (".hippo", ".hippocampus")
"""Names in the user's home folder."""


def old_directories() -> list[Path]:
    """The directories that are looked into, in this order."""
    in_user_data = [platformdirs.user_data_path(name) for name in USER_DATA_NAMES]
    return in_user_data + [Path.home() / name for name in HOME_NAMES]


def find_old(target: Path, *, files: Files | None = None) -> Path | None:
    """Return the first directory under an old name that holds a memory; ``None`` if there is none (L13).

    None either if ``target`` holds more than settings. A directory counts only if it holds a journal that was
    not moved away yet. Whose memory it is, nobody has looked: :func:`~hippo_async.migration.migrate` refuses
    another agent's. Ask only where somebody wants it (``migrate_from``, ``hippo migrate``): a directory may
    be meant for another memory. Reads names only; raises ``OSError``. Blocks.
    """
    files = files or Files()
    if not is_free(files.list(target)):
        return None
    return next((path for path in old_directories() if path != target and holds_memory(path, files)), None)


def holds_memory(data_dir: Path, files: Files) -> bool:
    """Whether there is a journal in a directory that was not moved away."""
    return has_journal(data_dir, files) and not files.exists(data_dir / MOVED)


def has_journal(data_dir: Path, files: Files) -> bool:
    """Whether there is a journal in a directory, moved away or not."""
    return files.exists(Layout(journal_directory(data_dir, 0)).current)
