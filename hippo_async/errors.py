"""Every error this library raises.

One root, :class:`HippoError`. Each class has a stable ``code`` (``MEM_E_*``), says in its message what is
wrong and what to do, keeps the value at fault as a field, and also inherits the built-in type that callers
already catch. Messages carry positions and reasons, never the text of a memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar


class HippoError(Exception):
    """The root of all errors of this library."""

    code: str = "MEM_E_ERROR"

    def as_dict(self) -> dict[str, str]:
        """Return ``{"code", "message"}``, the form that the CLI prints with ``--json``."""
        return {"code": self.code, "message": str(self)}


class InvalidInput(HippoError, ValueError):
    """Raised when an argument cannot be used; nothing was stored."""

    code = "MEM_E_INVALID_INPUT"


class RecordRejected(InvalidInput):
    """Raised when a record cannot be written down canonically; ``at`` is the path of the offending value."""

    code = "MEM_E_RECORD_REJECTED"

    def __init__(self, at: str, reason: str) -> None:
        super().__init__(f"{at}: {reason}")
        self.at = at
        self.reason = reason


class InvalidMedia(InvalidInput):
    """A medium that cannot be named, or a file inside a text (L15, L16)."""

    code = "MEM_E_INVALID_MEDIA"


class Forgotten(HippoError, LookupError):
    """A memory that was asked to be forgotten, and may be remembered anew only after ``restore`` (L11).

    ``record_id`` is the record to restore.
    """

    code = "MEM_E_FORGOTTEN"

    def __init__(self, reason: str, record_id: str) -> None:
        super().__init__(reason)
        self.record_id = record_id


class NotFound(HippoError, LookupError):
    """Raised when an id names nothing in this journal."""

    code = "MEM_E_NOT_FOUND"


class ConfigError(HippoError, ValueError):
    """Raised when a setting is unknown or not allowed; ``key`` as it was spelled, ``value`` as it was given.

    ``code`` says which: ``MEM_E_CONFIG_OUT_OF_RANGE``, ``…_INVALID_TYPE``, ``…_INVALID_CRON``,
    ``…_UNKNOWN_KEY``, ``…_DUPLICATE_KEY``; ``…_INVALID_FILE`` for a file that is no TOML, ``…_OVERRIDDEN``
    for a change that the environment would undo.
    """

    code = "MEM_E_CONFIG_OUT_OF_RANGE"

    def __init__(self, key: str, reason: str, *, code: str | None = None, value: object = None) -> None:
        super().__init__(f"{key}: {reason}")
        self.key = key
        self.value = value
        if code is not None:
            self.code = code


class MissingExtra(HippoError, ImportError):
    """Raised when an optional package is needed; the message names the extra to install."""

    code = "MEM_E_MISSING_EXTRA"

    def __init__(self, extra: str, needed_for: str) -> None:
        super().__init__(f"{needed_for} needs the extra {extra!r}: pip install 'hippo-async[{extra}]'")
        self.extra = extra


class EmbedderFailed(HippoError, ValueError):
    """What an embedder returned is not what it promised. The memory goes on by words, and counts it."""

    code = "MEM_E_EMBEDDER_FAILED"


class MaintenanceInFlight(HippoError, RuntimeError):
    """A round of maintenance was asked for while one runs; it is refused, not queued (L24)."""

    code = "MEM_E_MAINTENANCE_IN_FLIGHT"


class Closed(HippoError, RuntimeError):
    """Raised when something is asked of a memory that is not open."""

    code = "MEM_E_CLOSED"


class CaptureRefused(HippoError, RuntimeError):
    """Raised by awaiting a receipt whose turn was not taken into the buffer; the message says why."""

    code = "MEM_E_CAPTURE_REFUSED"


class KeyFileError(HippoError, ValueError):
    """Raised when a key file is missing, short, or readable by others."""

    code = "MEM_E_KEY"


class PublishFailed(HippoError, OSError):
    """Raised when an anchor could not be posted; ``address`` is where to, without what is secret in it."""

    code = "MEM_E_ANCHOR_PUBLISH_FAILED"

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"{address}: {reason}")
        self.address = address
        self.reason = reason


class TimestampRefused(HippoError, ValueError):
    """Raised when a reply of a time-stamping authority is not a stamp of this anchor that holds."""

    code = "MEM_E_ANCHOR_TIMESTAMP_REFUSED"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the time-stamp does not hold: {reason}")
        self.reason = reason


class AnchorsLocked(HippoError, OSError):
    """Raised when another run is publishing the anchors of the same store."""

    code = "MEM_E_ANCHORS_LOCKED"


class MigrationLocked(HippoError, OSError):
    """Raised when a memory is being moved to this directory, or was and is not all there; says by whom."""

    code = "MEM_E_MIGRATION_LOCKED"


class MigrationFailed(HippoError, OSError):
    """Raised when a memory could not be moved; ``source`` is where it still is, whole.

    ``undone`` is false if the very last step can be neither done nor taken back: the memory is whole at both
    ends then, and is written to at neither until the migration is run again.
    """

    code = "MEM_E_MIGRATION_FAILED"

    def __init__(self, source: Path, reason: str, *, undone: bool = True) -> None:
        outcome = f"the memory is still in {source}, as it was"
        super().__init__(f"{reason}; {outcome if undone else 'all is copied: run it again to finish'}")
        self.source = source
        self.reason = reason
        self.undone = undone


class MigrationTimeout(MigrationFailed, TimeoutError):
    """Raised when moving a memory took longer than ``migration.timeout_ms``; it is where it was, whole."""

    code = "MEM_E_MIGRATION_TIMEOUT"


class JournalError(HippoError):
    """The root of all errors of the journal."""

    code = "MEM_E_JOURNAL"


class JournalLocked(JournalError, OSError):
    """Raised when another writer holds the journal; the message says who."""

    code = "MEM_E_JOURNAL_LOCKED"


class StoreMoved(JournalError, OSError):
    """Raised when a memory is to be written to where it was moved away from; ``target`` is where it went."""

    code = "MEM_E_MOVED"

    def __init__(self, data_dir: Path, pointer: Path, target: str) -> None:
        super().__init__(
            f"{data_dir}: this memory was moved to {target}; open it there. To go on here, without what was "
            f"written there, remove {pointer}"
        )
        self.data_dir = data_dir
        self.target = target


class JournalPoisoned(JournalError, OSError):
    """Raised by every append after a failed write, until the journal is opened again."""

    code = "MEM_E_JOURNAL_POISONED"


class WriteFailed(JournalError, OSError):
    """Raised when a group of records could not be made durable; none of it is acknowledged."""

    code = "MEM_E_WRITE_FAILED"


class FormatTooNew(JournalError, ValueError):
    """Raised when a journal was written by a newer protocol than this release reads."""

    code = "MEM_E_FORMAT_TOO_NEW"


class IntegrityError(JournalError, ValueError):
    """The root of all findings that a store is not what was written.

    Fields: ``path`` of the file, ``offset`` in bytes, ``seq`` of the record, ``reason``. ``advice`` says what
    the owner can do.
    """

    code = "MEM_E_INTEGRITY"
    advice: ClassVar[str] = (
        "Put back a backup, or run 'hippo repair' to see what can be saved; it changes nothing."
    )

    def __init__(self, path: Path | str, offset: int, seq: int, reason: str) -> None:
        super().__init__(f"{path}: offset {offset}, seq {seq}: {reason}")
        self.path: Path = Path(path)
        self.offset = offset
        self.seq = seq
        self.reason = reason


class JournalCorrupt(IntegrityError):
    """Raised when stored bytes are not the bytes that were sealed. Nothing is cut or changed."""

    code = "MEM_E_JOURNAL_CORRUPT"


class AcknowledgedLoss(IntegrityError):
    """Raised when fewer records are there than ``HEAD`` says were acknowledged."""

    code = "MEM_E_ACKNOWLEDGED_LOSS"


class HeadMismatch(IntegrityError):
    """Raised when ``HEAD`` is missing, damaged, or belongs to another journal."""

    code = "MEM_E_HEAD_MISMATCH"


class RolledBack(IntegrityError):
    """Raised when the witness outside the store saw a later state than the store shows."""

    code = "MEM_E_ROLLED_BACK"
    advice = "Put the newest copy back. If you restored this one on purpose: 'hippo witness accept'."


class WrongKey(IntegrityError):
    """Raised when the very first record does not verify under the key that was given."""

    code = "MEM_E_WRONG_KEY"
    advice = "Name the key this journal was written under, with --key-file or key_file."


class ForeignJournal(IntegrityError):
    """Raised when a journal belongs to another agent than the one that opens it."""

    code = "MEM_E_FOREIGN_JOURNAL"
    advice = "Open it as the agent it belongs to, or name another data directory."


class AnchorDamaged(IntegrityError):
    """Raised when a day of the ledger is not what was written. Nothing is changed.

    Put the file back from a copy. Removing it has the day anchored anew, with the records it has by now.
    """

    code = "MEM_E_ANCHOR_DAMAGED"
    advice = "Put the file back from a copy."

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path, 0, -1, reason)
