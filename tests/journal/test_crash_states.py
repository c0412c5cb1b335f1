"""A crash at every step, and all that it may leave: acknowledged ⊆ recovered = a prefix of tried.

The journal runs on a simulated disk. Its lock alone is a real file, in the test's own folder. The seeded bugs
at the end are tests of this bench: each takes one sync away or moves it, and must be caught.
``HIPPO_LONG=1`` tries more places to tear a write and more crashes of recoveries.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hippo_async.errors import IntegrityError
from hippo_async.files import AppendFile, Files
from hippo_async.journal import Journal, Key
from hippo_async.journal.head import HeadFile, HeadState, encode_slot
from hippo_async.journal.writer import GroupWriter
from hippo_async.records import Draft, Record
from hippo_async.testing import DiskState, FakeClock, SimulatedDisk

LONG = os.environ.get("HIPPO_LONG") == "1"
SECONDS = 20
ROTATES = 1300  # bytes: two records a segment
GROUPS = (1, 2, 1, 1)
KEY = Key(bytes(range(32)))
CUTS = (1, 200, 511, 700, 1024) if LONG else (1, 511)

TRIED, ACKNOWLEDGED = "tried", "acknowledged"


class Violation(AssertionError):
    """A crash broke the promise."""


@dataclass
class Bench:
    """One program on one disk, and what its crashes leave."""

    mount: Path
    witnessed: bool = True
    tried: list[str] = field(default_factory=list)
    marks: dict[str, list[int]] = field(default_factory=lambda: {TRIED: [], ACKNOWLEDGED: []})
    served: dict[DiskState, list[str] | IntegrityError] = field(default_factory=dict)
    states: int = 0

    def journal(self, disk: SimulatedDisk) -> Journal:
        return Journal(
            self.mount / "journal",
            agent_id="agent",
            key=KEY,
            witness=self.mount / "witness" if self.witnessed else None,
            files=Files(disk),
            clock=FakeClock(),
            segment_bytes=ROTATES,
        )

    def run(self, disk: SimulatedDisk, groups: tuple[int, ...] = GROUPS) -> None:
        """Open, append groups over several segments, close; note at which step each was acknowledged."""
        with closing(self.journal(disk)) as journal:
            journal.open()
            for size in groups:
                texts = [f"text {len(self.tried) + number}" for number in range(size)]
                self.tried += texts
                self.marks[TRIED] += [disk.steps] * size
                journal.append([Draft(text) for text in texts]).result(SECONDS)
                self.marks[ACKNOWLEDGED] += [disk.steps] * size

    def at(self, step: int, what: str) -> list[str]:
        """What had been tried or acknowledged when the crash came before ``step``."""
        return self.tried[: bisect_right(self.marks[what], step)]

    def serve(self, disk: SimulatedDisk) -> list[str]:
        """Open the journal for writing and return the texts in it."""
        with closing(self.journal(disk)) as journal:
            journal.open()
            return texts_of(journal)

    def recover(self, state: DiskState) -> list[str] | IntegrityError:
        """What is served after this crash: by a first open and, unchanged, by a second."""
        self.states += 1
        if state not in self.served:
            self.served[state] = self._recover(SimulatedDisk(self.mount, holds=state))
        return self.served[state]

    def _recover(self, disk: SimulatedDisk) -> list[str] | IntegrityError:
        try:
            texts = self.serve(disk)
        except IntegrityError as error:
            return error
        with closing(self.journal(disk)) as again:
            if again.open().torn_bytes or texts_of(again) != texts:
                raise Violation("the second recovery differs from the first")
        return texts

    def check(self, state: DiskState, step: int, promised: list[str] | None = None) -> None:
        """Recover a state and hold it against what was promised when the crash came before ``step``."""
        found = self.recover(state)
        if isinstance(found, IntegrityError):
            raise Violation(f"step {step}: an honest crash, and {type(found).__name__}: {found}") from found
        self.hold(found, step, self.at(step, ACKNOWLEDGED) if promised is None else promised)

    def hold(self, found: list[str], step: int, promised: list[str]) -> None:
        """Raise unless promised ⊆ found = a prefix of what was tried before ``step``."""
        if found[: len(promised)] != promised:
            raise Violation(f"step {step}: {promised} were promised, {found} are left")
        if found != self.at(step, TRIED)[: len(found)]:
            raise Violation(f"step {step}: {found} is no prefix of {self.at(step, TRIED)}")

    def check_power_losses(self, disk: SimulatedDisk) -> None:
        """The power fails before each step of the program."""
        for step in range(disk.steps + 1):
            for state in disk.crash_states(step, cuts=CUTS):
                self.check(state, step)

    def check_kills(self, disk: SimulatedDisk) -> None:
        """The process is killed before each step; the next one serves what it finds; then the power fails."""
        for step in range(disk.steps + 1):
            killed = disk.killed(step)
            with closing(self.journal(killed)) as journal:
                journal.open()
                served = texts_of(journal)
                opened = killed.steps
            self.hold(served, step, self.at(step, ACKNOWLEDGED))
            for state in killed.crash_states(opened, cuts=CUTS):
                self.check(state, step, promised=served)

    def check_crashes_of_recoveries(self, disk: SimulatedDisk, stride: int) -> None:
        """The power fails, or the process is killed, and the power fails before each step of the recovery."""
        for step in range(0, disk.steps + 1, stride):
            before = [SimulatedDisk(self.mount, holds=state) for state in disk.crash_states(step, cuts=CUTS)]
            for crashed in [disk.killed(step), *before[:: stride * 4]]:
                first = crashed.steps
                self.serve(crashed)
                for nested in range(first, crashed.steps + 1, 1 if LONG else 3):
                    for state in crashed.crash_states(nested, cuts=CUTS[:1]):
                        self.check(state, step)

    def report(self, what: str) -> None:
        print(f"{what}: {self.states} crash states, {len(self.served)} different ones, 0 violations")


def texts_of(journal: Journal) -> list[str]:
    return [record.text for record, _ in journal.scan()][1:]


@pytest.fixture(params=[True, False], ids=["witnessed", "alone"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    return Bench(tmp_path, witnessed=request.param)


@pytest.fixture
def disk(bench: Bench) -> SimulatedDisk:
    """A disk on which the bench's program has run twice: made a journal, rotated it, closed, opened again."""
    disk = SimulatedDisk(bench.mount)
    bench.run(disk)
    bench.run(disk, (2, 1))
    return disk


