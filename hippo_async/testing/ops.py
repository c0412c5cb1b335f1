"""The operating system, with faults that a test has written into it.

Files stay real. A rule picks one call, or that one and all after it, by operation and file name; the call
then fails, comes up short, waits until the test lets it go, or is the last thing its process does.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import count
from pathlib import Path
from typing import NamedTuple

from hippo_async.files import PRIVATE_DIR, PRIVATE_FILE, Identity, SystemOps

ANY = "*"
PATIENCE_SECONDS = 30.0


class Call(NamedTuple):
    """One call that was made: a method of :class:`hippo_async.files.Ops`, and the file it was made on."""

    operation: str
    path: Path


class Gate:
    """Where a held call waits."""

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._opened = threading.Event()

    @property
    def reached(self) -> bool:
        """Whether a call has come to the gate."""
        return self._reached.is_set()

    def wait_reached(self) -> None:
        """Wait until a call has come to the gate. Raises ``TimeoutError`` after 30 s."""
        _wait(self._reached, "no call came to the gate")

    def open(self) -> None:
        """Let the held call go on."""
        self._opened.set()

    def pass_through(self) -> None:
        """Come to the gate and wait for it to open. Raises ``TimeoutError`` after 30 s."""
        self._reached.set()
        _wait(self._opened, "the gate was never opened")


@dataclass(slots=True)
class Rule:
    """What happens at the ``at``-th call of an operation on the files whose names match.

    ``lasting``: at every later one too. ``fired`` counts how often it happened.
    """

    operation: str
    name: str
    at: int
    lasting: bool = False
    error: int | None = None
    length: int | None = None
    gate: Gate | None = None
    kill: bool = False
    seen: int = 0
    fired: int = 0

    def meets(self, call: Call) -> bool:
        """Count a call, and say whether this is the one."""
        if self.operation not in (ANY, call.operation) or not fnmatchcase(call.path.name, self.name):
            return False
        self.seen += 1
        hit = self.seen >= self.at if self.lasting else self.seen == self.at
        self.fired += hit
        return hit


class ScriptedOps(SystemOps):
    """Implements :class:`hippo_async.files.Ops` on real files; safe to use from any thread.

    ``calls`` lists what was asked for, failed calls included; ``descriptors`` the ones open now, with their
    paths. ``syncing=False`` counts syncs without carrying them out: no test can tell the difference without
    cutting the power.
    """

    def __init__(self, *, syncing: bool = True) -> None:
        self.calls: list[Call] = []
        self.descriptors: dict[int, Path] = {}
        self._syncing = syncing
        self._rules: list[Rule] = []
        self._lock = threading.Lock()

    def fail(
        self, operation: str, error: int, *, at: int = 1, name: str = ANY, lasting: bool = False
    ) -> Rule:
        """Raise ``OSError(error)`` at the ``at``-th call from now; return the rule, which counts.

        ``operation`` may be ``"*"``; ``name`` is a shell pattern for the name of the file or directory. The
        call does nothing, except ``close``, which closes all the same, as on Linux.
        """
        return self._script(Rule(operation, name, at, lasting, error=error))

    def shorten(self, length: int, *, at: int = 1, name: str = ANY, lasting: bool = False) -> Rule:
        """Let the ``at``-th ``write`` from now write at most ``length`` bytes."""
        return self._script(Rule("write", name, at, lasting, length=length))

    def hold(self, operation: str, *, at: int = 1, name: str = ANY) -> Gate:
        """Make the ``at``-th call from now wait before it does anything; return the gate it waits at."""
        gate = Gate()
        self._script(Rule(operation, name, at, gate=gate))
        return gate

    def kill(self, operation: str, *, at: int = 1, name: str = ANY) -> Rule:
        """Kill this very process, as ``kill -9`` does, instead of making the ``at``-th call from now.

        For the child processes of a test.
        """
        return self._script(Rule(operation, name, at, kill=True))

    def count(self, operation: str, *, name: str = ANY) -> int:
        """Return how many calls of an operation were made on files whose names match."""
        with self._lock:
            calls = list(self.calls)
        return sum(call.operation == operation and fnmatchcase(call.path.name, name) for call in calls)

    def open(self, path: Path, flags: int, mode: int = PRIVATE_FILE) -> int:
        self._enter("open", path)
        fd = super().open(path, flags, mode)
        self.descriptors[fd] = path
        return fd

    def close(self, fd: int) -> None:
        path = self.descriptors.pop(fd)
        super().close(fd)
        self._enter("close", path)

    def write(self, fd: int, data: memoryview) -> int:
        return super().write(fd, data[: self._enter("write", self.descriptors[fd])])

    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        self._enter("pwrite", self.descriptors[fd])
        return super().pwrite(fd, data, offset)

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        self._enter("pread", self.descriptors[fd])
        return super().pread(fd, length, offset)

    def sync(self, fd: int) -> None:
        self._enter("sync", self.descriptors[fd])
        if self._syncing:
            super().sync(fd)

    def sync_data(self, fd: int) -> None:
        self._enter("sync_data", self.descriptors[fd])
        if self._syncing:
            super().sync_data(fd)

    def truncate(self, fd: int, size: int) -> None:
        self._enter("truncate", self.descriptors[fd])
        super().truncate(fd, size)

    def replace(self, source: Path, target: Path) -> None:
        self._enter("replace", target)
        super().replace(source, target)

    def link(self, source: Path, target: Path) -> None:
        self._enter("link", target)
        super().link(source, target)

    def unlink(self, path: Path) -> None:
        self._enter("unlink", path)
        super().unlink(path)

    def mkdir(self, path: Path, mode: int = PRIVATE_DIR) -> None:
        self._enter("mkdir", path)
        super().mkdir(path, mode)

    def rmtree(self, path: Path) -> None:
        self._enter("rmtree", path)
        super().rmtree(path)

    def listdir(self, path: Path) -> list[str]:
        self._enter("listdir", path)
        return super().listdir(path)

    def identity(self, path: Path) -> Identity:
        self._enter("identity", path)
        return super().identity(path)

    def _script(self, rule: Rule) -> Rule:
        with self._lock:
            self._rules.append(rule)
        return rule

    def _enter(self, operation: str, path: Path) -> int | None:
        """Note a call, do what is scripted for it, and return how many bytes it may write (``None``: all)."""
        call = Call(operation, path)
        with self._lock:
            self.calls.append(call)
            hits = [rule for rule in self._rules if rule.meets(call)]
        length = None
        for rule in hits:
            if rule.kill:
                os.kill(os.getpid(), signal.SIGKILL)
            if rule.gate is not None:
                rule.gate.pass_through()
            if rule.error is not None:
                raise OSError(rule.error, os.strerror(rule.error), str(path))
            length = rule.length if length is None else length
        return length


def each_failure(
    error: int, *, operation: str = ANY, name: str = ANY, lasting: bool = False
) -> Iterator[ScriptedOps]:
    """Yield an operating system whose first call fails, then one whose second does, and so on.

    Run the same steps on each. It ends after the run in which nothing was left to fail, so every call that
    the steps make has failed once. Syncs are not carried out.
    """
    for at in count(1):
        ops = ScriptedOps(syncing=False)
        rule = ops.fail(operation, error, at=at, name=name, lasting=lasting)
        yield ops
        if not rule.fired:
            return


def _wait(event: threading.Event, otherwise: str) -> None:
    if not event.wait(PATIENCE_SECONDS):
        raise TimeoutError(f"{otherwise} within {PATIENCE_SECONDS:.0f} s")
