"""The ledger on disk: whole whatever happens, and never rewritten but for receipts."""

from __future__ import annotations

import errno
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from anchored_days import AGENT, Kept, anchored, ledger_in, noon, noted, run

from hippo_async.anchors import AnchorRun, FilePublisher, Ledger
from hippo_async.errors import AnchorDamaged, AnchorsLocked, NotFound
from hippo_async.files import Files
from hippo_async.testing import ScriptedOps, SimulatedDisk, each_failure

RECORDS = noted("2026-03-01", "2026-03-03", "2026-03-01")
DATES = ["2026-03-01", "2026-03-02", "2026-03-03"]
NOON = noon("2026-03-04").now()


def contents(ledger: Ledger) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(ledger.folder.glob("2*.json"))}


def test_a_second_run_changes_nothing(ledger: Ledger) -> None:
    first = run(RECORDS, ledger, noon("2026-03-04"), Kept())
    before = contents(ledger)
    second = run(RECORDS, ledger, noon("2026-03-04"), Kept())
    assert (list(first.anchored), second.anchored, second.published) == (DATES, (), ())
    assert contents(ledger) == before


def test_an_anchor_stays_as_it_was_when_records_of_its_day_come_later(ledger: Ledger) -> None:
    run(RECORDS, ledger, noon("2026-03-04"))
    before = contents(ledger)
    run([*RECORDS, *noted("2026-03-01", "2026-03-04")], ledger, noon("2026-03-05"))
    assert contents(ledger).items() > before.items()
    assert ledger.dates() == [*DATES, "2026-03-04"]


def test_reading_a_ledger_that_is_not_there_makes_nothing(ledger: Ledger) -> None:
    assert ledger.dates() == []
    with pytest.raises(NotFound):
        ledger.read("2026-03-01")
    assert not ledger.folder.exists()


def test_a_day_that_is_not_what_was_written_is_named_and_left_alone(ledger: Ledger) -> None:
    run(RECORDS, ledger, noon("2026-03-04"))
    path = ledger.folder / "2026-03-02.json"
    path.write_bytes(path.read_bytes().replace(b'"count":0', b'"count":1'))
    with pytest.raises(AnchorDamaged) as caught:
        run(RECORDS, ledger, noon("2026-03-04"), Kept())
    assert (caught.value.path, "copy" in caught.value.advice) == (path, True)
    assert caught.value.code == "MEM_E_ANCHOR_DAMAGED"


def test_two_runs_are_never_at_work_on_one_ledger(ledger: Ledger) -> None:
    ledger.acquire()
    with pytest.raises(AnchorsLocked, match="when it is done"):
        run(RECORDS, ledger_in(ledger.folder.parent), noon("2026-03-04"))
    ledger.release()
    assert (run(RECORDS, ledger_in(ledger.folder.parent), noon("2026-03-04"))).anchored


def whole_run(base: Path, ops: ScriptedOps, *, refuses: set[str]) -> AnchorRun:
    """Anchor, publish to a file and elsewhere; the second publisher may fail on some days."""
    file = FilePublisher(base / "public.jsonl", name="file", files=Files(ops))
    ledger, clock = ledger_in(base, ops), noon("2026-03-04")
    return run(RECORDS, ledger, clock, file, Kept(refuses=refuses), retry_now=True)


@pytest.mark.parametrize(
    ("error", "lasting"), [(errno.EIO, False), (errno.ENOSPC, True)], ids=["once", "for good"]
)
def test_whichever_call_fails_the_next_run_completes(tmp_path: Path, error: int, lasting: bool) -> None:
    """Every open, write, sync and rename of a run fails once, in the ledger and in the published file."""
    runs = 0
    for ops in each_failure(error, lasting=lasting):
        base = tmp_path / str(runs)
        with suppress(OSError):
            whole_run(base, ops, refuses={"2026-03-02"})
        assert ops.descriptors == {}
        completed = whole_run(base, ScriptedOps(syncing=False), refuses=set())
        assert (completed.failed, completed.waiting) == ((), 0)
        ledger = ledger_in(base)
        assert ledger.dates() == DATES
        for date in DATES:
            day = ledger.read(date)
            assert day.anchor_v2 == anchored(date, RECORDS).anchor_v2
            assert ({receipt.publisher for receipt in day.receipts}, day.pending) == ({"file", "kept"}, ())
        lines = (base / "public.jsonl").read_bytes().split(b"\n")[:-1]
        assert (len(lines), len(set(lines))) == (3, 3)
        runs += 1
    print("calls failed:", runs - 1)
    assert runs > 60, "a run makes more calls than that"


MOUNT = Path("/disk")
Step = Callable[[Ledger], None]
STEPS: list[Step] = [
    lambda ledger: ledger.add(anchored("2026-03-01", RECORDS).anchor_v2),
    lambda ledger: ledger.note_failed("2026-03-01", "post", "refused", NOON),
    lambda ledger: ledger.note_published("2026-03-01", "file", {"line": 1}, NOON),
    lambda ledger: ledger.note_published("2026-03-01", "post", {"status": 200}, NOON),
]


def test_a_power_loss_at_any_moment_leaves_a_day_as_it_was_or_as_it_was_to_be() -> None:
    """And what a call returned from is there for good."""
    disk = SimulatedDisk(MOUNT)
    ledger = Ledger(MOUNT, agent_id=AGENT, files=Files(disk))
    Files(disk).mkdir(ledger.folder)
    durable: list[tuple[int, bytes | None]] = [(disk.steps, None)]
    for step in STEPS:
        step(ledger)
        durable.append((disk.steps, Files(disk).read(ledger.folder / "2026-03-01.json")))
    states = 0
    for at in range(durable[0][0], disk.steps + 1):
        done = max(number for number, (steps, _) in enumerate(durable) if steps <= at)
        allowed = [content for _, content in durable[done : done + 2]]
        for state in disk.crash_states(at):
            after = Ledger(MOUNT, agent_id=AGENT, files=Files(SimulatedDisk(MOUNT, holds=state)))
            found = after.read("2026-03-01").encode() if after.dates() else None
            assert found in allowed
            states += 1
    assert states > 100


async def test_a_line_in_a_file_is_durable_and_there_once_after_any_power_loss() -> None:
    day, path = anchored("2026-03-01", RECORDS), MOUNT / "public" / "anchors.jsonl"
    disk = SimulatedDisk(MOUNT)
    await FilePublisher(path, files=Files(disk)).publish(anchored("2026-02-28"))
    first = disk.steps
    await FilePublisher(path, files=Files(disk)).publish(day)
    whole = Files(disk).read(path)
    assert {content for name, content in next(iter(disk.crash_states())) if name == path} == {whole}
    for at in range(first, disk.steps + 1):
        for state in disk.crash_states(at):
            after = SimulatedDisk(MOUNT, holds=state)
            for _ in range(2):
                await FilePublisher(path, files=Files(after)).publish(day)
            lines = Files(after).read(path).split(b"\n")
            assert [line in whole.split(b"\n") for line in (lines[0], lines[-2])] == [True, True]
            assert lines.count(whole.split(b"\n")[1]) == 1
