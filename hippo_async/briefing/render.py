"""Writing the block of memories that goes into a prompt, under a hard token budget. Pure (M4, design §8)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from hippo_async.briefing.frame import CLOSING, NOTICE, OPENING, one_line
from hippo_async.context import clip, fits
from hippo_async.protocols import TokenCounter
from hippo_async.records import CHECKPOINT, Briefing, Record

Section = Literal["task", "identity", "recalled", "recent"]

LEAST_ROOM = 24
"""Tokens that must be left for a memory to be shown in part."""

SHORTEST_LINE = 8
"""Tokens that no line can do with less of: its day and its speaker."""

SHARE = 3
"""The task, and what is pinned, may each take one part in this many: what is asked now has the rest."""

_HEADINGS: dict[Section, str] = {
    "task": "Task under way:",
    "identity": "Pinned:",
    "recalled": "On this question:",
    "recent": "Lately:",
}


@dataclass(frozen=True, slots=True)
class BriefItem:
    """A memory that is wanted in a briefing, and the part of it where it belongs."""

    record: Record
    section: Section


@dataclass(frozen=True, slots=True)
class _Entry:
    record: Record
    section: Section
    line: str


def compose(items: Sequence[BriefItem], *, budget: int, count: TokenCounter) -> Briefing:
    """Write a briefing of at most ``budget`` tokens as ``count`` counts them (M4).

    Sections come in the order task, identity, recalled, recent; the first two take at most a third of the
    budget each. Items are taken while they fit, in the order
    given, the recent ones from the newest back; each section is shown in order of ``seq``. An item that is
    too long is cut if there is room for ``LEAST_ROOM`` tokens of it, else left out. A memory is shown once,
    and so is a text that two of them share.

    Each line is the record's day, its speaker or task, its text. Nothing of the present moment goes in: the
    same items give the same bytes. Empty if not even the frame and one memory fit.
    """
    room = budget - sum(count(line + "\n") for line in (OPENING, NOTICE, CLOSING))
    entries = _fitting(_entries(items), room, count)
    while entries and count(_text(entries)) > budget:  # parts need not bound the whole for every counter
        entries.pop()
    if not entries:
        return Briefing("", 0, budget)
    text = _text(entries)
    return Briefing(text, count(text), budget, tuple(entry.record.record_id for entry in _in_order(entries)))


def _entries(items: Sequence[BriefItem]) -> Iterator[_Entry]:
    """Yield what may be shown, most important first, each memory and each text once."""
    seen: set[str] = set()
    for section in _HEADINGS:
        records = [item.record for item in items if item.section == section]
        if section == "recent":
            records.sort(key=lambda record: -record.seq)
        for record in records:
            text = one_line(record.text)
            marks = {f"id {record.record_id}", f"text {unicodedata.normalize('NFKC', text).casefold()}"}
            if text and not marks & seen:
                yield _Entry(record, section, f"- {_day(record)} {_speaker(record)}: {text}")
            seen |= marks


def _fitting(entries: Iterable[_Entry], room: int, count: TokenCounter) -> list[_Entry]:
    """Take entries while there is room for them, with the heading of each section that begins."""
    taken: list[_Entry] = []
    rooms: dict[Section, int] = {"task": room // SHARE, "identity": room // SHARE}
    headed: set[Section] = set()
    for entry in entries:
        section = entry.section
        heading = 0 if section in headed else count(_HEADINGS[section] + "\n")
        beside = heading + count("\n")
        if room - beside < SHORTEST_LINE:
            break
        line = _within(entry.line, min(room, rooms.get(section, room)) - beside, count)
        if line:
            taken.append(_Entry(entry.record, section, line))
            headed.add(section)
            taking = heading + count(line + "\n")
            room -= taking
            if section in rooms:
                rooms[section] -= taking
    return taken


def _within(line: str, left: int, count: TokenCounter) -> str:
    """Return a line, cut if need be where there is room for a good part of it; else nothing."""
    if left >= LEAST_ROOM:
        return clip(line, left, count)
    return line if fits(line, left, count) else ""


def _text(entries: Iterable[_Entry]) -> str:
    lines = [OPENING, NOTICE]
    for section, group in groupby(_in_order(entries), key=_section):
        lines += [_HEADINGS[section], *(entry.line for entry in group)]
    return "\n".join([*lines, CLOSING])


def _in_order(entries: Iterable[_Entry]) -> list[_Entry]:
    sections = list(_HEADINGS)
    return sorted(entries, key=lambda entry: (sections.index(entry.section), entry.record.seq))


def _section(entry: _Entry) -> Section:
    return entry.section


def _day(record: Record) -> str:
    return one_line(record.timestamp[:10])


def _speaker(record: Record) -> str:
    task = record.metadata.get("task")
    if record.event == CHECKPOINT and isinstance(task, dict):
        return one_line(f"{task.get('id')}, {task.get('progress')} %")
    return "summary" if record.is_fold else one_line(record.role or "") or record.kind
