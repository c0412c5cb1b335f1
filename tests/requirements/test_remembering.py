"""What an agent has remembered, and in what form (L1, L15-L18): one test a requirement, by its numbers."""

from __future__ import annotations

import re
from typing import Any

import pytest
from langchain_core.tools import BaseTool
from living import ALL_RAW, DAY, MakeMemory, pass_time
from scripted_tools import every_tool

from hippo_async import Turn
from hippo_async.errors import InvalidMedia
from hippo_async.testing import FakeClock


def questions_of(admin: BaseTool) -> set[str]:
    return set(admin.tool_call_schema.model_json_schema()["properties"]["action"]["enum"])


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
