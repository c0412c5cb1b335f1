"""What one turn of an agent takes when thousands of messages are stored."""

from __future__ import annotations

import statistics
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hippo_bench import ours, peers, texts
from hippo_bench.measure import Round, Samples, interleave
from hippo_bench.report import Line, Result, Wanted
from hippo_bench.scale import Scale

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from hippo_async import Hippocampus

ADDED = Wanted(5.0, at_least=False)
MS = 1e3
LONG_THREAD = "long"

Turn = Callable[[str], Awaitable[Any]]


async def run(scale: Scale, folder: Path) -> Result:
    """Compare one ``ainvoke`` of an agent with a memory, without one, and of the older histories."""
    async with AsyncExitStack() as stack:
        file = peers.file_history(folder, scale.thread)
        sql = await stack.enter_async_context(peers.sql_history(folder, scale.thread))
        sides = {"file": _with_history(file), "sql": _with_history(sql)}
        for name in ("fresh", "long"):
            memory = await stack.enter_async_context(_filled_memory(folder / name, scale.thread))
            sides[f"{name}_ours"] = await _agent(name, memory, scale.thread)
            sides[f"{name}_plain"] = await _agent(name, None, scale.thread)
        cold = await _timed_once(sides["long_ours"])
        for side in sides.values():
            await side("warm up")
        rounds = {name: _round(side, scale.turns) for name, side in sides.items()}
        figures = await interleave(scale.rounds, **rounds)
    notes = (
        f"{scale.thread:,} messages are in the histories, in the memory, in the state of the long thread.",
        f"the first turn of the memory on the long thread, which it had not seen, took {cold * MS:.0f} ms.",
    )
    return Result("turn: one ainvoke of an agent", _lines(figures), notes)


@asynccontextmanager
async def _filled_memory(folder: Path, stored: int) -> AsyncIterator[Hippocampus]:
    async with ours.memory(folder) as memory:
        await ours.store(memory, stored)
        yield memory


def _with_history(history: Any) -> Turn:
    with peers.quiet():
        from langchain_core.messages import HumanMessage
        from langchain_core.runnables.history import RunnableWithMessageHistory

        chain = RunnableWithMessageHistory(peers.echo_model(), lambda _: history)

    async def turn(text: str) -> Any:
        return await chain.ainvoke([HumanMessage(text)], {"configurable": {"session_id": "s"}})

    return turn


async def _agent(thread: str, memory: Hippocampus | None, stored: int) -> Turn:
    from langchain.agents import create_agent
    from langchain_core.messages import HumanMessage
    from langgraph.checkpoint.memory import InMemorySaver

    agent = create_agent(peers.echo_model(), middleware=_middleware(memory), checkpointer=InMemorySaver())
    if thread == LONG_THREAD:
        config = _config(thread)
        await agent.aupdate_state(config, {"messages": peers.conversation(stored)})

    async def turn(text: str) -> Any:
        thread_id = thread if thread == LONG_THREAD else uuid.uuid4().hex
        return await agent.ainvoke({"messages": [HumanMessage(text)]}, _config(thread_id))

    return turn


def _config(thread_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id}}


def _middleware(memory: Hippocampus | None) -> tuple[Any, ...]:
    if memory is None:
        return ()
    from hippo_langchain import HippoMiddleware

    return (HippoMiddleware(memory),)


def _round(turn: Turn, turns: int) -> Round:
    async def one_round() -> float:
        return statistics.median([await _timed_once(turn) for _ in range(turns)])

    return one_round


async def _timed_once(turn: Turn) -> float:
    text = texts.message(uuid.uuid4().int % 10_000)
    begin = perf_counter()
    await turn(text)
    return perf_counter() - begin


def _lines(figures: dict[str, Samples]) -> tuple[Line, ...]:
    lines = []
    for thread, what in (("fresh", "fresh thread, memory full"), ("long", "long thread")):
        with_memory, plain = figures[f"{thread}_ours"], figures[f"{thread}_plain"]
        lines.append(_added(f"{what}: added", plain, with_memory))
        for name, label in (("file", "File"), ("sql", "SQL")):
            peer = figures[name]
            lines.append(_against(what, f"RunnableWithMessageHistory + {label}", peer, with_memory))
    return tuple(lines)


def _added(what: str, plain: Samples, with_memory: Samples) -> Line:
    return Line(
        what=what,
        against="the same agent without",
        theirs=plain.times(MS),
        ours=with_memory.times(MS),
        unit="ms",
        figure=with_memory.minus(plain).median * MS,
        figure_unit="ms",
        wanted=ADDED,
    )


def _against(what: str, label: str, peer: Samples, with_memory: Samples) -> Line:
    return Line(
        what=what,
        against=label,
        theirs=peer.times(MS),
        ours=with_memory.times(MS),
        unit="ms",
        figure=peer.per(with_memory),
    )
