"""Memories that are made of other memories: memos of months, summaries of topics, trends (L19, L20). Pure.

Each is of one subject: a later one of the same subject in the same scope takes the place of the one before.
A memo and a summary are folds, which say what their originals say: with one of those forgotten they are made
again from the others. A trend only says that something kept coming up; it stays as long as one of its
episodes does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hippo_async.records import FOLDED_EVENT, MONTH_TAG, TREND_EVENT, Record, fold_metadata

SUBJECT = "subject"
"""Kind of the mark of a subject of which somebody wants no memory."""


MOST_ORIGINALS = 300
"""Of what says more, a memory is made of so many records: those that say most. Folding a thousand turns of
real talk keeps an event loop waiting for 16 ms, 300 for 5."""


class Layer(StrEnum):
    """What a memory is made of: the talk of a month, the records of a topic, the episodes of a trend."""

    MONTH = "month"
    TOPIC = "topic"
    TREND = "trend"


STATUS: Mapping[Layer, str] = {
    Layer.MONTH: "status:monthly",
    Layer.TOPIC: "status:summary",
    Layer.TREND: "status:trend",
}
"""The tag that memories of a layer bear."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a memory of a layer is of: ``name`` is a month, ``YYYY-MM``, or a tag."""

    layer: Layer
    name: str

    @property
    def tags(self) -> list[str]:
        """The tags of such a memory: its layer's, and one to find it by."""
        named = MONTH_TAG + self.name if self.layer is Layer.MONTH else self.name
        return [STATUS[self.layer], named]

    def key(self, scope: Sequence[str]) -> list[Any]:
        """Return what tells this subject in this scope from all others."""
        return [str(self.layer), self.name, list(scope)]


@dataclass(frozen=True, slots=True)
class Derived:
    """A memory of a layer that is to be written: its text, and the records that it was made of.

    ``seen`` is how many records there were of the subject, of which the originals may be some.
    """

    scope: tuple[str, ...]
    subject: Subject
    text: str
    originals: tuple[str, ...]
    seen: int

    @property
    def metadata(self) -> dict[str, Any]:
        """What the record's metadata say of it."""
        if self.subject.layer is Layer.TREND:
            made = {"event": TREND_EVENT, "originals": list(self.originals)}
        else:
            made = fold_metadata(self.originals, turns=len(self.originals))
        said = {"layer": str(self.subject.layer), "name": self.subject.name, "seen": self.seen}
        return {**made, "subject": said}


def subject_of(record: Record) -> Subject | None:
    """Return the subject that a record was made of, ``None`` for one that is of no layer known here."""
    said = record.metadata.get("subject")
    if record.event not in (FOLDED_EVENT, TREND_EVENT) or not isinstance(said, Mapping):
        return None
    if said.get("layer") not in set(Layer):
        return None
    name = said.get("name")
    return Subject(Layer(said["layer"]), name) if isinstance(name, str) else None


def refold_metadata(fold: Record, left: Sequence[str]) -> dict[str, Any]:
    """Return what the metadata say of a fold that is made again from what is left of its originals."""
    made = fold_metadata(left, turns=len(left))
    said = fold.metadata.get("subject")
    return made if said is None else {**made, "subject": said}


def seen_by(record: Record) -> int:
    """Return how many records there were of a subject when this memory of it was made."""
    said = record.metadata.get("subject")
    seen = said.get("seen") if isinstance(said, Mapping) else None
    return seen if isinstance(seen, int) else 0


def originals_of(record: Record) -> list[str]:
    """Return the ids of the records that a memory was made of; none for one that was not."""
    originals = record.metadata.get("originals")
    return [name for name in originals if isinstance(name, str)] if isinstance(originals, list) else []
