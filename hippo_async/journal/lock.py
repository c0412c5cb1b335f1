"""One writer a journal: a lock file between processes, a registry within one, and an eye on ``fork``."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from pathlib import Path

from filelock import FileLock, Timeout

from hippo_async.errors import JournalLocked, JournalPoisoned
from hippo_async.files import PRIVATE_FILE, Files

LOCK = "LOCK"
HOLDER = "LOCK.holder"

_held_here: set[tuple[int, int]] = set()
_registry = threading.Lock()


class WriterLock:
    """Holds ``LOCK`` in a journal's directory from :meth:`acquire` to :meth:`release`.

    The directory is known by device and inode, so that a symbolic link or a relative path to it is the same
    journal.
    """

    def __init__(self, files: Files, directory: Path) -> None:
        self._files = files
        self._holder = directory / HOLDER
        self._directory = directory
        self._path = directory / LOCK
        self._lock = FileLock(self._path, timeout=0, mode=PRIVATE_FILE, thread_local=False)
        self._place: tuple[int, int] | None = None
        self._inode = 0
        self._pid = 0

    def acquire(self) -> None:
        """Take the lock at once, or raise :class:`JournalLocked` that says who holds it."""
        found = self._files.identity(self._directory)
        place = (found.device, found.inode)
        with _registry:
            if place in _held_here:
                raise JournalLocked(f"{self._directory}: already open for writing in this process")
            try:
                self._lock.acquire()
            except Timeout:
                who = holder_of(self._files, self._directory)
                reason = f"open for writing in {who}; close it there, or open read-only"
                raise JournalLocked(f"{self._directory}: {reason}") from None
            _held_here.add(place)
        self._place = place
        self._pid = os.getpid()
        self._inode = self._path.stat().st_ino
        holder = json.dumps({"pid": self._pid, "host": socket.gethostname()}).encode()
        with contextlib.suppress(OSError):  # a courtesy to others: a full disk must not keep the journal shut
            self._files.write_atomic(self._holder, holder)

    def is_held(self) -> bool:
        """Whether the lock file is still the one that was locked, and keeps others out."""
        try:
            return self._path.stat().st_ino == self._inode
        except FileNotFoundError:
            return False

    def check_process(self) -> None:
        """Raise :class:`JournalPoisoned` in a forked child: the lock is its parent's."""
        if os.getpid() != self._pid:
            raise JournalPoisoned(
                f"{self._directory}: opened by process {self._pid}, used by its child {os.getpid()}; "
                "open the memory again after a fork"
            )

    def release(self) -> None:
        """Give the lock back; may be called twice, and does nothing in a forked child."""
        place, self._place = self._place, None
        if place is None or os.getpid() != self._pid:
            return
        with contextlib.suppress(OSError):
            self._files.remove(self._holder)
        with _registry:
            _held_here.discard(place)
            self._lock.release()


def holder_of(files: Files, directory: Path) -> str:
    """Say who holds the lock of a directory, as far as that is known."""
    try:
        holder = json.loads(files.read(directory / HOLDER))
        return f"process {holder['pid']} on {holder['host']}"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "another process"
