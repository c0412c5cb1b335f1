"""What runs in the processes that the tests start, hold, fork and kill: ``child.py MODE ROOT [WORDS]``.

Speaks in lines on standard output, each written at once: what was read was said before the process died.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

from hippo_async.errors import JournalError
from hippo_async.journal import Journal, Key
from hippo_async.records import Draft

SEGMENT_BYTES = 200_000
SECONDS = 30


def say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def journal_at(root: str) -> Journal:
    base = Path(root)
    return Journal(
        base / "journal",
        agent_id="agent",
        key=Key(bytes(range(32))),
        witness=base / "witness",
        segment_bytes=SEGMENT_BYTES,
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


def nursery() -> None:
    """Fork a process for each line ``ROOT ROUND SIZE`` on standard input; it appends until it is killed."""
    for line in sys.stdin:
        root, name, size = line.split()
        pid = os.fork()
        if pid == 0:
            append_for_ever(root, name, int(size))
        say(f"pid {pid}")
        os.waitpid(pid, 0)
        say("dead")


def append_for_ever(root: str, name: str, size: int) -> None:
    """Append ``NAME 0``, ``NAME 1``, … with ``size`` more characters, eight under way at a time."""
    journal = journal_at(root)
    journal.open()
    waiting = []
    for number in count():
        waiting.append(journal.append([Draft(f"{name} {number} " + "x" * size)]))
        if len(waiting) == 8:
            waiting.pop(0).result(SECONDS)
            say(f"acknowledged {number - 7}")


if __name__ == "__main__":
    mode, *words = sys.argv[1:]
    modes: dict[str, Callable[..., None]] = {"hold": hold, "append": append, "fork": fork, "nursery": nursery}
    modes[mode](*words)
