"""Monthly memos (L19): made when a month is over, first for questions about it, free of what is forgotten."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from doors import holding

from hippo_async import Hippocampus
from hippo_async.lives.layers import Layer, subject_of
from hippo_async.recall.dates import time_spans
from hippo_async.recall.memos import months_of
from hippo_async.records import Record, Turn
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]
NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
DAY = timedelta(days=1).total_seconds()


async def live_through_spring(memory: Hippocampus, clock: FakeClock, scope: tuple[str, ...] = ()) -> None:
    """From 2 March on, a turn a day until 5 May."""
    while clock.now() < datetime(2026, 5, 5, tzinfo=UTC):
        day = clock.now().strftime("%d %B")
        text = f"On {day} we decided to paint the boat of Anna Larsen at the harbour of Oslo."
        await memory.record(text, role="user", session="s", scope=scope)
        clock.advance(DAY)


def month_of(record: Record) -> str | None:
    subject = subject_of(record)
    return subject.name if subject and subject.layer is Layer.MONTH else None


async def memos(memory: Hippocampus, scope: tuple[str, ...] = ()) -> list[Record]:
    return await memory.latest(n=50, tags=["status:monthly"], scope=scope)


async def test_a_memo_is_made_of_each_month_that_is_over_and_only_once(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        await live_through_spring(memory, clock)
        await memory.record("hers", scope=("ann",))
        report = await memory.run_maintenance()
        assert {step.name: step.did for step in report.steps}["months"] == {"made": 2}
        found = await memos(memory)
        assert sorted(map(str, map(month_of, found))) == ["2026-03", "2026-04"]
        april = next(memo for memo in found if month_of(memo) == "2026-04")
        assert len(april.metadata["originals"]) == 30
        assert "Anna Larsen" in april.text
        assert april.text.startswith("2026-04: ")
        assert await memos(memory, scope=("ann",)) == []
        again = await memory.run_maintenance()
        assert {step.name: step.did for step in again.steps}["months"] == {"made": 0}


@pytest.mark.parametrize(
    "question",
    [
        "What did we do last month?",
        "2026-04",
        "What happened in April?",
        "Что было в прошлом месяце?",
        "上个月我们做了什么？",
    ],
)
async def test_a_question_about_a_month_gets_its_memo_first(
    make_memory: MakeMemory, clock: FakeClock, question: str
) -> None:
    async with make_memory() as memory:
        await live_through_spring(memory, clock)
        await memory.run_maintenance()
        first, *others = await memory.recall(question)
        assert month_of(first.record) == "2026-04"
        assert first.score == sum(first.why.values())
        assert all(month_of(hit.record) is None or hit.score < first.score for hit in others)


async def test_a_question_about_a_year_gets_its_months_and_one_about_a_day_none_first(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        await live_through_spring(memory, clock)
        await memory.run_maintenance()
        named = [month_of(hit.record) for hit in await memory.recall("what happened in 2026?")]
        assert named[:2] == ["2026-04", "2026-03"]
        first, *_ = await memory.recall("what did we decide on 12 April?")
        assert month_of(first.record) is None


def test_months_are_those_that_a_long_time_touches() -> None:
    def named(text: str) -> list[str]:
        return months_of(time_spans(text, now=NOW))

    assert named("last month") == ["2026-04"]
    assert named("in 2023-10") == ["2023-10"]
    assert named("last year")[::11] == ["2025-12", "2025-01"]
    assert named("yesterday") == named("three days ago") == named("nothing") == []


async def test_a_memo_is_hidden_with_what_it_says_and_made_again_without_it(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    async with make_memory() as memory:
        secret = await memory.record("We decided to call her Zanzibarquokka from now on.", role="user")
        await live_through_spring(memory, clock)
        await memory.run_maintenance()
        assert any("Zanzibarquokka" in memo.text for memo in await memos(memory))
        await memory.forget(secret.record_id)
        assert [month_of(memo) for memo in await memos(memory)] == ["2026-04"]
        clock.advance(DAY)
        await memory.run_maintenance()
        assert holding(tmp_path / "store", "zanzibarquokka") == []
        found = await memos(memory)
        assert sorted(map(str, map(month_of, found))) == ["2026-03", "2026-04"]
        assert all(memo.text.startswith(str(month_of(memo))) for memo in found)
        await memory.run_maintenance()
        assert len(await memos(memory)) == 2


async def test_a_memo_that_was_forgotten_is_not_made_again_nor_asked_for(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    asked: list[int] = []

    async def summarize(turns: Sequence[Turn]) -> str:
        asked.append(len(turns))
        return "They paint."

    async with make_memory(summarizer=summarize) as memory:
        await live_through_spring(memory, clock)
        await memory.run_maintenance()
        for memo in await memos(memory):
            await memory.forget(memo.record_id)
        clock.advance(2 * DAY)
        for _ in range(2):
            await memory.run_maintenance()
        assert await memos(memory) == []
        assert asked == [30, 30]


async def test_without_index_the_months_are_the_same(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    async with make_memory() as memory:
        await live_through_spring(memory, clock)
        await memory.run_maintenance()
        before = await memos(memory)
    shutil.rmtree(tmp_path / "store/index")
    async with make_memory() as memory:
        assert await memos(memory) == before
        report = await memory.run_maintenance()
        assert {step.name: step.did for step in report.steps}["months"] == {"made": 0}


@pytest.mark.parametrize(
    ("zone", "months"),
    [
        ("UTC", {"2026-03": 1, "2026-04": 1}),
        ("Pacific/Kiritimati", {"2026-04": 2}),
        ("Pacific/Niue", {"2026-03": 2}),
    ],
)
async def test_months_are_those_of_the_users_zone(
    make_memory: MakeMemory, clock: FakeClock, zone: str, months: dict[str, int]
) -> None:
    """One hour before and one after the end of March in Greenwich: 14 hours ahead, and 11 behind."""
    async with make_memory({"time_zone": zone}) as memory:
        for hour in (datetime(2026, 3, 31, 23, tzinfo=UTC), datetime(2026, 4, 1, 1, tzinfo=UTC)):
            await memory.record(f"It is {hour}, and we sail.", role="user", timestamp=hour)
        clock.set(NOW)
        await memory.run_maintenance()
        found = {month_of(memo): len(memo.metadata["originals"]) for memo in await memos(memory)}
        assert found == months
