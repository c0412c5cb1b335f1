"""A caller that is cancelled, at each point at which it waits: nothing hangs, nothing is half done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest

from hippo_async import Hippocampus, Turn
from hippo_async.errors import JournalLocked
from hippo_async.testing import FakeClock, each_cancellation

MakeMemory = Callable[..., Hippocampus]
Act = Callable[[Hippocampus], Coroutine[Any, Any, object]]
SECONDS = 3  # that opening and closing may take; where one never ends, the test ends after this

TURNS = [Turn(role="user", content="The kettle is blue.", tokens=5, key="k0")]


async def texts(memory: Hippocampus) -> list[str]:
    return [record.text async for record in memory.records() if record.type == "record"]


async def open_when_free(memory: Hippocampus) -> None:
    """Open a store that another memory may still be giving back in a thread of its own."""
    async with asyncio.timeout(SECONDS):
        while not memory.is_open:
            try:
                await memory.open()
            except JournalLocked:
                await asyncio.sleep(0.001)


async def test_a_cancelled_record_is_written_all_the_same_and_once(make_memory: MakeMemory) -> None:
    tried = []
    async with make_memory() as memory:
        for cancellation in each_cancellation():
            tried.append(f"text {cancellation.at}")
            with suppress(asyncio.CancelledError):
                await cancellation.run(memory.record(tried[-1]))
        await memory.flush()
        assert await texts(memory) == tried
        assert (await memory.verify_chain()).intact
    assert len(tried) > 1, "recording waits"


ACTS: dict[str, Act] = {
    "recall": lambda memory: memory.recall("kettle"),
    "brief": lambda memory: memory.brief("kettle"),
    "flush": lambda memory: memory.flush(),
    "selective_load": lambda memory: memory.selective_load(100),
    "latest": lambda memory: memory.latest(n=3),
    "verify_chain": lambda memory: memory.verify_chain(),
    "texts": texts,
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
async def test_a_cancelled_reader_leaves_the_memory_as_it_was(make_memory: MakeMemory, act: Act) -> None:
    async with make_memory(clock=FakeClock()) as memory:
        await memory.record("The kettle is blue.")
        await memory.flush()
        expected = await act(memory)
        runs = 0
        for cancellation in each_cancellation():
            with suppress(asyncio.CancelledError):
                assert await cancellation.run(act(memory)) == expected
            assert await act(memory) == expected
            runs += 1
        assert runs > 1, "it waits at least once"
        assert await texts(memory) == ["The kettle is blue."]


async def test_a_cancelled_fold_is_one_record_or_none(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        await memory.capture(TURNS[0].content, key="k0")
        runs = 0
        for cancellation in each_cancellation():
            before = len(await texts(memory))
            with suppress(asyncio.CancelledError):
                await cancellation.run(memory.fold(TURNS))
            await memory.flush()
            assert len(await texts(memory)) - before in (0, 1)
            runs += 1
        [newest] = await memory.latest(tags=["status:folded"])
        assert newest.text
        assert runs > 3, "folding waits for the flush, the keys, the summary and the record"


async def test_a_cancelled_opening_may_be_asked_for_again(make_memory: MakeMemory) -> None:
    opened = 0
    for cancellation in each_cancellation():
        memory = make_memory()
        with suppress(asyncio.CancelledError):
            await cancellation.run(memory.open())
        async with asyncio.timeout(SECONDS):
            await memory.open()
        await memory.record(f"text {opened}")
        await memory.close()
        opened += 1
    async with make_memory() as memory:
        assert await texts(memory) == [f"text {number}" for number in range(opened)]
    assert opened > 1, "opening waits"


async def test_a_cancelled_opening_does_not_keep_its_memory_from_closing(make_memory: MakeMemory) -> None:
    for cancellation in each_cancellation():
        memory = make_memory()
        with suppress(asyncio.CancelledError):
            await cancellation.run(memory.open())
        async with asyncio.timeout(SECONDS):
            await memory.close()
        assert not memory.is_open
        async with make_memory() as other:  # the store is free
            assert other.is_open


async def test_a_cancelled_closing_is_finished_and_gives_the_store_back(make_memory: MakeMemory) -> None:
    """What was captured before it is durable, whoever opens the store next."""
    tried = []
    for cancellation in each_cancellation():
        memory = make_memory()
        await open_when_free(memory)
        tried.append(f"text {cancellation.at}")
        memory.capture(tried[-1])
        with suppress(asyncio.CancelledError):
            await cancellation.run(memory.close())
        await open_when_free(other := make_memory())
        assert not memory.is_open
        assert await texts(other) == tried
        await other.close()
    assert len(tried) > 1, "closing waits"
