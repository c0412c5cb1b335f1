"""Cancelling at each suspension: every point at which a coroutine waits, once, and none between."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import suppress

import pytest

from hippo_async.testing import Cancellation, each_cancellation


async def three_waits(reached: list[str]) -> str:
    """A bare yield, a future, and another coroutine that waits."""
    reached.append("begun")
    await asyncio.sleep(0)
    reached.append("slept")
    future: Future[None] = Future()
    asyncio.get_running_loop().call_soon(future.set_result, None)
    await asyncio.wrap_future(future)
    reached.append("waited")
    await asyncio.create_task(asyncio.sleep(0))
    reached.append("joined")
    return "done"


async def test_each_point_at_which_a_coroutine_waits_is_cancelled_once_and_then_none() -> None:
    runs: list[list[str]] = []
    for cancellation in each_cancellation():
        runs.append([])
        with suppress(asyncio.CancelledError):
            assert await cancellation.run(three_waits(runs[-1])) == "done"
            assert not cancellation.fired
    assert runs == [
        ["begun"],
        ["begun", "slept"],
        ["begun", "slept", "waited"],
        ["begun", "slept", "waited", "joined"],
    ]


async def never_waits() -> str:
    return "done"


async def test_a_coroutine_that_never_waits_cannot_be_cancelled() -> None:
    assert [await cancellation.run(never_waits()) for cancellation in each_cancellation()] == ["done"]


async def holds_off() -> str:
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        return "went on"
    return "was not cancelled"


async def fails() -> str:
    await asyncio.sleep(0)
    raise ValueError("wrong")


async def test_what_the_coroutine_makes_of_it_is_what_comes_back() -> None:
    assert await Cancellation(1).run(holds_off()) == "went on"
    with pytest.raises(ValueError, match="wrong"):
        await Cancellation(2).run(fails())


async def test_whoever_runs_it_is_not_cancelled() -> None:
    with pytest.raises(asyncio.CancelledError):
        await Cancellation(1).run(three_waits([]))
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_what_the_coroutine_waits_for_is_cancelled_with_it() -> None:
    """As by any cancellation of a task: who shields a future keeps it."""
    bare, shielded = asyncio.get_running_loop().create_future(), asyncio.get_running_loop().create_future()

    async def waiting() -> None:
        await bare

    async def shielding() -> None:
        await asyncio.shield(shielded)

    for coroutine in (waiting(), shielding()):
        with pytest.raises(asyncio.CancelledError):
            await Cancellation(1).run(coroutine)
    assert bare.cancelled()
    assert not shielded.cancelled()
