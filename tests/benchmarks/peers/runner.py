"""The command line: each memory in a process of its own, then one table."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from hippo_async.evaluation import DEPTHS, read_conversations
from peers.measuring import NAMES, run

QUIET = {"ANONYMIZED_TELEMETRY": "False", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
"""Nobody calls home: what cannot run offline is to fail."""

ONE_THREAD = {"OMP_NUM_THREADS": "1"}
PATIENCE = 3600.0
WIDTH = 170  # of the table in a log


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for; a peer that fails is shown with its error. Returns 0."""
    asked = _parse(arguments)
    if asked.into is not None:
        conversations = read_conversations(asked.file, asked.conversation)
        asked.into.write_text(json.dumps(run(asked.names[0], conversations)))
        return 0
    console = Console(stderr=asked.json, width=None if sys.stdout.isatty() else WIDTH)
    results = []
    for name in asked.names:
        console.print(f"{name} …", style="dim", highlight=False)
        results.append(_in_process(name, asked))
    console.print(_table(results))
    if asked.json:
        print(json.dumps(results, indent=2))
    return 0


def _in_process(name: str, asked: argparse.Namespace) -> dict[str, Any]:
    """Run one memory apart from the others, with a home of its own; return its figures or its error."""
    with tempfile.TemporaryDirectory() as home:
        into = Path(home) / "figures.json"
        numbers = [f"--conversation={number}" for number in asked.conversation]
        command = [sys.executable, "-m", "peers", str(asked.file), name, f"--into={into}", *numbers]
        environment = {**os.environ, **QUIET, **ONE_THREAD, "HOME": home}
        try:
            subprocess.run(
                command, env=environment, check=True, capture_output=True, text=True, timeout=PATIENCE
            )
            return json.loads(into.read_text())
        except subprocess.TimeoutExpired as error:
            return {"name": name, "error": str(error)}
        except subprocess.CalledProcessError as error:
            return {"name": name, "error": (error.stderr.strip().splitlines() or [str(error)])[-1]}


def _table(results: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="bold")
    for heading in ("memory", "version", "how"):
        table.add_column(heading, overflow="fold")
    columns = [f"R@{depth}" for depth in DEPTHS]
    for heading in (*columns, "hit@10", "MRR", "session", "add ms", "ask p50", "p95 ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in sorted(results, key=lambda result: -_recall_at_10(result)):
        style = "bold" if result["name"].startswith("hippo") else ""
        table.add_row(*_cells(result), style=style)
    return table


def _cells(result: dict[str, Any]) -> list[str]:
    if "error" in result:
        return [result["name"], "", f"failed: {result['error']}"]
    overall = result["overall"]
    shares = [*overall["recall"].values(), overall["hit"]["10"], overall["mrr"], overall["session_any"]]
    times = [result["add_ms"], result["ask_p50_ms"], result["ask_p95_ms"]]
    named = [result["name"], result["version"], result["how"]]
    return [*named, *(f"{share:.3f}" for share in shares), *(f"{time:.1f}" for time in times)]


def _recall_at_10(result: dict[str, Any]) -> float:
    return result["overall"]["recall"]["10"] if "overall" in result else -1.0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="peers", description="Evidence recall of hippo-async and its peers on the same conversations."
    )
    parser.add_argument("file", type=Path, help="conversations in the format of LoCoMo")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all of: {', '.join(NAMES)}")
    parser.add_argument("--conversation", type=int, action="append", default=[], help="from 1; repeat")
    parser.add_argument("--json", action="store_true", help="JSON on stdout, the table on stderr")
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)  # the process of one memory
    asked = parser.parse_args(arguments)
    asked.names = asked.names or list(NAMES)
    for name in asked.names:
        if name not in NAMES:
            parser.error(f"no memory {name!r}; there are {', '.join(NAMES)}")
    return asked
