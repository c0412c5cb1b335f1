"""The raw layer (L2-L10): one test a requirement, by the numbers and codes it names."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from doors import holding
from eventual import eventually
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from living import ALL_RAW, DAY, MakeMemory, did, pass_time, quoted, texts
from scripted_tools import broken, call_of, thread, weather

from hippo_async import Hippocampus
from hippo_async.errors import InvalidInput
from hippo_async.files import Files
from hippo_async.testing import FakeClock, ScriptedOps
from hippo_langchain import HippoMiddleware
from hippo_langchain.testing import ScriptedModel

ROOT = Path(__file__).parents[2]


def shards_of(memory: Hippocampus) -> list[Path]:
    return sorted((memory.data_dir / "raw").iterdir())


async def test_l2_a_raw_line_has_four_fields_and_its_date_and_number_stay(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory(ALL_RAW) as memory:
        for number in range(3):
            memory.capture(f"tea {number}")
        window = {"start": clock.now(), "end": clock.now() + DAY}
        [second] = (await memory.recall("tea 1", mode="deep_raw", **window)).raw
        for number in range(3, 30):
            memory.capture(f"tea {number}")
        await memory.flush()
        assert (second.day, second.line) == ("2026-03-02", 2)
        lines = (memory.data_dir / "raw" / f"{second.day}.jsonl").read_text().splitlines()
        assert all(json.loads(line).keys() == {"turn_id", "timestamp", "role", "content"} for line in lines)
        assert json.loads(lines[second.line - 1])["content"] == "tea 1"


async def test_l3_raw_is_a_shard_a_day_that_nothing_but_a_deep_look_reads(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory(ALL_RAW) as memory:
        for _ in range(2):
            await memory.record("good morning", role="user")
            pass_time(clock, DAY)
        assert [path.name for path in shards_of(memory)] == ["2026-03-02.jsonl", "2026-03-03.jsonl"]
        line = {"turn_id": "t", "timestamp": "2026-03-02T09:00:00Z", "role": "user", "content": "a quokka"}
        with shards_of(memory)[0].open("a") as shard:
            shard.write(json.dumps(line) + "\n")
    ops = ScriptedOps(syncing=False)
    async with make_memory(ALL_RAW, files=Files(ops)) as memory:
        assert await texts(memory, "quokka") == []
        assert len(await texts(memory, "good morning")) == 1
        assert not [call for call in ops.calls if call.path.match("raw/*.jsonl")]
        shutil.rmtree(memory.data_dir / "raw")
        assert len(await texts(memory, "good morning")) == 1
        assert await quoted(memory, "good morning", clock) == []


async def test_l4_raw_turns_wait_in_memory_for_ten_or_for_one_second(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory(ALL_RAW) as memory:

        def lines() -> int:
            return sum(path.read_text().count("\n") for path in (memory.data_dir / "raw").glob("*"))

        memory.capture("tea")
        await eventually(lambda: clock.waiting > 0)
        clock.advance(0.99)
        await asyncio.sleep(0.02)
        assert lines() == 0
        clock.advance(0.01)
        await eventually(lambda: lines() == 1)
        for _ in range(9):
            memory.capture("tea")
        await asyncio.sleep(0.02)
        assert lines() == 1
        memory.capture("tea")
        await eventually(lambda: lines() == 11)


async def test_l5_raw_is_stored_verbatim_and_redacted_on_the_way_out(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    secrets = ["sk-abcdEFGH1234ijklMNOP5678", "Bearer abc123.def456", "aB3/" * 20]
    async with make_memory(ALL_RAW) as memory:
        for secret in secrets:
            memory.capture(f"The weather service takes {secret} now.")
        found = await quoted(memory, "weather", clock)
        assert len(found) == 3
        assert all("[redacted] now." in snippet for snippet in found)
        [shard] = shards_of(memory)
        for secret in secrets:
            assert secret in shard.read_text()
            assert secret.removeprefix("Bearer ") not in str(found)
    assert "the journal is plain text" in (ROOT / "README.md").read_text()


async def test_l6_a_tombstone_remains_of_what_was_purged_and_a_scan_skips_it(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory(ALL_RAW) as memory:
        secret = await memory.record("the word is quokka", role="user")
        await memory.record("the kettle is blue", role="user")
        await memory.forget(secret.record_id)
        [shard] = shards_of(memory)
        assert "raw_tombstone" not in shard.read_text(), "not before the purge has run"
        pass_time(clock, DAY)
        assert (await memory.erase_due()).raw_lines == 1
        lines = [json.loads(line) for line in shard.read_text().splitlines()]
        [tombstone] = [line for line in lines if "type" in line]
        assert tombstone.keys() == {"type", "hash", "timestamp"}
        assert (tombstone["type"], tombstone["timestamp"][:10]) == ("raw_tombstone", "2026-03-03")
        assert await quoted(memory, "the is", clock) == ["the kettle is blue"]
        assert holding(memory.data_dir, "quokka") == []


async def test_l7_a_deep_look_needs_both_ends_of_a_time(make_memory: MakeMemory, clock: FakeClock) -> None:
    now = clock.now()
    async with make_memory(ALL_RAW) as memory:
        for window in ({}, {"start": now}, {"end": now}):
            with pytest.raises(InvalidInput) as refused:
                await memory.recall("tea", mode="deep_raw", **window)
            assert refused.value.code == "MEM_E_INVALID_INPUT"
        assert (await memory.recall("tea", mode="deep_raw", start=now, end=now + DAY)).raw == ()


async def test_l8_a_deep_look_keeps_to_1000_tokens_and_says_that_it_was_cut(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    window = {"start": clock.now(), "end": clock.now() + DAY}
    async with make_memory(ALL_RAW) as memory:
        for number in range(200):
            memory.capture(f"number {number} of what was said of the weather in Oslo")
        for tokens in (1000, 50):
            found = await memory.recall("weather", mode="deep_raw", **window)
            assert 0 < sum(memory.count_tokens(str(hit)) for hit in found.raw) <= tokens
            assert found.notes[-1].startswith("some raw records were cut")
            assert "budget" in found.notes[-1]
            await memory.configure({"raw.maxResultTokens": 50})


async def test_l9_maintenance_deletes_shards_before_today_minus_the_retention_and_counts_the_rest(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory(ALL_RAW) as memory:
        for _ in range(33):
            await memory.record("good morning", role="user")
            pass_time(clock, DAY)
        await memory.record("good morning " * 4000, role="user")
        assert did(await memory.run_maintenance(), "raw")["shards"] == 3
        first = (clock.now() - 30 * DAY).strftime("%Y-%m-%d")
        assert (shards_of(memory)[0].stem, len(shards_of(memory))) == (first, 31)
        raw = sum(path.stat().st_size for path in shards_of(memory))
        stored = sum(path.stat().st_size for path in memory.data_dir.rglob("*") if path.is_file())
        counted = did(await memory.run_maintenance(), "storage")["bytes"]
        assert counted == pytest.approx(stored, abs=raw / 4)
        clock.set(clock.now() + 400 * DAY)
        await memory.record("good morning", role="user")
        await memory.run_maintenance()
        assert [path.stem for path in shards_of(memory)] == [clock.now().strftime("%Y-%m-%d")]


async def test_l10_only_what_is_said_is_captured_and_of_tools_the_errors(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    def answer(messages: list[BaseMessage]) -> AIMessage | str:
        last = messages[-1]
        if isinstance(last, HumanMessage) and last.text in ("weather", "broken"):
            return AIMessage("", tool_calls=[call_of(last.text, len(messages))])
        return "ok"

    async with make_memory(ALL_RAW) as memory:
        await memory.record("An older talk of the weather", role="user")
        model, middleware = ScriptedModel(script=answer), [HippoMiddleware(memory)]
        agent = create_agent(model, [weather, broken], middleware=middleware)
        await agent.ainvoke({"messages": [HumanMessage("weather")]}, thread("t"))
        host = HumanMessage("today is Monday", additional_kwargs={"lc_source": "host"})
        with pytest.raises(LookupError):
            await agent.ainvoke({"messages": [host, HumanMessage("broken")]}, thread("u"))
        failed = ToolMessage("no such door", name="door", tool_call_id="c", status="error")
        called = AIMessage("", tool_calls=[{"name": "door", "args": {}, "id": "c", "type": "tool_call"}])
        await agent.ainvoke({"messages": [HumanMessage("open"), called, failed]}, thread("v"))
        raw = await quoted(memory, "", clock)
        assert [text for text in raw if "failed" not in text and "called" not in text] == [
            *("An older talk of the weather", "weather", "ok", "broken", "open", "ok")
        ]
        assert [text for text in raw if "failed" in text] == [
            "broken failed: LookupError: no such city as Oslo",
            "door failed: no such door",
        ]
