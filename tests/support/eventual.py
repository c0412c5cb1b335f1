"""Waiting in tests for what another thread does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait for what another thread is about to do."""
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.005)
    pytest.fail("it did not happen within 10 s")
