"""How a memory stands: plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MemoryState:
    """What became of one memory that was remembered.

    ``count`` is how often it was, ``confirmed`` how often it was reinforced. ``due`` is when its next review
    is, ISO-8601 UTC, ``None`` after the last (L12).
    """

    seq: int
    record_id: str
    count: int
    confirmed: int
    due: str | None


@dataclass(frozen=True, slots=True)
class Pending:
    """A record that is to be forgotten: hidden ``since``, erased once it is ``due``, both ISO-8601 UTC."""

    record_id: str
    since: str
    due: str
    erased: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a record has a text that could be found, and whether it can be now."""

    seq: int
    scope: tuple[str, ...]
    has_text: bool
    is_visible: bool


@dataclass(frozen=True, slots=True)
class Task:
    """The state of a task in its last checkpoint (L14); ``seq`` is that record's."""

    task_id: str
    seq: int
    progress: int
    updated: str
