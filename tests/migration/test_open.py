"""A memory that moves while it is open: turns go on being captured, and it is open at one place then."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from directories import contents
from eventual import eventually
from movers import CHILD, child
from nursery import running_nursery

from hippo_async import Hippocampus, Receipt, Settings
from hippo_async.config import ConfigError
from hippo_async.errors import (
    CaptureRefused,
    Closed,
    HippoError,
    InvalidInput,
    MigrationFailed,
    MigrationLocked,
    MigrationTimeout,
    RolledBack,
    StoreMoved,
    WriteFailed,
)
from hippo_async.files import Files
from hippo_async.testing import FakeClock, ScriptedOps

if TYPE_CHECKING:
    from conftest import Old

LONG = os.environ.get("HIPPO_LONG") == "1"
SECONDS = 10
NO_THREADS_AT_EXIT = pytest.mark.skipif(sys.version_info >= (3, 12), reason="an exit can start no thread")
BEFORE = ["The kettle is blue.", "The pan is small.", "Three.", "Four.", "Five."]


def memory_of(old: Old, **options: Any) -> Hippocampus:
    """The memory in the old directory, written to at once, on a disk that can be scripted."""
    usual: dict[str, Any] = {
        "embedder": "none",
        "witness": old.witness,
        "maintenance": False,
        "settings": Settings.from_mapping({"capture.flush_seconds": 0.01}),
        "files": Files(ScriptedOps(syncing=False)),
    }
    return Hippocampus(old.data, **(usual | options))


async def said(old: Old) -> list[str]:
    return await asyncio.to_thread(old.texts)


async def texts(memory: Hippocampus) -> list[str]:
    await memory.flush()
    return [record.text async for record in memory.records() if record.type == "record"]


@asynccontextmanager
async def paused(
    old: Old, *, waiting: Sequence[asyncio.Task[Any]] = (), **options: Any
) -> AsyncIterator[tuple[Hippocampus, asyncio.Task[Any]]]:
    """A memory that is closed for the last part of its move, and goes on with it afterwards.

    It is closed for good when the move and what is ``waiting`` for its end by then are done.
    """
    ops = ScriptedOps(syncing=False)
    async with memory_of(old, files=Files(ops), **options) as memory:
        gate = ops.hold("replace", name="MOVED")
        moving = asyncio.create_task(memory.migrate(old.target))
        await asyncio.to_thread(gate.wait_reached)
        try:
            yield memory, moving
        finally:
            gate.open()
            await asyncio.wait([moving, *waiting])


async def test_an_open_memory_moves_and_goes_on_at_the_target(old: Old) -> None:
    told: list[tuple[int, int]] = []
    async with memory_of(old) as memory:
        await memory.record("Said at the old place.")
        report = await memory.migrate(old.target, progress=lambda done, total: told.append((done, total)))
        assert (memory.data_dir, memory.is_open) == (old.target, True)
        assert (report.move.source, report.move.target) == (str(old.data), str(old.target))
        assert told[-1][0] == told[-1][1] > 0
        assert [hit.record.text for hit in await memory.recall("kettle")] == ["The kettle is blue."]
        await memory.record("Said at the new place.")
        assert await texts(memory) == [*BEFORE, "Said at the old place.", "Said at the new place."]
        assert (await memory.verify_chain()).intact
        with pytest.raises(StoreMoved):
            await memory_of(old).open()
    assert (await said(old.moved()))[-1] == "Said at the new place."
    with pytest.raises(RolledBack):
        await said(old)  # the witness has seen more
    assert (await asyncio.to_thread(old.moved().second_verdict))[0] == "intact"


async def test_turns_that_are_captured_all_the_while_are_all_there_in_their_order(old: Old) -> None:
    receipts: list[Receipt] = []
    async with memory_of(old) as memory:
        moving = asyncio.create_task(memory.migrate(old.target))
        while not moving.done():
            receipts.append(memory.capture(f"turn {len(receipts)}"))
            await asyncio.sleep(0.001)
        receipts.append(memory.capture(f"turn {len(receipts)}"))
        await asyncio.gather(*receipts)
        assert len(receipts) > 10
        assert await texts(memory) == [*BEFORE, *(f"turn {number}" for number in range(len(receipts)))]
        assert memory.status().refused == 0


async def test_in_the_pause_turns_wait_and_what_is_asked_is_refused(old: Old) -> None:
    waiting: list[asyncio.Task[Any]] = []
    async with paused(old, waiting=waiting) as (memory, moving):
        receipt = memory.capture("Said in the pause.")
        recording = asyncio.create_task(memory.record("Written down in the pause."))
        configuring = asyncio.create_task(memory.configure({"raw.mode": "off"}))
        waiting += [recording, configuring]
        await asyncio.sleep(0)
        for asked in (memory.recall("kettle"), memory.flush(), memory.brief("kettle")):
            with pytest.raises(MigrationLocked, match="is being moved"):
                await asked
        with pytest.raises(MigrationLocked, match="being moved already"):
            await memory.migrate(old.base / "third")
        status = memory.status()
        assert (status.open, status.buffered) == (True, 2)
        assert not receipt.done()
        assert not recording.done()
        assert not configuring.done()
    await moving
    async with memory_of(old.moved()) as memory:
        assert await texts(memory) == [*BEFORE, "Said in the pause.", "Written down in the pause."]
    assert 'mode = "off"' in (old.target / "config.toml").read_text()
    assert "off" not in (old.data / "config.toml").read_text()


async def test_whoever_asks_all_the_while_is_answered_or_refused_and_nothing_hangs(old: Old) -> None:
    refused: list[Exception] = []
    stopped = asyncio.Event()

    async def keep(ask: Callable[[], Awaitable[object]]) -> None:
        while not stopped.is_set():
            try:
                await ask()
            except (MigrationLocked, Closed) as error:
                refused.append(error)
            await asyncio.sleep(0.005)  # else the threads that copy would wait for the interpreter

    async with asyncio.timeout(30), memory_of(old) as memory:
        asking = [
            asyncio.create_task(keep(ask))
            for ask in (
                lambda: memory.recall("kettle"),
                lambda: memory.brief("kettle"),
                lambda: memory.remember(f"remembered at {len(refused)}"),
                lambda: memory.latest(n=3),
                memory.run_maintenance,
                memory.verify_chain,
            )
        ]
        for number in range(4):
            try:
                await memory.migrate(old.base / f"place-{number}")
            except MigrationFailed as error:  # maintenance may remove what is being copied
                assert error.undone
            await memory.record(f"at {number}")
        stopped.set()
        await asyncio.gather(*asking)
        assert [text for text in await texts(memory) if text.startswith("at ")] == [
            f"at {number}" for number in range(4)
        ]
        assert (await memory.verify_chain()).intact
    assert refused


async def test_only_so_many_turns_wait_as_the_buffer_holds(old: Old) -> None:
    async with paused(old, settings=Settings.from_mapping({"capture.buffer_turns": 10})) as (memory, moving):
        receipts = [memory.capture(f"turn {number}") for number in range(11)]
        with pytest.raises(CaptureRefused):
            await receipts[-1]
        assert memory.status().refused == 1
    await moving
    assert (await said(old.moved()))[len(BEFORE) :] == [f"turn {number}" for number in range(10)]


async def test_whichever_call_fails_it_is_open_at_one_place_with_all_records(old: Old) -> None:
    """Every 23rd call, in full with ``HIPPO_LONG``."""
    ended: dict[str, int] = {"data": 0, "new": 0}
    start = old.base / "start"
    await asyncio.to_thread(shutil.copytree, old.data, start)
    for at in count(1, 1 if LONG else 23):
        for place in (old.data, old.target, old.witness):
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
        await asyncio.to_thread(shutil.copytree, start, old.data)
        ops = ScriptedOps(syncing=False)
        async with memory_of(old, files=Files(ops)) as memory:
            expected = [*BEFORE, "before", "meanwhile", "after"]
            before = memory.capture("before")
            rule = ops.fail("*", errno.EIO, at=at)
            moving = asyncio.create_task(memory.migrate(old.target))
            await asyncio.sleep(0)
            meanwhile = memory.capture("meanwhile")
            with suppress(OSError, HippoError):
                await moving
            rule.at = 0  # what fails later is no part of the move
            ended[memory.data_dir.name] += 1
            await asyncio.gather(before, meanwhile, memory.capture("after"))
            assert await texts(memory) == expected, f"call {at}"
            assert memory.is_open
            end = old if memory.data_dir == old.data else old.moved()
        assert await said(end) == expected, f"call {at}"
        if not rule.fired:
            break
    print("ended:", ended)
    assert ended["data"] > 5


@pytest.mark.parametrize("name", ["MIGRATING.new", "seg-*", "agent.key.1*", "index.sqlite", "MOVED.new"])
async def test_a_full_disk_at_the_target_leaves_it_where_it_was(old: Old, name: str) -> None:
    ops = ScriptedOps(syncing=False)
    async with memory_of(old, files=Files(ops)) as memory:
        rule = ops.fail("write", errno.ENOSPC, name=name)
        with pytest.raises(MigrationFailed, match="still in"):
            await memory.migrate(old.target)
        assert rule.fired
        assert memory.data_dir == old.data
        await memory.record("and on")
        assert await texts(memory) == [*BEFORE, "and on"]
        await memory.migrate(old.target)
        assert await texts(memory) == [*BEFORE, "and on"]


async def test_turns_that_cannot_be_written_keep_it_open_where_it_is(old: Old) -> None:
    ops, clock = ScriptedOps(syncing=False), FakeClock()
    async with memory_of(old, files=Files(ops), clock=clock, settings=Settings()) as memory:
        receipt = memory.capture("Nearly lost.")
        rule = ops.fail("write", errno.ENOSPC, name="seg-*", at=1)
        copying: list[int] = []
        with pytest.raises(OSError, match="No space left"):
            await memory.migrate(old.target, progress=lambda done, total: copying.append(done))
        assert rule.fired
        await memory.flush()
        assert (await receipt).text == "Nearly lost."
        assert memory.data_dir == old.data


class Breaking(Files):
    """A disk on which nothing of the target can be read once the memory has arrived there, until it heals."""

    broken = False

    def __init__(self, target: Path) -> None:
        super().__init__(ScriptedOps(syncing=False))
        self._target = target

    def move(self, path: Path, name: str) -> Path:
        self.broken = name == "MIGRATED"
        return super().move(path, name)

    def read(self, path: Path) -> bytes:
        if self.broken and path.is_relative_to(self._target):
            raise OSError(errno.EIO, "broken", str(path))
        return super().read(path)


@asynccontextmanager
async def stranded(
    old: Old, clock: FakeClock
) -> AsyncIterator[tuple[Hippocampus, asyncio.Task[Any], Breaking]]:
    """A memory that has arrived, and cannot be opened there."""
    files = Breaking(old.target)
    async with memory_of(old, files=files, clock=clock) as memory:
        moving = asyncio.create_task(memory.migrate(old.target))
        await eventually(lambda: files.broken and clock.waiting > 0)
        yield memory, moving, files


async def test_what_cannot_be_opened_at_the_target_is_tried_again_while_turns_wait(old: Old) -> None:
    clock = FakeClock()
    async with stranded(old, clock) as (memory, moving, files):
        receipt = memory.capture("Said meanwhile.")
        with pytest.raises(MigrationLocked):
            await memory.recall("kettle")
        files.broken = False
        async with asyncio.timeout(SECONDS):
            while not moving.done():
                clock.advance(1)
                await asyncio.sleep(0.001)
        assert not moving.result().already
        await memory.flush()
        assert (await receipt).text == "Said meanwhile."
    assert await said(old.moved()) == [*BEFORE, "Said meanwhile."]


async def test_closing_ends_that_and_says_what_was_lost(old: Old) -> None:
    async with stranded(old, FakeClock()) as (memory, moving, files):
        receipt = memory.capture("Said meanwhile.")
        with pytest.raises(WriteFailed, match="1 captured turns"):
            await memory.close()
        with pytest.raises(OSError, match="broken"):
            await moving
        with pytest.raises(Closed):
            await receipt
        files.broken = False
    async with memory_of(old.moved()) as memory:
        assert await texts(memory) == BEFORE


async def test_a_cancelled_caller_leaves_it_to_end_by_itself(old: Old) -> None:
    async with paused(old) as (memory, moving):
        receipt = memory.capture("Said in the pause.")
        moving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await moving
        assert memory.is_open
    async with asyncio.timeout(SECONDS):
        assert (await receipt).text == "Said in the pause."
    assert memory.data_dir == old.target
    assert await said(old.moved()) == [*BEFORE, "Said in the pause."]


@pytest.mark.parametrize("name", ["MIGRATING", "CURRENT"])
async def test_closing_it_gives_up_what_can_be_undone(old: Old, name: str) -> None:
    ops = ScriptedOps(syncing=False)
    memory = memory_of(old, files=Files(ops))
    await memory.open()
    gate = ops.hold("replace", name=name)
    moving = asyncio.create_task(memory.migrate(old.target))
    await asyncio.to_thread(gate.wait_reached)
    receipt = memory.capture("The last word.")
    closing = asyncio.create_task(memory.close())
    await asyncio.sleep(0.05)
    assert not closing.done()
    gate.open()
    await closing
    with pytest.raises(Closed, match="while it was being moved"):
        await moving
    assert (await receipt).text == "The last word."
    assert not await asyncio.to_thread(old.target.exists)
    assert await said(old) == [*BEFORE, "The last word."]


async def test_closing_it_in_the_pause_loses_nothing(old: Old) -> None:
    async with paused(old) as (memory, _):
        receipt = memory.capture("The last word.")
        closing = asyncio.create_task(memory.close())
        await asyncio.sleep(0.05)
        assert not closing.done()
    await closing
    assert (await receipt).text == "The last word."
    assert await said(old.moved()) == [*BEFORE, "The last word."]


REFUSED: dict[str, tuple[Callable[[Old], Path], type[Exception]]] = {
    "where it is": (lambda old: old.data, InvalidInput),
    "inside": (lambda old: old.data / "inside", InvalidInput),
    "where something is": (lambda old: old.base / "full", InvalidInput),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_target_that_will_not_do_leaves_it_as_it_was(old: Old, case: str) -> None:
    (old.base / "full").mkdir()
    (old.base / "full/diary").write_text("mine")
    where, error = REFUSED[case]
    async with memory_of(old) as memory:
        with pytest.raises(error):
            await memory.migrate(where(old))
        await memory.record("and on")
        assert memory.data_dir == old.data
    assert await said(old) == [*BEFORE, "and on"]


async def test_where_it_was_moved_before_it_is_not_taken_to_be(old: Old) -> None:
    await asyncio.to_thread(old.move)
    (old.data / "MOVED").unlink()
    async with memory_of(old) as memory:
        with pytest.raises(InvalidInput, match="went on without"):
            await memory.migrate(old.target)
        await memory.record("and on")
    assert await said(old) == [*BEFORE, "and on"]


async def test_it_has_the_time_that_the_settings_give(old: Old) -> None:
    clock = FakeClock()
    settings = Settings.from_mapping({"migration.timeout_ms": 10_000})
    async with memory_of(old, clock=clock, settings=settings) as memory:
        with pytest.raises(MigrationTimeout):
            await memory.migrate(old.target, progress=lambda done, total: clock.advance(6))
        assert await texts(memory) == BEFORE


async def test_a_closed_memory_is_not_moved_by_itself(old: Old) -> None:
    with pytest.raises(Closed):
        await memory_of(old).migrate(old.target)
    assert not await asyncio.to_thread(old.target.exists)


async def test_a_file_that_names_the_old_directory_is_said_before_anything_is_done(old: Old) -> None:
    (old.data / "config.toml").write_text(f'data_dir = "{old.data}"\n')
    async with memory_of(old, settings=None) as memory:
        with pytest.raises(ConfigError, match="take it out"):
            await memory.migrate(old.target)
        assert await texts(memory) == BEFORE
    assert not await asyncio.to_thread(old.target.exists)


async def test_settings_hold_on_and_are_kept_at_the_target(old: Old) -> None:
    async with memory_of(old, settings=None) as memory:
        assert memory.settings.briefing is False
        await memory.migrate(old.target)
        assert memory.settings.briefing is False
        await memory.configure({"raw.mode": "all"})
        await memory.record("kept verbatim")
    async with memory_of(old.moved(), settings=None) as memory:
        assert (memory.settings.briefing, memory.settings.raw.mode) == (False, "all")
    assert not await asyncio.to_thread(lambda: b"kept verbatim" in b"".join(contents(old.data).values()))


async def test_a_key_that_is_named_in_the_old_directory_comes_along(old: Old) -> None:
    async with memory_of(old, key_file=old.data / "agent.key") as memory:
        await memory.migrate(old.target)
        await asyncio.to_thread(shutil.rmtree, old.data)
        await memory.close()
        await memory.open()
        assert await texts(memory) == BEFORE


async def test_a_key_that_lies_elsewhere_goes_on_being_read_there(old: Old) -> None:
    elsewhere = old.base / "keys/agent.key"
    elsewhere.parent.mkdir()
    for name in ("agent.key", "agent.key.1"):
        (old.data / name).rename(elsewhere.parent / name)
    async with memory_of(old, key_file=elsewhere) as memory:
        await memory.migrate(old.target)
        await memory.close()
        await memory.open()
        assert await texts(memory) == BEFORE
    assert not list(old.target.glob("agent.key*"))


async def test_it_moves_on_and_on(old: Old) -> None:
    async with memory_of(old) as memory:
        for number in range(3):
            await memory.migrate(old.base / f"place-{number}")
            await memory.record(f"at {number}")
        assert await texts(memory) == [*BEFORE, "at 0", "at 1", "at 2"]
        assert (await memory.backup(old.base / "backup")).manifest.seq > len(BEFORE)


async def test_what_is_forgotten_while_it_moves_is_forgotten_at_the_target(old: Old) -> None:
    settings = Settings.from_mapping({"delete.grace_hours": 0})
    ops = ScriptedOps(syncing=False)
    async with memory_of(old, settings=settings, files=Files(ops)) as memory:
        secret = await memory.record("the text that was forgotten")
        gate = ops.hold("replace", name="CURRENT")
        moving = asyncio.create_task(memory.migrate(old.target))
        await asyncio.to_thread(gate.wait_reached)
        await memory.forget(secret.record_id)
        gate.open()
        await moving
        assert memory.data_dir == old.target
    found = await asyncio.to_thread(contents, old.target)
    assert not [name for name, data in found.items() if b"the text that was forgotten" in data]


def test_from_code_without_a_loop_it_moves_as_well(old: Old) -> None:
    from hippo_async import blocking

    with memory_of(old) as memory:
        blocking(memory.migrate)(old.target)
        memory.capture("and on").wait(SECONDS)
    assert old.moved().texts() == [*BEFORE, "and on"]


@pytest.mark.process
@pytest.mark.parametrize("ending", [pytest.param("exit", marks=NO_THREADS_AT_EXIT), "wait"])
def test_a_turn_that_waits_survives_an_orderly_end_of_the_process(old: Old, ending: str) -> None:
    with child(ending, old.base) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "paused\n"
        if ending == "wait":
            process.send_signal(signal.SIGTERM)
        assert process.wait(30) == (-signal.SIGTERM if ending == "wait" else 0)
    assert old.moved().texts() == [*BEFORE, "Said in the pause."]


@pytest.mark.process
@pytest.mark.timeout(600)
def test_whichever_call_a_process_dies_at_the_next_run_has_all_that_was_acknowledged(old: Old) -> None:
    """Every 41st call, in full with ``HIPPO_LONG``."""
    start = old.base / "start"
    shutil.copytree(old.data, start)
    deaths = {"data": 0, "new": 0}
    with running_nursery(CHILD, "open", old.base) as nursery:
        for call in count(1, 1 if LONG else 41):
            if not nursery.let_die(call)[1]:
                break
            moved = (old.target / "MIGRATED").exists()
            old.move()
            texts = old.moved().texts()
            assert texts[: len(BEFORE) + 1] == [*BEFORE, "acknowledged"], f"call {call}"
            assert set(texts[len(BEFORE) + 1 :]) <= {"meanwhile", "acknowledged later"}, f"call {call}"
            deaths["new" if moved else "data"] += 1
            for place in (old.data, old.target, old.witness):
                shutil.rmtree(place)
            shutil.copytree(start, old.data)
    print("deaths:", deaths)
    assert all(deaths.values())
