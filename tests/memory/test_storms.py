"""Many callers at once, callers without patience, and event loops that come and go."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest

from hippo_async import Hippocampus
from hippo_async.errors import Closed

MakeMemory = Callable[..., Hippocampus]
TASKS = 1000
SECONDS = 20


async def texts(memory: Hippocampus) -> list[str]:
    return [record.text async for record in memory.records() if record.type == "record"]


async def test_a_thousand_impatient_callers_lose_and_double_nothing(make_memory: MakeMemory) -> None:
    """Each has its own timeout, many of them shorter than a write; some ask, most tell."""
    chance = random.Random(34)
    told = set()

    async def caller(number: int, patience: float) -> None:
        try:
            async with asyncio.timeout(patience):
                if number % 10 == 0:
                    await memory.recall(f"kettle {number}")
                else:
                    told.add((await memory.record(f"kettle {number}")).text)
        except TimeoutError:
            pass

    async with make_memory() as memory:
        patience = [chance.choice([0, 0.001, 0.01, 0.1, SECONDS]) for _ in range(TASKS)]
        async with asyncio.timeout(SECONDS):
            await asyncio.gather(*(caller(number, patience[number]) for number in range(TASKS)))
        await memory.flush()
        found = await texts(memory)
        assert len(found) == len(set(found)), "a text was written twice"
        assert told <= set(found)
        assert set(found) <= {f"kettle {number}" for number in range(TASKS)}
        assert (await memory.verify_chain()).intact
    print(f"{TASKS} callers, {len(told)} were told, {len(found)} are there")
    assert len(told) > TASKS // 10


async def test_a_thousand_callers_of_a_memory_that_closes_are_each_answered(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        calls = [asyncio.create_task(memory.record(f"text {number}")) for number in range(TASKS)]
        await asyncio.sleep(0)
        async with asyncio.timeout(SECONDS):
            await memory.close()
            answers = await asyncio.gather(*calls, return_exceptions=True)
        assert not [answer for answer in answers if isinstance(answer, BaseException | None)]
    async with make_memory() as memory:
        assert await texts(memory) == [f"text {number}" for number in range(TASKS)]
        await memory.close()
        with pytest.raises(Closed):
            await memory.record("too late")


def test_a_memory_outlives_a_loop_that_was_cut_off(make_memory: MakeMemory) -> None:
    """The loop ends with a caller on it that has not been answered; the next loop finds its record."""

    async def cut_off() -> None:
        await memory.open()
        leaving.append(asyncio.create_task(memory.record("said in the first loop")))
        await asyncio.sleep(0)

    leaving: list[asyncio.Task[object]] = []
    memory = make_memory()
    asyncio.run(cut_off())
    assert leaving[0].cancelled()
    asyncio.run(memory.flush())
    assert asyncio.run(texts(memory)) == ["said in the first loop"]
    asyncio.run(memory.close())


def test_a_memory_that_one_loop_opened_and_another_closed_opens_again(make_memory: MakeMemory) -> None:
    memory = make_memory()
    for number in range(3):
        asyncio.run(memory.open())
        asyncio.run(memory.record(f"text {number}"))
        asyncio.run(memory.close())
    asyncio.run(memory.open())
    assert asyncio.run(texts(memory)) == ["text 0", "text 1", "text 2"]
    asyncio.run(memory.close())
