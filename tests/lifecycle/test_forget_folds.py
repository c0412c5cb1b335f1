"""What was made of a text is forgotten with it: folds, folds of folds, folds that come too late, vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from doors import holding, shown
from index_tables import Anew

from hippo_async import Hippocampus, Record, Turn
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]

SECRET = "zanzibarquokka"
DAY = timedelta(days=1).total_seconds()
AT_ONCE = {"delete": {"grace_hours": 0}}


def window(*records: Record) -> list[Turn]:
    """What a context window holds of records: also what was taken away from them since."""
    return [Turn("user", record.text, 50, record_id=record.record_id) for record in records]


async def folds(memory: Hippocampus) -> list[str]:
    return [record.text for record in await memory.latest(n=100, tags=["status:folded"])]


async def test_a_fold_of_a_fold_is_hidden_erased_and_made_again_with_it(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    async with make_memory() as memory:
        secret = await memory.record(f"the {SECRET} is in Harbour", role="user")
        kettle = await memory.record("the kettle is in Berlin", role="user")
        first = await memory.fold(window(secret, kettle))
        second = await memory.fold(window(first, await memory.record("the lamp is in London", role="user")))
        assert SECRET in second.text
        await memory.forget(secret.record_id)
        assert SECRET not in await shown(memory, SECRET, clock=clock)
        assert await memory.restore(secret.record_id)
        assert second.text in await folds(memory)
        await memory.forget(secret.record_id)
        clock.advance(DAY)
        assert (await memory.erase_due()).derived == 2
        assert holding(tmp_path / "store", SECRET) == []
        assert sorted("kettle" in text for text in await folds(memory)) == [False, True]
        assert sorted("lamp" in text for text in await folds(memory)) == [False, True]

        again = await memory.fold(window(first, second, kettle))  # the window still holds what they said
        assert SECRET not in again.text
        assert "kettle" in again.text
        assert holding(tmp_path / "store", SECRET) == []


async def test_a_fold_that_was_being_summarized_meanwhile_is_hidden_and_erased_by_the_next_call(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow(turns: Sequence[Turn]) -> str:
        begun.set()
        await go_on.wait()
        return " and ".join(turn.content for turn in turns)

    async with make_memory(AT_ONCE, summarizer=slow) as memory:
        secret = await memory.record(f"the {SECRET} is in Harbour", role="user")
        kettle = await memory.record("the kettle is in Berlin", role="user")
        folding = asyncio.create_task(memory.fold(window(secret, kettle)))
        await begun.wait()
        await memory.forget(secret.record_id)
        go_on.set()
        await folding
        assert SECRET not in await shown(memory, SECRET, clock=clock)
        assert (await memory.erase_due()).derived == 1
        assert (await memory.erase_due()).derived == 0
        assert holding(tmp_path / "store", SECRET) == []
        [fold] = await folds(memory)
        assert "kettle" in fold


@pytest.mark.parametrize("hours_between", [0, 5])
async def test_a_fold_that_is_to_be_forgotten_itself_is_not_made_again(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path, hours_between: int
) -> None:
    """It goes with what it was made of, also where it was due later."""
    async with make_memory() as memory:
        secret = await memory.record(f"the {SECRET} is in Harbour", role="user", scope=("ann",))
        kettle = await memory.record("the kettle is in Berlin", role="user", scope=("ann",))
        fold = await memory.fold(window(secret, kettle), scope=("ann",))
        await memory.forget(secret.record_id, scope=("ann",))
        clock.advance(hours_between * 3600)
        await memory.forget(fold.record_id, scope=("ann",))
        clock.advance(DAY - hours_between * 3600)
        await memory.erase_due()
        assert holding(tmp_path / "store", SECRET) == []
        assert [record.text for record in await memory.latest(n=9, scope=("ann",))] == [kettle.text]
        erased = await memory.pending_deletes(scope=("ann",))
        assert {one.record_id for one in erased if one.erased} == {secret.record_id, fold.record_id}
        assert (await memory.verify_chain()).intact


async def test_a_fold_is_made_again_without_what_is_to_be_forgotten_later(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        said = [await memory.record(f"the {thing} is here", role="user") for thing in ("cup", "lamp", "mat")]
        await memory.fold(window(*said))
        await memory.forget(said[0].record_id)
        clock.advance(DAY / 2)
        await memory.forget(said[1].record_id)
        clock.advance(DAY / 2)
        await memory.erase_due()
        [fold] = await folds(memory)
        assert ("cup" in fold, "lamp" in fold, "mat" in fold) == (False, False, True)
        await memory.restore(said[1].record_id)
        assert await folds(memory) == [fold]


async def test_numbers_are_right_when_records_come_in_while_something_is_erased(
    make_memory: MakeMemory,
) -> None:
    async with make_memory(AT_ONCE) as memory:
        kept = await memory.remember(f"the {SECRET}")

        async def talk(who: int) -> None:
            for number in range(40):
                await memory.record(f"{who} says {number}")

        await asyncio.gather(memory.forget(kept.event_id), *map(talk, range(3)))
        await memory.flush()
        assert memory.status().kinds["observation"] == len(await memory.latest(n=1000)) == 120


async def test_a_fold_of_a_memo_goes_with_the_memo_and_is_made_again_of_the_rest(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    """Else nobody would know any more what it was made of, and it could not go with that."""
    async with make_memory(settings=AT_ONCE) as memory:
        secret = await memory.record(f"We decided: {SECRET} sails.", role="user", tags=["sailing"])
        other = await memory.record("the kettle is in Berlin", role="user")
        await talk_of_sailing(memory, clock, 12)
        await memory.run_maintenance()
        [first] = await memory.latest(n=1, tags=["status:summary"])
        assert SECRET in first.text
        await memory.fold(window(first, await memory.record("the lamp is in London", role="user")))
        await talk_of_sailing(memory, clock, 30)
        await memory.run_maintenance()
        [second] = await memory.latest(n=1, tags=["status:summary"])
        assert second.record_id != first.record_id

        await memory.forget(other.record_id)
        [fold] = [text for text in await folds(memory) if "lamp" in text]
        assert SECRET not in fold
        await memory.forget(secret.record_id)
        assert holding(tmp_path / "store", SECRET) == []
        assert await Anew(memory).differences("lamp", "sail") == []


async def talk_of_sailing(memory: Hippocampus, clock: FakeClock, times: int) -> None:
    """Tell so much of it that it is a topic, and let other talk go by."""
    for number in range(times):
        await memory.record(f"Sailing {number}: number {number}.", role="user", tags=["sailing"])
        for other in range(4):
            await memory.record(f"Talk {number} {other}.", role="user", tags=[f"{clock.now()} {other}"])
        clock.advance(60)
