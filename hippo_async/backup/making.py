"""``backup``: a verified copy of a store, also while an agent writes to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hippo_async.backup.checking import check_files, check_store
from hippo_async.backup.copying import Progress, StoreCopy, copying, in_force
from hippo_async.backup.manifest import Manifest
from hippo_async.clock import SystemClock
from hippo_async.engine import find_keys
from hippo_async.errors import IntegrityError, InvalidInput, JournalLocked
from hippo_async.files import Files
from hippo_async.journal import KeyFiles, Keyring
from hippo_async.journal.layout import Layout
from hippo_async.journal.lineage import journal_directory
from hippo_async.journal.recovery import Recovered, recover
from hippo_async.place import Place
from hippo_async.protocols import Clock
from hippo_async.records import utc_timestamp

TRIES = 5


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A backup that was made and verified.

    ``key_files`` are the agent's keys, oldest first, none if they were handed over: ``with_keys`` says that
    they are in the backup; if not, it is worthless without them. ``notes`` say what is unusual and harmless.
    """

    path: Path
    manifest: Manifest
    with_keys: bool
    key_files: tuple[Path, ...]
    notes: tuple[str, ...] = ()

    @property
    def warning(self) -> str:
        """What has to be known about the keys."""
        if self.with_keys:
            return "The keys are in it: whoever has it can read this memory and forge it. Keep it like a key."
        named = ", ".join(map(str, self.key_files)) or "those that the application holds"
        return (
            f"The keys are NOT in it, and without them it is worthless: nothing in it can be proved or "
            f"restored. Keep a copy elsewhere of: {named}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {
            "path": str(self.path),
            **self.manifest.as_dict(),
            "with_keys": self.with_keys,
            "key_files": [str(path) for path in self.key_files],
            "warning": self.warning,
            "notes": list(self.notes),
        }


def backup(
    source: Place,
    destination: Path,
    *,
    with_keys: bool = False,
    files: Files | None = None,
    clock: Clock | None = None,
    progress: Progress | None = None,
) -> BackupReport:
    """Copy a store into a new or empty directory, so that the copy is a store itself, and verify it.

    It holds every record acknowledged before the call, and is a prefix of the journal: an agent may write
    meanwhile. ``config.toml`` of the data directory is in it, if it is there. The index is not copied, since
    it is made anew, and the keys are only ``with_keys``. When it returns, all of it is durable and every seal
    in it was checked. The source is read and nothing else. On an error, and after a crash, there is no store
    at ``destination`` and so no backup.

    Raises :class:`InvalidInput` if something is there already; what opening raises if the source is not
    sound, or the copy; :class:`JournalLocked` if purges, repairs or changes of keys did not let it finish;
    and ``OSError``. Blocks.
    """
    files = files or Files()
    keys = find_keys(source, files, make=False)
    making = _Making(source, destination, keys, with_keys, files, clock or SystemClock(), progress)
    for _ in range(TRIES):
        generations = in_force(source.data_dir, files)
        try:
            return making.make(generations)
        except (IntegrityError, FileNotFoundError, JournalLocked):  # files that were replaced look like these
            if in_force(source.data_dir, files) == generations:
                raise
    raise making.rewritten()


@dataclass(frozen=True, slots=True)
class _Making:
    """One backup, however often it is tried."""

    source: Place
    destination: Path
    keys: Keyring
    with_keys: bool
    files: Files
    clock: Clock
    progress: Progress | None

    def make(self, generations: Mapping[int, int]) -> BackupReport:
        """Make and verify a backup of these generations. Raises :class:`JournalLocked` if they are gone."""
        self._refuse_destination()
        check_store(self.source, self.keys, self.files)
        source, files = self.source.data_dir, self.files
        copy = StoreCopy(source, self.destination, generations, files=files, progress=self.progress)
        with copying(copy):
            copy.take()
            manifest = self._describe(copy, self._ends(copy))
            copy.add_manifest(manifest.encode())
            if self.with_keys:
                copy.add_keys(self.keys, manifest.keys)
            if in_force(source, files) != generations:
                raise self.rewritten()
            copy.put_in_force()
            check_files(self.destination, manifest, files)
            place = replace(self.source, data_dir=self.destination, witness=None)
            notes = check_store(place, self.keys, files)
        return BackupReport(self.destination, manifest, self.with_keys, self._key_files(manifest.keys), notes)

    def rewritten(self) -> JournalLocked:
        """The source was rewritten while it was read."""
        reason = "a purge, a repair or a change of keys came in between; try again when it is done"
        return JournalLocked(f"{self.source.data_dir}: tried {TRIES} times to copy it, {reason}")

    def _refuse_destination(self) -> None:
        destination = self.destination.absolute()
        if destination.is_relative_to(self.source.data_dir.absolute()):
            raise InvalidInput(
                f"{destination}: a backup inside its store is lost with it; name another place"
            )
        if self.files.list(destination):
            raise InvalidInput(f"{destination}: there is something here; a backup takes an empty directory")

    def _ends(self, copy: StoreCopy) -> list[Recovered]:
        """Check each journal of the copy, and cut what a write at this moment left behind its last record."""
        found = []
        for epoch, generation in copy.generations.items():
            layout = Layout(journal_directory(copy.target, epoch))
            end = recover(
                self.files,
                layout,
                generation,
                agent_id=self.source.agent_id,
                key=self.keys.key(epoch),
                witness=None,
            )
            for objection in end.objections:
                raise objection
            if end.torn is not None:
                copy.cut(end.torn.path, end.torn.offset)
            found.append(end)
        return found

    def _describe(self, copy: StoreCopy, ends: list[Recovered]) -> Manifest:
        last = ends[-1].chain
        return Manifest(
            agent_id=self.source.agent_id,
            files=tuple(entry for _, entry in sorted(copy.entries.items())),
            journal_id=ends[0].journal_id,
            keys=len(ends) + last.closed,  # a change of keys made the next key before it closed the journal
            made_at=utc_timestamp(self.clock.now()),
            record_id=last.record_id or "",
            seq=last.seq,
        )

    def _key_files(self, count: int) -> tuple[Path, ...]:
        keys = self.keys
        return tuple(keys.path(epoch) for epoch in range(count)) if isinstance(keys, KeyFiles) else ()
