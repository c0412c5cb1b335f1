"""What is buffered survives every orderly end of a process (M2)."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from hippo_async import Hippocampus

MakeMemory = Callable[..., Hippocampus]

PROGRAM = """
import asyncio, os, sys, time
from hippo_async import Hippocampus, Settings

slow = Settings.from_mapping({"capture": {"flush_turns": 10_000, "flush_seconds": 60.0}})

async def main():
    memory = Hippocampus(sys.argv[1], agent_id="tester", embedder="none", witness=sys.argv[2], settings=slow)
    await memory.open()
    for number in range(25):
        memory.capture(f"turn {number}", session="s")
    if sys.argv[3] == "flush":
        await memory.flush()
    print("ready", flush=True)
    if sys.argv[3] == "wait":
        time.sleep(60)
    if sys.argv[3] == "await":
        await memory.capture("turn 25", session="s")
    if sys.argv[3] in ("flush", "hard"):
        os._exit(0)

asyncio.run(main())
"""


def start(tmp_path: Path, ending: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "store"), str(tmp_path / "witness"), ending]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.process
@pytest.mark.parametrize("ending", ["exit", "flush"])
async def test_turns_survive_a_normal_exit_and_an_exit_right_after_a_flush(
    tmp_path: Path, make_memory: MakeMemory, ending: str
) -> None:
    with start(tmp_path, ending) as process:
        process.communicate(timeout=30)
    async with make_memory() as memory:
        assert len(await memory.session("s")) == 25


@pytest.mark.process
async def test_turns_survive_sigterm(tmp_path: Path, make_memory: MakeMemory) -> None:
    with start(tmp_path, "wait") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, 30) == -signal.SIGTERM
    async with make_memory() as memory:
        assert len(await memory.session("s")) == 25


@pytest.mark.process
async def test_turns_survive_an_interrupt_and_who_awaits_one_is_told(
    tmp_path: Path, make_memory: MakeMemory
) -> None:
    """F26: Ctrl-C ends the one who waits for a receipt that is a minute away; nothing hangs."""
    with start(tmp_path, "await") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        # asyncio.run sees a signal that comes just as its loop falls asleep only when it wakes up again
        await asyncio.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, complaint = await asyncio.to_thread(process.communicate, timeout=30)
        assert process.returncode == -signal.SIGINT
        assert "KeyboardInterrupt" in complaint
    async with make_memory() as memory:
        assert len(await memory.session("s")) == 26


@pytest.mark.process
async def test_a_hard_exit_loses_the_buffered_turns_and_nothing_else(
    tmp_path: Path, make_memory: MakeMemory
) -> None:
    async with make_memory() as memory:
        await memory.record("before", session="s")
    with start(tmp_path, "hard") as process:
        process.communicate(timeout=30)
    async with make_memory() as memory:
        assert [record.content for record in await memory.session("s")] == ["before"]
        assert (await memory.verify_chain()).intact


@pytest.mark.process
async def test_a_forked_child_is_refused_and_does_its_parent_no_harm(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        await memory.record("parent", session="s")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads is what is tested
            child = os.fork()
        if child == 0:
            receipt = memory.capture("child", session="s")
            os._exit(0 if receipt.done() else 1)
        _, status = await asyncio.to_thread(os.waitpid, child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        await memory.record("parent again", session="s")
        assert [record.content for record in await memory.session("s")] == ["parent", "parent again"]
