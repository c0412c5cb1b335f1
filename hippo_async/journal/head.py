"""``HEAD`` and the witness: how far a journal was acknowledged (FORMAT.md §5).

Two slots of 512 bytes. One is known to be on disk; the other is overwritten after each group of records, in
place and without a sync of its own. A power loss can damage only that second one, a process kill neither.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from hippo_async.files import Files, SlotFile
from hippo_async.journal.seal import Sealer
from hippo_async.journal.sealed import open_document, seal_canonical

SLOT_BYTES = 512
SLOTS = 2

_JOURNAL_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class HeadState:
    """The last acknowledged record of a journal. ``number`` counts the states and only grows."""

    journal_id: str
    generation: int
    number: int
    seq: int
    record_id: str

    def canonical(self) -> bytes:
        """The canonical form, written out directly: needed after each group, and nothing in it escapes."""
        return (
            f'{{"generation":{self.generation},"journal_id":"{self.journal_id}","number":{self.number},'
            f'"record_id":"{self.record_id}","seq":{self.seq}}}'
        ).encode()


@dataclass(frozen=True, slots=True)
class HeadFound:
    """What a head file holds: its newest state and slot, and whether anything in it does not verify."""

    state: HeadState | None = None
    slot: int = 0
    damaged: bool = False


def encode_slot(state: HeadState, sealer: Sealer) -> bytes:
    """Write a state as one sealed slot, padded with blanks and ended by a newline."""
    return seal_canonical(state.canonical(), sealer).ljust(SLOT_BYTES - 1) + b"\n"


def decode_slot(slot: bytes, sealer: Sealer) -> HeadState | None:
    """Read a slot back, or return ``None`` if it is not exactly what :func:`encode_slot` writes."""
    document = open_document(slot[:-1].rstrip(b" "), sealer)
    if document is None:
        return None
    try:
        state = HeadState(**document)
    except TypeError:  # sealed by a release that knows other fields
        return None
    return state if encode_slot(state, sealer) == slot else None


def read_head(files: Files, path: Path, sealer: Sealer) -> HeadFound:
    """Read a head file; an empty result if there is none."""
    slots = _slots(files, path)
    states = [decode_slot(slot, sealer) for slot in slots]
    damaged = len(slots) not in (0, SLOTS) or None in states
    known = [(state.number, index, state) for index, state in enumerate(states) if state is not None]
    if not known:
        return HeadFound(damaged=damaged)
    _, slot, state = max(known, key=lambda entry: entry[:2])
    return HeadFound(state, slot, damaged)


def peek_journal_id(files: Files, path: Path) -> str | None:
    """Return the journal id that a head file claims, before any key can be checked."""
    claimed = (claim.get("journal_id") for claim in _claims(files, path))
    return next((journal_id for journal_id in claimed if is_journal_id(journal_id)), None)


def is_journal_id(value: object) -> TypeGuard[str]:
    """Whether a value that nothing vouches for yet has the form of a journal id."""
    return isinstance(value, str) and _JOURNAL_ID.fullmatch(value) is not None


def peek_number(files: Files, path: Path) -> int:
    """Return the highest number that a head file claims, before any key can be checked; 0 without one."""
    numbers = (claim.get("number") for claim in _claims(files, path))
    return max((number for number in numbers if type(number) is int), default=0)


def _claims(files: Files, path: Path) -> Iterator[dict[str, Any]]:
    for slot in _slots(files, path):
        try:
            claim = json.loads(slot.partition(b" ")[0])
        except (ValueError, RecursionError):
            continue
        if isinstance(claim, dict):
            yield claim


def _slots(files: Files, path: Path) -> list[bytes]:
    try:
        data = files.read(path)
    except FileNotFoundError:
        return []
    return [data[at : at + SLOT_BYTES] for at in range(0, len(data), SLOT_BYTES)]


class HeadFile:
    """A head file open for its one writer."""

    def __init__(self, files: Files, path: Path, sealer: Sealer) -> None:
        self._slots = SlotFile(files, path, slot_bytes=SLOT_BYTES)
        self._sealer = sealer
        self._unsynced = 0

    def start(self, state: HeadState, *, newest_slot: int) -> None:
        """Write ``state`` into both slots: the one that does not hold the newest state first, and durably.

        The newest slot is synced before the other is touched: a writer that was killed may have left it in
        the system's cache, and then the other is the only one that a power loss would spare.
        """
        self._slots.sync()
        slot = encode_slot(state, self._sealer)
        for index in (1 - newest_slot, newest_slot):
            self._slots.write(index, slot)
            self._slots.sync()

    @property
    def newest_slot(self) -> int:
        """The slot that holds what was settled last."""
        return 1 - self._unsynced

    def note(self, state: HeadState) -> None:
        """Write ``state`` into the slot that may be lost; survives a process kill at once."""
        self._slots.write(self._unsynced, encode_slot(state, self._sealer))

    def settle(self) -> None:
        """Make the last noted state durable; from now on the other slot is the one written."""
        self._slots.sync()
        self._unsynced = 1 - self._unsynced

    def close(self) -> None:
        """Close the file; may be called twice."""
        self._slots.close()
