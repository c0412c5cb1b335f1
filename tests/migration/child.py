"""What runs in the processes that the tests hold and kill: ``child.py MODE BASE``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread, Timer
from typing import Any

import homes
from homes import Home
from nursery import fork_for_each_line, say

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


def dying_closed(base: Path) -> None:
    """Fork processes that die at the call they are told, while nobody writes or while an agent does."""

    def move_and_die(call: str, how: str) -> None:
        ops = ScriptedOps(syncing=False)
        journal = Home(base).lineage()
        if how == "writer":
            journal.open()

        def quiet() -> None:
            homes.say(journal, "one more")
            say("added")
            journal.close()

        ops.kill("*", at=int(call))
        waits = quiet if how == "writer" else None
        migrate(place_in(base), base / "new", clock=FakeClock(), files=Files(ops), quiet=waits)

    fork_for_each_line(move_and_die)


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


def dying_open(base: Path) -> None:
    """Fork processes that die while an open memory is moved, and turns are captured."""

    def move_and_die(call: str) -> None:
        ops = ScriptedOps(syncing=False)
        with memory_in(base / "data", ops) as memory:
            blocking(memory.record)("acknowledged")
            ops.kill("*", at=int(call))
            blocking(memory.migrate)(base / "new", progress=lambda done, total: said(memory))
            blocking(memory.record)("acknowledged later")

    fork_for_each_line(move_and_die)


def said(memory: Hippocampus) -> None:
    memory.capture("meanwhile")


def dying_fetched(base: Path) -> None:
    """Fork processes that die while a memory is opened that comes from elsewhere."""

    def open_and_die(call: str) -> None:
        ops = ScriptedOps(syncing=False)
        ops.kill("*", at=int(call))
        with memory_in(base / "new", ops):
            pass

    fork_for_each_line(open_and_die)


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


MODES: dict[str, Callable[[Path], None]] = {
    "hold": hold,
    "move": move,
    "closed": dying_closed,
    "open": dying_open,
    "exit": lambda base: leaving(base, lambda: None),
    "wait": lambda base: leaving(base, signal.pause),
    "fetch": dying_fetched,
}

if __name__ == "__main__":
    MODES[sys.argv[1]](Path(sys.argv[2]))
