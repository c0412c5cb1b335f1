"""What runs in the processes that the tests hold and kill: ``child.py MODE BASE``."""

from __future__ import annotations

import sys
from pathlib import Path

import homes
from homes import Home
from nursery import fork_for_each_line, say

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


def nursery(base: Path) -> None:
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


if __name__ == "__main__":
    {"hold": hold, "move": move, "nursery": nursery}[sys.argv[1]](Path(sys.argv[2]))
