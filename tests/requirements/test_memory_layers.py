"""What is made of memories (L19, L20): one test a requirement, by the numbers it names."""

from __future__ import annotations

from datetime import UTC, datetime

from living import DAY, MakeMemory, did, pass_time

from hippo_async import Hippocampus
from hippo_async.testing import FakeClock


async def test_l19_a_month_that_is_over_has_one_memo_that_is_first_for_it_and_does_not_fade(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    clock.set(datetime(2023, 10, 1, 12, tzinfo=UTC))

    async def first(memory: Hippocampus, question: str) -> tuple[str, float]:
        hit = (await memory.recall(question))[0]
        assert "status:monthly" in hit.record.tags, question
        return str(hit.record.metadata["subject"]["name"]), hit.score

    async with make_memory() as memory:
        for day in range(1, 32):
            await memory.record(f"On {day} October we decided to paint the boat of Anna.", role="user")
            assert did(await memory.run_maintenance(), "months") == {"made": 0}
            pass_time(clock, DAY)
        assert did(await memory.run_maintenance(), "months") == {"made": 1}
        for question in ("What was last month?", "上个月我们做了什么？", "Что было в прошлом месяце?"):
            assert (await first(memory, question))[0] == "2023-10"
        fresh = await first(memory, "What was in 2023-10?")
        clock.set(clock.now().replace(year=2024))
        for question in ("What was last year?", "去年我们做了什么？", "Что было в прошлом году?"):
            assert (await first(memory, question))[0] == "2023-10"
        assert await first(memory, "What was in 2023-10?") == fresh


async def test_l20_an_episode_may_go_and_the_pattern_stays_and_each_layer_is_there(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        runs = []
        for number in range(10):
            text = f"Run {number}: we decided to run {number + 5} km."
            runs.append(await memory.record(text, role="user", tags=["running", "park"]))
            await memory.record(f"Small talk {number}.", role="user", tags=[f"other {number}"])
            kept = did(await memory.run_maintenance(), "trends")["kept"]
            assert kept == (2 if number == 8 else 0), "20 days after the first, within 30"
            pass_time(clock, 2.5 * DAY)
        trend, *_ = [one for one in await memory.trends() if one.tag == "running"]
        assert (trend.count, trend.days, trend.reason) == (10, 10, "lasting")
        await memory.forget(runs[0].record_id)
        pass_time(clock, 2 * DAY)
        await memory.run_maintenance()
        made = {status for one in await memory.semantic() for status in one.tags if "status:" in status}
        assert made >= {"status:trend", "status:summary"}
        [pattern] = [one for one in await memory.semantic() if {"status:trend", "running"} <= set(one.tags)]
        assert "9 times on 9 days" in str(pattern.content)
        summary = next(one for one in await memory.semantic() if "status:summary" in one.tags)
        assert runs[0].record_id not in summary.metadata["originals"]
        assert (await memory.tag_graph()).neighbours("running") == ("park",)
        assert len(await memory.active_set()) == 19
        pass_time(clock, 60 * DAY)
        assert await memory.trends() == []
        assert len(await memory.semantic()) >= 2
