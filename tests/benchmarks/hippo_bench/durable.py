"""How many records a second are on the disk for good."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from hippo_bench import floor, ours
from hippo_bench.measure import Measure, in_thread, interleave
from hippo_bench.report import Line, Result, Wanted
from hippo_bench.scale import Scale

if TYPE_CHECKING:
    from hippo_async.journal import Journal

WANTED = {10: Wanted(0.6, at_least=True), 100: Wanted(0.6, at_least=True)}


async def run(scale: Scale, folder: Path) -> Result:
    """Append groups one after the other, each acknowledged before the next, beside the bare loop."""
    journal = ours.journal(folder)
    await asyncio.to_thread(journal.open)
    try:
        numbers = count()
        lines = [
            await _line(journal, folder, scale.rounds, size, groups, numbers)
            for size, groups in scale.durable.items()
        ]
    finally:
        await asyncio.to_thread(journal.close)
    note = "floor: HMAC-SHA-256 of each line, one write and one fdatasync a group, lines of the same lengths."
    return Result("durable: acknowledged records a second", tuple(lines), (note,))


async def _line(
    journal: Journal, folder: Path, rounds: int, size: int, groups: int, numbers: Iterator[int]
) -> Line:
    appending = _appending(journal, size, groups, numbers)
    await asyncio.to_thread(appending)  # warms both sides up, and shows how long the lines are
    lengths = floor.line_lengths(ours.segments(folder))[-size * groups :]
    fillers = floor.fillers(lengths)
    bare = [fillers[start : start + size] for start in range(0, len(fillers), size)]
    figures = await interleave(
        rounds, floor=in_thread(_writing(folder / f"floor-{size}", bare)), ours=in_thread(appending)
    )
    return Line(
        what=f"groups of {size}",
        against="bare loop",
        theirs=figures["floor"],
        ours=figures["ours"],
        unit="records/s",
        figure=figures["ours"].per(figures["floor"]),
        wanted=WANTED.get(size),
    )


def _appending(journal: Journal, size: int, groups: int, numbers: Iterator[int]) -> Measure:
    def measure() -> float:
        prepared = [ours.drafts(next(numbers) * size, size) for _ in range(groups)]
        begin = perf_counter()
        for group in prepared:
            journal.append(group).result()
        return size * groups / (perf_counter() - begin)

    return measure


def _writing(file: Path, groups: Sequence[Sequence[bytes]]) -> Measure:
    def measure() -> float:
        begin = perf_counter()
        floor.append_durably(file, groups)
        return sum(map(len, groups)) / (perf_counter() - begin)

    return measure
