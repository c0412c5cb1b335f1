"""Disks that fail, processes that die, power that fails: the memory is at one place, and the next run ends as
an undisturbed one."""

from __future__ import annotations

import errno
import os
import random
import shutil
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from directories import contents
from movers import CHILD, child
from nursery import running_nursery

from hippo_async.errors import HippoError, MigrationFailed, StoreMoved
from hippo_async.files import Files
from hippo_async.journal import GivenKeys, Lineage
from hippo_async.migration import MigrationReport, migrate
from hippo_async.migration.arrival import State, state_of
from hippo_async.place import Place
from hippo_async.raw import RawShards, RawTurn
from hippo_async.records import Draft
from hippo_async.testing import DiskState, FakeClock, ScriptedOps, SimulatedDisk, each_failure

if TYPE_CHECKING:
    from conftest import Old

LONG = os.environ.get("HIPPO_LONG") == "1"
SECONDS = 20
KEYS = (bytes(range(32)), bytes(range(1, 33)))
TEXTS = ["one", "two", "three", "four"]


def writable(data_dir: Path) -> bool:
    """Whether an agent would write to a directory that is not empty."""
    return (data_dir / "journal/CURRENT").exists() and not {"MOVED", "MIGRATING"} & set(os.listdir(data_dir))


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "for good"])
def test_whichever_call_fails_the_memory_is_at_one_place_and_the_next_run_moves_it(
    small: Old, lasting: bool
) -> None:
    old, before, undisturbed = small, contents(small.data), None
    runs = 0
    for ops in each_failure(errno.EIO, lasting=lasting):
        try:
            old.move(ops=ops)
        except (OSError, HippoError) as error:
            taken_back = not isinstance(error, MigrationFailed) or error.undone
            assert writable(old.data) or not taken_back, f"call {runs + 1}: {error}"
            assert not (writable(old.data) and writable(old.target)), f"call {runs + 1}"
        assert ops.descriptors == {}, f"call {runs + 1}"
        old.move()
        assert contents(old.target).keys() == before.keys() | {"MIGRATED"}, f"call {runs + 1}"
        moved = contents(old.target)
        undisturbed = undisturbed or moved
        assert moved == undisturbed, f"call {runs + 1}"
        assert contents(old.data) == before | {"MOVED": moved["MIGRATED"]}
        shutil.rmtree(old.target)
        (old.data / "MOVED").unlink()
        runs += 1
    print("calls failed:", runs - 1)
    assert runs > 200


def test_a_failure_that_is_undone_leaves_the_source_to_write_to_and_says_so(old: Old) -> None:
    before = contents(old.data)
    for name in ("MIGRATING.new", "MOVED.new", "agent.key.1*", "seg-*", "config.toml", "index.sqlite"):
        ops = ScriptedOps(syncing=False)
        rule = ops.fail("write", errno.ENOSPC, name=name)
        with pytest.raises(MigrationFailed, match="still in") as raised:
            old.move(ops=ops)
        assert rule.fired
        assert isinstance(raised.value.__cause__, OSError)
        assert not old.target.exists(), name
        assert contents(old.data) == before, name


def test_a_last_step_that_cannot_be_taken_back_is_done_by_the_next_run(old: Old) -> None:
    ops = ScriptedOps(syncing=False)
    ops.fail("replace", errno.EIO, name="MIGRATED")
    ops.fail("unlink", errno.EIO, name="MOVED")
    with pytest.raises(MigrationFailed, match="run it again") as raised:
        old.move(ops=ops)
    assert not raised.value.undone
    with pytest.raises(StoreMoved):
        old.add("too late")
    with pytest.raises(HippoError):
        old.moved().add("too early")
    assert not old.move().already
    old.moved().add("and on")


def ends_of_steps(ops: ScriptedOps) -> list[int]:
    """The calls with which the four steps of a migration end (:mod:`hippo_async.migration.moving`)."""
    ends = {
        number: call.path.name
        for number, call in enumerate(ops.calls, start=1)
        if call.operation == "replace" and call.path.name in {"MIGRATING", "MOVED", "MIGRATED"}
    }
    assert list(ends.values()) == ["MIGRATING", "MIGRATING", "MOVED", "MIGRATED"]
    return list(ends)


def first_calls_below(folder: Path, ops: ScriptedOps) -> dict[str, int]:
    """The number of the first call on each file or directory that lies in a folder, and all below it."""
    found: dict[str, int] = {}
    for number, call in enumerate(ops.calls, start=1):
        if folder in call.path.parents:
            found.setdefault(call.path.relative_to(folder).parts[0], number)
    return found


