"""How long a store takes to open, and how much memory the process needs for it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from time import perf_counter

from hippo_bench import ours
from hippo_bench.measure import Measure, Samples, in_thread, interleave
from hippo_bench.report import Line, Result, Wanted
from hippo_bench.scale import MILLION, Scale

LARGE = 100_000  # fewer records fit the live segment, which is walked one by one
TWICE = Wanted(2.0, at_least=False)
MEMORY = Wanted(600.0, at_least=False)
KINDS = ("digest", "journal", "memory")
_CHILD = Path(__file__).with_name("child.py")


async def run(scale: Scale, folder: Path) -> Result:
    """Open stores of each size in fresh processes, next to SHA-256 over the same bytes in one."""
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
    return Result("open: a store that is there", tuple(lines), notes)


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
    peaks: dict[str, list[float]] = {kind: [] for kind in KINDS}
    sides = {kind: in_thread(_in_child(kind, store, peaks[kind])) for kind in KINDS}
    figures = await interleave(rounds, **sides)
    lines = []
    for kind in ("journal", "memory"):
        lines.append(_time_line(kind, records, figures))
        lines.append(_peak_line(kind, records, {name: Samples(tuple(mib)) for name, mib in peaks.items()}))
    return lines


def _in_child(kind: str, store: Path, peaks: list[float]) -> Measure:
    def measure() -> float:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, str(_CHILD), kind, str(store)]
        answer = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
        found = json.loads(answer.stdout)
        peaks.append(found["peak_mib"])
        return float(found["seconds"])

    return measure


def _time_line(kind: str, records: int, figures: dict[str, Samples]) -> Line:
    return Line(
        what=f"open the {kind}, {records:,} records",
        against="SHA-256 of its bytes",
        theirs=figures["digest"].times(1e3),
        ours=figures[kind].times(1e3),
        unit="ms",
        figure=figures[kind].per(figures["digest"]),
        wanted=TWICE if records >= LARGE else None,
    )


def _peak_line(kind: str, records: int, peaks: dict[str, Samples]) -> Line:
    return Line(
        what=f"open the {kind}, {records:,} records: peak memory",
        against="the process that digests",
        theirs=peaks["digest"],
        ours=peaks[kind],
        unit="MiB",
        figure=peaks[kind].high,
        figure_unit="MiB",
        wanted=MEMORY if records >= MILLION else None,
    )
