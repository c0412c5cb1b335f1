"""A memory fetched from where it lay before, when it is opened where there is none (``migrate_from``)."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from hippo_async.backup.copying import Progress
from hippo_async.config import Settings
from hippo_async.engine import KEY_FILE
from hippo_async.files import Files
from hippo_async.journal.moved import MIGRATING
from hippo_async.migration.arrival import read
from hippo_async.migration.document import announced
from hippo_async.migration.migrating import MigrationReport, migrate
from hippo_async.migration.old import find_old, has_journal, old_directories
from hippo_async.place import Place, Tools

logger: logging.Logger = logging.getLogger("hippo_async.migration")


def fetch(
    place: Place, settings: Settings, tools: Tools, progress: Progress | None
) -> MigrationReport | None:
    """Move a memory to ``place`` if there is none, from where ``migrate_from`` says (L13); ``None`` if not.

    That is a directory, or the empty string for the first one under an old name. A move from there that a
    crash cut short is completed; settings that are here already stay. With no memory there nothing happens,
    and a memory begins here. Raises what :func:`migrate` raises, and ``OSError``. Blocks.
    """
    old = _old(place.data_dir, settings.migrate_from, tools.files)
    if old is None:
        return None
    key_file = None if place.key_file == place.data_dir / KEY_FILE else place.key_file
    report = migrate(
        replace(place, data_dir=old, key_file=key_file),
        place.data_dir,
        timeout_ms=settings.migration.timeout_ms,
        files=tools.files,
        clock=tools.clock,
        progress=progress,
    )
    logger.info("the memory was moved from %s to %s", old, place.data_dir)
    return report


def _old(data_dir: Path, named: str | None, files: Files) -> Path | None:
    """The directory to fetch a memory from, if there is one to be fetched."""
    if named is None:
        return None
    migrating = read(data_dir / MIGRATING, files)
    if migrating is not None:
        return _begun(migrating, [Path(named).absolute()] if named else old_directories())
    if has_journal(data_dir, files):
        return None
    if not named:
        return find_old(data_dir, files=files)
    if not has_journal(Path(named), files):
        logger.warning("migrate_from: there is no memory in %s; one begins in %s", named, data_dir)
        return None
    return Path(named)


def _begun(migrating: bytes, meant: list[Path]) -> Path | None:
    """Where a move began that was cut short, or still goes on, if it is one that is meant."""
    try:
        source = Path(announced(migrating).source)
    except ValueError:
        return None
    return source if source in meant else None