def put_back(old: Old) -> None:
    """Have it as it was before it was moved."""
    shutil.rmtree(old.target, ignore_errors=True)
    (old.data / "MOVED").unlink(missing_ok=True)


@pytest.mark.process
@pytest.mark.timeout(3600 if LONG else 60)
def test_whichever_call_a_process_dies_at_the_next_run_ends_as_an_undisturbed_one(
    old: Old,
) -> None:
    """Every eleventh call, those around the end of a step, the first on whatever is copied, and the last.

    With ``HIPPO_LONG`` every call.
    """
    before = contents(old.data)
    ops = ScriptedOps(syncing=False)
    old.move(ops=ops)
    undisturbed = contents(old.target)
    ends = ends_of_steps(ops)
    around = {call for end in ends for call in (end - 1, end, end + 1)}
    firsts = first_calls_below(old.target, ops)
    assert firsts.keys() >= {*os.listdir(old.target)} - {"MIGRATED"}
    last = range(len(ops.calls) - 25, len(ops.calls))
    tries = sorted({*range(1, len(ops.calls), 1 if LONG else 11), *around, *firsts.values(), *last})
    with running_nursery(CHILD, "closed", old.base) as nursery:
        for call in tries:
            put_back(old)
            assert nursery.let_die(call, "alone") == ([], True), f"call {call}"
            assert not (writable(old.data) and writable(old.target)), f"call {call}"
            old.move()
            assert contents(old.target) == undisturbed, f"call {call}: {ops.calls[call - 1]}"
            assert not list(old.target.glob("LOCK*")), f"call {call}"
            assert contents(old.data) == before | {"MOVED": undisturbed["MIGRATED"]}, f"call {call}"
    deaths = Counter(bisect_left(ends, call) for call in tries)
    print("deaths by step:", dict(deaths))
    assert deaths.keys() == set(range(5)), "in each step, and behind the last"


@pytest.mark.process
@pytest.mark.parametrize("ending", [1, 2, 3], ids=["copied", "named in the source", "arriving"])
def test_a_run_that_makes_good_one_that_died_may_die_as_well(old: Old, ending: int) -> None:
    """The first dies as it does the last of a step; what it left is removed, or is given its last name."""
    ops = ScriptedOps(syncing=False)
    old.move(ops=ops)
    undisturbed, first = contents(old.target), ends_of_steps(ops)[ending]
    with running_nursery(CHILD, "closed", old.base) as nursery:
        for call in count(1, 1 if LONG else 37 if ending < 3 else 7):
            put_back(old)
            assert nursery.let_die(first, "alone") == ([], True)
            _, died = nursery.let_die(call, "alone")
            assert not (writable(old.data) and writable(old.target)), f"call {call}"
            old.move()
            assert contents(old.target) == undisturbed, f"call {call}"
            if not died:
                break
    print("deaths of the second run, up to call", call)
    assert call > 50


@pytest.mark.process
def test_a_process_that_dies_while_an_agent_writes_beside_it_loses_nothing(old: Old) -> None:
    """Neither in the long copy nor in the pause: what the agent was told is durable is there."""
    deaths: Counter[str] = Counter()
    with running_nursery(CHILD, "closed", old.base) as nursery:
        for call in count(1, 1 if LONG else 37):
            put_back(old)
            before = old.texts()
            added, died = nursery.let_die(call, "writer")
            assert not (writable(old.data) and writable(old.target)), f"call {call}"
            old.move()
            texts = old.moved().texts()
            assert texts == old.texts(), f"call {call}"
            assert texts == before + ["one more"] * len(added), f"call {call}"
            if not died:
                break
            deaths["in the pause" if added else "beside the agent"] += 1
    print("deaths:", dict(deaths))
    assert min(deaths["in the pause"], deaths["beside the agent"]) > 3


@pytest.mark.process
def test_a_process_killed_at_any_moment_leaves_what_the_next_run_completes(old: Old) -> None:
    before = contents(old.data)
    old.move()
    undisturbed = contents(old.target)
    moments = random.Random(7)
    for _ in range(20 if LONG else 4):
        shutil.rmtree(old.target)
        (old.data / "MOVED").unlink(missing_ok=True)
        with child("move", old.base) as process:
            while not old.target.exists() and process.poll() is None:
                time.sleep(0.001)
            time.sleep(moments.uniform(0, 0.12))
        old.move()
        assert contents(old.target) == undisturbed
        assert contents(old.data) == before | {"MOVED": undisturbed["MIGRATED"]}