def test_whatever_a_power_loss_leaves_the_acknowledged_are_there_and_no_others(
    bench: Bench, disk: SimulatedDisk
) -> None:
    """F19, F20: before each step of making, appending, rotating, closing and opening again."""
    bench.check_power_losses(disk)
    bench.report("power loss")
    assert disk.steps > 150
    assert bench.states > 3 * disk.steps


def test_what_was_served_after_a_kill_survives_a_power_loss(bench: Bench, disk: SimulatedDisk) -> None:
    """F21: recovery makes durable what it is about to serve."""
    bench.check_kills(disk)
    bench.report("kill, then power loss")
    assert bench.states > disk.steps


@pytest.mark.timeout(600)
def test_a_crash_of_the_recovery_changes_nothing(bench: Bench, disk: SimulatedDisk) -> None:
    """F22: at sampled crashes, a second one before the steps of the recovery."""
    bench.check_crashes_of_recoveries(disk, stride=5 if LONG else 17)
    bench.report("crash of a recovery")
    assert bench.states > disk.steps


def test_a_recovery_after_a_kill_never_endangers_both_slots_of_head(bench: Bench) -> None:
    """The least case: one append, a kill, and a power loss while the next open writes HEAD."""
    disk = SimulatedDisk(bench.mount)
    bench.run(disk, (1,))
    [step] = bench.marks[ACKNOWLEDGED]
    killed = disk.killed(step)
    bench.serve(killed)
    for nested in range(step, killed.steps + 1):
        for state in killed.crash_states(nested, cuts=CUTS):
            bench.check(state, step)


def settled_state(disk: SimulatedDisk) -> DiskState:
    """What a power loss leaves of a journal that was closed: all of it."""
    return next(disk.crash_states())


def lying(bench: Bench, honest: SimulatedDisk, lies: Callable[[Path], bool]) -> SimulatedDisk:
    """A disk that holds what an honest one held, on which the program then ran once more, under lies."""
    disk = SimulatedDisk(bench.mount, holds=settled_state(honest), lies=lies)
    bench.run(disk, (1, 2, 1))
    return disk


def losses(bench: Bench, disk: SimulatedDisk) -> Iterator[DiskState]:
    """The states after closing that lack something acknowledged; what is served is a prefix all the same."""
    for state in disk.crash_states(cuts=CUTS):
        found = bench.recover(state)
        if isinstance(found, IntegrityError):
            continue
        assert found == bench.tried[: len(found)], "a hole"
        if found != bench.tried:
            yield state


