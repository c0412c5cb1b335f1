"""``migrate``: a memory moved to another data directory (L13)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hippo_async.backup.copying import Progress
from hippo_async.clock import SystemClock
from hippo_async.config import MigrationSettings
from hippo_async.files import Files
from hippo_async.migration.document import Move
from hippo_async.migration.moving import Migration
from hippo_async.place import Place
from hippo_async.protocols import Clock

TIMEOUT_MS: int = MigrationSettings().timeout_ms


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """A memory that was moved, and verified where it is now.

    ``already`` says that an earlier run did it. The source is a backup as of then: what is forgotten later is
    still in it, so it is to be removed once nobody needs it.
    """

    move: Move
    already: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {**self.move.as_dict(), "already": self.already}


def migrate(
    source: Place,
    target: Path,
    *,
    timeout_ms: int = TIMEOUT_MS,
    files: Files | None = None,
    clock: Clock | None = None,
    progress: Progress | None = None,
    quiet: Callable[[], object] | None = None,
) -> MigrationReport:
    """Move a memory to a new or empty directory, and have it written to there only from then on (L13).

    Copies the journals, the keys that lie in the old directory, ``raw/``, ``anchors/``, the index, and
    ``config.toml`` unless the target has one already, which then stays; compares both ends before it counts.
    When it returns, the target is durable and verified, holds every record acknowledged before, and says so
    in ``MIGRATED``. The old directory stays as it was, as a backup, with ``MOVED`` in it: opening it to write
    raises :class:`StoreMoved`; it can be read until the witness has seen more at the target. The caller opens
    the memory there. Run again, it says that it was done; after a crash it begins anew or does what is left.
    ``progress(done, total)`` counts bytes.

    Without ``quiet`` nobody may have the source open for writing. With it, an agent may write while most is
    copied; then ``quiet()`` is called, once, and has to leave the source closed and everything flushed. What
    was added is brought up in the time of reading the store once. On an error open it at the source again.

    Raises :class:`~hippo_async.errors.MigrationLocked` while another run moves something to the target;
    :class:`JournalLocked` if the source is open for writing; :class:`InvalidInput` if something else is in
    the target; :class:`StoreMoved` if the source was moved elsewhere; what opening raises if the source is
    not sound; :class:`MigrationTimeout`, looked at between files; and :class:`MigrationFailed` for whatever
    else goes wrong. The target is emptied then, and the source is what it was. Blocks.
    """
    source = replace(source, data_dir=source.data_dir.absolute())
    files, clock = files or Files(), clock or SystemClock()
    migration = Migration(source, target.absolute(), timeout_ms, files, clock, progress, quiet)
    return MigrationReport(*migration.run())
