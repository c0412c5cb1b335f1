"""An index in any state: whatever became of its files, the memory finds what the journal holds (F38, F39)."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hippo_async import Hippocampus, blocking

MakeMemory = Callable[..., Hippocampus]
FACTS = [f"fact {number} about tea and kettle number {number % 7}" for number in range(40)]
QUERIES = ["fact 17", "kettle number 3", "tea"]
FLIPS = 400 if os.environ.get("HIPPO_LONG") == "1" else 40


async def answers(memory: Hippocampus) -> list[list[str]]:
    return [[hit.record.text for hit in await memory.recall(query)] for query in QUERIES]


async def write(memory: Hippocampus, facts: list[str]) -> list[list[str]]:
    """Capture facts and return what can be found afterwards."""
    async with memory:
        for fact in facts:
            memory.capture(fact, session="s", tags=["t"])
        return await answers(memory)


@pytest.fixture
async def expected(make_memory: MakeMemory) -> list[list[str]]:
    """What a memory of all the facts answers; its store is closed."""
    return await write(make_memory(), FACTS)


async def test_an_index_that_knows_more_than_the_journal_is_made_anew(
    make_memory: MakeMemory, tmp_path: Path
) -> None:
    """The journal was put back from an older copy, by somebody who has no witness."""
    expected = await write(make_memory(witness=None), FACTS[:20])
    shutil.copytree(tmp_path / "store/journal", tmp_path / "older")
    await write(make_memory(witness=None), FACTS[20:])
    shutil.rmtree(tmp_path / "store/journal")
    (tmp_path / "older").rename(tmp_path / "store/journal")
    async with make_memory(witness=None) as memory:
        assert await answers(memory) == expected
        assert memory.status().index_rebuilds == 1


async def test_an_index_of_another_history_of_the_same_journal_is_made_anew(
    make_memory: MakeMemory, tmp_path: Path
) -> None:
    """As long as the right one, and of the same journal id: only the records' ids tell."""
    await write(make_memory(witness=None), FACTS[:5])
    shutil.copytree(tmp_path / "store", tmp_path / "fork")
    expected = await write(make_memory(witness=None), FACTS[5:20])
    fork = Hippocampus(tmp_path / "fork", agent_id="tester", embedder="none", witness=None)
    await write(fork, FACTS[20:35])
    shutil.rmtree(tmp_path / "store/index")
    shutil.copytree(tmp_path / "fork/index", tmp_path / "store/index")
    async with make_memory(witness=None) as memory:
        assert await answers(memory) == expected


async def test_the_index_of_another_journal_is_made_anew(
    make_memory: MakeMemory, tmp_path: Path, expected: list[list[str]]
) -> None:
    other = Hippocampus(tmp_path / "other", agent_id="tester", embedder="none", witness=None)
    await write(other, list(reversed(FACTS)))
    shutil.rmtree(tmp_path / "store/index")
    shutil.copytree(tmp_path / "other/index", tmp_path / "store/index")
    async with make_memory() as memory:
        assert await answers(memory) == expected


@pytest.mark.parametrize(
    "edit",
    [
        "record_id = 'x' || record_id",
        "segment = segment + 1",
        "byte_offset = byte_offset + 1",
        "byte_length = byte_length + 1",
        "byte_length = byte_length - 1",
        "timestamp = '1926' || substr(timestamp, 5)",
        "kind = 'observatinn'",
        "novelty = 'rmutine'",
        "role = 'assistant'",
        "session = 't'",
        "scope = '['",
        "scope = '[1]'",
        "tags = '{\"'",
    ],
)
async def test_a_row_that_was_changed_in_the_index_is_no_fault_of_the_memory(
    make_memory: MakeMemory, tmp_path: Path, expected: list[list[str]], edit: str
) -> None:
    """As a flipped bit may change it: the row of one record that would have been found."""
    [index] = (tmp_path / "store/index").glob("gen-*/index.sqlite")
    with contextlib.closing(sqlite3.connect(index)) as db, db:
        assert db.execute(f"UPDATE records SET {edit} WHERE seq = 18").rowcount == 1
    async with make_memory() as memory:
        assert await answers(memory) == expected


async def test_whatever_bit_flips_in_the_index_nothing_but_records_of_the_journal_is_found(
    make_memory: MakeMemory, tmp_path: Path, expected: list[list[str]]
) -> None:
    """Nearly always the same ones: a flip among the words may hide one, until the index is made anew."""
    shutil.copytree(tmp_path / "store/index", tmp_path / "index")
    same = 0
    for seed in range(FLIPS):
        shutil.rmtree(tmp_path / "store/index")
        shutil.copytree(tmp_path / "index", tmp_path / "store/index")
        [index] = (tmp_path / "store/index").glob("gen-*/index.sqlite")
        flip_a_bit(index, random.Random(seed))
        async with make_memory() as memory:
            found = await answers(memory)
        assert {text for texts in found for text in texts} <= set(FACTS)
        same += found == expected
    print(f"{FLIPS} bits flipped in the index: {same} same answers")
    assert same > FLIPS * 0.8
    shutil.rmtree(tmp_path / "store/index")
    async with make_memory() as memory:
        assert await answers(memory) == expected


def flip_a_bit(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(bytes(data))


DIES = """
import asyncio, sys
from hippo_async import Hippocampus
from hippo_async.files import Files
from hippo_async.testing import ScriptedOps

async def main():
    ops = ScriptedOps()
    memory = Hippocampus(
        sys.argv[1], agent_id="tester", embedder="none", witness=sys.argv[2], files=Files(ops)
    )
    await memory.open()
    await memory.record("the kettle is blue")
    ops.kill("pwrite", name="HEAD")
    await memory.record("the kettle is red")

asyncio.run(main())
"""


@pytest.mark.process
def test_a_record_that_was_durable_before_a_kill_is_found_although_the_index_never_saw_it(
    make_memory: MakeMemory, tmp_path: Path
) -> None:
    """F39: the process dies between the sync of the record and everything that comes after it."""
    died = subprocess.run(
        [sys.executable, "-c", DIES, str(tmp_path / "store"), str(tmp_path / "witness")],
        timeout=30,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert died.returncode == -signal.SIGKILL
    with make_memory() as memory:
        found = [hit.record.text for hit in blocking(memory.recall)("kettle")]
        assert sorted(found) == ["the kettle is blue", "the kettle is red"]
        assert memory.status().index_rebuilds == 0
