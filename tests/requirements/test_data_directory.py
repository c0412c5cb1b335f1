"""The directory a memory lies in (L13, L21): one test a requirement, by what it names."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from doors import holding
from living import DAY, MakeMemory, did, pass_time

from hippo_async import Hippocampus
from hippo_async.errors import MigrationFailed, MigrationLocked
from hippo_async.files import Files
from hippo_async.migration import find_old, migrate
from hippo_async.place import Place
from hippo_async.testing import FakeClock, ScriptedOps


async def test_l13_a_memory_moves_whole_or_stays_where_it_is(
    make_memory: MakeMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    old, new = tmp_path / ".hippo", tmp_path / "new"
    async with make_memory() as memory:
        for word in ("kettle", "pan"):
            await memory.record(f"The {word} is blue.")
    memory.data_dir.rename(old)
    place, seen = Place(old, "tester", None, None, None), []

    def move(progress: Callable[[int, int], None] = lambda done, total: None, **files: Files) -> int:
        return migrate(place, new, progress=progress, **files).move.records

    def spoil(*_: int) -> None:
        for path in new.glob("journal/gen-*/seg-*"):
            path.write_bytes(path.read_bytes().replace(b"blue", b"pink"))

    assert await asyncio.to_thread(find_old, new) == old
    with pytest.raises(MigrationFailed):
        await asyncio.to_thread(move, spoil)
    assert not new.exists()
    assert not (old / "MOVED").exists()
    ops = ScriptedOps(syncing=False)
    gate = ops.hold("write", name="HEAD*")
    first = asyncio.create_task(asyncio.to_thread(move, lambda *at: seen.append(at), files=Files(ops)))
    await asyncio.to_thread(gate.wait_reached)
    with pytest.raises(MigrationLocked) as refused:
        await asyncio.to_thread(move)
    assert refused.value.code == "MEM_E_MIGRATION_LOCKED"
    gate.open()
    assert await first == await asyncio.to_thread(move) == 3, "once more is no harm"
    assert seen[-1][0] == seen[-1][1] > 0
    assert (new / "MIGRATED").read_bytes() == (old / "MOVED").read_bytes()
    assert holding(old, "The kettle is blue.") == holding(new, "The kettle is blue.") != []


async def test_l21_all_but_the_log_may_be_deleted_and_is_made_again_equal(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async def known(memory: Hippocampus) -> list[Any]:
        return [
            *(await memory.active_task(), await memory.active_tags(), await memory.tag_graph()),
            *(await memory.reviews(), await memory.pending_deletes(), await memory.latest(n=99)),
            *(await memory.latest(tags=["status:monthly"]), (await memory.recall("boat", top_k=50)).hits),
        ]

    async with make_memory() as memory:
        for number in range(40):
            await memory.record(f"day {number} of the boat of Anna", role="user", tags=["boat", "harbour"])
            pass_time(clock, DAY)
        kept = [await memory.remember(f"The boat has {number} sails.") for number in range(5)]
        await memory.remember("The boat has 4 sails.")
        await memory.checkpoint("boat", "Hull done.", progress=40)
        await memory.run_maintenance()
        await memory.reinforce(kept[0].event_id)
        await memory.forget(kept[1].event_id)
        pass_time(clock, 2 * DAY)
        before = await known(memory)
        assert all(before)
    shutil.rmtree(memory.data_dir / "index")
    async with make_memory() as memory:
        assert await known(memory) == before
        assert did(await memory.run_maintenance(), "months") == {"made": 0}
