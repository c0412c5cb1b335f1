"""Measures one store in a process of its own: ``child.py KIND FOLDER`` prints JSON.

``seconds`` leaves out the imports; ``peak_mib`` is the largest resident size of the process and does not.
``proved`` is how many records were checked, where that is what a kind does.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from hippo_bench import floor, ours


@dataclass(frozen=True, slots=True)
class Run:
    """What one run took, and how many records it proved."""

    seconds: float
    proved: int = 0


def digest(folder: Path) -> Run:
    """Take SHA-256 over the journal's files."""
    begin = perf_counter()
    floor.digest(ours.segments(folder))
    return Run(perf_counter() - begin)


def journal(folder: Path) -> Run:
    """Open the journal alone."""
    with closing(ours.journal(folder)) as opened:
        begin = perf_counter()
        opened.open()
        return Run(perf_counter() - begin)


def memory(folder: Path) -> Run:
    """Open the memory until it is ready."""

    async def opening() -> float:
        begin = perf_counter()
        async with ours.memory(folder):
            return perf_counter() - begin

    return Run(asyncio.run(opening()))


def bare(folder: Path) -> Run:
    """Check the lines of the floor."""
    files = [ours.bare(folder, segment) for segment in ours.segments(folder)]
    begin = perf_counter()
    valid = sum(map(floor.verify, files))
    return Run(perf_counter() - begin, valid)


def chain(folder: Path) -> Run:
    """Walk the chain of the journal."""
    with closing(ours.journal(folder)) as opened:
        opened.open()
        begin = perf_counter()
        report = opened.verify_chain()
        return Run(perf_counter() - begin, report.records if report.intact else 0)


KINDS = {"digest": digest, "journal": journal, "memory": memory, "floor": bare, "chain": chain}


def peak_mib() -> float:
    """Return the peak resident size of this process.

    Linux keeps it since the last ``exec`` in ``VmHWM``; what ``getrusage`` says starts from the size of the
    parent that forked.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main(kind: str, folder: Path) -> None:
    """Run with an empty store, so that everything is imported, then with the one measured; print the JSON."""
    measure = KINDS[kind]
    with tempfile.TemporaryDirectory() as empty:
        measure(Path(empty))
    run = measure(folder)
    print(json.dumps({"seconds": run.seconds, "proved": run.proved, "peak_mib": peak_mib()}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
