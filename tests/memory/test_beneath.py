"""What an open memory says when its files are changed beneath it, and when its index is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from hippo_async import Hippocampus
from hippo_async.errors import AcknowledgedLoss, JournalCorrupt

MakeMemory = Callable[..., Hippocampus]


def segment(memory: Hippocampus) -> Path:
    [found] = memory.data_dir.glob("journal/gen-*/seg-*.jsonl")
    return found


async def test_records_that_vanish_beneath_an_open_memory_are_missed(make_memory: MakeMemory) -> None:
    """`records()` does not just end early: who exports or anchors must not take a part for the whole."""
    async with make_memory() as memory:
        for text in ("one", "two", "three"):
            await memory.record(text)
        lines = segment(memory).read_bytes().splitlines(keepends=True)
        segment(memory).write_bytes(b"".join(lines[:-1]))
        with pytest.raises(AcknowledgedLoss) as refusal:
            [record async for record in memory.records()]
        assert refusal.value.seq == 3


async def test_records_that_change_places_beneath_an_open_memory_are_not_recalled(
    make_memory: MakeMemory,
) -> None:
    async with make_memory() as memory:
        for text in ("tea one", "tea two", "tea six"):
            await memory.record(text)
        *lines, second, third = segment(memory).read_bytes().splitlines(keepends=True)
        assert len(second) == len(third), "else the lines are cut in two, which is another case"
        segment(memory).write_bytes(b"".join([*lines, third, second]))
        with pytest.raises(JournalCorrupt):
            await memory.recall("tea")


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE records SET scope = '[\"ada\"]' WHERE seq = 2",
        "UPDATE records SET scope = '[\"ada\"]', record_id = 'x' || record_id WHERE seq = 2",
    ],
)
async def test_an_edited_index_moves_no_memory_into_another_scope(make_memory: MakeMemory, edit: str) -> None:
    async with make_memory() as memory:
        await memory.record("the key is under the pot", scope=["ada"])
        await memory.record("the key is with the notary", scope=["ben"])
        await memory.record("nothing to do with it")
    [index] = memory.data_dir.glob("index/gen-*/index.sqlite")
    with sqlite3.connect(index) as db:
        db.execute(edit)
    db.close()
    async with make_memory() as memory:
        found = await memory.recall("key", scope=["ada"])
    assert [hit.record.text for hit in found.hits] == ["the key is under the pot"]
