"""What a long journal costs: to open it, and to prove every record of it."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import closing
from pathlib import Path

from hippo_bench import floor, ours
from hippo_bench.measure import Samples, in_thread, interleave
from hippo_bench.process import Process
from hippo_bench.report import Line, Result, Wanted
from hippo_bench.scale import LARGE, MILLION, Scale

TWICE = Wanted(2.0, at_least=False)
HALF = Wanted(0.5, at_least=True)
MEMORY = Wanted(600.0, at_least=False)


async def run(scale: Scale, folder: Path) -> Result:
    """Open journals of each size and walk their chains, in fresh processes, each beside its floor in one."""
    lines: list[Line] = []
    for records, rounds in scale.chains.items():
        store = folder / str(records)
        await asyncio.to_thread(_fill, store, records)
        lines += await _opened(store, records, rounds)
        lines += await _proved(store, records, rounds)
        await asyncio.to_thread(shutil.rmtree, store)
    notes = (
        "bare loop: read each file, split at newlines, HMAC-SHA-256 of each line, compare_digest.",
        "each run is timed in a process of its own, imports left out, files in the page cache.",
    )
    return Result("chain: a journal that has become long", tuple(lines), notes)


def _fill(store: Path, records: int) -> None:
    """Write the journal, and for each of its segments a file of the floor with lines of the same lengths."""
    with closing(ours.journal(store)) as journal:
        journal.open()
        ours.fill(journal, records)
    for segment in ours.segments(store):
        lengths = floor.line_lengths([segment])
        bare = ours.bare(store, segment)
        bare.parent.mkdir(exist_ok=True)
        bare.write_bytes(b"".join(map(floor.sealed, floor.fillers(lengths))))


async def _opened(store: Path, records: int, rounds: int) -> list[Line]:
    digest, opening = Process("digest", store), Process("journal", store)
    figures = await interleave(rounds, floor=in_thread(digest.seconds), ours=in_thread(opening.seconds))
    time = Line(
        what=f"open, {records:,} records",
        against="SHA-256 of its bytes",
        theirs=figures["floor"].times(1e3),
        ours=figures["ours"].times(1e3),
        unit="ms",
        figure=figures["ours"].per(figures["floor"]),
        wanted=TWICE if records >= LARGE else None,
    )
    return [time, _peak("open", records, digest.peaks, opening.peaks)]


async def _proved(store: Path, records: int, rounds: int) -> list[Line]:
    lines = records + 1  # with the genesis record
    bare, walk = Process("floor", store, lines), Process("chain", store, lines)
    figures = await interleave(rounds, floor=in_thread(bare.rate), ours=in_thread(walk.rate))
    speed = Line(
        what=f"verify_chain, {records:,} records",
        against="bare loop",
        theirs=figures["floor"],
        ours=figures["ours"],
        unit="records/s",
        figure=figures["ours"].per(figures["floor"]),
        wanted=HALF if records >= LARGE else None,
    )
    return [speed, _peak("verify_chain", records, bare.peaks, walk.peaks)]


def _peak(what: str, records: int, theirs: Samples, own: Samples) -> Line:
    return Line(
        what=f"{what}, {records:,} records: peak memory",
        against="the floor's process",
        theirs=theirs,
        ours=own,
        unit="MiB",
        figure=own.high,
        figure_unit="MiB",
        wanted=MEMORY if records >= MILLION else None,
    )
