"""``deep_raw`` (L7, L8): a bounded search through the black box, for a stated window of time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import aiofiles
import aiofiles.os
import anyio.to_thread

from hippo_async.errors import InvalidInput
from hippo_async.protocols import TokenCounter
from hippo_async.raw.erasing import is_tombstone
from hippo_async.raw.redact import redact
from hippo_async.raw.shards import FOLDER, days
from hippo_async.raw.turn import RawTurn, decode
from hippo_async.records import RawHit, utc_timestamp

MB = 1024 * 1024
CHUNK = 256 * 1024
WIDEST_SNIPPET = 400
NARROWEST_SNIPPET = 20

Sealed = Callable[[Sequence[RawTurn]], Mapping[str, RawTurn]]
"""Returns raw turns, by their turn id, as the journal sealed them, and only those that the one who asks may
see. Is called in a worker thread."""


@dataclass(frozen=True, slots=True)
class RawScan:
    """What a scan found, oldest first, with notes on all that was left out."""

    hits: tuple[RawHit, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Window:
    """The time that a scan is about: from ``start`` up to ``end``, in UTC."""

    start: datetime
    end: datetime

    @classmethod
    def of(cls, start: datetime | None, end: datetime | None) -> Window:
        """Take a caller's window. Raises :class:`InvalidInput` for none, or a naive or empty one (L7)."""
        if start is None or end is None:
            raise InvalidInput("a raw scan needs both a start and an end of its time window (L7)")
        if start.tzinfo is None or end.tzinfo is None:
            raise InvalidInput("start and end of a raw scan need a time zone")
        if start >= end:
            raise InvalidInput("the time window of a raw scan ends before it starts, or when it does")
        return cls(start.astimezone(UTC), end.astimezone(UTC))

    def holds(self, moment: datetime) -> bool:
        """Say whether a moment lies inside."""
        return self.start <= moment < self.end

    def overlaps(self, day: str) -> bool:
        """Say whether the shard of a day may hold turns of this window."""
        return str(self.start.date()) <= day <= str(self.end.date())


