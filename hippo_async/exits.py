"""Flushing when the process ends: a normal exit, or SIGTERM.

A killed process loses what was buffered only (at most ten turns or one second, M2); one that ends in any
orderly way loses nothing.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

logger: logging.Logger = logging.getLogger("hippo_async")

_open: dict[int, Callable[[], None]] = {}
_registered = False


def at_exit(owner: object, close: Callable[[], None]) -> None:
    """Have ``close`` called when this process ends, unless :func:`forget` comes first. From any thread."""
    global _registered
    if not _registered:
        atexit.register(_close_all)
        _registered = True
    _open[id(owner)] = close


def forget(owner: object) -> None:
    """Leave the exit of the process to others again."""
    _open.pop(id(owner), None)


def watch_sigterm() -> None:
    """Take SIGTERM over, in the main thread and only while nobody else handles it.

    An application with a handler of its own ends by a normal exit. Does nothing in other threads.
    """
    if _in_main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)


def unwatch_sigterm() -> None:
    """Give SIGTERM back once no memory is open. Does nothing in other threads."""
    if not _open and _in_main_thread() and signal.getsignal(signal.SIGTERM) is _terminated:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _close_all() -> None:
    for close in list(_open.values()):
        try:
            close()
        except Exception:
            logger.exception("a memory could not be closed at exit")
    _open.clear()


def _terminated(signum: int, _frame: FrameType | None) -> None:
    _close_all()
    signal.signal(signum, signal.SIG_DFL)
    os.kill(os.getpid(), signum)


def _in_child() -> None:
    """A forked child has none of its parent's threads: there is nothing it could flush."""
    _open.clear()


os.register_at_fork(after_in_child=_in_child)
