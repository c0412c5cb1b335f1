"""``restore``: a store made of a backup again."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hippo_async.backup.checking import ROTTEN, check_files, check_store, lineage
from hippo_async.backup.copying import BESIDE, Progress, StoreCopy, copying, in_force
from hippo_async.backup.manifest import MANIFEST, Manifest, decode
from hippo_async.configuring import CONFIG_FILE
from hippo_async.engine import KEY_FILE, find_keys
from hippo_async.errors import IntegrityError, InvalidInput, NotFound, RolledBack
from hippo_async.files import Files
from hippo_async.journal import KeyFiles, Keyring
from hippo_async.place import Place

_JOURNAL = re.compile(r"journal(\.\d+)?")


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """A store that was restored and verified.

    ``with_keys`` says that the keys came out of the backup. ``rolled_back`` is what the witness has against
    the store: it saw a later state, and until ``hippo witness accept`` the store does not open.
    """

    path: Path
    manifest: Manifest
    with_keys: bool
    rolled_back: RolledBack | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {
            "path": str(self.path),
            **self.manifest.as_dict(),
            "with_keys": self.with_keys,
            "rolled_back": None if self.rolled_back is None else self.rolled_back.as_dict(),
        }


def restore(
    backup: Path, target: Place, *, files: Files | None = None, progress: Progress | None = None
) -> RestoreReport:
    """Verify a backup, copy it into a data directory without a store, and verify what is there.

    The keys are those in the backup, which are restored with it (mode 0600), else those of ``target``. So is
    its ``config.toml``, if it has one; settings that are there are never overwritten. When it returns, all of
    it is durable. On an error, and after a crash, no store is there. The witness is read and not told: it may
    know of records that came after the backup, and the report says so.

    Raises :class:`NotFound` if there is no backup, :class:`InvalidInput` if something of a store is in the
    target, or settings are both there and in the backup, :class:`IntegrityError` if a bit of the backup is
    not what was written, what opening raises, and ``OSError``. Blocks.
    """
    files = files or Files()
    manifest = read_manifest(backup, files)
    with_settings = CONFIG_FILE in manifest.by_name
    _refuse_occupied(target.data_dir, files, with_settings=with_settings)
    with_keys = files.exists(backup / KEY_FILE)
    keys: Keyring = KeyFiles(files, backup / KEY_FILE) if with_keys else find_keys(target, files, make=False)
    check_files(backup, manifest, files)
    check_store(replace(target, data_dir=backup, witness=None), keys, files)
    copy = StoreCopy(
        backup,
        target.data_dir,
        in_force(backup, files),
        files=files,
        progress=progress,
        settings=with_settings,
    )
    with copying(copy):
        if with_keys:
            copy.add_keys(keys, manifest.keys)
        copy.take()
        if copy.entries != manifest.by_name:
            raise IntegrityError(backup, 0, -1, ROTTEN)
        copy.put_in_force()
        check_files(target.data_dir, manifest, files)
        check_store(replace(target, witness=None), keys, files)
        rolled_back = _objection(target, keys, files)
    return RestoreReport(target.data_dir, manifest, with_keys, rolled_back)


def read_manifest(backup: Path, files: Files) -> Manifest:
    """Read what a backup is of; needs no key. Raises :class:`NotFound`, or :class:`IntegrityError`."""
    path = backup / MANIFEST
    try:
        return decode(files.read(path))
    except FileNotFoundError:
        raise NotFound(f"{path}: not there, so this is no backup, or one that was not finished") from None
    except ValueError as error:
        raise IntegrityError(path, 0, -1, f"{error}; {ROTTEN}") from None


def _refuse_occupied(data_dir: Path, files: Files, *, with_settings: bool) -> None:
    for name in files.list(data_dir):
        if name in BESIDE or _JOURNAL.fullmatch(name) or (with_settings and name == CONFIG_FILE):
            reason = "part of a store, which is never overwritten; move it away, or name another place"
            raise InvalidInput(f"{data_dir / name}: {reason}")


def _objection(place: Place, keys: Keyring, files: Files) -> RolledBack | None:
    with closing(lineage(place, keys, files)) as journal:
        try:
            journal.open()
        except RolledBack as error:
            return error
    return None
