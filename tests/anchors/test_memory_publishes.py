"""An open memory publishes its days, and a proof leads to what was published."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from anchored_days import Held, Kept, noon

from hippo_async import Hippocampus, blocking
from hippo_async.anchors import FilePublisher, Ledger, check_ledger
from hippo_async.errors import AnchorsLocked, Closed
from hippo_async.files import Files
from hippo_async.journal import Journal, Key, KeyFiles, Lineage
from hippo_async.journal.proof import check_proof, make_proof, read_proof
from hippo_async.testing import FakeClock

AGENT, KEY = "tester", bytes(range(32))


def memory_in(base: Path, clock: FakeClock) -> Hippocampus:
    return Hippocampus(base, agent_id=AGENT, key=KEY, embedder="none", witness=None, clock=clock)


async def test_what_was_captured_before_is_in_the_anchor(tmp_path: Path) -> None:
    clock, kept = noon("2026-03-01"), Kept()
    async with memory_in(tmp_path, clock) as memory:
        memory.capture("The kettle is blue.")
        memory.capture("Bought long ago.", timestamp=datetime(2026, 2, 10, 8, tzinfo=UTC))
        clock.set(noon("2026-03-03").now())
        report = await memory.publish_anchors([kept])
        assert kept.offered == list(report.anchored) == ["2026-02-10", "2026-03-01", "2026-03-02"]
        assert (await memory.publish_anchors([kept])).anchored == ()


async def test_without_publishers_the_days_are_anchored_all_the_same(tmp_path: Path) -> None:
    clock = noon("2026-03-01")
    async with memory_in(tmp_path, clock) as memory:
        clock.set(noon("2026-03-02").now())
        report = await memory.publish_anchors()
    assert (report.anchored, report.published, report.waiting) == (("2026-03-01",), (), 0)


async def test_capturing_goes_on_while_a_publisher_waits_or_fails(tmp_path: Path) -> None:
    clock, held, bad = noon("2026-03-01"), Held(), Kept("bad", refuses={"2026-03-01"})
    async with memory_in(tmp_path, clock) as memory:
        clock.set(noon("2026-03-02").now())
        task = asyncio.create_task(memory.publish_anchors([held, bad]))
        await held.reached.wait()
        assert (await memory.record("written meanwhile")).seq == 1
        with pytest.raises(AnchorsLocked):
            await memory.publish_anchors()
        held.let_go.set()
        report = await task
        assert (len(report.published), len(report.failed)) == (1, 1)


async def test_a_memory_that_is_closed_publishes_nothing(tmp_path: Path) -> None:
    with pytest.raises(Closed):
        await memory_in(tmp_path, noon("2026-03-01")).publish_anchors()


def test_code_without_a_loop_publishes_too(tmp_path: Path) -> None:
    clock = noon("2026-03-01")
    with memory_in(tmp_path, clock) as memory:
        clock.set(noon("2026-03-02").now())
        assert blocking(memory.publish_anchors)([Kept()]).published


def test_days_anchored_one_by_one_hold_through_purges_and_changes_of_keys(tmp_path: Path) -> None:
    """Each run but the first reads from its cursor on, whichever of the journals that is in."""
    clock = noon("2026-03-01")
    ledger = Ledger(tmp_path, agent_id=AGENT)

    def opened() -> Hippocampus:
        return Hippocampus(tmp_path, agent_id=AGENT, embedder="none", witness=None, clock=clock)

    async def live(day: int) -> tuple[str, int]:
        async with opened() as memory:
            record = await memory.record(f"The kettle is {day} days old.")
            await memory.record("An import.", timestamp=datetime(2026, 2, 20 + day, 8, tzinfo=UTC))
        clock.advance(86_400)  # while it is closed, so that no maintenance is due that would anchor too
        async with opened() as memory:
            tail = memory._running.journal.tail.seq
            report = await memory.publish_anchors()
        assert report.anchored == (f"2026-02-{20 + day}", f"2026-03-0{day}")
        return record.record_id, tail

    for day in range(1, 8):
        record_id, tail = asyncio.run(live(day))
        cursor = ledger.cursor(ledger.dates())
        assert cursor is not None
        assert cursor.seq == tail
        with lineage_in(tmp_path, clock) as journal:
            if day % 3 == 1:
                journal.purge([record_id])
            if day % 3 == 2:
                journal.rotate()
            checked = check_ledger(ledger, (record for record, _ in journal.scan()))
            assert [check.date for check in checked if not check.holds] == []


@contextmanager
def lineage_in(base: Path, clock: FakeClock) -> Iterator[Lineage]:
    keys = KeyFiles(Files(), base / "agent.key")
    with closing(Lineage(base, agent_id=AGENT, keys=keys, witness=None, clock=clock)) as journal:
        journal.open()
        yield journal


def test_a_proof_of_one_record_leads_to_the_hash_that_was_published(tmp_path: Path) -> None:
    """Also when records of that day were added after it was published."""
    clock, public = noon("2026-03-01"), tmp_path / "public.jsonl"

    async def publish() -> str:
        async with memory_in(tmp_path / "store", clock) as memory:
            record = await memory.record("The kettle is blue.")
            await memory.record("Another thing.")
            clock.set(noon("2026-03-02").now())
            await memory.publish_anchors([FilePublisher(public)])
            await memory.record("Late.", timestamp=datetime(2026, 3, 1, 8, tzinfo=UTC))
            return record.record_id

    record_id = asyncio.run(publish())
    published = json.loads(public.read_text())["anchor_v2_hash"]
    ledger = Ledger(tmp_path / "store", agent_id=AGENT)
    stored = ledger.read("2026-03-01")
    journal = Journal(
        tmp_path / "store" / "journal", agent_id=AGENT, key=Key(KEY), witness=None, read_only=True
    )
    journal.open()
    found = list(journal.scan())
    [line] = [journal.line(place, record_id) for record, place in found if record.record_id == record_id]
    records = [record for record, _ in found]
    journal.close()
    ids = [record.record_id for record in records]
    until = records[: ids.index(str(stored.anchor.last_id)) + 1]
    proof = read_proof(make_proof(line, until, reveal=True).encode())
    report = check_proof(proof, published=published)
    assert (report.holds, report.content, stored.anchor_v2_hash) == (True, "The kettle is blue.", published)
    [checked] = check_ledger(ledger, records)
    assert (checked.holds, checked.added_since) == (True, 1)
