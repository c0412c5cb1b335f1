"""``deep_raw`` (L7, L8): a bounded search through the black box, for a stated window of time."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import aiofiles
import aiofiles.os

from hippo_async.errors import InvalidInput
from hippo_async.protocols import TokenCounter
from hippo_async.raw.redact import redact
from hippo_async.raw.shards import FOLDER, days
from hippo_async.raw.turn import RawTurn, decode
from hippo_async.records import utc_timestamp

MB = 1024 * 1024
CHUNK = 32 * 1024  # decoding the lines of one takes half a millisecond of the event loop
WIDEST_SNIPPET = 400
NARROWEST_SNIPPET = 20


@dataclass(frozen=True, slots=True)
class RawHit:
    """A raw turn found: its address (UTC date of the shard, line from 1) and a redacted piece of it."""

    day: str
    line: int
    turn_id: str
    timestamp: str
    role: str
    snippet: str

    def __str__(self) -> str:
        """Return the hit as the text that its tokens are counted on."""
        return f"{self.day}:{self.line} {self.role}: {self.snippet}"


@dataclass(frozen=True, slots=True)
class RawScan:
    """What a scan found, oldest first, with notes on all that was left out."""

    hits: tuple[RawHit, ...]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Reading:
    """How far a scan has come: bytes it may still read, damaged lines, the day where it ran out of bytes."""

    left: int
    damaged: int = 0
    stopped: str | None = None


async def deep_raw(
    root: Path,
    query: str,
    *,
    start: datetime | None,
    end: datetime | None,
    count_tokens: TokenCounter,
    max_scan_mb: int = 16,
    max_result_tokens: int = 1000,
) -> RawScan:
    """Find the raw turns from ``start`` to ``end``, both included, that hold every word of the query (L7).

    Words are looked for as plain substrings, case folded, in any order; an empty query takes all. Shards are
    read oldest first and line by line, at most ``max_scan_mb``; lines that are no turns are skipped and
    counted. Snippets are redacted (L5). The tokens of ``str(hit)`` over all hits never exceed
    ``max_result_tokens``: the first that would end the result, and the last note says so (L8).

    Raises :class:`InvalidInput` without an aware start and end in order, and ``OSError`` if a shard cannot be
    read.
    """
    first, last = _window(start, end)
    terms = query.casefold().split()
    width = min(max(max_result_tokens // 4, NARROWEST_SNIPPET), WIDEST_SNIPPET)
    reading = _Reading(left=max_scan_mb * MB)
    hits: list[RawHit] = []
    tokens, cut = 0, False
    async with aclosing(_turns(root / FOLDER, first, last, reading)) as turns:
        async for day, line, turn in turns:
            if not _matches(turn.content, terms):
                continue
            hit = _hit(day, line, turn, terms, width)
            tokens += count_tokens(str(hit))
            if cut := tokens > max_result_tokens:
                break
            hits.append(hit)
    return RawScan(tuple(hits), _notes(reading, max_scan_mb, max_result_tokens if cut else None))


def _window(start: datetime | None, end: datetime | None) -> tuple[datetime, datetime]:
    if start is None or end is None:
        raise InvalidInput("a raw scan needs both a start and an end of its time window")
    if start.tzinfo is None or end.tzinfo is None:
        raise InvalidInput("start and end of a raw scan need a time zone")
    if start > end:
        raise InvalidInput("the time window of a raw scan ends before it starts")
    return start.astimezone(UTC), end.astimezone(UTC)


async def _turns(
    folder: Path, first: datetime, last: datetime, reading: _Reading
) -> AsyncGenerator[tuple[str, int, RawTurn], None]:
    for day, name in await _shards(folder, first, last):
        async with aclosing(_lines(folder / name, reading)) as lines:
            async for number, line in lines:
                turn = _decoded(line, reading)
                if turn is not None and first <= turn.timestamp <= last:
                    yield day, number, turn
        if reading.stopped:
            return


async def _shards(folder: Path, first: datetime, last: datetime) -> list[tuple[str, str]]:
    try:
        names = await aiofiles.os.listdir(folder)
    except FileNotFoundError:
        return []
    return [(day, name) for day, name in days(names) if str(first.date()) <= day <= str(last.date())]


async def _lines(path: Path, reading: _Reading) -> AsyncGenerator[tuple[int, bytes], None]:
    """Yield ``(number, line)``, split on ``\\n`` alone: a text may hold every other line break as it is."""
    number, rest = 0, b""
    async with aiofiles.open(path, "rb") as file:
        while chunk := await file.read(min(CHUNK, reading.left)):
            reading.left -= len(chunk)
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                number += 1
                yield number, line
        if reading.left == 0 and await file.read(1):
            reading.stopped = path.stem
        elif rest:
            yield number + 1, rest


def _decoded(line: bytes, reading: _Reading) -> RawTurn | None:
    try:
        return decode(line)
    except ValueError:
        reading.damaged += 1
        return None


def _matches(content: str, terms: Sequence[str]) -> bool:
    folded = content.casefold()
    return all(term in folded for term in terms)


def _hit(day: str, line: int, turn: RawTurn, terms: Sequence[str], width: int) -> RawHit:
    snippet = _snippet(redact(turn.content), terms, width)
    return RawHit(day, line, turn.turn_id, utc_timestamp(turn.timestamp), turn.role, snippet)


def _snippet(text: str, terms: Sequence[str], width: int) -> str:
    """Return about ``width`` characters around the first word found; cut only after redaction, so that no
    half of a secret is taken for a word."""
    folded = text.casefold()
    found = [at for term in terms if (at := folded.find(term)) >= 0]
    begin = max(0, min(min(found, default=0) - width // 4, len(text) - width))
    piece = text[begin : begin + width]
    return ("…" if begin else "") + piece + ("…" if begin + width < len(text) else "")


def _notes(reading: _Reading, max_scan_mb: int, budget: int | None) -> tuple[str, ...]:
    notes = []
    if reading.damaged:
        notes.append(f"{reading.damaged} damaged raw lines were skipped")
    if reading.stopped:
        notes.append(f"the scan stopped in {reading.stopped} after {max_scan_mb} MB; narrow the time window")
    if budget is not None:
        notes.append(f"some raw records were cut to keep to the budget of {budget} tokens")
    return tuple(notes)
