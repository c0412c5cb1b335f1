"""Small records that say what happened to a memory. The journal is never changed, so they are appended.

An operation is a record of kind ``state`` with its act and its target in the metadata under ``operation``,
a name that no caller can write under. No search finds one. All that is known of a memory's life is made of
them, in the order in which they came, and can be made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hippo_async.lives.layers import originals_of
from hippo_async.records import OPERATION, TREND_EVENT, Record


class Act(StrEnum):
    """What was done to a memory."""

    REPEATED = "repeated"
    REINFORCED = "reinforced"
    DEMOTED = "demoted"
    FORGOTTEN = "forgotten"
    RESTORED = "restored"
    ERASED = "erased"


SAID = {
    Act.REPEATED: "Remembered once more.",
    Act.REINFORCED: "Confirmed.",
    Act.DEMOTED: "No longer the active task.",
    Act.FORGOTTEN: "To be forgotten.",
    Act.RESTORED: "Not to be forgotten.",
    Act.ERASED: "Its text is taken away for good.",
}
"""What an operation's record says to people who read the journal."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One act upon one memory.

    ``target`` is its record id. ``due`` is when what is forgotten is erased, ISO-8601 UTC. ``marks`` stand
    for what was erased: keyed hashes, of which nobody without the agent's key learns what they were made of.
    """

    act: Act
    target: str
    due: str | None = None
    marks: tuple[str, ...] = ()

    @property
    def content(self) -> str:
        """The record's content."""
        return SAID[self.act]

    @property
    def metadata(self) -> dict[str, Any]:
        """The record's metadata."""
        fields: dict[str, Any] = {"act": str(self.act), "target": self.target}
        if self.due is not None:
            fields["due"] = self.due
        if self.marks:
            fields["marks"] = list(self.marks)
        return {OPERATION: fields}


def operation_of(record: Record) -> Operation | None:
    """Read the operation that a record says, ``None`` if it says none that is known here.

    A later version may know more acts: what is unknown is passed over, and no search finds it either.
    """
    fields = record.metadata.get(OPERATION)
    if record.type != "record" or not isinstance(fields, Mapping):
        return None
    target, due, marks = fields.get("target"), fields.get("due"), fields.get("marks", [])
    if fields.get("act") not in set(Act) or not isinstance(target, str):
        return None
    return Operation(
        Act(fields["act"]),
        target,
        due if isinstance(due, str) else None,
        tuple(mark for mark in marks if isinstance(mark, str)) if isinstance(marks, list) else (),
    )


def with_names(metadata: Mapping[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    """Return a record's metadata in which records that have new ids are named by these.

    An operation names its target, a fold its originals; see what a repair does (FORMAT.md §8a).
    """
    named = dict(metadata)
    operation, originals = metadata.get(OPERATION), metadata.get("originals")
    if isinstance(operation, Mapping) and operation.get("target") in renamed:
        named[OPERATION] = {**operation, "target": renamed[operation["target"]]}
    if isinstance(originals, list):
        named["originals"] = [
            renamed.get(name, name) if isinstance(name, str) else name for name in originals
        ]
    return named


def hidden_ids(records: Iterable[Record]) -> set[str]:
    """Return the ids of all records of a journal that are to be forgotten, or are made of such.

    A fold is with the first of its originals, a trend with the last. Takes the records in their order, from
    the first on. What was restored is not among them; what was erased is, and has no text any more.
    """
    forgotten: set[str] = set()
    folds: dict[str, list[str]] = {}
    trends: dict[str, list[str]] = {}
    for record in records:
        operation = operation_of(record)
        if operation is not None:
            _note(operation, forgotten)
        elif record.is_fold:
            folds[record.record_id] = originals_of(record)
        elif record.event == TREND_EVENT:
            trends[record.record_id] = originals_of(record)
    made_of_them = {name for name, originals in folds.items() if not forgotten.isdisjoint(originals)}
    left_alone = {name for name, originals in trends.items() if forgotten.issuperset(originals)}
    return forgotten | made_of_them | left_alone


def _note(operation: Operation, forgotten: set[str]) -> None:
    if operation.act is Act.FORGOTTEN:
        forgotten.add(operation.target)
    elif operation.act is Act.RESTORED:
        forgotten.discard(operation.target)
