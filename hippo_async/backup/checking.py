"""What a store has to pass before it is copied, and a copy of one before anybody relies on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from hippo_async.anchors import Ledger
from hippo_async.backup.copying import in_force, survey
from hippo_async.backup.manifest import Entry, Manifest
from hippo_async.configuring import CONFIG_FILE
from hippo_async.errors import IntegrityError, JournalCorrupt
from hippo_async.files import Files
from hippo_async.journal import Keyring, Lineage
from hippo_async.place import Place

ROTTEN = "not what was backed up; this backup cannot be relied on, use another one"


def check_store(place: Place, keys: Keyring, files: Files) -> tuple[str, ...]:
    """Open every journal to read it, walk it whole, and read every anchor; return what is unusual about it.

    Raises what opening raises, :class:`JournalCorrupt` if the walk finds damage, and
    :class:`~hippo_async.errors.AnchorDamaged`. Changes nothing.
    """
    with closing(lineage(place, keys, files)) as journal:
        opened = journal.open()
        walked = journal.verify_chain()
    if not walked.intact:
        path, reason = walked.path or place.data_dir, walked.reason or "not intact"
        raise JournalCorrupt(path, walked.offset or 0, -1 if walked.seq is None else walked.seq, reason)
    ledger = Ledger(place.data_dir, agent_id=place.agent_id, files=files)
    for date in ledger.dates():
        ledger.read(date)
    return opened.notes


def check_files(data_dir: Path, manifest: Manifest, files: Files) -> None:
    """Raise :class:`IntegrityError` unless the files of a store are exactly those of the manifest.

    Settings that the manifest does not name are no part of what was backed up, and not looked at.
    """
    expected = manifest.by_name
    try:
        found = survey(data_dir, in_force(data_dir, files), files, settings=CONFIG_FILE in expected)
    except FileNotFoundError as error:
        raise IntegrityError(error.filename, 0, -1, ROTTEN) from None
    for name in sorted({*found.read, *found.names} ^ expected.keys()):
        raise IntegrityError(data_dir / name, 0, -1, ROTTEN)
    for path in differing(data_dir, manifest.files, files):
        raise IntegrityError(path, 0, -1, ROTTEN)


def differing(data_dir: Path, entries: Iterable[Entry], files: Files) -> Iterator[Path]:
    """Yield the files of a store that do not hold what their entries say."""
    for entry in entries:
        path = data_dir / entry.name
        if files.size(path) != entry.size or files.sha256(path) != entry.sha256:
            yield path


def lineage(place: Place, keys: Keyring, files: Files) -> Lineage:
    """The journals of a store, to be read."""
    return Lineage(
        place.data_dir,
        agent_id=place.agent_id,
        keys=keys,
        witness=place.witness,
        read_only=True,
        files=files,
    )
