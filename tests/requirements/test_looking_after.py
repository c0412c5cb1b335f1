"""When a memory is looked after, under a test's clock (L24, L28, L29): one test a requirement."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from eventual import eventually
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from living import DAY, MakeMemory, did, pass_time
from scripted_tools import thread

from hippo_async import Hippocampus, Settings
from hippo_async.errors import MaintenanceInFlight
from hippo_async.lifecycle.maintenance import MaintenanceReport, Source
from hippo_async.testing import FakeClock
from hippo_langchain import HippoMiddleware
from hippo_langchain.testing import ScriptedModel

ROOT = Path(__file__).parents[2]
HOUR = timedelta(hours=1)


class Noting(Hippocampus):
    """A memory that says by whom maintenance was asked for, and when."""

    def __init__(self, folder: Path, clock: FakeClock, **settings: Any) -> None:
        chosen = Settings.from_mapping(settings)
        super().__init__(folder, embedder="none", clock=clock, settings=chosen)
        self.asked: list[tuple[Source, datetime]] = []
        self.now = clock.now

    async def run_maintenance(self, source: Source = "manual", **options: Any) -> MaintenanceReport:
        self.asked.append((source, self.now()))
        return await super().run_maintenance(source, **options)


EARLY = datetime(2026, 3, 2, 6, 10, tzinfo=UTC)


async def live_on(clock: FakeClock, time: timedelta) -> None:
    """Let time go by in steps of ten minutes, each once the schedule has seen the one before."""
    for _ in range(time // timedelta(minutes=10)):
        await eventually(lambda: clock.waiting > 0)
        pass_time(clock, timedelta(minutes=10))
    await eventually(lambda: clock.waiting > 0)


async def test_l24_maintenance_comes_by_cron_and_after_180_idle_minutes_one_at_a_time(tmp_path: Path) -> None:
    clock = FakeClock(EARLY)
    async with Noting(tmp_path / "store", clock) as memory:
        await live_on(clock, timedelta(minutes=10))
        await memory.recall("somebody uses it")
        await live_on(clock, timedelta(hours=11, minutes=40))
        rounds = [(source, f"{moment:%H:%M}") for source, moment in memory.asked[1:]]
        assert memory.asked[0][0] == "boot"
        assert rounds == [("dream", "09:20"), ("cron", "12:00"), ("cron", "18:00")]
        both = await asyncio.gather(
            *(memory.run_maintenance(), memory.run_maintenance("dream")), return_exceptions=True
        )
        assert [isinstance(each, MaintenanceReport) for each in both] == [True, False]
        assert isinstance(both[1], MaintenanceInFlight)
        assert both[1].code == "MEM_E_MAINTENANCE_IN_FLIGHT"
    assert len(memory.asked) == 6, "what was refused is not made up for"


async def test_l28_days_pass_in_no_time_for_a_memory_whose_clock_a_test_holds(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        for day in range(2, 12):
            record = await memory.record(f"day {day}")
            assert record.at == clock.now() == datetime(2026, 3, day, 9, tzinfo=UTC)
            pass_time(clock, DAY)
        assert did(await memory.run_maintenance(), "anchors") == {"made": 10}
    tests = [path.read_text() for path in (ROOT / "tests").glob("*/test_*.py")]
    assert sum(len(re.findall(r"^(?:async )?def test_", text, re.MULTILINE)) for text in tests) >= 149


async def test_l29_briefing_injection_reflection_and_maintenance_at_boot_can_be_switched_off(
    make_memory: MakeMemory, tmp_path: Path
) -> None:
    async def told(settings: dict[str, Any]) -> tuple[bool, bool, bool]:
        async with make_memory(settings) as memory:
            await memory.record("Vera is allergic to walnuts.", key="1")
            model = ScriptedModel(script=lambda messages: "noted")
            agent = create_agent(model, [], middleware=[HippoMiddleware(memory, tools=False)])
            await agent.ainvoke({"messages": [HumanMessage("and Vera?")]}, thread())
            in_prompt = any("walnuts" in message.text for message in model.seen[0])
            section = any("long-term memory" in message.text for message in model.seen[0])
            return bool((await memory.brief("Vera")).text), in_prompt, section

    async def reflected(settings: dict[str, Any]) -> bool:
        async with make_memory(settings) as memory:
            for number in range(8):
                await memory.record(f"Note {number}.", role="user", tags=["tea"])
            return bool(did(await memory.run_maintenance(), "topics")["made"])

    assert await told({}) == (True, True, True)
    assert await told({"context.injectPrompt": False}) == (True, False, False)
    assert await told({"briefing": False}) == (False, False, True)
    assert await told({"promptSection": False}) == (True, True, False)
    assert not await reflected({"enableReflection": False})
    assert await reflected({})
    for switch, source in ((True, "boot"), (False, "dream")):
        early = FakeClock(EARLY)
        async with Noting(tmp_path / f"by {source}", early, autoMaintainOnBoot=switch) as memory:
            await live_on(early, 3 * HOUR)
        assert [asked for asked, _ in memory.asked] == [source]
