"""Processes that die, forked by one that has the library loaded, so that each takes moments.

The side of the tests is :func:`running_nursery`; the program that it starts calls :func:`fork_for_each_line`.
They speak in lines, each written at once: what was read was said before the process died.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO

LATE = ("hippo_async.engine", "hippo_async.anchors", "anyio._backends._asyncio")
"""What a memory imports when it is opened and looked after: half the time of a process that has to."""


@dataclass
class Nursery:
    """Has processes forked, one after the other, and hears what each said before it died."""

    said: IO[str]
    told: IO[str]

    def kill_one(self, *words: object, awaited: int, after: float) -> list[str]:
        """Kill a process ``after`` seconds from its ``awaited``-th line; return all that it said."""
        self._tell(*words)
        heard = [self._heard()]
        while len(_answers(heard)) < awaited or not any(map(_pid, heard)):
            heard.append(self._heard())
        time.sleep(after)
        os.kill(sum(map(_pid, heard)), signal.SIGKILL)
        return _answers(heard + self._last_words())

    def let_die(self, *words: object) -> tuple[list[str], bool]:
        """Run a process to its end; return what it said, and whether it was killed. It must not fail."""
        self._tell(*words)
        heard = self._last_words()
        assert heard[-1] in (f"ended {-signal.SIGKILL}", "ended 0"), heard
        return _answers(heard), heard[-1] != "ended 0"

    def _tell(self, *words: object) -> None:
        self.told.write(" ".join(map(str, words)) + "\n")
        self.told.flush()

    def _last_words(self) -> list[str]:
        heard = [self._heard()]
        while not heard[-1].startswith("ended "):
            heard.append(self._heard())
        return heard

    def _heard(self) -> str:
        line = self.said.readline()
        assert line, "the nursery is gone"
        return line.strip()


@contextmanager
def running_nursery(program: Path | str, *words: object) -> Iterator[Nursery]:
    """Start a program that forks a process for each line it is told, and end it."""
    process = subprocess.Popen(
        [sys.executable, str(program), *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    yield Nursery(process.stdout, process.stdin)
    process.communicate(timeout=30)


def say(line: str) -> None:
    """Write a line that is read whatever becomes of this process."""
    os.write(1, f"{line}\n".encode())


def fork_for_each_line(program: Callable[..., object]) -> None:
    """For each line on standard input fork a process that runs the program on its words; say how it ended."""
    for name in LATE:
        import_module(name)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _run(program, line.split())
        say(f"pid {pid}")
        _, status = os.waitpid(pid, 0)
        say(f"ended {os.waitstatus_to_exitcode(status)}")


def _run(program: Callable[..., object], words: list[str]) -> None:
    try:
        program(*words)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _answers(heard: list[str]) -> list[str]:
    return [line for line in heard if not line.startswith(("pid ", "ended "))]


def _pid(line: str) -> int:
    return int(line.split()[1]) if line.startswith("pid ") else 0
