"""How long a memory takes to open, and how much room the process needs for it."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from time import perf_counter

from hippo_bench import ours
from hippo_bench.measure import Samples, in_thread, interleave
from hippo_bench.process import Process
from hippo_bench.report import Line, Result, Wanted
from hippo_bench.scale import LARGE, MILLION, Scale

TWICE = Wanted(2.0, at_least=False)
MEMORY = Wanted(600.0, at_least=False)


async def run(scale: Scale, folder: Path) -> Result:
    """Open memories of each size in fresh processes, next to SHA-256 over the journal's bytes in one."""
    lines: list[Line] = []
    for records in scale.opened:
        store = folder / str(records)
        await asyncio.to_thread(_fill, store, records)
        lines.append(await _indexed(store, records))
        lines += await _opened(store, records, scale.rounds)
    notes = (
        "each opening is timed inside a process of its own, imports left out, files in the page cache.",
        "the store was closed in order; its index is up to date.",
    )
    return Result("open: a memory that is there", tuple(lines), notes)


def _fill(store: Path, records: int) -> None:
    with closing(ours.journal(store)) as journal:
        journal.open()
        ours.fill(journal, records)


async def _indexed(store: Path, records: int) -> Line:
    """Open the memory for the first time, which makes its index, and leave it closed and up to date."""
    begin = perf_counter()
    async with ours.memory(store):
        taken = Samples((records / (perf_counter() - begin),))
    return Line(
        what=f"the first open makes the index of {records:,} records",
        against="",
        theirs=None,
        ours=taken,
        unit="records/s",
        figure=taken.median,
        figure_unit="records/s",
    )


async def _opened(store: Path, records: int, rounds: int) -> list[Line]:
    digest, memory = Process("digest", store), Process("memory", store)
    figures = await interleave(rounds, floor=in_thread(digest.seconds), ours=in_thread(memory.seconds))
    time = Line(
        what=f"open the memory, {records:,} records",
        against="SHA-256 of its journal",
        theirs=figures["floor"].times(1e3),
        ours=figures["ours"].times(1e3),
        unit="ms",
        figure=figures["ours"].per(figures["floor"]),
        wanted=TWICE if records >= LARGE else None,
    )
    peak = Line(
        what=f"open the memory, {records:,} records: peak memory",
        against="the process that digests",
        theirs=digest.peaks,
        ours=memory.peaks,
        unit="MiB",
        figure=memory.peaks.high,
        figure_unit="MiB",
        wanted=MEMORY if records >= MILLION else None,
    )
    return [time, peak]
