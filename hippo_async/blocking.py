"""Calling coroutines from code that has no event loop.

    from hippo_async import blocking
    found = blocking(memory.recall)("tea")

One loop in one daemon thread serves the whole process. It is safe to use in a thread whose own loop is
running (a sync hook called from async code); that loop then stands still until the call returns.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Turn a coroutine function into one that waits, and returns or raises what the coroutine does."""

    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return asyncio.run_coroutine_threadsafe(function(*args, **kwargs), _running_loop()).result()

    return call


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or not _loop.is_running():
            _loop = asyncio.new_event_loop()
            ready = threading.Event()
            _loop.call_soon(ready.set)
            threading.Thread(target=_loop.run_forever, name="hippo-blocking", daemon=True).start()
            ready.wait()
        return _loop
