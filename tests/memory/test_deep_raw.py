"""``recall(mode="deep_raw")``: what was said word for word, for whom it concerns (L5, L7, L8)."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hippo_async import Hippocampus, Recall, Settings
from hippo_async.engine import find_keys
from hippo_async.errors import InvalidInput
from hippo_async.files import Files
from hippo_async.journal import Lineage
from hippo_async.place import Place
from hippo_async.testing import FakeClock, each_cancellation

MakeMemory = Callable[..., Hippocampus]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def keeping(**raw: Any) -> Settings:
    return Settings.from_mapping({"capture": {"flush_seconds": 0.01}, "raw": {"mode": "all", **raw}})


@pytest.fixture
def make_raw(make_memory: MakeMemory) -> MakeMemory:
    def make(**raw: Any) -> Hippocampus:
        return make_memory(settings=keeping(**raw), clock=FakeClock(NOON))

    return make


async def deep(memory: Hippocampus, query: str, **filters: Any) -> Recall:
    window = {"start": NOON - DAY, "end": NOON + DAY}
    return await memory.recall(query, mode="deep_raw", **(window | filters))


def said(found: Recall) -> list[str]:
    return [hit.snippet for hit in found.raw]


@pytest.mark.parametrize("window", [{}, {"start": NOON}, {"end": NOON}, {"start": NOON, "end": NOON - DAY}])
@pytest.mark.parametrize("mode", ["all", "off"])
async def test_it_needs_a_window_with_both_ends(
    make_raw: MakeMemory, window: dict[str, datetime], mode: str
) -> None:
    async with make_raw(mode=mode) as memory:
        with pytest.raises(InvalidInput) as caught:
            await memory.recall("tea", mode="deep_raw", **window)
        assert caught.value.code == "MEM_E_INVALID_INPUT"


@pytest.mark.parametrize("arguments", [{"top_k": 3}, {"neighbours": 1}])
async def test_what_means_nothing_to_it_is_refused_rather_than_passed_over(
    make_raw: MakeMemory, arguments: dict[str, int]
) -> None:
    async with make_raw() as memory:
        with pytest.raises(InvalidInput, match="memories"):
            await deep(memory, "tea", **arguments)


async def test_it_quotes_what_was_captured_a_moment_ago_with_its_secrets_taken_out(
    make_raw: MakeMemory,
) -> None:
    async with make_raw() as memory:
        memory.capture("Use sk-abcdEFGH1234ijklMNOP5678 for the weather service.")
        memory.capture("Authorization: Bearer abc123.def456 worked for the weather.", role="assistant")
        found = await deep(memory, "weather")
        assert said(found) == [
            "Use [redacted] for the weather service.",
            "Authorization: Bearer [redacted] worked for the weather.",
        ]
        assert [hit.role for hit in found.raw] == ["user", "assistant"]
        assert (found.hits, found.notes, len(found)) == ((), (), 0)
        assert "sk-abcd" not in str(found.as_dict())


async def test_a_scope_and_every_other_filter_hold_for_raw_turns_too(make_raw: MakeMemory) -> None:
    """A raw line says nothing of them; the record of the same turn does."""
    async with make_raw() as memory:
        memory.capture("tea of ann", scope=("ann",), session="monday", tags=["hot"])
        memory.capture("tea of ben", scope=("ben",))
        memory.capture("more tea of ann", role="assistant", scope=("ann",), kind="decision")
        memory.capture("tea of nobody")
        assert said(await deep(memory, "tea")) == ["tea of nobody"]
        assert said(await deep(memory, "tea", scope=("ann",))) == ["tea of ann", "more tea of ann"]
        for filters in ({"session": "monday"}, {"tags": ["hot"]}, {"roles": ["user"]}):
            assert said(await deep(memory, "tea", scope=("ann",), **filters)) == ["tea of ann"]
        assert said(await deep(memory, "", scope=("ann",), kinds=["decision"])) == ["more tea of ann"]


async def test_only_the_window_is_looked_through(make_raw: MakeMemory) -> None:
    async with make_raw() as memory:
        for day in range(-2, 3):
            memory.capture(f"tea {day}", timestamp=NOON + day * DAY)
        assert said(await deep(memory, "tea")) == ["tea -1", "tea 0"]


async def test_the_result_keeps_to_its_budget_and_the_last_note_says_that_it_was_cut(
    make_raw: MakeMemory,
) -> None:
    async with make_raw(max_result_tokens=200) as memory:
        for number in range(50):
            memory.capture(f"第{number}次我们谈到了水壶 number {number} and the weather")
        for narrower in ({}, {"max_tokens": 60}, {"max_tokens": 5000}):
            budget = min(200, narrower.get("max_tokens", 200))
            found = await deep(memory, "水壶", **narrower)
            assert 0 < sum(memory.count_tokens(str(hit)) for hit in found.raw) <= budget
            assert found.notes[-1] == f"some raw records were cut to keep to the budget of {budget} tokens"


async def test_a_scan_stops_at_its_limit(make_raw: MakeMemory) -> None:
    async with make_raw(max_scan_mb=1) as memory:
        for _ in range(30):
            memory.capture("lead " * 10_000)
        memory.capture("the needle")
        found = await deep(memory, "needle")
        assert said(found) == []
        assert found.notes == ("the scan stopped in 2026-03-01 after 1 MB; narrow the time window",)


async def test_with_the_box_off_a_note_says_so(make_raw: MakeMemory) -> None:
    async with make_raw(mode="off") as memory:
        memory.capture("tea")
        found = await deep(memory, "tea")
        assert found.raw == ()
        assert "raw.mode is off" in found.notes[0]


async def test_a_raw_line_that_was_edited_is_not_quoted(make_raw: MakeMemory, tmp_path: Path) -> None:
    async with make_raw() as memory:
        memory.capture("the code is 1234")
        await memory.flush()
        [shard] = (tmp_path / "store/raw").glob("*.jsonl")
        await asyncio.to_thread(lambda: shard.write_bytes(shard.read_bytes().replace(b"is 1234", b"is 9999")))
        found = await deep(memory, "code")
        assert found.raw == ()
        assert found.notes == ("1 raw lines do not say what the journal sealed; they were left out",)


async def test_what_was_purged_is_not_quoted(make_raw: MakeMemory, tmp_path: Path) -> None:
    async with make_raw() as memory:
        secret = await memory.record("the safe opens with 4711", role="user")
        await memory.record("the safe is green", role="user")

    def purge() -> None:
        place = Place(tmp_path / "store", "tester", None, None, tmp_path / "witness")
        keys = find_keys(place, Files(), make=False)
        lineage = Lineage(place.data_dir, agent_id="tester", keys=keys, witness=place.witness)
        with closing(lineage) as journal:
            journal.open()
            journal.purge([secret.record_id])

    await asyncio.to_thread(purge)
    async with make_raw() as memory:
        assert said(await deep(memory, "safe")) == ["the safe is green"]


async def test_a_cancelled_caller_leaves_no_file_open_and_the_memory_as_it_was(make_raw: MakeMemory) -> None:
    async with make_raw() as memory:
        memory.capture("The kettle is blue.", role="user")
        expected = await deep(memory, "kettle")
        assert len(expected.raw) == 1
        runs = 0
        for cancellation in each_cancellation():
            with suppress(asyncio.CancelledError):
                assert await cancellation.run(deep(memory, "kettle")) == expected
            assert await deep(memory, "kettle") == expected
            runs += 1
        assert runs > 3, "it waits for the flush, the shards and their contents"
        await asyncio.sleep(0.05)
        links = [os.readlink(f"/proc/self/fd/{fd}") for fd in _descriptors()]
        assert not any("/raw/" in link for link in links)


def _descriptors() -> list[str]:
    try:
        return [fd for fd in os.listdir("/proc/self/fd") if Path(f"/proc/self/fd/{fd}").is_symlink()]
    except FileNotFoundError:
        pytest.skip("open files are looked up in /proc")


async def test_counting_and_looking_are_done_in_threads(make_memory: MakeMemory) -> None:
    threads: set[int] = set()

    def count(text: str) -> int:
        threads.add(threading.get_ident())
        return len(text)

    async with make_memory(settings=keeping(), clock=FakeClock(NOON), token_counter=count) as memory:
        memory.capture("tea")
        await deep(memory, "tea")
    assert threads and threading.get_ident() not in threads