@dataclass(frozen=True)
class Bench:
    """A memory on a disk whose power may fail, and a place on it to move it to."""

    mount: Path

    @property
    def place(self) -> Place:
        return Place(self.mount / "data", "agent", KEYS[1], None, None, (KEYS[0],))

    @property
    def target(self) -> Path:
        return self.mount / "new"

    def filled(self) -> SimulatedDisk:
        disk = SimulatedDisk(self.mount)
        with closing(self.lineage(self.place.data_dir, disk)) as journal:
            journal.open()
            for text in TEXTS[:-1]:
                journal.append([Draft(text)]).result(SECONDS)
            journal.rotate()
            journal.append([Draft(TEXTS[-1])]).result(SECONDS)
        turn = RawTurn("t", FakeClock().now(), "user", "hello")
        RawShards(self.place.data_dir, files=Files(disk)).append([turn])
        return SimulatedDisk(self.mount, holds=next(disk.crash_states()))

    def move(self, disk: SimulatedDisk) -> MigrationReport:
        return migrate(self.place, self.target, files=Files(disk), clock=FakeClock())

    def lineage(self, data_dir: Path, disk: SimulatedDisk) -> Lineage:
        return Lineage(
            data_dir,
            agent_id="agent",
            keys=GivenKeys(KEYS),
            witness=None,
            files=Files(disk),
            clock=FakeClock(),
            segment_bytes=1500,
        )

    def texts(self, disk: SimulatedDisk, data_dir: Path) -> list[str] | None:
        """What an agent that writes to a directory finds there, ``None`` if it does not open."""
        if not Files(disk).exists(data_dir / "journal/CURRENT"):
            return None
        with closing(self.lineage(data_dir, disk)) as journal:
            try:
                journal.open()
            except HippoError:
                return None
            return [record.text for record, _ in journal.scan() if record.type == "record"]

    def found(self, disk: SimulatedDisk) -> list[str]:
        """Which of both ends an agent could write to; what it finds there is the whole memory."""
        found = []
        for end in (self.place.data_dir, self.target):
            texts = self.texts(disk.killed(), end)
            assert texts in (None, TEXTS)
            found += [end.name] if texts else []
        return found


def left(disk: SimulatedDisk) -> Iterator[tuple[int, SimulatedDisk]]:
    """What a process that dies before each step leaves, and what a power loss there may leave, each once."""
    seen: set[DiskState] = set()
    for step in range(disk.steps + 1):
        yield step, disk.killed(step)
        for state in disk.crash_states(step, cuts=(1,) if LONG else ()):
            if state not in seen or step == disk.steps:
                yield step, SimulatedDisk(disk.mount, holds=state)
            seen.add(state)


def durable(disk: SimulatedDisk) -> DiskState:
    """What a power loss leaves at least, but for the files of locks, which are for people."""
    return frozenset(
        (path, data) for path, data in next(disk.crash_states()) if not path.name.startswith("LOCK")
    )


@pytest.mark.timeout(3600 if LONG else 600)
def test_at_any_step_a_death_or_a_power_loss_leaves_one_place_to_write_to_and_the_next_run_ends_alike(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    disk = bench.filled()
    start = disk.killed()
    bench.move(disk)
    undisturbed = durable(disk)
    assert bench.found(disk) == ["new"]
    count = {"data": 0, "new": 0, "": 0}
    for step, after in left(disk):
        found = bench.found(after)
        assert len(found) <= 1, step
        assert step < disk.steps or found == ["new"], "durable when it returns"
        count["".join(found)] += 1
        bench.move(after)
        assert durable(after) == undisturbed, step
    print("left:", count)
    assert all(count.values())
    assert count[""] < count["data"]
    assert bench.found(start) == ["data"]


@pytest.mark.parametrize(
    ("names", "migrating", "moved", "expected"),
    [
        ([], None, None, State.EMPTY),
        (["LOCK", "LOCK.holder", "MIGRATING.new"], None, None, State.EMPTY),
        (["config.toml"], None, None, State.EMPTY),
        (["config.toml", "diary"], None, None, State.OCCUPIED),
        (["journal"], None, None, State.OCCUPIED),
        (["agent.key"], None, None, State.OCCUPIED),
        (["MIGRATING", "journal", "journal.12", "agent.key.1", "raw", "LOCK"], b"a", None, State.UNFINISHED),
        (["MIGRATING", "agent.key.1f.new"], b"a", b"b", State.UNFINISHED),
        (["MIGRATING", "diary"], b"a", None, State.OCCUPIED),
        (["MIGRATING", "journal"], b"a", b"a", State.ARRIVED),
        (["MIGRATED", "journal"], None, b"a", State.DONE),
    ],
)
def test_what_is_in_a_directory_says_how_far_it_has_come(
    names: list[str], migrating: bytes | None, moved: bytes | None, expected: State
) -> None:
    assert state_of(names, migrating=migrating, moved=moved) is expected