@dataclass(slots=True)
class _Scan:
    """What is looked for, and how far a scan has come. Its methods work in one thread at a time."""

    window: Window
    terms: Sequence[str]
    sealed: Sealed
    count: TokenCounter
    max_tokens: int
    left: int
    day: str = ""
    line: int = 0
    rest: bytes = b""
    tokens: int = 0
    damaged: int = 0
    altered: int = 0
    stopped: str | None = None
    cut: bool = False
    hits: list[RawHit] = field(default_factory=list)

    def begin(self, day: str) -> None:
        """Begin with the shard of a day."""
        self.day, self.line, self.rest = day, 0, b""

    def look_through(self, chunk: bytes) -> None:
        """Take the hits out of the next piece of a shard, until there is no room for more.

        Lines end with ``\\n`` alone: a text may hold every other line break as it is.
        """
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        self._look_at(lines)

    def end(self) -> None:
        """Take the last line of a shard, if it has no line end."""
        if self.rest:
            self._look_at([self.rest])

    def notes(self, max_scan_mb: int) -> tuple[str, ...]:
        """Say what was left out; the cut comes last (L8)."""
        notes = []
        if self.damaged:
            notes.append(f"{self.damaged} damaged raw lines were skipped")
        if self.altered:
            notes.append(f"{self.altered} raw lines do not say what the journal sealed; they were left out")
        if self.stopped:
            notes.append(f"the scan stopped in {self.stopped} after {max_scan_mb} MB; narrow the time window")
        if self.cut:
            notes.append(f"some raw records were cut to keep to the budget of {self.max_tokens} tokens")
        return tuple(notes)

    def _look_at(self, lines: Sequence[bytes]) -> None:
        decoded = list(enumerate(map(self._decoded, lines), self.line + 1))
        self.line += len(lines)
        turns = [(number, turn) for number, turn in decoded if turn is not None and self._is_asked_for(turn)]
        sealed = self.sealed([turn for _, turn in turns]) if turns else {}
        for number, turn in turns:
            if turn.turn_id not in sealed:
                continue
            if turn != sealed[turn.turn_id]:
                self.altered += 1
                continue
            hit = self._hit(number, turn)
            self.tokens += self.count(str(hit))
            self.cut = self.tokens > self.max_tokens
            if self.cut:
                return
            self.hits.append(hit)

    def _decoded(self, line: bytes) -> RawTurn | None:
        try:
            return decode(line)
        except ValueError:
            self.damaged += not is_tombstone(line)
            return None

    def _is_asked_for(self, turn: RawTurn) -> bool:
        folded = turn.content.casefold()
        return self.window.holds(turn.timestamp) and all(term in folded for term in self.terms)

    def _hit(self, line: int, turn: RawTurn) -> RawHit:
        width = min(max(self.max_tokens // 4, NARROWEST_SNIPPET), WIDEST_SNIPPET)
        snippet = _snippet(redact(turn.content), self.terms, width)
        return RawHit(self.day, line, turn.turn_id, utc_timestamp(turn.timestamp), turn.role, snippet)


async def deep_raw(
    root: Path,
    query: str,
    *,
    window: Window,
    sealed: Sealed,
    count_tokens: TokenCounter,
    max_scan_mb: int = 16,
    max_result_tokens: int = 1000,
) -> RawScan:
    """Find the raw turns of a window that hold every word of the query (L7).

    Words are looked for as plain substrings, case folded, in any order; an empty query takes all. Shards are
    read oldest first and line by line, at most ``max_scan_mb``; lines that are no turns are skipped and
    counted. A raw line carries neither scope nor seal: only turns that ``sealed`` knows are shown, and only
    if they still say what was sealed. Snippets are redacted (L5). The tokens of ``str(hit)`` over all hits
    never exceed ``max_result_tokens``: the first that would end the result, and the last note says so (L8).

    Reads, looks and counts in worker threads. A caller that is cancelled leaves at most one chunk to be
    finished. Raises ``OSError`` if a shard cannot be read.
    """
    terms = query.casefold().split()
    scan = _Scan(window, terms, sealed, count_tokens, max_result_tokens, left=max_scan_mb * MB)
    for day, name in await _shards(root / FOLDER, window):
        scan.begin(day)
        await _read_through(root / FOLDER / name, scan)
        if scan.cut or scan.stopped:
            break
    return RawScan(tuple(scan.hits), scan.notes(max_scan_mb))


async def _shards(folder: Path, window: Window) -> list[tuple[str, str]]:
    try:
        names = await aiofiles.os.listdir(folder)
    except FileNotFoundError:
        return []
    return [(day, name) for day, name in days(names) if window.overlaps(day)]


async def _read_through(path: Path, scan: _Scan) -> None:
    offset = 0
    while not scan.cut and (chunk := await _chunk(path, offset, min(CHUNK, scan.left))):
        offset += len(chunk)
        scan.left -= len(chunk)
        await anyio.to_thread.run_sync(scan.look_through, chunk)
    if scan.left == 0 and not scan.cut and await _chunk(path, offset, 1):
        scan.stopped = path.stem
    elif not scan.cut:
        await anyio.to_thread.run_sync(scan.end)


async def _chunk(path: Path, offset: int, size: int) -> bytes:
    """Read a piece of a file, which is open no longer than that, whenever its reader is cancelled."""

    async def read() -> bytes:
        async with aiofiles.open(path, "rb") as file:
            await file.seek(offset)
            return await file.read(size)

    return await asyncio.shield(read())


def _snippet(text: str, terms: Sequence[str], width: int) -> str:
    """Return about ``width`` characters around the first word found; cut only after redaction, so that no
    half of a secret is taken for a word."""
    folded = text.casefold()
    found = [at for term in terms if (at := folded.find(term)) >= 0]
    begin = max(0, min(min(found, default=0) - width // 4, len(text) - width))
    piece = text[begin : begin + width]
    return ("…" if begin else "") + piece + ("…" if begin + width < len(text) else "")
