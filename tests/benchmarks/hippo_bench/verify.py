"""How fast a chain is walked and proved."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from hippo_bench import floor, ours
from hippo_bench.measure import Measure, in_thread, interleave
from hippo_bench.report import Line, Result, Wanted
from hippo_bench.scale import Scale

if TYPE_CHECKING:
    from hippo_async.journal import Journal

HALF = Wanted(0.5, at_least=True)


async def run(scale: Scale, folder: Path) -> Result:
    """Verify a chain, beside a loop that reads, splits, and checks one HMAC a line of the same length."""
    journal = ours.journal(folder)
    await asyncio.to_thread(journal.open)
    try:
        await asyncio.to_thread(ours.fill, journal, scale.chain)
        lengths = floor.line_lengths(ours.segments(folder))
        bare = folder / "floor"
        bare.write_bytes(b"".join(map(floor.sealed, floor.fillers(lengths))))
        figures = await interleave(
            scale.rounds,
            floor=in_thread(_bare(bare, len(lengths))),
            ours=in_thread(_verifying(journal, len(lengths))),
        )
    finally:
        await asyncio.to_thread(journal.close)
    line = Line(
        what=f"verify_chain over {len(lengths):,} records",
        against="bare loop",
        theirs=figures["floor"],
        ours=figures["ours"],
        unit="records/s",
        figure=figures["ours"].per(figures["floor"]),
        wanted=HALF,
    )
    note = "floor: read the file, split at newlines, HMAC-SHA-256 of each line, compare_digest."
    return Result("verify: records proved a second", (line,), (note,))


def _bare(file: Path, lines: int) -> Measure:
    def measure() -> float:
        begin = perf_counter()
        valid = floor.verify(file)
        seconds = perf_counter() - begin
        if valid != lines:
            raise AssertionError(f"the floor proved {valid} of {lines} lines")
        return lines / seconds

    return measure


def _verifying(journal: Journal, lines: int) -> Measure:
    def measure() -> float:
        begin = perf_counter()
        report = journal.verify_chain()
        seconds = perf_counter() - begin
        if not report.intact or report.records != lines:
            raise AssertionError(f"the chain of {lines} records is not intact: {report}")
        return lines / seconds

    return measure
