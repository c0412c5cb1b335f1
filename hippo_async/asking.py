"""Reading an open memory: what stands behind the finding methods of :class:`hippo_async.Hippocampus`."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hippo_async.config import RawSettings, Settings
from hippo_async.errors import HippoError, InvalidInput
from hippo_async.protocols import TokenCounter
from hippo_async.raw import RawTurn, Window, deep_raw
from hippo_async.recall.fitting import fit
from hippo_async.records import Briefing, Filters, Recall, Record, utc_timestamp
from hippo_async.selection import limit_of, load_recent, select_briefing

if TYPE_CHECKING:
    from hippo_async.engine import Engine
    from hippo_async.recall.library import Library

Mode = Literal["memories", "deep_raw"]

MOST_NEIGHBOURS = 50
RAW_IS_OFF = "raw.mode is off: no turns are kept verbatim, and none were looked through"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a memory, checked: ``window`` is there for a raw scan, and for nothing else."""

    text: str
    filters: Filters
    limit: int
    max_tokens: int | None
    neighbours: int
    window: Window | None

    @classmethod
    def of(
        cls,
        text: str,
        filters: Filters,
        *,
        top_k: int | None,
        max_tokens: int | None,
        neighbours: int,
        mode: Mode,
        settings: Settings,
    ) -> Question:
        """Check what a caller asks. Raises :class:`InvalidInput` for what cannot be asked (L7)."""
        if mode not in ("memories", "deep_raw"):
            raise InvalidInput(f"mode {mode!r} is unknown; it is 'memories' or 'deep_raw'")
        if max_tokens is not None and max_tokens < 0:
            raise InvalidInput(f"a budget of {max_tokens} tokens")
        if not 0 <= neighbours <= MOST_NEIGHBOURS:
            raise InvalidInput(f"neighbours {neighbours}; it takes 0 to {MOST_NEIGHBOURS}")
        window = Window.of(filters.start, filters.end) if mode == "deep_raw" else None
        if window and (neighbours or top_k is not None):
            raise InvalidInput("top_k and neighbours are for memories; max_tokens bounds a raw scan")
        return cls(text, filters, limit_of(top_k, settings), max_tokens, neighbours, window)


async def recall(
    engine: Engine, question: Question, root: Path, raw: RawSettings, count: TokenCounter
) -> Recall:
    """Answer a question: with memories, or out of the black box under ``root`` if it asks for that."""
    if question.window is not None:
        return await _look_back(engine, question, question.window, root=root, raw=raw, count=count)
    notes = await _settled(engine)
    await asyncio.shield(asyncio.wrap_future(engine.warmed))
    found = await engine.library.run(_answered, engine.library, question, count)
    return replace(found, notes=notes + found.notes)


def briefing_budget(budget: int | None, settings: Settings) -> int:
    """Return the tokens of a briefing, an eighth of the window when none are given."""
    limit = budget if budget is not None else settings.context.max_tokens // 8
    if limit < 0:
        raise InvalidInput(f"a budget of {limit} tokens")
    return limit


async def brief(
    engine: Engine,
    query: str | None,
    *,
    budget: int,
    filters: Filters,
    exclude_keys: Collection[str],
    top_k: int,
    count: TokenCounter,
) -> Briefing:
    """Select memories for a prompt from what can be found at this moment."""
    return await engine.library.run(
        select_briefing,
        engine.library,
        query,
        budget=budget,
        filters=filters,
        exclude_keys=exclude_keys,
        top_k=top_k,
        count=count,
    )


async def newest_within(
    engine: Engine, budget_chars: int, *, routine: bool, filters: Filters
) -> list[Record]:
    """Return the newest records whose contents fit, in the order of time (J9)."""
    await _settled(engine)
    library = engine.library
    return await library.run(
        load_recent, library, budget_chars=budget_chars, include_routine=routine, filters=filters
    )


async def most_like(engine: Engine, text: str, *, limit: int, filters: Filters) -> Recall:
    """Return the records most like a text (J10)."""
    notes = await _settled(engine)
    await asyncio.shield(asyncio.wrap_future(engine.warmed))
    hits = await engine.library.run(engine.library.complete, text, limit=limit, filters=filters)
    return Recall(text, tuple(hits), notes)


async def latest(engine: Engine, *, limit: int, filters: Filters) -> list[Record]:
    """Return the newest records, newest first."""
    await _settled(engine)
    return await engine.library.run(engine.library.latest, filters=filters, limit=limit)


async def _look_back(
    engine: Engine, question: Question, window: Window, *, root: Path, raw: RawSettings, count: TokenCounter
) -> Recall:
    """Answer with what was said word for word (L7, L8).

    What the box holds is shown if a record that the filters let through says the same: a raw line knows no
    scope, and outlives a purge.
    """
    if raw.mode == "off":
        return Recall(question.text, (), (RAW_IS_OFF,))
    notes = await _settled(engine)
    library = engine.library

    def sealed(turns: Sequence[RawTurn]) -> Mapping[str, RawTurn]:
        return library.call(_sealed, library, turns, question.filters)

    most = raw.max_result_tokens
    found = await deep_raw(
        root,
        question.text,
        window=window,
        sealed=sealed,
        count_tokens=count,
        max_scan_mb=raw.max_scan_mb,
        max_result_tokens=most if question.max_tokens is None else min(most, question.max_tokens),
    )
    return Recall(question.text, (), notes + found.notes, found.hits)


async def _settled(engine: Engine) -> tuple[str, ...]:
    """Flush before a read; a disk that fails is noted, for what is durable can still be found."""
    try:
        await engine.flush()
    except (HippoError, OSError) as error:
        unwritten = f"{engine.pipeline.buffered} captured turns are not written yet ({error})"
        return (f"{unwritten}; they were not searched",)
    return ()


def _answered(library: Library, question: Question, count: TokenCounter) -> Recall:
    """Search, and bring along what stands around each hit, within the budget. In the library's thread."""
    hits = library.search(question.text, filters=question.filters, limit=question.limit)
    notes: tuple[str, ...] = ()
    if question.neighbours:
        hits = [replace(hit, around=tuple(library.around(hit.record, question.neighbours))) for hit in hits]
    if question.max_tokens is not None:
        hits, notes = fit(hits, max_tokens=question.max_tokens, count=count)
    return Recall(question.text, tuple(hits), notes)


def _sealed(library: Library, turns: Sequence[RawTurn], filters: Filters) -> dict[str, RawTurn]:
    """Find the records of raw turns, which have their time, among those that the filters let through."""
    moments = {utc_timestamp(turn.timestamp) for turn in turns}
    first, last = min(turn.timestamp for turn in turns), max(turn.timestamp for turn in turns)
    near = replace(filters, start=first, end=last + timedelta(microseconds=1))
    rows = [row for row in library.newest(filters=near) if row.timestamp in moments]
    found = [_as_raw(record) for record in library.read(rows)]
    return {turn.turn_id: turn for turn in found}


def _as_raw(record: Record) -> RawTurn:
    return RawTurn(str(record.metadata.get("turn_id", "")), record.at, record.role or "", record.text)
