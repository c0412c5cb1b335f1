"""What stands near what a question is about comes last, at half, with the tag that led there (L18)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hippo_async import Hippocampus, Settings

MakeMemory = Callable[..., Hippocampus]


@pytest.fixture
def memory(tmp_path: Path) -> Hippocampus:
    by_hand = Settings.from_mapping({"tags": {"automatic": False}})
    return Hippocampus(tmp_path / "store", embedder="none", witness=None, maintenance=False, settings=by_hand)


async def tell(memory: Hippocampus, scope: tuple[str, ...] = ()) -> None:
    told = {
        "Nimbus is moored at pier nine": ["boat", "harbour"],
        "The boat needs a new mast": ["boat", "harbour", "repair"],
        "Ferries leave every hour": ["harbour"],
        "The lighthouse is closed in winter": ["harbour"],
        "Grandma's soup has a secret": ["soup"],
        "The boat race is in May": ["boat", "race"],
    }
    for text, tags in told.items():
        await memory.record(text, tags=tags, scope=scope)


async def test_direct_hits_come_first_and_neighbours_after_them_with_their_tag(memory: Hippocampus) -> None:
    async with memory:
        await tell(memory)
        found = await memory.recall("the boat", top_k=10)
        direct = [hit for hit in found if hit.via is None]
        beside = [hit for hit in found if hit.via is not None]
        assert list(found) == direct + beside
        assert {hit.record.content for hit in direct} == {
            "The boat needs a new mast",
            "The boat race is in May",
        }
        assert {(hit.record.content, hit.via) for hit in beside} == {
            ("Nimbus is moored at pier nine", "harbour"),
            ("Ferries leave every hour", "harbour"),
            ("The lighthouse is closed in winter", "harbour"),
        }
        for hit in beside:
            assert hit.score == sum(hit.why.values())
            assert set(hit.why) == {"association"}
            assert 0 < hit.score <= 0.5
            assert hit.as_dict()["association"] == {"via": "harbour"}


async def test_there_is_no_association_where_direct_hits_are_enough(memory: Hippocampus) -> None:
    async with memory:
        await tell(memory)
        assert all(hit.via is None for hit in await memory.recall("the boat", top_k=2))


async def test_association_keeps_to_scope_and_filters_and_what_is_not_forgotten(memory: Hippocampus) -> None:
    async with memory:
        await tell(memory, scope=("ann",))
        await memory.record("The boat is mine", tags=["boat"])
        assert [hit.record.content for hit in await memory.recall("the boat")] == ["The boat is mine"]
        only = await memory.recall("the boat", scope=("ann",), tags=["RACE"])
        assert [hit.record.content for hit in only] == ["The boat race is in May"]
        [ferries] = [hit for hit in await memory.recall("ferries", scope=("ann",)) if hit.via is None]
        await memory.forget(ferries.record.record_id, scope=("ann",))
        found = await memory.recall("the boat", scope=("ann",))
        assert "Ferries leave every hour" not in {hit.record.content for hit in found}


async def test_tags_meet_in_any_case_and_width(memory: Hippocampus) -> None:
    async with memory:
        await memory.record("one", tags=["Boat"])
        await memory.record("two", tags=["ＢＯＡＴ"])
        assert len(await memory.recall("one two", tags=["boat"])) == 2
        assert await memory.active_tags() == [("boat", 2)]


async def test_the_network_of_tags_is_that_of_a_scope_and_of_what_can_be_found(memory: Hippocampus) -> None:
    async with memory:
        await tell(memory)
        await memory.record("theirs", tags=["boat", "secret"], scope=("ann",))
        graph = await memory.tag_graph()
        assert {node.tag: node.count for node in graph.nodes} == {
            "boat": 3,
            "harbour": 4,
            "repair": 1,
            "soup": 1,
            "race": 1,
        }
        assert set(graph.neighbours("harbour")) == {"boat", "repair"}
        assert len((await memory.tag_graph(max_edges=1)).edges) == 1
        [soup] = [hit for hit in await memory.recall("soup") if hit.via is None]
        await memory.forget(soup.record.record_id)
        assert "soup" not in {node.tag for node in (await memory.tag_graph()).nodes}
