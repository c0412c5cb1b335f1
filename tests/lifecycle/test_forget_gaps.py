"""What forgetting does not do yet and should: each test says it, and fails the day it does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hippo_async import Hippocampus

MakeMemory = Callable[..., Hippocampus]


@pytest.mark.xfail(strict=True, reason="a checkpoint that a later one replaced counts as having no text")
async def test_an_older_checkpoint_can_be_forgotten(make_memory: MakeMemory) -> None:
    """Its text stays in the journal, and in what ``records()`` yields, for good."""
    async with make_memory() as memory:
        await memory.checkpoint("boat", "the word is zanzibarquokka", progress=10)
        [older] = await memory.latest()
        await memory.checkpoint("boat", "the hull is done", progress=20)
        await memory.forget(older.record_id)


@pytest.mark.xfail(strict=True, reason="the answer is taken before the erasure")
async def test_without_grace_forget_says_that_the_text_is_erased(make_memory: MakeMemory) -> None:
    async with make_memory({"delete": {"grace_hours": 0}}) as memory:
        kept = await memory.remember("the boat is called Nimbus")
        pending = await memory.forget(kept.event_id)
        assert [pending] == await memory.pending_deletes()


@pytest.mark.xfail(strict=True, reason="tasks do not ask whether their checkpoint is hidden")
async def test_a_task_whose_checkpoint_is_forgotten_is_not_in_progress(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        await memory.checkpoint("zanzibarquokka", "the hull is done", progress=10)
        [record] = await memory.latest()
        await memory.forget(record.record_id)
        assert await memory.active_task() is None
