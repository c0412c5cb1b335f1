"""Summaries of topics and memories of trends (L20): made by maintenance, replaced, forgotten, made anew."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from doors import holding, shown

from hippo_async import Hippocampus
from hippo_async.lifecycle.layers import MOST_TRENDS
from hippo_async.lives.topics import MOST_AT_ONCE
from hippo_async.records import Record, Turn
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]
DAY = timedelta(days=1).total_seconds()


async def tell(
    memory: Hippocampus,
    clock: FakeClock,
    tag: str,
    times: int,
    *,
    every: float = DAY,
    about: str = "",
    scope: tuple[str, ...] = (),
) -> list[Record]:
    """Tell something new with this tag so many times, and let some other talk go by."""
    told = []
    for number in range(times):
        text = f"Note {number} of {tag}: we decided to keep {about or tag} number {number} in Oslo."
        told.append(await memory.record(text, role="user", tags=[tag], scope=scope))
        for other in range(4):
            await memory.record(
                f"Small talk {number} {other}.", role="user", tags=[f"{clock.now()} {other}"], scope=scope
            )
        clock.advance(every)
    return told


async def did(memory: Hippocampus, step: str) -> object:
    report = await memory.run_maintenance()
    assert report.failed == ()
    return {step.name: dict(step.did) for step in report.steps}[step]


async def layer(memory: Hippocampus, status: str, scope: tuple[str, ...] = ()) -> list[Record]:
    return [record for record in await memory.semantic(scope=scope) if f"status:{status}" in record.tags]


async def test_a_topic_gets_a_summary_once_enough_was_told_of_it(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        await tell(memory, clock, "sailing", 7, every=60)
        assert await did(memory, "topics") == {"made": 0}
        told = await tell(memory, clock, "sailing", 2, every=60)
        assert await did(memory, "topics") == {"made": 1}
        [summary] = await layer(memory, "summary")
        assert summary.text.startswith("sailing: ")
        assert "Oslo" in summary.text
        assert told[-1].record_id in summary.metadata["originals"]
        assert summary.tags == ("sailing", "status:summary")
        assert await did(memory, "topics") == {"made": 0}


async def test_a_summary_is_replaced_once_the_topic_has_grown_by_half(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        await tell(memory, clock, "sailing", 20, every=60)
        await memory.run_maintenance()
        [first] = await layer(memory, "summary")
        await tell(memory, clock, "sailing", 9, every=60)
        assert await did(memory, "topics") == {"made": 0}
        await tell(memory, clock, "sailing", 1, every=60)
        assert await did(memory, "topics") == {"made": 1}
        [second] = await layer(memory, "summary")
        assert second.seq > first.seq
        assert len(second.metadata["originals"]) == 30
        found = [hit.record.record_id for hit in await memory.recall("sailing Oslo", top_k=100)]
        assert first.record_id not in found
        assert second.record_id in found


async def test_two_tags_for_one_thing_are_one_topic(make_memory: MakeMemory, clock: FakeClock) -> None:
    async with make_memory() as memory:
        for number in range(12):
            text = f"Note {number} on the boat."
            await memory.record(text, role="user", tags=["sailing", "boat"])
            await memory.record(f"Something else, {number}.", role="user", tags=[f"{number}"])
        for _ in range(3):
            await memory.run_maintenance()
        assert len(await layer(memory, "summary")) == 1


@pytest.mark.parametrize("erased", [False, True])
async def test_a_summary_that_was_forgotten_does_not_come_back_under_another_tag_for_the_same(
    make_memory: MakeMemory, clock: FakeClock, erased: bool
) -> None:
    async with make_memory() as memory:
        for number in range(12):
            text = f"Note {number} on the boat."
            await memory.record(text, role="user", tags=["sailing", "boat"])
            await memory.record(f"Something else, {number}.", role="user", tags=[f"{number}"])
        await memory.run_maintenance()
        [summary] = await layer(memory, "summary")
        await memory.forget(summary.record_id)
        if erased:
            clock.advance(2 * DAY)
        for _ in range(2):
            await memory.run_maintenance()
            assert await layer(memory, "summary") == []


async def test_what_all_is_about_is_neither_a_topic_nor_a_trend(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        for number in range(41):
            tags = ["oslo", "sailing"] if number < 20 else ["oslo"]
            await memory.record(f"Note {number} of the harbour.", role="user", tags=tags)
        assert [trend.tag for trend in await memory.trends()] == ["sailing"]
        await memory.run_maintenance()
        assert {one.tags for one in await memory.semantic()} == {
            ("sailing", "status:summary"),
            ("sailing", "status:trend"),
        }


async def test_without_reflection_no_topic_is_summarized(make_memory: MakeMemory, clock: FakeClock) -> None:
    async with make_memory({"enable_reflection": False}) as memory:
        await tell(memory, clock, "sailing", 10, every=60)
        assert await did(memory, "topics") == {"made": 0}
        assert await layer(memory, "summary") == []


async def test_a_summarizer_writes_the_summaries(make_memory: MakeMemory, clock: FakeClock) -> None:
    async def summarize(turns: object) -> str:
        return "They sail a lot."

    async with make_memory(summarizer=summarize) as memory:
        told = await tell(memory, clock, "sailing", 10, every=60)
        await memory.run_maintenance()
        assert [one.text for one in await layer(memory, "summary")] == ["sailing: They sail a lot."]
        await memory.forget(told[0].record_id)
        clock.advance(2 * DAY)
        await memory.run_maintenance()
        [again] = await layer(memory, "summary")
        assert again.text == "sailing: They sail a lot."
        assert told[0].record_id not in again.metadata["originals"]


async def test_what_is_told_in_one_scope_makes_no_layer_in_another(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        await tell(memory, clock, "sailing", 4, every=60, scope=("ann",))
        await tell(memory, clock, "sailing", 6, every=60, scope=("bob",))
        await tell(memory, clock, "chess", 10, every=60, scope=("bob",))
        await memory.run_maintenance()
        assert await memory.semantic(scope=("ann",)) == []
        assert await memory.semantic() == []
        assert [one.tags for one in await layer(memory, "summary", ("bob",))] == [("chess", "status:summary")]
        assert {trend.tag for trend in await memory.trends(scope=("ann",))} == {"sailing"}


async def test_what_keeps_coming_up_is_watched_and_kept_once_it_lasts(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory({"enable_reflection": False}) as memory:
        await tell(memory, clock, "running", 5, every=4 * DAY)
        [trend] = await memory.trends()
        assert (trend.tag, trend.count, trend.days, trend.reason) == ("running", 5, 5, None)
        assert await did(memory, "trends") == {"kept": 0}
        await tell(memory, clock, "running", 1)
        [trend] = await memory.trends()
        assert trend.reason == "lasting"
        assert await did(memory, "trends") == {"kept": 1}
        [kept] = await layer(memory, "trend")
        assert kept.text == "“running” keeps coming up: 6 times on 6 days, 2026-03-02 to 2026-03-22."
        assert await did(memory, "trends") == {"kept": 0}


async def test_what_comes_up_often_in_one_day_is_kept_at_once(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory({"enable_reflection": False}) as memory:
        await tell(memory, clock, "moving", 5, every=60)
        await memory.run_maintenance()
        [kept] = await layer(memory, "trend")
        assert kept.text == "“moving” came up 5 times, most of it on 2026-03-02."


async def test_what_is_not_seen_again_is_dropped_after_its_time(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        await tell(memory, clock, "running", 3)
        assert [trend.tag for trend in await memory.trends()] == ["running"]
        clock.advance(31 * DAY)
        assert await memory.trends() == []
        assert await did(memory, "trends") == {"kept": 0}


async def test_a_trend_outlives_its_episodes_but_not_the_last_of_them(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    """An episode may go, the pattern may not; with nothing left to show it, it was forgotten as well."""
    async with make_memory({"enable_reflection": False}) as memory:
        told = await tell(memory, clock, "zanzibarquokka", 6, every=60)
        await memory.run_maintenance()
        for record in told[:-1]:
            await memory.forget(record.record_id)
        clock.advance(2 * DAY)
        await memory.run_maintenance()
        assert len(await layer(memory, "trend")) == 1
        await memory.forget(told[-1].record_id)
        assert await layer(memory, "trend") == []
        assert "zanzibarquokka" not in await shown(memory, "zanzibarquokka", clock=clock)
        await memory.restore(told[-1].record_id)
        assert len(await layer(memory, "trend")) == 1
        await memory.forget(told[-1].record_id)
        clock.advance(2 * DAY)
        await memory.run_maintenance()
        assert holding(tmp_path / "store", "zanzibarquokka") == []
        assert (await memory.verify_chain()).intact


async def test_a_summary_is_hidden_with_what_it_says_and_made_again_without_it(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    async with make_memory() as memory:
        secret = await memory.record("We decided: Zanzibarquokka sails.", role="user", tags=["sailing"])
        await tell(memory, clock, "sailing", 10, every=60)
        await memory.run_maintenance()
        [summary] = await layer(memory, "summary")
        assert "Zanzibarquokka" in summary.text
        await memory.forget(secret.record_id)
        assert await layer(memory, "summary") == []
        clock.advance(2 * DAY)
        await memory.run_maintenance()
        [again] = await layer(memory, "summary")
        assert again.text.startswith("sailing: ")
        assert holding(tmp_path / "store", "zanzibarquokka") == []
        assert (await memory.verify_chain()).intact


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_summary_that_is_forgotten_takes_those_before_it_along_and_is_not_made_again(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path, replaced: bool
) -> None:
    async with make_memory() as memory:
        await tell(memory, clock, "sailing", 10, every=60)
        await memory.run_maintenance()
        if replaced:
            await tell(memory, clock, "sailing", 10, every=60)
            await memory.run_maintenance()
        [summary] = await layer(memory, "summary")
        await memory.forget(summary.record_id)
        await tell(memory, clock, "sailing", 40, every=60)
        assert await did(memory, "topics") == {"made": 0}
        assert await layer(memory, "summary") == []
        clock.advance(2 * DAY)
        assert await did(memory, "topics") == {"made": 0}
        assert await layer(memory, "summary") == []
        summaries = [record async for record in memory.records() if "status:summary" in record.tags]
        assert summaries == []
        await memory.restore(summary.record_id)
        assert await did(memory, "topics") == {"made": 1}
    shutil.rmtree(tmp_path / "store/index")
    async with make_memory() as memory:
        assert len(await layer(memory, "summary")) == 1


async def forget_all(memory: Hippocampus, clock: FakeClock, status: str) -> int:
    """Forget and erase all of a layer, so that nothing is made of their subjects again; say how many."""
    made = await layer(memory, status)
    for one in made:
        await memory.forget(one.record_id)
    clock.advance(2 * DAY)
    await memory.run_maintenance()
    return len(made)


async def test_trends_that_nobody_wants_do_not_keep_others_waiting(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory({"enable_reflection": False}) as memory:
        unwanted = [f"unwanted {number}" for number in range(MOST_TRENDS)]
        for number in range(6):
            await memory.record(f"Everything at once, {number}.", role="user", tags=unwanted)
        await memory.run_maintenance()
        assert await forget_all(memory, clock, "trend") == MOST_TRENDS
        await tell(memory, clock, "running", 5, every=60)
        assert await did(memory, "trends") == {"kept": 1}
        assert [kept.tags for kept in await layer(memory, "trend")] == [("running", "status:trend")]


async def test_topics_that_nobody_wants_do_not_keep_others_waiting(
    make_memory: MakeMemory, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hippo_async.lifecycle.layers.MOST_TOPICS", MOST_AT_ONCE)
    async with make_memory() as memory:
        for number in range(MOST_AT_ONCE):
            await tell(memory, clock, f"unwanted {number}", 9, every=60)
        await memory.run_maintenance()
        assert await forget_all(memory, clock, "summary") == MOST_AT_ONCE
        await tell(memory, clock, "sailing", 8, every=60)
        assert await did(memory, "topics") == {"made": 1}
        assert [one.tags for one in await layer(memory, "summary")] == [("sailing", "status:summary")]


async def test_the_layers_are_the_same_without_the_index(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    async with make_memory() as memory:
        for times in (10, 12):
            await tell(memory, clock, "sailing", times)
            await memory.run_maintenance()
        made, watched = await memory.semantic(), await memory.trends()
        strong, tags = await memory.active_set(), await memory.active_tags()
        days = await memory.diary(clock.now().date() - timedelta(days=30), clock.now().date())
    assert {tag for one in made for tag in one.tags} >= {"status:summary", "status:trend"}
    shutil.rmtree(tmp_path / "store/index")
    async with make_memory() as memory:
        assert await memory.semantic() == made
        assert await memory.trends() == watched
        assert await memory.active_set() == strong
        assert await memory.active_tags() == tags
        assert await memory.diary(clock.now().date() - timedelta(days=30), clock.now().date()) == days
        assert await did(memory, "topics") == {"made": 0}
        assert await did(memory, "trends") == {"kept": 0}


async def test_nobody_can_write_what_passes_for_a_layer(make_memory: MakeMemory, clock: FakeClock) -> None:
    subject = {"layer": "topic", "name": "sailing", "seen": 9}
    async with make_memory() as memory:
        fake = await memory.record("Obey.", metadata={"subject": subject, "originals": []}, tags=["sailing"])
        await memory.fold([Turn("user", "We sail.", 3)])
        assert await memory.semantic() == []
        with pytest.raises(ValueError, match="event"):
            await memory.record("Obey.", metadata={"event": "trend", "subject": subject})
        assert (await memory.recall("obey"))[0].record == fake
