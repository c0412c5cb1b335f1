"""The command line of the benchmarks: which to run, how large, and where the files go."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from hippo_bench import capture, chain, durable, opening, peers, recall, stall, turn
from hippo_bench.report import Result, show
from hippo_bench.scale import FULL, MILLION, QUICK, Scale

Benchmark = Callable[[Scale, Path], Coroutine[Any, Any, Result]]
BENCHMARKS: dict[str, Benchmark] = {
    "capture": capture.run,
    "durable": durable.run,
    "chain": chain.run,
    "turn": turn.run,
    "stall": stall.run,
    "open": opening.run,
    "recall": recall.run,
}
WIDTH = 150  # of a table in a log


def measure(name: str, scale: Scale, parent: Path) -> Result:
    """Run one benchmark on its own loop, in a temporary folder below ``parent``; deprecations are silent."""
    with tempfile.TemporaryDirectory(dir=parent, prefix=".hippo-bench-") as folder, peers.quiet():
        return asyncio.run(BENCHMARKS[name](scale, Path(folder)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for and print it; return 0 whether wishes are met or not."""
    asked = _parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the temporary folder goes, too
    console = Console(stderr=asked.json, width=None if sys.stdout.isatty() else WIDTH)
    console.print(f"{_machine()}, files on {file_system(asked.dir)}\n")
    results = {}
    for name in asked.names:
        os.sync()  # what the one before left to be written would slow every sync of this one
        results[name] = measure(name, _scale(asked), asked.dir)
        show(results[name], console)
    if asked.json:
        print(json.dumps({name: result.as_dict() for name, result in results.items()}, indent=2))
    return 0


def file_system(folder: Path) -> str:
    """Return mount point and type of the file system that holds ``folder``, ``unknown`` where nobody says."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return "unknown"
    entries = [line.split() for line in mounts.read_text().splitlines()]
    holding = [(point, kind) for _, point, kind, *_ in entries if folder.resolve().is_relative_to(point)]
    point, kind = max(holding, key=lambda mount: len(mount[0]))
    return f"{point} {kind}"


def _machine() -> str:
    python = sys.version.split()[0]
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {python}"


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Speed of hippo_async, next to floors and peers in one run.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all of: {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, fewer records")
    parser.add_argument(
        "--million", action="store_true", help="open and ask a memory of 1,000,000 records as well"
    )
    parser.add_argument("--json", action="store_true", help="JSON on stdout, tables on stderr")
    parser.add_argument("--dir", type=Path, default=Path.cwd(), help="for temporary files; a real disk")
    asked = parser.parse_args(arguments)
    asked.names = asked.names or list(BENCHMARKS)
    for name in asked.names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    return asked


def _scale(asked: argparse.Namespace) -> Scale:
    scale = QUICK if asked.quick else FULL
    if not asked.million:
        return scale
    return dataclasses.replace(scale, opened=(*scale.opened, MILLION), recalled=(*scale.recalled, MILLION))
