"""A process with the library loaded that forks the ones that are to die, so that a round takes moments."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

CHILD = Path(__file__).parents[1] / "journal" / "child.py"


@dataclass
class Nursery:
    """Runs ``child.py``'s programs one after the other, and hears what each said before it died."""

    said: IO[str]
    told: IO[str]

    def kill_one(self, *words: object, awaited: int, after: float) -> int:
        """Kill a process ``after`` seconds from its ``awaited``-th answer; count all it gave."""
        self._tell(*words)
        heard = [self.said.readline()]
        while sum(map(_is_answer, heard)) < awaited or not any(map(_pid, heard)):
            heard.append(self.said.readline())
        time.sleep(after)
        os.kill(sum(map(_pid, heard)), signal.SIGKILL)
        heard += self._last_words()
        return sum(map(_is_answer, heard))

    def let_die(self, *words: object) -> tuple[int, bool]:
        """Run a process to its end; return how many records it was told are durable, and if it was killed."""
        self._tell(*words)
        heard = self._last_words()
        told = [int(line.split()[1]) for line in heard if _is_answer(line)]
        assert heard[-1] in ("dead\n", "ended 0\n"), heard
        return max(told, default=0), heard[-1] == "dead\n"

    def _tell(self, *words: object) -> None:
        self.told.write(" ".join(map(str, words)) + "\n")
        self.told.flush()

    def _last_words(self) -> list[str]:
        heard = [self.said.readline()]
        while heard[-1].partition(" ")[0].strip() not in ("dead", "ended", ""):
            heard.append(self.said.readline())
        return heard


@contextmanager
def running_nursery(program: str) -> Iterator[Nursery]:
    """Start a nursery for one of ``child.py``'s programs, and end it."""
    process = subprocess.Popen(
        [sys.executable, str(CHILD), "nursery", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    yield Nursery(process.stdout, process.stdin)
    process.communicate(timeout=30)


def _is_answer(line: str) -> bool:
    return line.startswith("acknowledged ")


def _pid(line: str) -> int:
    return int(line.split()[1]) if line.startswith("pid ") else 0
