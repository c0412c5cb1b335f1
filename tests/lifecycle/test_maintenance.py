"""A round of maintenance (L9, L11, L14, L24): all that is due, each step reported."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hippo_async import Hippocampus
from hippo_async.anchors import Ledger
from hippo_async.errors import Closed, MaintenanceInFlight
from hippo_async.lifecycle.maintenance import MaintenanceReport, Step, run_steps
from hippo_async.lifecycle.steps import Round
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]
DAY = timedelta(days=1).total_seconds()


def did(report: MaintenanceReport, name: str) -> dict[str, Any]:
    [step] = [step for step in report.steps if step.name == name]
    assert step.error is None
    return dict(step.did)


async def test_a_round_says_what_each_step_did(make_memory: MakeMemory, clock: FakeClock) -> None:
    async with make_memory() as memory:
        gone = await memory.remember("the word is quokka")
        await memory.remember("the kettle is blue")
        await memory.forget(gone.event_id)
        await memory.checkpoint("move", "boxes packed", progress=20)
        clock.advance(DAY)
        seen: list[tuple[int, int, str]] = []
        report = await memory.run_maintenance(progress=lambda *state: seen.append(state))
        assert [step.name for step in report.steps] == [name for _, _, name in seen[:-1]]
        assert seen[-1] == (len(report.steps), len(report.steps), "")
        assert (report.source, report.failed, report.stopped) == ("manual", (), False)
        assert did(report, "forget")["records"] == 1
        assert did(report, "tasks") == {"demoted": 0}
        assert did(report, "reviews") == {"due": 1}
        assert did(report, "anchors") == {"made": 1}
        assert did(report, "storage")["over"] is False
        again = await memory.run_maintenance()
        assert did(again, "forget")["records"] == did(again, "anchors")["made"] == 0


async def test_a_round_leaves_anchors_to_who_is_publishing_them(
    make_memory: MakeMemory, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with make_memory() as memory:
        await memory.remember("the kettle is blue")
        clock.advance(DAY)
        somebody = Ledger(memory.data_dir, agent_id=memory.agent_id)
        await asyncio.to_thread(somebody.acquire)
        try:
            assert did(await memory.run_maintenance(), "anchors") == {"made": 0}
        finally:
            await asyncio.to_thread(somebody.release)
        assert did(await memory.run_maintenance(), "anchors") == {"made": 1}
    assert caplog.records == []


async def test_a_task_of_which_nothing_was_heard_for_seven_days_is_active_no_more(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        await memory.checkpoint("move", "boxes packed", progress=20)
        clock.advance(7 * DAY)
        await memory.run_maintenance()
        assert (await memory.active_task()) is not None
        clock.advance(1)
        assert did(await memory.run_maintenance(), "tasks") == {"demoted": 1}
        assert (await memory.active_task()) is None
    async with make_memory() as memory:
        assert (await memory.active_task()) is None
        assert (await memory.checkpoint("move", "on again", progress=30)) is not None


async def test_raw_shards_go_as_a_whole_after_their_days_and_never_the_one_of_today(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    shards = tmp_path / "store/raw"
    async with make_memory({"raw": {"mode": "all", "retention_days": 2}}) as memory:
        for _ in range(5):
            await memory.record("good morning", role="user")
            clock.advance(DAY)
        await memory.record("good morning", role="user")
        (shards / "notes.txt").write_text("not ours")
        assert len(list(shards.glob("*.jsonl"))) == 6
        report = did(await memory.run_maintenance(), "raw")
        assert report["shards"] == 3
        assert report["bytes"] > 0
        assert sorted(path.stem for path in shards.glob("*.jsonl")) == [
            "2026-03-05",
            "2026-03-06",
            "2026-03-07",
        ]
        assert (shards / "notes.txt").exists()
        clock.set(clock.now() + timedelta(days=400))
        await memory.record("good morning", role="user")
        await memory.run_maintenance()
        assert len(list(shards.glob("*.jsonl"))) == 1


async def test_a_round_is_refused_while_another_runs(
    make_memory: MakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    going, may_end = asyncio.Event(), asyncio.Event()

    async def slow(_: Round) -> dict[str, Any]:
        going.set()
        await may_end.wait()
        return {}

    monkeypatch.setattr(Round, "_storage", slow)
    async with make_memory() as memory:
        first = asyncio.create_task(memory.run_maintenance())
        await going.wait()
        with pytest.raises(MaintenanceInFlight) as refused:
            await memory.run_maintenance("cron")
        assert refused.value.code == "MEM_E_MAINTENANCE_IN_FLIGHT"
        may_end.set()
        assert (await first).failed == ()
        first = asyncio.create_task(memory.run_maintenance())
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert (await memory.run_maintenance()).failed == ()


async def test_a_step_that_fails_is_reported_and_stops_no_other(clock: FakeClock) -> None:
    async def fine() -> dict[str, Any]:
        clock.advance(2)
        return {"done": 1}

    async def broken() -> dict[str, Any]:
        raise OSError("no space left")

    steps = [Step("one", fine), Step("two", broken), Step("three", fine)]
    report = await run_steps(steps, source="cron", clock=clock)
    assert report.failed == ("two",)
    assert [(step.did, step.seconds, step.error) for step in report.steps] == [
        ({"done": 1}, 2.0, None),
        ({}, 0.0, "OSError: no space left"),
        ({"done": 1}, 2.0, None),
    ]
    assert report.as_dict()["failed"] == ["two"]


async def test_a_round_ends_after_its_step_when_the_memory_is_closed(clock: FakeClock) -> None:
    closing = False

    async def close() -> dict[str, Any]:
        nonlocal closing
        closing = True
        return {}

    report = await run_steps(
        [Step("one", close), Step("two", close)], source="cron", clock=clock, stopping=lambda: closing
    )
    assert [step.name for step in report.steps] == ["one"]
    assert report.stopped


async def test_a_closed_memory_is_not_maintained(make_memory: MakeMemory) -> None:
    with pytest.raises(Closed):
        await make_memory().run_maintenance()
