"""The layered memory (L1-L29): one test a requirement, by the numbers and codes it names."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from doors import holding
from eventual import eventually
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from scripted_tools import broken, call_of, thread, weather

from hippo_async import Hippocampus, Settings, Turn
from hippo_async.config import ConfigError
from hippo_async.errors import (
    Forgotten,
    InvalidInput,
    InvalidMedia,
    MaintenanceInFlight,
    MigrationFailed,
    MigrationLocked,
    NotFound,
)
from hippo_async.files import Files
from hippo_async.lifecycle.maintenance import MaintenanceReport, Source
from hippo_async.migration import find_old, migrate
from hippo_async.place import Place
from hippo_async.testing import FakeClock, ScriptedOps
from hippo_langchain import HippoMiddleware, memory_tools
from hippo_langchain.testing import ScriptedModel

MakeMemory = Callable[..., Hippocampus]
ROOT = Path(__file__).parents[2]
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
ALL_RAW = {"raw": {"mode": "all"}}
MB = 1024 * 1024


def pass_time(clock: FakeClock, time: timedelta) -> None:
    clock.advance(time.total_seconds())


async def texts(memory: Hippocampus, query: str, **filters: Any) -> list[str | None]:
    return [hit.record.content for hit in await memory.recall(query, **filters)]


async def quoted(memory: Hippocampus, query: str, clock: FakeClock) -> list[str]:
    window = {"start": clock.now() - 9 * DAY, "end": clock.now() + DAY}
    return [hit.snippet for hit in (await memory.recall(query, mode="deep_raw", **window)).raw]


def did(report: MaintenanceReport, name: str) -> dict[str, Any]:
    [step] = [step for step in report.steps if step.name == name]
    assert step.error is None
    return dict(step.did)


def shards_of(memory: Hippocampus) -> list[Path]:
    return sorted((memory.data_dir / "raw").iterdir())


def every_tool(memory: Hippocampus) -> dict[str, BaseTool]:
    made = memory_tools(memory, tools="all", verbatim=True)
    return {tool.name.removesuffix("_memory"): tool for tool in made}


def questions_of(admin: BaseTool) -> set[str]:
    return set(admin.tool_call_schema.model_json_schema()["properties"]["action"]["enum"])


# --- tools ----------------------------------------------------------------------------------------


async def test_l1_there_is_a_tool_for_each_thing_to_do_with_a_memory(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory(ALL_RAW) as memory:
        tools = every_tool(memory)

        async def call(name: str, **arguments: Any) -> str:
            return str(await tools[name].ainvoke(arguments))

        boat = {"text": "The boat is called Nimbus.", "tags": ["boat"]}
        kept = re.search(r"\[(\w+)\]", await call("remember", **boat))
        assert kept is not None
        name = {"memory_id": kept[1]}
        assert "remembered 2 times" in await call("remember", **boat)
        assert "boat, 40 % done" in await call("checkpoint", task="boat", text="Hull done.", progress=40)
        assert "Captured" in await call("capture", text="The rent is 900 euros.")
        today = {"since": "2026-03-02", "until": "2026-03-02"}
        assert "900" in await call("recall", query="rent", mode="deep_raw", **today)
        assert "Nimbus" in await call("recall", query="boat", tags=["boat"])
        assert "next review 2026-03-04" in await call("reinforce", **name)
        assert "Forgotten" in await call("forget", **name)
        assert "Nimbus" not in await call("recall", query="boat")
        assert kept[1] in await call("admin", action="pending_deletes")
        assert "Restored" in await call("restore", **name)
        pass_time(clock, 2 * DAY)
        said = {action: await call("admin", action=action) for action in questions_of(tools["admin"])}
        assert set(said) == {
            *("status", "maintain", "active_tags", "semantic", "active_task", "reviews", "pending_deletes")
        }
        assert "0 failed" in said["maintain"]
        assert "Nothing was summarized" in said["semantic"]
        assert "works" in said["status"]
        assert "boat (1)" in said["active_tags"]
        assert "40 %" in said["active_task"]
        assert kept[1] in said["reviews"]
        assert (await memory.run_maintenance()).failed == ()


# --- the raw layer --------------------------------------------------------------------------------


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


# --- what becomes of memories ---------------------------------------------------------------------


async def test_l11_what_is_forgotten_is_pending_for_24_hours_then_purged_and_restore_undoes_either(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        with pytest.raises(NotFound) as unknown:
            await memory.forget("0" * 32)
        assert unknown.value.code == "MEM_E_NOT_FOUND"
        name = (await memory.remember("The word is quokka.")).event_id
        pending = await memory.forget(name)
        since, due = map(datetime.fromisoformat, (pending.since, pending.due))
        assert due - since == 24 * HOUR
        assert await memory.restore(name), "before that it is cancelled"
        assert await texts(memory, "quokka") == ["The word is quokka."]
        await memory.forget(name)
        pass_time(clock, 24 * HOUR - timedelta(seconds=1))
        assert did(await memory.run_maintenance(), "forget")["records"] == 0
        pass_time(clock, timedelta(seconds=1))
        assert did(await memory.run_maintenance(), "forget")["records"] == 1
        assert holding(memory.data_dir, "quokka") == []
        with pytest.raises(Forgotten):
            await memory.remember("The word is quokka.")
        assert not await memory.restore(name), "the text is gone"
        assert (await memory.remember("The word is quokka.")).is_new


async def test_l12_reviews_come_at_1_2_4_7_15_and_30_days(make_memory: MakeMemory, clock: FakeClock) -> None:
    async with make_memory() as memory:
        name = (await memory.remember("The gate code is 4711.")).event_id
    for days in (1, 2, 4, 7, 15, 30):
        async with make_memory() as memory:  # what is due is known after each opening
            pass_time(clock, days * DAY - timedelta(seconds=1))
            assert await memory.reviews() == []
            pass_time(clock, timedelta(seconds=1))
            assert did(await memory.run_maintenance(), "reviews") == {"due": 1}
            shown = await every_tool(memory)["admin"].ainvoke({"action": "reviews"})
            assert "The gate code is 4711." in shown
            await memory.reinforce(name)
            assert await memory.reviews() == []
    async with make_memory() as memory:
        pass_time(clock, 400 * DAY)
        assert await memory.reviews() == []


async def test_l13_a_memory_moves_whole_or_stays_where_it_is(
    make_memory: MakeMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    old, new = tmp_path / ".hippo", tmp_path / "new"
    async with make_memory() as memory:
        for word in ("kettle", "pan"):
            await memory.record(f"The {word} is blue.")
    memory.data_dir.rename(old)
    place, seen = Place(old, "tester", None, None, None), []

    def move(progress: Callable[[int, int], None] = lambda done, total: None, **files: Files) -> int:
        return migrate(place, new, progress=progress, **files).move.records

    def spoil(*_: int) -> None:
        for path in new.glob("journal/gen-*/seg-*"):
            path.write_bytes(path.read_bytes().replace(b"blue", b"pink"))

    assert await asyncio.to_thread(find_old, new) == old
    with pytest.raises(MigrationFailed):
        await asyncio.to_thread(move, spoil)
    assert not new.exists()
    assert not (old / "MOVED").exists()
    ops = ScriptedOps(syncing=False)
    gate = ops.hold("write", name="HEAD*")
    first = asyncio.create_task(asyncio.to_thread(move, lambda *at: seen.append(at), files=Files(ops)))
    await asyncio.to_thread(gate.wait_reached)
    with pytest.raises(MigrationLocked) as refused:
        await asyncio.to_thread(move)
    assert refused.value.code == "MEM_E_MIGRATION_LOCKED"
    gate.open()
    assert await first == await asyncio.to_thread(move) == 3, "once more is no harm"
    assert seen[-1][0] == seen[-1][1] > 0
    assert (new / "MIGRATED").read_bytes() == (old / "MOVED").read_bytes()
    assert holding(old, "The kettle is blue.") == holding(new, "The kettle is blue.") != []


async def test_l14_one_task_is_active_however_old_until_nothing_is_heard_of_it_for_7_days(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory({"activeSet.cap": 100}) as memory:

        async def active() -> str | None:
            task = await memory.active_task()
            return task and task.task_id

        await memory.checkpoint("tax", "Receipts sorted.", progress=10)
        await memory.checkpoint("move", "Boxes packed.", progress=20)
        assert await active() == "move"
        for number in range(150):
            memory.capture(f"fact {number} of many")
        assert await active() == "move"
        pass_time(clock, 7 * DAY)
        assert did(await memory.run_maintenance(), "tasks") == {"demoted": 0}
        pass_time(clock, timedelta(seconds=1))
        assert did(await memory.run_maintenance(), "tasks") == {"demoted": 1}
        assert await active() is None


async def test_l15_a_medium_is_a_link_or_an_absolute_path_and_one_of_four_types(
    make_memory: MakeMemory,
) -> None:
    async with make_memory() as memory:
        for at, kind in enumerate(("image", "video", "document", "audio")):
            for url in (f"https://example.org/{at}", f"http://example.org/{at}", f"/home/ada/{at}"):
                kept = await memory.remember(f"number {at}", media_url=url, media_type=kind)
                assert kept.record.metadata["media"] == {"url": url, "type": kind}
        for url, of_type in (
            *(("https://example.org/a", None), (None, "image"), ("a.png", "image")),
            *(("ftp://example.org/a", "image"), ("https://example.org/a", "picture")),
        ):
            with pytest.raises(InvalidMedia) as refused:
                await memory.remember("number 5", media_url=url, media_type=of_type)
            assert refused.value.code == "MEM_E_INVALID_MEDIA"


async def test_l16_256_characters_of_base64_are_refused_and_200_pass(make_memory: MakeMemory) -> None:
    run = "aB3/" * 100
    async with make_memory() as memory:
        assert (await memory.remember(f"see {run[:200]} here")).is_new
        for length in (256, 400):
            with pytest.raises(InvalidMedia) as refused:
                await memory.remember(f"see {run[:length]} here")
            assert refused.value.code == "MEM_E_INVALID_MEDIA"


async def test_l17_a_fold_is_one_summary_with_names_tasks_and_conclusions(make_memory: MakeMemory) -> None:
    said = [
        "Hello there, what a lovely day it is.",
        "I spoke with Anna Larsen about the flat.",
        "Please remember to send the contract.",
        "We decided to take the flat for 1200 euros.",
    ]
    async with make_memory() as memory:
        last = memory.status().journal_seq
        fold = await memory.fold([Turn("user", text, 12) for text in said])
        assert memory.status().journal_seq == last + 1
        assert (fold.event, fold.tags) == ("folded_summary", ("status:folded",))
        for part in ("Anna Larsen", "remember to send the contract", "decided to take the flat"):
            assert part in fold.text


async def test_l18_the_3_strongest_neighbours_of_a_tag_come_after_the_direct_hits_at_half(
    make_memory: MakeMemory,
) -> None:
    beside = {"harbour": 6, "mast": 5, "sail": 4, "paint": 1}
    async with make_memory({"tags.automatic": False}) as memory:
        for tag, times in beside.items():
            for number in range(times):
                await memory.record(f"the boat, {tag} {number}", tags=["boat", tag])
            await memory.record(f"only that of {tag}", tags=[tag])
        for number in range(20):
            await memory.record(f"soup {number}", tags=["soup"])
        found = (await memory.recall("the boat", top_k=40)).hits
        direct = [hit for hit in found if hit.via is None]
        associated = found[len(direct) :]
        assert {hit.record.text for hit in associated} == {
            *("only that of harbour", "only that of mast", "only that of sail")
        }
        for hit in associated:
            assert hit.as_dict()["association"] == {"via": hit.record.text.split()[-1]}
            assert 0 < hit.score <= 0.5
        graph = {edge.other: edge.weight for edge in (await memory.tag_graph()).edges if edge.one == "boat"}
        half = [0.5 * graph[str(hit.via)] for hit in associated]
        assert [hit.score for hit in associated] == pytest.approx(half)


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


# --- what is kept, and how it is known ------------------------------------------------------------


async def test_l21_all_but_the_log_may_be_deleted_and_is_made_again_equal(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async def known(memory: Hippocampus) -> list[Any]:
        return [
            *(await memory.active_task(), await memory.active_tags(), await memory.tag_graph()),
            *(await memory.reviews(), await memory.pending_deletes(), await memory.latest(n=99)),
            *(await memory.latest(tags=["status:monthly"]), (await memory.recall("boat", top_k=50)).hits),
        ]

    async with make_memory() as memory:
        for number in range(40):
            await memory.record(f"day {number} of the boat of Anna", role="user", tags=["boat", "harbour"])
            pass_time(clock, DAY)
        kept = [await memory.remember(f"The boat has {number} sails.") for number in range(5)]
        await memory.remember("The boat has 4 sails.")
        await memory.checkpoint("boat", "Hull done.", progress=40)
        await memory.run_maintenance()
        await memory.reinforce(kept[0].event_id)
        await memory.forget(kept[1].event_id)
        pass_time(clock, 2 * DAY)
        before = await known(memory)
        assert all(before)
    shutil.rmtree(memory.data_dir / "index")
    async with make_memory() as memory:
        assert await known(memory) == before
        assert did(await memory.run_maintenance(), "months") == {"made": 0}


async def test_l22_what_says_the_same_is_one_memory_and_what_was_forgotten_stays_so(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        first = await memory.remember("Tea at 9", tags=["b", "a"])
        again = await memory.remember("  tea   AT ９", tags=["a", "b"])
        second = await memory.remember("Tea at 9", tags=["a", "b"], occurrence=1)
        later = await memory.remember("Tea at 9", tags=["a", "b"], occurred=datetime(2026, 1, 1, tzinfo=UTC))
        assert (again.event_id, again.is_new, again.count) == (first.event_id, False, 2)
        assert len({each.event_id for each in (first, second, later)}) == 3
        assert len({each.record.metadata["identity"]["content_hash"] for each in (first, second, later)}) == 1
        await memory.forget(first.event_id)
        pass_time(clock, DAY)
        await memory.run_maintenance()
    shutil.rmtree(memory.data_dir / "index")
    async with make_memory() as memory:
        with pytest.raises(Forgotten):
            await memory.remember("Tea at 9", tags=["a", "b"])
        assert [record.record_id for record in await memory.latest(n=9)] == [
            *(later.record.record_id, second.record.record_id)
        ]


SETTINGS: dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = {
    # the default, values at the edge of the range, and values just outside
    "dataDir": (None, ("/var/lib/hippo",), ("relative",)),
    "migrateFrom": (None, ("", "/old"), (7,)),
    "maintenanceCron": ("0 */6 * * *", ("0 0 29 2 *",), ("0 0 30 2 *", "* * * *", "soon")),
    **dict.fromkeys(("briefing", "promptSection", "autoMaintainOnBoot"), (True, (False,), (0, "true"))),
    **dict.fromkeys(("enableDream", "enableReflection"), (True, (False,), (0, "true"))),
    "dreamIdleMinutes": (180, (1, 525_600), (0, 525_601)),
    "graphMaxEdges": (500, (100, 2000), (99, 2001)),
    "storageBudgetMb": (50, (10, 1000), (9, 1001)),
    "decay.halfLifeDays": (30, (7, 365), (6, 366)),
    "activeSet.cap": (200, (100, 1000), (99, 1001)),
    "maxRecallTopK": (100, (20, 1000), (0, 1001)),
    "retrieval.topK": (20, (1, 100), (0, 101)),
    "context.maxTokens": (4000, (256, 1_000_000), (255, 1_000_001)),
    "context.threshold": (0.85, (0.71, 0.99), (0.7, 1.0)),
    "context.target": (0.7, (0.1, 0.84), (0.85,)),
    "context.injectPrompt": (True, (False,), (1,)),
    "temp.ttlDays": (30, (20,), (19,)),
    "temp.promotionWindowDays": (20, (30,), (31,)),
    "identity.eventTimePolicy": ("content", ("explicit", "ingest"), ("never",)),
    "raw.mode": ("salience", ("off", "all"), ("some",)),
    "raw.minSalience": (0.6, (0.0, 1.0), (-0.01, 1.01)),
    "raw.maxTurnKb": (64, (8, 1024), (7, 1025)),
    "raw.maxBytesPerDay": (8 * MB, (MB, 128 * MB), (MB - 1, 128 * MB + 1)),
    "raw.maxTotalMb": (256, (16, 4096), (15, 4097)),
    "raw.retentionDays": (30, (1, 365), (0, 366, 30.5)),
    "raw.maxScanMb": (16, (1, 256), (0, 257)),
    "raw.maxResultTokens": (1000, (50, 20_000), (49, 20_001)),
    "raw.autoCapture": (True, (False,), (0,)),
    "raw.captureTools": (False, (True,), (1,)),
    "delete.graceHours": (24, (0, 168), (-1, 169)),
    "review.enabled": (True, (False,), (0,)),
    "migration.timeoutMs": (600_000, (10_000, 3_600_000), (9_999, 3_600_001)),
}


def value_of(settings: Settings, key: str) -> Any:
    found: Any = settings.as_mapping(camel=True)
    for part in key.split("."):
        found = found[part]
    return found


async def test_l23_settings_have_these_defaults_and_ranges_at_the_start_and_while_open(
    make_memory: MakeMemory,
) -> None:
    for key, (default, inside, outside) in SETTINGS.items():
        assert value_of(Settings(), key) == default
        assert [value_of(Settings.from_mapping({key: value}), key) for value in inside] == list(inside)
        for value in outside:
            with pytest.raises(ConfigError, match=re.escape(key)):
                Settings.from_mapping({key: value})
    codes = {
        "MEM_E_CONFIG_INVALID_CRON": {"maintenanceCron": "0 0 30 2 *"},
        "MEM_E_CONFIG_OUT_OF_RANGE": {"raw.maxTurnKb": 7},
        "MEM_E_CONFIG_UNKNOWN_KEY": {"raw.maxTurns": 7},
    }
    async with make_memory() as memory:
        before = memory.settings
        for code, patch in codes.items():
            for refuse in (Settings.from_mapping, memory.configure):
                with pytest.raises(ConfigError) as refused:
                    await refuse(patch)  # type: ignore[misc]
                assert refused.value.code == code
        assert memory.settings == before
        assert (await memory.configure({"raw.maxTurnKb": 8})).raw.max_turn_kb == 8


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
