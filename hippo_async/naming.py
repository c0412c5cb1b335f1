"""Which record somebody means who names it by the first digits of its id, or by its place in the journal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hippo_async.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from hippo_async.hippocampus import Hippocampus
    from hippo_async.records import Record

ID_DIGITS = 32
FEWEST_DIGITS = 6
SHOWN_DIGITS = 8
_DIGITS = re.compile(rf"[0-9a-f]{{{FEWEST_DIGITS},{ID_DIGITS}}}")


async def id_meant(memory: Hippocampus, name: str, *, scope: Sequence[str] = ()) -> str:
    """Return the whole id of the record of a scope whose id begins with ``name``.

    Looks among what searches find and what is to be forgotten. A whole id is returned as it is, and nothing
    is looked up. Raises :class:`InvalidInput` for what no id begins with or more than one does,
    :class:`NotFound` if none in this scope does.
    """
    digits = name.strip().lower()
    if not _DIGITS.fullmatch(digits):
        raise InvalidInput(f"id {name[:80]!r}; it takes {FEWEST_DIGITS} to {ID_DIGITS} hexadecimal digits")
    if len(digits) == ID_DIGITS:
        return digits
    return only_match(digits, await memory.ids_beginning(digits, scope=scope))


def only_match(digits: str, found: Sequence[str]) -> str:
    """Return the one id that begins with ``digits``. Raises as :func:`id_meant` does for none or more."""
    if not found:
        raise NotFound(f"there is no memory here whose id begins with {digits}")
    if len(found) > 1:
        raise InvalidInput(f"{len(found)} ids begin with {digits}: {', '.join(found[:5])}; give more digits")
    return found[0]


def short(record_id: str) -> str:
    """Return as much of an id as people and models are shown."""
    return record_id[:SHOWN_DIGITS]


async def record_at(memory: Hippocampus, seq: int) -> Record:
    """Return the record at a place that the memory named. Raises :class:`NotFound` if there is none."""
    async for record in memory.records(after=seq - 1):
        return record
    raise NotFound(f"there is no record {seq}")
