"""What runs in the processes that the tests start, hold, fork and kill: ``child.py MODE ROOT [WORDS]``.

Speaks in lines on standard output, each written at once: what was read was said before the process died.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

from nursery import fork_for_each_line, say

from hippo_async.errors import JournalError
from hippo_async.files import Files, Ops
from hippo_async.journal import Journal, Key
from hippo_async.records import Draft
from hippo_async.testing import ScriptedOps

SEGMENT_BYTES = 200_000
TWO_RECORDS = 1300
SECONDS = 30


def journal_at(root: str, *, ops: Ops | None = None, segment_bytes: int = SEGMENT_BYTES) -> Journal:
    base = Path(root)
    return Journal(
        base / "journal",
        agent_id="agent",
        key=Key(bytes(range(32))),
        witness=base / "witness",
        files=Files(ops),
        segment_bytes=segment_bytes,
    )


def hold(root: str) -> None:
    """Open for writing, say so, and keep it until the standard input ends."""
    journal = journal_at(root)
    journal.open()
    say("open")
    sys.stdin.read()
    journal.close()


def append(root: str, text: str = "from another process") -> None:
    """Append one record, or say why not."""
    journal = journal_at(root)
    try:
        journal.open()
        journal.append([Draft(text)]).result(SECONDS)
    except JournalError as error:
        say(f"{type(error).__name__}: {error}")
    else:
        say("appended")
    journal.close()


def fork(root: str) -> None:
    """Open, append, fork; let the child try to write, close and forget the journal; then go on."""
    journal = journal_at(root)
    journal.open()
    journal.append([Draft("before the fork")]).result(SECONDS)
    child = os.fork()
    if child == 0:
        try:
            journal.append([Draft("in the child")]).result(SECONDS)
        except JournalError as error:
            say(f"child: {type(error).__name__}")
        journal.close()
        del journal
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    journal.append([Draft("after the fork")]).result(SECONDS)
    say("forked")
    sys.stdin.readline()
    journal.append([Draft("and on")]).result(SECONDS)
    journal.close()
    say("closed")


def nursery(program: str) -> None:
    fork_for_each_line(PROGRAMS[program])


def append_for_ever(root: str, name: str, size: str) -> None:
    """Append ``NAME 0``, ``NAME 1``, … with ``size`` more characters, eight under way at a time."""
    journal = journal_at(root)
    journal.open()
    waiting = []
    for number in count():
        waiting.append(journal.append([Draft(f"{name} {number} " + "x" * int(size))]))
        if len(waiting) == 8:
            waiting.pop(0).result(SECONDS)
            say(f"acknowledged {number - 7}")


def append_and_die(root: str, operation: str, name: str, at: str) -> None:
    """Open, append in groups of one and two over several segments, close; die at the call that is named.

    The operation ``answer`` is none of the system's: the process dies once the ``at``-th group is answered.
    """
    ops = ScriptedOps()
    if operation != "answer":
        ops.kill(operation, name=name, at=int(at))
    journal = journal_at(root, ops=ops, segment_bytes=TWO_RECORDS)
    journal.open()
    told = 0
    for number, size in enumerate((1, 2, 1, 1), start=1):
        journal.append([Draft(f"text {told + n}") for n in range(size)]).result(SECONDS)
        told += size
        say(f"acknowledged {told}")
        if (operation, int(at)) == ("answer", number):
            os.kill(os.getpid(), signal.SIGKILL)
    journal.close()


PROGRAMS: dict[str, Callable[..., None]] = {"for_ever": append_for_ever, "and_die": append_and_die}

if __name__ == "__main__":
    mode, *words = sys.argv[1:]
    modes: dict[str, Callable[..., None]] = {"hold": hold, "append": append, "fork": fork, "nursery": nursery}
    modes[mode](*words)
