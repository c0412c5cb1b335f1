"""What runs in the processes that the tests hold and kill: ``child.py MODE BASE``."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread, Timer
from typing import Any

from hippo_async import Hippocampus, blocking
from hippo_async.files import Files
from hippo_async.migration import migrate
from hippo_async.place import Place
from hippo_async.testing import FakeClock, ScriptedOps


def place_in(base: Path) -> Place:
    return Place(base / "data", "agent", None, None, base / "witness")


def move(base: Path) -> None:
    migrate(place_in(base), base / "new", clock=FakeClock())


def hold(base: Path) -> None:
    """Copy, say so, and wait for the end of the standard input before going on."""

    def quiet() -> None:
        print("copied", flush=True)
        sys.stdin.read()

    migrate(place_in(base), base / "new", clock=FakeClock(), quiet=quiet)


def memory_in(data_dir: Path, ops: ScriptedOps, **options: Any) -> Hippocampus:
    base = data_dir.parent
    return Hippocampus(
        data_dir,
        embedder="none",
        witness=base / "witness",
        maintenance=False,
        clock=FakeClock(),
        files=Files(ops),
        **options,
    )


def dying(base: Path, ops: ScriptedOps, call: int) -> None:
    """Die while a closed memory is moved."""
    ops.kill("*", at=call)
    migrate(place_in(base), base / "new", clock=FakeClock(), files=Files(ops))


def dying_open(base: Path, ops: ScriptedOps, call: int) -> None:
    """Die while an open memory is moved, and turns are captured."""
    with memory_in(base / "data", ops) as memory:
        blocking(memory.record)("acknowledged")
        ops.kill("*", at=call)
        blocking(memory.migrate)(base / "new", progress=lambda done, total: said(memory))
        blocking(memory.record)("acknowledged later")


def said(memory: Hippocampus) -> None:
    memory.capture("meanwhile")


def dying_fetched(base: Path, ops: ScriptedOps, call: int) -> None:
    """Die while a memory is opened that comes from elsewhere."""
    ops.kill("*", at=call)
    with memory_in(base / "new", ops):
        pass


def leaving(base: Path, wait: Callable[[], object]) -> None:
    """Capture a turn in the pause of a move, and leave while it lasts."""
    ops = ScriptedOps(syncing=False)
    memory = memory_in(base / "data", ops)
    memory.__enter__()
    gate = ops.hold("replace", name="MOVED")
    Thread(target=blocking(memory.migrate), args=[base / "new"], daemon=True).start()
    gate.wait_reached()
    memory.capture("Said in the pause.")
    Timer(0.3, gate.open).start()
    print("paused", flush=True)
    wait()


def nursery(base: Path, act: Callable[[Path, ScriptedOps, int], None]) -> None:
    """For each number on standard input fork a process that dies at that call; say which signal ended it."""
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            act(base, ScriptedOps(syncing=False), int(line))
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        print(os.WTERMSIG(status), flush=True)


MODES: dict[str, Callable[[Path], None]] = {
    "hold": hold,
    "move": move,
    "nursery": lambda base: nursery(base, dying),
    "open": lambda base: nursery(base, dying_open),
    "exit": lambda base: leaving(base, lambda: None),
    "wait": lambda base: leaving(base, signal.pause),
    "fetch": lambda base: nursery(base, dying_fetched),
}

if __name__ == "__main__":
    MODES[sys.argv[1]](Path(sys.argv[2]))
