"""Opens one store in a process of its own: ``child.py digest|journal|memory FOLDER`` prints JSON.

``seconds`` leaves out the imports; ``peak_mib`` is the largest resident size of the process and does not.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter

from hippo_bench import floor, ours


def digest(folder: Path) -> float:
    """Return the seconds that SHA-256 over the journal's files takes."""
    begin = perf_counter()
    floor.digest(ours.segments(folder))
    return perf_counter() - begin


def journal(folder: Path) -> float:
    """Return the seconds until the journal alone is open."""
    with closing(ours.journal(folder)) as opened:
        begin = perf_counter()
        opened.open()
        return perf_counter() - begin


def memory(folder: Path) -> float:
    """Return the seconds until the memory is open and ready."""

    async def opening() -> float:
        begin = perf_counter()
        async with ours.memory(folder):
            return perf_counter() - begin

    return asyncio.run(opening())


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
    """Open an empty store, so that everything is imported, then the one that is measured; print the JSON."""
    opening = {"digest": digest, "journal": journal, "memory": memory}[kind]
    with tempfile.TemporaryDirectory() as empty:
        opening(Path(empty))
    print(json.dumps({"seconds": opening(folder), "peak_mib": peak_mib()}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
