"""Memories between two commands: told something and closed, or opened to be asked."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hippo_async import Hippocampus


def tell(store: Path, *texts: str) -> None:
    """Record texts and close the memory again."""

    async def fill() -> None:
        async with Hippocampus(store, embedder="none") as memory:
            for text in texts:
                await memory.record(text)

    asyncio.run(fill())


def recalled(store: Path, query: str) -> list[str]:
    """Return what is found in a memory that has to be intact, best first."""

    async def ask() -> list[str]:
        async with Hippocampus(store, embedder="none") as memory:
            assert (await memory.verify_chain()).intact
            return [hit.record.text for hit in await memory.recall(query)]

    return asyncio.run(ask())
