"""How long the event loop stands still while the memory works beside it."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from hippo_bench import ours, texts
from hippo_bench.measure import Round, Samples, interleave
from hippo_bench.report import Line, Result, Wanted
from hippo_bench.scale import Scale

if TYPE_CHECKING:
    from hippo_async import Hippocampus

WANTED = Wanted(5.0, at_least=False)
TURNS_A_SECOND = 1_000
BEAT = 0.001
MS = 1e3

_AGAINST = {"idle": "an idle process", "thread": "one busy Python thread, no memory"}

Load = Callable[[], AbstractAsyncContextManager[None]]


async def run(scale: Scale, folder: Path) -> Result:
    """Capture 1,000 turns a second with recall running, and watch the gaps between heartbeats."""
    usual: list[float] = []
    done: Counter[str] = Counter()
    async with ours.memory(folder / "memory") as memory:
        await ours.store(memory, min(scale.thread, 1_000))
        figures = await interleave(
            scale.stall_rounds,
            idle=_longest(_idle, scale.stall_seconds, []),
            thread=_longest(_busy_thread, scale.stall_seconds, []),
            ours=_longest(lambda: _remembering(memory, done), scale.stall_seconds, usual),
        )
    lines = tuple(_line(figures, name, label) for name, label in _AGAINST.items())
    notes = (
        f"99.9 % of our beats are less than {max(usual) * MS:.2f} ms late.",
        f"{done['captured']:,} captured, {done['refused']:,} refused, {done['recalls']:,} recalls answered;",
        f"{done['buffered']:,} turns were not yet written when the rounds ended.",
    )
    return Result("stall: longest stand-still of the event loop", lines, notes)


def _line(figures: dict[str, Samples], name: str, label: str) -> Line:
    return Line(
        what="1,000 turns/s captured, recall running",
        against=label,
        theirs=figures[name].times(MS),
        ours=figures["ours"].times(MS),
        unit="ms",
        figure=figures["ours"].high * MS,
        figure_unit="ms",
        wanted=WANTED if name == "idle" else None,
    )


def _longest(load: Load, seconds: float, usual: list[float]) -> Round:
    async def one_round() -> float:
        async with load():
            late = sorted(await _beat(seconds))
        usual.append(late[int(len(late) * 0.999) - 1])
        return late[-1]

    return one_round


async def _beat(seconds: float) -> list[float]:
    late = []
    begin = last = perf_counter()
    while last - begin < seconds:
        await asyncio.sleep(BEAT)
        now = perf_counter()
        late.append(now - last - BEAT)
        last = now
    return late


@asynccontextmanager
async def _idle() -> AsyncIterator[None]:
    yield


@asynccontextmanager
async def _busy_thread() -> AsyncIterator[None]:
    stop = threading.Event()

    def spin() -> None:
        for number in count():
            if number % 1_000 == 0 and stop.is_set():
                return

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@asynccontextmanager
async def _remembering(memory: Hippocampus, done: Counter[str]) -> AsyncIterator[None]:
    refused = memory.status().refused
    tasks = [asyncio.create_task(_capture(memory, done)), asyncio.create_task(_recall(memory, done))]
    try:
        yield
        for task in tasks:
            if task.done():
                task.result()
    finally:
        done["refused"] += memory.status().refused - refused
        done["buffered"] += memory.status().buffered
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await memory.flush()


async def _capture(memory: Hippocampus, done: Counter[str]) -> None:
    begin = perf_counter()
    for number in count():
        early = begin + number / TURNS_A_SECOND - perf_counter()
        await asyncio.sleep(max(early, 0))
        memory.capture(texts.message(number), role="user", session=ours.SESSION)
        done["captured"] += 1


async def _recall(memory: Hippocampus, done: Counter[str]) -> None:
    for number in count():
        await memory.recall(texts.message(number * 31), top_k=5)
        done["recalls"] += 1
