"""Whatever can be forgotten, in whichever scope: checkpoints, erased memories, half-written raw lines."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from doors import holding, shown

from hippo_async import Hippocampus
from hippo_async.errors import Forgotten, NotFound
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]

SECRET = "zanzibarquokka"
DAY = timedelta(days=1).total_seconds()
AT_ONCE = {"delete": {"grace_hours": 0}}


async def progress(memory: Hippocampus) -> tuple[str, int] | None:
    task = await memory.active_task()
    return None if task is None else (task.task_id, task.progress)


async def test_a_checkpoint_that_is_forgotten_counts_as_never_made(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    async with make_memory() as memory:
        await memory.checkpoint("move", "Boxes are packed", progress=20)
        await memory.checkpoint("tax", "Receipts sorted", progress=10)
        await memory.checkpoint(f"buy a {SECRET}", "Prices compared", progress=30)
        [secret] = await memory.latest(n=1)
        for _ in range(2):
            await memory.forget(secret.record_id)
            assert SECRET not in await shown(memory, SECRET, clock=clock)
            assert await progress(memory) == ("tax", 10)
            await memory.restore(secret.record_id)
            assert await progress(memory) == (f"buy a {SECRET}", 30)
        await memory.forget(secret.record_id)
        clock.advance(DAY)
        await memory.erase_due()
        assert holding(tmp_path / "store", SECRET) == []
        assert await progress(memory) == ("tax", 10)
        await memory.checkpoint("move", "The van is ordered", progress=40)
        [van] = await memory.latest(n=1)
        await memory.forget(van.record_id)
        assert {record.text for record in await memory.latest(n=9)} == {"Boxes are packed", "Receipts sorted"}
        await memory.checkpoint("move", "Done", progress=100)
        assert await progress(memory) is None
        assert {record.text for record in await memory.latest(n=9)} == {"Done", "Receipts sorted"}


async def test_an_earlier_checkpoint_of_a_task_can_be_forgotten_though_no_search_finds_it(
    make_memory: MakeMemory, tmp_path: Path
) -> None:
    async with make_memory(AT_ONCE) as memory:
        await memory.checkpoint("move", f"the {SECRET} is packed", progress=20)
        await memory.checkpoint("move", "The van is ordered", progress=40)
        [secret] = [record async for record in memory.records() if SECRET in record.text]
        await memory.forget(secret.record_id)
        assert holding(tmp_path / "store", SECRET) == []
        assert await progress(memory) == ("move", 40)


@pytest.mark.parametrize("by", ["record id", "event id"])
async def test_what_was_erased_is_listed_and_restored_in_its_own_scope_only(
    make_memory: MakeMemory, by: str
) -> None:
    """An erased record says no more in which scope it was."""
    ann = ("ann", "берлин\n\"'")
    async with make_memory(AT_ONCE) as memory:
        kept = await memory.remember(f"the {SECRET}", scope=ann)
        name = kept.event_id if by == "event id" else kept.record.record_id
        assert (await memory.forget(name, scope=ann)).erased
    async with make_memory(AT_ONCE) as memory:
        assert await memory.pending_deletes() == []
        [erased] = await memory.pending_deletes(scope=ann)
        assert (erased.record_id, erased.erased) == (kept.record.record_id, True)
        for other in ((), ("ann",), ("ben",)):
            with pytest.raises(NotFound):
                await memory.restore(name, scope=other)
        with pytest.raises(Forgotten):
            await memory.remember(f"the {SECRET}", scope=ann)
        assert not await memory.restore(name, scope=ann)
        assert await memory.pending_deletes(scope=ann) == []
        assert (await memory.remember(f"the {SECRET}", scope=ann)).is_new


async def test_what_happened_twice_and_was_forgotten_once_is_still_remembered_the_other_time(
    make_memory: MakeMemory,
) -> None:
    async with make_memory(AT_ONCE) as memory:
        first = await memory.remember("Met Anna")
        await memory.remember("Met Anna", occurrence=1)
        await memory.forget(first.event_id)
        assert (await memory.remember("Met Anna", occurrence=1)).count == 2
        with pytest.raises(Forgotten):
            await memory.remember("Met Anna")


@pytest.mark.parametrize("secret", [SECRET, "квокка", "短尾矮袋鼠", 'say "hi" \\ there'])
async def test_what_a_crash_left_of_a_raw_line_is_erased_with_the_turn_that_was_written_again(
    make_memory: MakeMemory, tmp_path: Path, secret: str
) -> None:
    """The box is written before the journal, and not synced: wherever the line broke off."""
    text = f"my {secret} is here"
    async with make_memory(AT_ONCE) as memory:
        await memory.record(text, role="user")
        other = await memory.record("the kettle is blue", role="user")
    [shard] = (tmp_path / "store/raw").iterdir()
    whole, _, rest = shard.read_bytes().partition(b"\n")
    start = whole.index(b'"my ') + len('"my ')
    shard.write_bytes(b"\n".join([*(whole[:end] for end in range(start + 3, len(whole))), whole, rest]))
    async with make_memory(AT_ONCE) as memory:
        [hit, *_] = await memory.recall(text)
        await memory.forget(hit.record.record_id)
        assert whole[start : start + 3] not in shard.read_bytes()
        assert shard.read_text("utf-8").endswith(rest.decode())
        assert other.text in await shown(memory, "kettle", clock=memory._tools.clock)  # type: ignore[arg-type]
