"""Capturing: at once, in order, once, and never at the agent's cost (M2, L4, L10)."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from eventual import eventually

from hippo_async import Hippocampus, Kind, Novelty, Settings, blocking
from hippo_async.errors import CaptureRefused, Closed, InvalidInput, JournalCorrupt, RecordRejected
from hippo_async.files import Files
from hippo_async.testing import FakeClock, ScriptedOps

MakeMemory = Callable[..., Hippocampus]
NEVER = Settings.from_mapping({"capture": {"flush_turns": 10_000, "flush_seconds": 60.0}})


async def contents(memory: Hippocampus, session: str = "s") -> list[str | None]:
    return [record.content for record in await memory.session(session)]


async def test_an_awaited_receipt_is_a_durable_record(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        record = await memory.capture("tea, no sugar", role="user", session="s")
        assert record.kind is Kind.OBSERVATION
        assert (record.role, record.source, record.session) == ("user", "user", "s")
    async with make_memory() as memory:
        [found] = await memory.session("s")
        assert found == record


async def test_a_turn_is_buffered_until_one_second_has_passed(make_memory: MakeMemory) -> None:
    clock = FakeClock()
    async with make_memory(clock=clock, settings=Settings()) as memory:
        receipt = memory.capture("tea")
        await eventually(lambda: clock.waiting > 0)
        clock.advance(0.9)
        await asyncio.sleep(0.05)
        assert not receipt.done()
        assert memory.status().buffered == 1
        clock.advance(0.2)
        assert (await receipt).content == "tea"
        assert memory.status().buffered == 0


async def test_ten_turns_are_written_without_waiting_for_the_clock(make_memory: MakeMemory) -> None:
    async with make_memory(clock=FakeClock(), settings=Settings()) as memory:
        receipts = [memory.capture(str(number)) for number in range(10)]
        records = [await receipt for receipt in receipts]
        assert [record.content for record in records] == [str(number) for number in range(10)]


async def test_closing_writes_what_is_buffered(make_memory: MakeMemory) -> None:
    async with make_memory(settings=NEVER) as memory:
        receipt = memory.capture("last words", session="s")
    assert receipt.wait(0).content == "last words"
    async with make_memory() as memory:
        assert await contents(memory) == ["last words"]


async def test_turns_keep_the_order_in_which_they_were_captured(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        for number in range(137):
            memory.capture(str(number), session="s")
        assert await contents(memory) == [str(number) for number in range(137)]


async def test_a_known_key_gives_no_second_record(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        first = await memory.capture("tea", key="thread/1", session="s")
        again = await memory.capture("tea", key="thread/1", session="s")
        both = [memory.capture("milk", key="thread/2", session="s") for _ in range(2)]
        assert again == first
        assert await both[0] == await both[1]
    async with make_memory() as memory:
        assert await memory.capture("tea", key="thread/1", session="s") == first
        assert await contents(memory) == ["tea", "milk"]
        assert memory.status().deduplicated == 1


async def test_equal_texts_without_a_key_are_two_turns(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        memory.capture("yes", session="s")
        memory.capture("yes", session="s")
        assert await contents(memory) == ["yes", "yes"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"content": 7}, "MEM_E_CAPTURE_REFUSED"),
        ({"content": "x", "kind": "opinion"}, "MEM_E_INVALID_INPUT"),
        ({"content": "x", "source": "rumour"}, "MEM_E_INVALID_INPUT"),
        ({"content": "x", "tags": "not-a-list"}, "MEM_E_INVALID_INPUT"),
        ({"content": "x", "scope": [1]}, "MEM_E_INVALID_INPUT"),
        ({"content": "x", "metadata": {"hippo": 1}}, "MEM_E_INVALID_INPUT"),
        ({"content": "x", "timestamp": datetime(2026, 1, 1)}, "MEM_E_INVALID_INPUT"),  # noqa: DTZ001
        ({"content": "x" * 5_000_000}, "MEM_E_CAPTURE_REFUSED"),
        ({"content": "x", "metadata": {"f": float("nan")}}, "MEM_E_RECORD_REJECTED"),
        ({"content": "x", "metadata": {"t": (1, 2)}}, "MEM_E_RECORD_REJECTED"),
        ({"content": "x", "metadata": {"big": 2**60}}, "MEM_E_RECORD_REJECTED"),
    ],
)
async def test_what_cannot_be_taken_fails_its_receipt_and_nothing_else(
    make_memory: MakeMemory, arguments: dict[str, object], code: str
) -> None:
    async with make_memory() as memory:
        before = memory.capture("before", session="s")
        bad = memory.capture(**arguments)  # type: ignore[arg-type]
        after = memory.capture("after", session="s")
        with pytest.raises(Exception) as caught:
            await bad
        assert caught.value.code == code  # type: ignore[attr-defined]
        assert [(await before).content, (await after).content] == ["before", "after"]
        status = memory.status()
        assert status.refused + status.rejected == 1


async def test_lone_surrogates_are_kept_as_escapes(make_memory: MakeMemory) -> None:
    """They are no Unicode text, but a turn is not lost for one."""
    async with make_memory() as memory:
        assert (await memory.capture("half \ud83d pair")).content == "half \\ud83d pair"
        with pytest.raises(RecordRejected, match=r"\$\.content"):
            await memory.record("half \ud83d pair")


async def test_capturing_into_a_closed_memory_never_raises(make_memory: MakeMemory) -> None:
    memory = make_memory()
    receipt = memory.capture("too early")
    with pytest.raises(Closed):
        await receipt
    assert memory.status().refused == 1


async def test_a_full_buffer_refuses_the_newest_and_keeps_the_oldest(make_memory: MakeMemory) -> None:
    settings = Settings.from_mapping(
        {"capture": {"flush_turns": 10_000, "buffer_turns": 10, "flush_seconds": 60.0}}
    )
    async with make_memory(settings=settings) as memory:
        receipts = [memory.capture(str(number), session="s") for number in range(13)]
        for receipt in receipts[10:]:
            with pytest.raises(CaptureRefused, match="buffer"):
                await receipt
        assert memory.status().refused == 3
        assert await contents(memory) == [str(number) for number in range(10)]


@pytest.mark.parametrize(("operation", "name"), [("sync_data", "seg-*"), ("pwrite", "HEAD")])
async def test_a_failing_disk_keeps_the_turns_and_goes_on_when_it_works_again(
    make_memory: MakeMemory, operation: str, name: str
) -> None:
    clock, ops = FakeClock(), ScriptedOps()
    async with make_memory(clock=clock, files=Files(ops), settings=NEVER) as memory:
        ops.fail(operation, errno.EIO, name=name)
        receipts = [memory.capture(f"turn {number}", session="s") for number in range(3)]
        with pytest.raises(OSError, match="Input/output"):
            await memory.flush()
        status = memory.status()
        assert (status.buffered, status.failures, status.retrying) == (3, 1, True)
        assert "WriteFailed" in (status.last_error or "")
        await eventually(lambda: clock.waiting > 0)
        clock.advance(1.0)
        assert [(await receipt).content for receipt in receipts] == ["turn 0", "turn 1", "turn 2"]
        assert await contents(memory) == ["turn 0", "turn 1", "turn 2"], "nothing twice, nothing lost"
        assert not memory.status().retrying
        assert (await memory.verify_chain()).intact


async def test_a_journal_that_cannot_be_opened_again_at_once_is_opened_later(make_memory: MakeMemory) -> None:
    clock, ops = FakeClock(), ScriptedOps()
    async with make_memory(clock=clock, files=Files(ops), settings=NEVER) as memory:
        for operation in ("pwrite", "open"):
            ops.fail(operation, errno.EIO, name="HEAD")
        receipt = memory.capture("turn", session="s")
        for _ in range(2):
            with pytest.raises(OSError, match="Input/output"):
                await memory.flush()
        await memory.flush()
        assert (await receipt).content == "turn"
        assert await contents(memory) == ["turn"]


async def test_a_disk_that_fails_for_long_is_tried_less_and_less_often(make_memory: MakeMemory) -> None:
    clock, ops = FakeClock(), ScriptedOps()
    async with make_memory(clock=clock, files=Files(ops), settings=NEVER) as memory:
        broken = ops.fail("write", errno.ENOSPC, name="seg-*", lasting=True)
        memory.capture("kept", session="s")
        for tries in range(1, 5):
            with pytest.raises(OSError, match="No space"):
                await memory.flush()
            assert memory.status().failures == tries
        broken.lasting, broken.at = False, 0
        assert await contents(memory) == ["kept"]


async def test_explicit_records_are_told_about_a_failing_disk_and_are_not_kept_back(
    make_memory: MakeMemory,
) -> None:
    ops = ScriptedOps()
    async with make_memory(files=Files(ops), clock=FakeClock()) as memory:
        ops.fail("write", errno.ENOSPC, name="seg-*")
        with pytest.raises(OSError, match="No space"):
            await memory.record("important", session="s")
        await memory.flush()
        assert await contents(memory) == []
        await memory.record("important", session="s")
        assert await contents(memory) == ["important"]


async def test_a_disk_that_failed_an_explicit_record_is_tried_again_by_itself(
    make_memory: MakeMemory,
) -> None:
    """Also when nothing is left to write: the next turn finds a journal that works."""
    clock, ops = FakeClock(), ScriptedOps()
    async with make_memory(files=Files(ops), clock=clock) as memory:
        ops.fail("write", errno.ENOSPC, name="seg-*")
        with pytest.raises(OSError, match="No space"):
            await memory.record("important")
        assert memory.status().retrying
        await eventually(lambda: clock.waiting > 0)
        clock.advance(1.0)
        await eventually(lambda: not memory.status().retrying)
        assert clock.waiting == 0, "and the thread sleeps again"


async def test_a_recall_beside_a_failing_disk_says_what_it_did_not_see(make_memory: MakeMemory) -> None:
    ops = ScriptedOps()
    async with make_memory(files=Files(ops), clock=FakeClock()) as memory:
        await memory.record("the kettle is blue")
        ops.fail("write", errno.ENOSPC, name="seg-*", lasting=True).at = 1
        memory.capture("the kettle is red now")
        found = await memory.recall("kettle")
        assert [hit.record.content for hit in found] == ["the kettle is blue"]
        assert "1 captured turns are not written yet" in found.notes[0]
        ops._rules.clear()


async def test_a_cancelled_caller_takes_nothing_back(make_memory: MakeMemory) -> None:
    ops = ScriptedOps()
    async with make_memory(files=Files(ops)) as memory:
        gate = ops.hold("sync_data", name="seg-*")
        writing = asyncio.create_task(memory.record("decided", session="s"))
        await asyncio.to_thread(gate.wait_reached)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        gate.open()
        assert await contents(memory) == ["decided"]


async def test_turns_come_from_any_thread(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        threads = [
            threading.Thread(target=lambda n=n: [memory.capture(f"{n}/{i}", session="s") for i in range(50)])
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            await asyncio.to_thread(thread.join)
        found = await contents(memory)
        assert len(found) == len(set(found)) == 400


def test_one_memory_serves_several_event_loops(make_memory: MakeMemory) -> None:
    memory = make_memory()
    asyncio.run(memory.open())
    for number in range(3):
        asyncio.run(memory.record(str(number), session="s"))
    assert asyncio.run(contents(memory)) == ["0", "1", "2"]
    asyncio.run(memory.close())


def test_sync_code_can_use_it(make_memory: MakeMemory) -> None:
    with make_memory() as memory:
        memory.capture("tea", session="s").wait(10)
        assert blocking(memory.recall)("tea")[0].record.content == "tea"


async def test_capture_is_marked_with_the_given_time(make_memory: MakeMemory) -> None:
    moment = datetime(2025, 5, 1, 8, 30, tzinfo=UTC)
    async with make_memory() as memory:
        assert (await memory.capture("long ago", timestamp=moment)).at == moment


async def test_a_naive_label_is_refused_before_anything_is_written(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        with pytest.raises(InvalidInput, match="kind"):
            await memory.record("x", kind="opinion")
        assert memory.status().journal_seq == 0


async def test_a_record_that_cannot_be_read_does_not_hold_up_the_turns_behind_it(
    make_memory: MakeMemory, tmp_path: Path
) -> None:
    """A turn whose key leads to a damaged record fails alone."""
    async with make_memory() as memory:
        await memory.capture("the code is 1234", key="k", session="s")
        [segment] = (tmp_path / "store/journal").glob("gen-*/seg-*.jsonl")
        segment.write_bytes(segment.read_bytes().replace(b"is 1234", b"is 9999"))
        again, other = memory.capture("the code is 1234", key="k"), memory.capture("tea")
        with pytest.raises(JournalCorrupt):
            await again
        assert (await other).content == "tea"


async def test_closing_waits_for_an_opening_that_is_under_way(make_memory: MakeMemory) -> None:
    memory = make_memory()
    opening = asyncio.create_task(memory.open())
    await asyncio.sleep(0)
    await memory.close()
    await opening
    assert not memory.is_open
    async with make_memory() as again:  # the store is free
        assert again.is_open


async def test_a_reopened_store_knows_what_is_new_in_every_scope(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        for _ in range(3):
            await memory.record("the kettle is blue and stands by the window", scope=["ann"])
    async with make_memory() as memory:
        again = await memory.record("the kettle is blue and stands by the window", scope=["ann"])
        assert again.novelty is Novelty.ROUTINE
