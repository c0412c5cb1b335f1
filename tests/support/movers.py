"""Processes that move a memory, to be held and killed: those of ``tests/migration/child.py``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHILD = Path(__file__).parents[1] / "migration" / "child.py"


@contextmanager
def child(mode: str, base: Path) -> Iterator[subprocess.Popen[str]]:
    """A process of ``child.py``, which is gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, str(CHILD), mode, str(base)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    with process:
        yield process
        process.kill()


@contextmanager
def another_process(base: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that moves the memory, and has copied all but the last when this begins."""
    with child("hold", base) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "copied\n"
        try:
            yield process
        finally:
            process.kill()
            process.communicate()
