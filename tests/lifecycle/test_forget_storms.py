"""Many callers who remember, recall, forget and erase at once, and callers who give up anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from doors import holding, shown

from hippo_async import Hippocampus, Record, Turn
from hippo_async.errors import Forgotten, NotFound
from hippo_async.testing import FakeClock, each_cancellation

MakeMemory = Callable[..., Hippocampus]
Act = Callable[[Hippocampus, str], Coroutine[Any, Any, object]]

SECRET = "zanzibarquokka"
DAY = timedelta(days=1).total_seconds()
AT_ONCE = {"delete": {"grace_hours": 0}}
SECONDS = 30


async def texts(memory: Hippocampus) -> set[str]:
    return {record.text for record in await memory.latest(n=1000)}


async def fold_of(memory: Hippocampus, records: list[Record]) -> Record:
    return await memory.fold([Turn("user", one.text, 9, record_id=one.record_id) for one in records])


async def test_all_that_is_forgotten_at_once_without_grace_is_gone_when_each_call_returns(
    make_memory: MakeMemory, tmp_path: Path
) -> None:
    async with make_memory(AT_ONCE) as memory:
        said = [await memory.record(f"{SECRET}{number} is here", role="user") for number in range(20)]
        await fold_of(memory, said)

        async def forget(number: int) -> list[str]:
            assert (await memory.forget(said[number].record_id)).erased
            return holding(tmp_path / "store", f"{SECRET}{number} ")

        async with asyncio.timeout(SECONDS):
            assert await asyncio.gather(*map(forget, range(15))) == [[]] * 15
        [fold] = await memory.latest(n=9, tags=["status:folded"])
        assert fold.metadata["originals"] == [one.record_id for one in said[15:]]
        assert len(await memory.pending_deletes()) == 15
        assert (await memory.verify_chain()).intact


async def test_fifty_remember_while_others_forget_erase_restore_and_recall(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    """No call fails, but for what was forgotten meanwhile; what is erased stays away, the rest is there."""
    async with make_memory() as memory:
        doomed = [await memory.remember(f"{SECRET}{n} is old") for n in range(8)]
        spared = [await memory.remember(f"spared {n}") for n in range(8)]
        for one in (*doomed, *spared):
            await memory.forget(one.event_id)
        clock.advance(DAY)

        async def remember(number: int) -> None:
            assert (await memory.remember(f"fact {number % 25}")).record.text == f"fact {number % 25}"

        async def again(number: int) -> None:
            with pytest.raises(Forgotten):
                await memory.remember(f"{SECRET}{number} is old")

        async def look() -> None:
            assert SECRET not in await shown(memory, SECRET, clock=clock)

        async with asyncio.timeout(SECONDS):
            back = asyncio.gather(*(memory.restore(one.event_id) for one in spared))
            await asyncio.gather(
                *map(remember, range(50)),
                *map(again, range(8)),
                *(memory.erase_due() for _ in range(5)),
                *(look() for _ in range(3)),
                back,
            )
        kept = {f"spared {number}" for number, is_back in enumerate(back.result()) if is_back}
        assert await texts(memory) == kept | {f"fact {number}" for number in range(25)}
        assert [(await memory.remember(f"fact {number}")).count for number in range(25)] == [3] * 25
        assert holding(tmp_path / "store", SECRET) == []
        assert (await memory.verify_chain()).intact
        assert memory.status().kinds["observation"] == len(await texts(memory))


async def test_a_text_is_restored_or_erased_but_never_something_in_between(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        for number in range(12):
            kept = await memory.remember(f"text {number}")
            await memory.forget(kept.event_id)
            clock.advance(DAY)
            erasing = asyncio.create_task(memory.erase_due())
            for _ in range(number):
                await asyncio.sleep(0)
            back = await memory.restore(kept.event_id)
            await erasing
            assert (f"text {number}" in await texts(memory)) == back
            assert (await memory.remember(f"text {number}")).is_new != back


ACTS: dict[str, Act] = {
    "forget": lambda memory, name: memory.forget(name),
    "erase_due": lambda memory, name: memory.erase_due(),
    "restore": lambda memory, name: memory.restore(name),
    "remember": lambda memory, name: memory.remember("the lamp is green"),
    "reinforce": lambda memory, name: memory.reinforce(name),
    "checkpoint": lambda memory, name: memory.checkpoint("move", "the van is ordered", progress=40),
}
PREPARED = {"erase_due", "restore"}  # these have something to do once it is to be forgotten
LEAVES_IT = {"remember", "reinforce", "checkpoint"}


@pytest.mark.parametrize("name", ACTS)
async def test_what_a_cancelled_call_leaves_is_completed_by_the_next(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path, name: str
) -> None:
    """Cancelled at each point at which it waits: nothing hangs, is half done, or comes to be twice."""
    runs = 0
    async with make_memory() as memory:
        for cancellation in each_cancellation():
            secret = await memory.remember(f"{SECRET}{cancellation.at} is here")
            other = await memory.record(f"the kettle is blue {cancellation.at}", role="user")
            await fold_of(memory, [secret.record, other])
            if name in PREPARED:
                await memory.forget(secret.event_id)
                clock.advance(DAY)
            async with asyncio.timeout(SECONDS):
                with suppress(asyncio.CancelledError):
                    await cancellation.run(ACTS[name](memory, secret.event_id))
                if name in LEAVES_IT:
                    await ACTS[name](memory, secret.event_id)
                with suppress(NotFound):  # a restored one is forgotten again, an erased one cannot be
                    await memory.forget(secret.event_id)
                clock.advance(DAY)
                await memory.erase_due()
            assert SECRET not in await shown(memory, SECRET, clock=clock)
            assert holding(tmp_path / "store", SECRET) == []
            assert (await memory.verify_chain()).intact
            newest = await memory.latest(n=100, tags=["status:folded"])
            assert sum(f"blue {cancellation.at}" in fold.text for fold in newest) == 1
            for lasting in ("the lamp is green", "the van is ordered"):
                assert sum(record.text == lasting for record in await memory.latest(n=1000)) <= 1
            runs += 1
    assert runs > 3, "it waits in several places"
