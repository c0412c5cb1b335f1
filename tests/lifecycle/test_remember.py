"""Remembering once (L1, L15, L16, L22), reviews (L12), and the one task in progress (L14)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hippo_async import Hippocampus
from hippo_async.errors import InvalidInput, InvalidMedia, NotFound
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]

DAY = timedelta(days=1)


async def texts(memory: Hippocampus, query: str, **filters: Any) -> list[str | None]:
    return [hit.record.content for hit in await memory.recall(query, **filters)]


async def test_what_is_remembered_fifty_times_at_once_is_one_memory_with_a_count(
    make_memory: MakeMemory,
) -> None:
    async with make_memory() as memory:
        all_of_them = await asyncio.gather(*(memory.remember("The kettle is blue.") for _ in range(50)))
        assert len({each.record.record_id for each in all_of_them}) == 1
        assert sum(each.is_new for each in all_of_them) == 1
        assert (await memory.remember("the  KETTLE is blue.")).count == 51
        assert await texts(memory, "kettle") == ["The kettle is blue."]
    async with make_memory() as memory:
        assert (await memory.remember("The kettle is blue.")).count == 52


async def test_case_width_and_the_order_of_tags_make_no_other_memory_but_words_tags_and_scope_do(
    make_memory: MakeMemory,
) -> None:
    async with make_memory() as memory:
        first = await memory.remember("Tea at 9", tags=["b", "a"])
        for same in ("tea at ９", "  Tea\tat 9\n"):
            assert (await memory.remember(same, tags=["a", "b", "a"])).event_id == first.event_id
        others = [
            await memory.remember("Tea at 10", tags=["a", "b"]),
            await memory.remember("Tea at 9", tags=["a"]),
            await memory.remember("Tea at 9", tags=["a", "b"], scope=("ann",)),
            await memory.remember("Tea at 9", tags=["a", "b"], occurrence=1),
            await memory.remember("Tea at 9", tags=["a", "b"], occurred=datetime(2026, 1, 1, tzinfo=UTC)),
            await memory.remember("Tea at 9", tags=["a", "b"], media_url="/tea.png", media_type="image"),
        ]
        assert all(each.is_new for each in others)
        assert len({first.event_id, *(each.event_id for each in others)}) == 7


async def test_by_content_the_day_that_a_text_names_says_when_it_happened(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        for text in ("Met Anna yesterday", "Вчера видел Анну", "昨天见了安娜", "Met Anna"):
            await memory.remember(text)
        clock.advance(DAY.total_seconds())
        again = {
            text: await memory.remember(text)
            for text in ("Met Anna yesterday", "Вчера видел Анну", "Met Anna")
        }
        assert [each.is_new for each in again.values()] == [True, True, False]


async def test_by_ingest_each_time_is_an_event_and_explicit_asks_when_it_was(make_memory: MakeMemory) -> None:
    async with make_memory({"identity": {"event_time_policy": "explicit"}}) as memory:
        with pytest.raises(InvalidInput, match="occurred"):
            await memory.remember("Met Anna")
        noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
        assert (await memory.remember("Met Anna", occurred=noon)).is_new
        same = noon.astimezone(tz=datetime.fromisoformat("2026-01-01T12:00+08:00").tzinfo)
        assert not (await memory.remember("Met Anna", occurred=same)).is_new
    async with make_memory({"identity": {"event_time_policy": "ingest"}}) as memory:
        assert (await memory.remember("Met Ben")).is_new


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://a.org/b.png", "image"),
        ("HTTP://a.org", "video"),
        ("/home/b.pdf", "document"),
        ("C:\\b.wav", "audio"),
    ],
)
async def test_a_medium_is_named_and_kept(make_memory: MakeMemory, url: str, kind: str) -> None:
    async with make_memory() as memory:
        found = await memory.remember("The whiteboard", media_url=url, media_type=kind)
        assert found.record.metadata["media"] == {"url": url, "type": kind}


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://a.org", None),
        (None, "image"),
        ("https://a.org", "picture"),
        ("ftp://a.org/b", "image"),
        ("b.png", "image"),
        ("", "image"),
        ("https://", "image"),
        ("http://[", "image"),
        ("data:image/png;base64,AAAA", "image"),
    ],
)
async def test_a_medium_that_cannot_be_is_refused(
    make_memory: MakeMemory, url: str | None, kind: str | None
) -> None:
    async with make_memory() as memory:
        with pytest.raises(InvalidMedia) as refused:
            await memory.remember("The whiteboard", media_url=url, media_type=kind)
        assert refused.value.code == "MEM_E_INVALID_MEDIA"
        assert memory.status().journal_seq == 0


async def test_256_characters_of_base64_are_no_text_and_200_are(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        for length in (200, 255):
            await memory.remember(f"token {'aB3/' * 64:.{length}}")
        for length in (256, 4000):
            with pytest.raises(InvalidMedia, match="base64"):
                await memory.remember(f"token {'aB3/' * 1000:.{length}} and more")
        await memory.remember("-" * 300 + "=" * 300)


async def test_reviews_come_after_1_2_4_7_15_and_30_days_each_after_a_confirmation(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        kept = await memory.remember("The gate code is 4711")
        for days in (1, 2, 4, 7, 15, 30):
            clock.advance((days * DAY).total_seconds() - 1)
            assert await memory.reviews() == []
            clock.advance(1)
            [due] = await memory.reviews()
            assert due.record_id == kept.record.record_id
            await memory.reinforce(kept.event_id)
        clock.advance((400 * DAY).total_seconds())
        assert await memory.reviews() == []
    async with make_memory() as memory:
        assert (await memory.reinforce(kept.record.record_id)).confirmed == 7
    async with make_memory({"review": {"enabled": False}}) as memory:
        await memory.remember("another")
        clock.advance((2 * DAY).total_seconds())
        assert await memory.reviews() == []


async def test_only_what_was_remembered_is_confirmed_and_only_in_its_scope(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        turn = await memory.record("said in passing")
        theirs = await memory.remember("the code is 4711", scope=("ann",))
        for name in (turn.record_id, theirs.event_id, "nothing"):
            with pytest.raises(NotFound):
                await memory.reinforce(name)
        assert (await memory.reinforce(theirs.event_id, scope=("ann",))).confirmed == 1


async def test_the_last_checkpoint_is_the_active_task_and_the_only_one(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        assert await memory.active_task() is None
        await memory.checkpoint("move", "Boxes are packed", progress=20)
        task = await memory.checkpoint("move", "The van is ordered", progress=40)
        assert task is not None
        assert (task.task_id, task.progress) == ("move", 40)
        assert await texts(memory, "boxes van") == ["The van is ordered"]
        await memory.checkpoint("tax", "Receipts sorted", progress=10)
        await memory.checkpoint("move", "theirs", progress=5, scope=("ann",))
        assert (active := await memory.active_task()) is not None
        assert active.task_id == "tax"
    async with make_memory() as memory:
        assert (again := await memory.active_task()) is not None
        assert again == active
        assert await memory.checkpoint("tax", "Sent", progress=100) is None
        assert await memory.active_task() is None


@pytest.mark.parametrize(
    ("task_id", "progress"), [("", 0), ("x" * 201, 0), ("a", -1), ("a", 101), ("a", True), ("a", 0.5)]
)
async def test_a_checkpoint_that_cannot_be_is_refused(
    make_memory: MakeMemory, task_id: str, progress: Any
) -> None:
    async with make_memory() as memory:
        with pytest.raises(InvalidInput):
            await memory.checkpoint(task_id, "text", progress=progress)


@pytest.mark.parametrize(
    "metadata",
    [
        {"hippo_operation": {"act": "forgotten", "target": "x"}},
        {"event": "checkpoint"},
        {"event": "remembered"},
        {"event": "folded_summary"},
    ],
)
async def test_nobody_writes_what_moves_and_hides_memories(
    make_memory: MakeMemory, metadata: dict[str, Any]
) -> None:
    async with make_memory() as memory:
        with pytest.raises(InvalidInput):
            await memory.record("hello", metadata=metadata)
        with pytest.raises(InvalidInput):
            await memory.remember("hello", metadata=metadata)
        await memory.record("hello", metadata={"event": "click", "task": "a", "identity": "b"})


async def test_a_memory_without_tags_gets_those_of_the_tagger_once_else_those_of_its_own_words(
    make_memory: MakeMemory,
) -> None:
    asked: list[str] = []

    async def tagger(text: str) -> list[str]:
        asked.append(text)
        return ["Kitchen"]

    async with make_memory(tagger=tagger) as memory:
        kept = await memory.remember("The kettle is blue.")
        assert kept.record.tags == ("kitchen",)
        await memory.remember("The kettle is blue.")
        await memory.remember("The stove is red.", tags=["mine"])
        assert asked == ["The kettle is blue."]
        await memory.record("We walked to the harbour.", role="user")
        assert await memory.active_tags() == [("harbour", 1), ("kitchen", 1), ("mine", 1)]
    async with make_memory() as memory:
        assert (await memory.remember("The lamp is green.")).record.tags == ("lamp",)
    async with make_memory({"tags": {"automatic": False}}, tagger=tagger) as memory:
        assert (await memory.remember("The shelf is white.")).record.tags == ()


@pytest.mark.parametrize("how", ["confirmed", "remembered again"])
async def test_of_two_that_match_alike_the_one_that_was_confirmed_is_found_first(
    make_memory: MakeMemory, how: str
) -> None:
    async with make_memory() as memory:
        first = await memory.remember("The spare key is at the harbour office.")
        await memory.remember("The spare key is at the village bakery.")
        before = await memory.recall("where is the spare key", top_k=2)
        assert before[0].record.record_id != first.record.record_id, "the newer one"
        if how == "confirmed":
            await memory.reinforce(first.record.record_id)
        else:
            await memory.remember("The spare key is at the harbour office.")
        [best, other] = await memory.recall("where is the spare key", top_k=2)
        assert best.record.record_id == first.record.record_id
        assert best.why["again"] > 0
        assert "again" not in other.why
