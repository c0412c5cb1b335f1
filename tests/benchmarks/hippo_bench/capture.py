"""How long the agent waits for one message to be taken."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hippo_bench import ours, peers, texts
from hippo_bench.measure import Round, Samples, interleave
from hippo_bench.report import Line, Result, Wanted
from hippo_bench.scale import Scale

if TYPE_CHECKING:
    from hippo_async import Hippocampus

FASTER = Wanted(100, at_least=True)
FLAT = Wanted(1.5, at_least=False)
US = 1e6
PEERS = {"file": "File history", "sql": "SQL history"}
PAUSE = 0.02  # seconds; long enough for threads to fall asleep and caches to go cold

OneMore = Callable[[str], Awaitable[float]]
"""Adds one message and returns the seconds it took."""
Figures = dict[str, Samples]


async def run(scale: Scale, folder: Path) -> Result:
    """Compare one ``capture()`` with one ``aadd_messages([message])`` while more and more is stored."""
    lines: list[Line] = []
    figures: dict[int, Figures] = {}
    slowest: list[float] = []
    for stored in scale.stored:
        place = folder / str(stored)
        place.mkdir()
        figures[stored] = await _at(stored, scale, place, slowest)
        lines += _against_peers(stored, figures[stored])
    lines += [_after_pause(stored, found) for stored, found in figures.items()]
    lines.append(_flat(figures, scale.stored[0], scale.stored[-1]))
    notes = (
        "capture() returns when the message is in the buffer; File does not fsync, SQL commits with one.",
        f"a round is the median of {scale.captures} captures in a row, or of {scale.additions} for a peer.",
        f"the slowest single capture of all took {max(slowest) * 1e3:.2f} ms.",
    )
    return Result("capture: what the agent waits for one message", tuple(lines), notes)


async def _at(stored: int, scale: Scale, folder: Path, slowest: list[float]) -> Figures:
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(ours.memory(folder / "memory"))
        await ours.store(memory, stored)
        sql = await stack.enter_async_context(peers.sql_history(folder, stored))
        file = peers.file_history(folder, stored)
        return await interleave(
            scale.rounds,
            file=_row(_adding(file), scale.additions),
            sql=_row(_adding(sql), scale.additions),
            ours=_then_flush(memory, _row(_capturing(memory, slowest), scale.captures)),
            sql_paused=_row(_adding(sql), scale.additions, pause=PAUSE),
            ours_paused=_then_flush(memory, _row(_capturing(memory, []), scale.additions, pause=PAUSE)),
        )


def _row(add: OneMore, count: int, *, pause: float = 0) -> Round:
    """Add ``count`` messages, one after the other; the median of one."""

    async def one_round() -> float:
        taken = []
        for number in range(count):
            if pause:
                await asyncio.sleep(pause)
            taken.append(await add(texts.message(number)))
        return statistics.median(taken)

    return one_round


def _adding(history: Any) -> OneMore:
    from langchain_core.messages import HumanMessage

    async def add(text: str) -> float:
        message = HumanMessage(content=text)
        begin = perf_counter()
        await history.aadd_messages([message])
        return perf_counter() - begin

    return add


def _capturing(memory: Hippocampus, taken: list[float]) -> OneMore:
    async def add(text: str) -> float:
        begin = perf_counter()
        memory.capture(text, role="user", session=ours.SESSION)
        taken.append(perf_counter() - begin)
        return taken[-1]

    return add


def _then_flush(memory: Hippocampus, row: Round) -> Round:
    """Leave nothing to write for the round that comes next."""

    async def one_round() -> float:
        figure = await row()
        await memory.flush()
        return figure

    return one_round


def _against_peers(stored: int, figures: Figures) -> list[Line]:
    better = min(PEERS, key=lambda name: figures[name].median)
    return [
        _line(
            f"capture() with {stored:,} stored",
            label,
            figures[name],
            figures["ours"],
            FASTER if name == better else None,
        )
        for name, label in PEERS.items()
    ]


def _after_pause(stored: int, figures: Figures) -> Line:
    what = f"after a pause of {PAUSE * 1e3:.0f} ms, {stored:,} stored"
    return _line(what, PEERS["sql"], figures["sql_paused"], figures["ours_paused"], None)


def _line(what: str, against: str, theirs: Samples, ours: Samples, wanted: Wanted | None) -> Line:
    return Line(
        what=what,
        against=against,
        theirs=theirs.times(US),
        ours=ours.times(US),
        unit="µs",
        figure=theirs.per(ours),
        wanted=wanted,
    )


def _flat(figures: dict[int, Figures], first: int, last: int) -> Line:
    few, many = figures[first]["ours"], figures[last]["ours"]
    return Line(
        what=f"capture() with {last:,} stored",
        against=f"itself with {first:,} stored",
        theirs=few.times(US),
        ours=many.times(US),
        unit="µs",
        figure=many.median / few.median,
        wanted=FLAT,
    )