def refusals(bench: Bench) -> set[str]:
    return {type(found).__name__ for found in bench.served.values() if isinstance(found, IntegrityError)}


def test_head_tells_of_segments_that_a_lying_disk_lost(bench: Bench, disk: SimulatedDisk) -> None:
    """F23: the segments' syncs do nothing. Once the heads are settled, no loss goes unnoticed."""
    assert not list(losses(bench, lying(bench, disk, lambda path: path.name.startswith("seg-"))))
    assert "AcknowledgedLoss" in refusals(bench)
    bench.report("segments lied about, all losses noticed")


def test_a_settled_witness_survives_a_power_loss(tmp_path: Path) -> None:
    disk = SimulatedDisk(tmp_path)
    Bench(tmp_path).run(disk)
    for state in disk.crash_states():
        assert any(path.parent == tmp_path / "witness" for path, _ in state)


def test_the_witness_tells_of_a_whole_store_that_a_lying_disk_lost(tmp_path: Path) -> None:
    """F23: nothing in the store is synced, HEAD neither; the witness lies on an honest disk."""
    bench = Bench(tmp_path)
    honest = SimulatedDisk(tmp_path)
    bench.run(honest)
    disk = lying(bench, honest, lambda path: path.is_relative_to(tmp_path / "journal"))
    assert not list(losses(bench, disk))
    assert "RolledBack" in refusals(bench)
    bench.report("store lied about, all losses noticed")


def test_without_a_witness_a_store_that_fell_back_as_a_whole_is_not_noticed(tmp_path: Path) -> None:
    """F23, the limit of it: HEAD was lied about too. An older state is served then, without a hole."""
    bench = Bench(tmp_path, witnessed=False)
    honest = SimulatedDisk(tmp_path)
    bench.run(honest)
    before = settled_state(honest)
    disk = lying(bench, honest, lambda _: True)
    assert before in losses(bench, disk)


# Seeded bugs: tests of the bench.


def no_sync_before_acknowledging(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(AppendFile, "sync", lambda _: None)


def no_sync_of_directories(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Files, "sync_dir", lambda *_: None)


def no_sync_before_renaming(patch: pytest.MonkeyPatch) -> None:
    def write_and_rename(files: Files, path: Path, data: bytes) -> None:
        fresh = path.with_name(path.name + ".new")
        files.remove(fresh)
        files.append(fresh, data)
        files.ops.replace(fresh, path)
        files.sync_dir(path.parent)

    patch.setattr(Files, "write_atomic", write_and_rename)


def no_sync_in_recovery(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Files, "sync_file", lambda *_: None)


def head_noted_before_the_segment_is_synced(patch: pytest.MonkeyPatch) -> None:
    sync, acknowledge = AppendFile.sync, GroupWriter._acknowledge

    def note_then_sync(writer: GroupWriter, last: Record) -> None:
        acknowledge(writer, last)
        sync(writer.live.file)

    patch.setattr(AppendFile, "sync", lambda _: None)
    patch.setattr(GroupWriter, "_acknowledge", note_then_sync)


def both_slots_written_before_a_sync(patch: pytest.MonkeyPatch) -> None:
    def start(head: HeadFile, state: HeadState, *, newest_slot: int) -> None:
        for index in (1 - newest_slot, newest_slot):
            head._slots.write(index, encode_slot(state, head._sealer))
        head._slots.sync()

    patch.setattr(HeadFile, "start", start)


POWER_LOSSES, KILLS = Bench.check_power_losses, Bench.check_kills
BUGS = [
    (no_sync_before_acknowledging, POWER_LOSSES),
    (no_sync_of_directories, POWER_LOSSES),
    (no_sync_before_renaming, POWER_LOSSES),
    (no_sync_in_recovery, KILLS),
    (head_noted_before_the_segment_is_synced, POWER_LOSSES),
    (both_slots_written_before_a_sync, POWER_LOSSES),
]


@pytest.mark.parametrize(("bug", "check"), BUGS, ids=[bug.__name__ for bug, _ in BUGS])
def test_the_bench_catches(
    bug: Callable[[pytest.MonkeyPatch], None],
    check: Callable[[Bench, SimulatedDisk], None],
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bug(monkeypatch)
    disk = SimulatedDisk(bench.mount)
    bench.run(disk)
    with pytest.raises(Violation) as caught:
        check(bench, disk)
    print(f"{bug.__name__}: caught at state {bench.states}, {caught.value}")
