"""Forgetting: hidden at once, erased when due, gone from every file (L6, L11; design §9)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hippo_async import Hippocampus, Turn
from hippo_async.errors import Forgotten, NotFound
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]

SECRET = "zanzibarquokka"
DAY = timedelta(days=1).total_seconds()


async def texts(memory: Hippocampus, query: str, **filters: Any) -> list[str | None]:
    return [hit.record.content for hit in await memory.recall(query, **filters)]


def holding(folder: Path, text: str) -> list[str]:
    """The files that hold a text, in any case."""
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and text.lower().encode() in path.read_bytes().lower()
    ]


async def everywhere(memory: Hippocampus, query: str, scope: tuple[str, ...] = ()) -> list[str]:
    """All that any door shows of what a query is about."""
    start, end = memory._tools.clock.now() - timedelta(days=9), memory._tools.clock.now() + timedelta(days=1)
    shown = [str(hit.record.content) for hit in await memory.recall(query, scope=scope, neighbours=3)]
    for hit in await memory.recall(query, scope=scope, neighbours=3):
        shown += [str(record.content) for record in hit.around]
    shown += [record.text for record in await memory.latest(n=100, scope=scope)]
    shown += [
        record.text for record in await memory.selective_load(10_000, include_routine=True, scope=scope)
    ]
    shown += [str(hit.record.content) for hit in await memory.pattern_completion(query, scope=scope)]
    shown.append((await memory.brief(query, scope=scope)).text)
    raw = await memory.recall(query, scope=scope, mode="deep_raw", start=start, end=end)
    shown += [hit.snippet for hit in raw.raw]
    shown += [record.text async for record in memory.records()]
    return [text for text in shown if query.lower() in text.lower()]


async def test_what_is_to_be_forgotten_is_hidden_from_every_door_at_once_and_comes_back_by_restore(
    make_memory: MakeMemory,
) -> None:
    async with make_memory() as memory:
        for text in ("good morning", f"the word is {SECRET}", "what a nice day"):
            await memory.record(text, role="user", session="s")
        hit, *_ = await memory.recall(SECRET)
        assert len(await everywhere(memory, SECRET)) > 5
        pending = await memory.forget(hit.record.record_id)
        assert await everywhere(memory, SECRET) == []
        assert await memory.pending_deletes() == [pending]
        assert await memory.forget(hit.record.record_id) == pending
        assert memory.status().kinds["observation"] == 2
    async with make_memory() as memory:
        assert await everywhere(memory, SECRET) == []
        assert await memory.restore(hit.record.record_id)
        assert len(await everywhere(memory, SECRET)) > 5
        assert await memory.pending_deletes() == []


async def test_it_can_be_restored_for_a_day_and_is_erased_by_what_comes_after(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    async with make_memory() as memory:
        kept = await memory.remember(f"the word is {SECRET}")
        await memory.forget(kept.event_id)
        clock.advance(DAY - 1)
        assert (await memory.erase_due()).records == 0
        assert holding(tmp_path / "store", SECRET) != []
        clock.advance(1)
        assert (await memory.erase_due()).records == 1
        assert (await memory.erase_due()).records == 0
        assert holding(tmp_path / "store", SECRET) == []
        assert (await memory.verify_chain()).intact
        assert [found.erased for found in await memory.pending_deletes()] == [True]


async def test_without_grace_it_is_gone_when_forget_returns(make_memory: MakeMemory, tmp_path: Path) -> None:
    async with make_memory({"delete": {"grace_hours": 0}}) as memory:
        kept = await memory.remember(f"the word is {SECRET}")
        await memory.forget(kept.record.record_id)
        assert holding(tmp_path / "store", SECRET) == []
        assert (await memory.verify_chain()).intact


async def test_an_erased_text_is_in_no_file_in_any_form(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    """Record, tag, raw line, fold, key, words of the turn after it."""
    folder = tmp_path / "store"
    async with make_memory() as memory:
        said = []
        for number in range(30):
            text = f"turn {number} about harbours" if number != 12 else f"my {SECRET} is in the harbour"
            said.append(await memory.record(text, role="user", session="s", tags=[SECRET] * (number == 12)))
        await memory.fold([Turn("user", one.text, 5, record_id=one.record_id) for one in said], session="s")
        assert len(holding(folder, SECRET)) >= 3
        await memory.forget(said[12].record_id)
        assert await everywhere(memory, SECRET) == []
        assert not any(hit.record.is_fold for hit in await memory.recall("harbours", top_k=50))
        clock.advance(DAY)
        erased = await memory.erase_due()
        assert (erased.records, erased.derived) == (1, 1)
        assert holding(folder, SECRET) == []
        assert (await memory.verify_chain()).intact
        assert SECRET not in {tag for tag, _ in await memory.active_tags()}
        [fold] = [hit.record for hit in await memory.recall("harbours", top_k=50) if hit.record.is_fold]
        assert len(fold.metadata["originals"]) == 29
        assert await texts(memory, "turn 13 harbours", top_k=1) == ["turn 13 about harbours"]
    async with make_memory() as memory:
        assert (await memory.verify_chain()).intact
        assert holding(folder, SECRET) == []
        assert len(await memory.session("s")) == 30


async def test_what_was_erased_is_remembered_anew_only_after_it_was_restored(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    async with make_memory() as memory:
        kept = await memory.remember(f"the word is {SECRET}")
        await memory.forget(kept.event_id)
        with pytest.raises(Forgotten) as refused:
            await memory.remember(f"The Word is {SECRET}")
        assert refused.value.code == "MEM_E_FORGOTTEN"
        clock.advance(DAY)
        await memory.erase_due()
    async with make_memory() as memory:
        with pytest.raises(Forgotten):
            await memory.remember(f"The word is {SECRET}")
        assert not await memory.restore(kept.record.record_id)
        anew = await memory.remember(f"the word is {SECRET}")
        assert (anew.is_new, anew.count) == (True, 1)
        assert anew.record.record_id != kept.record.record_id


async def test_who_is_refused_is_told_what_to_restore(make_memory: MakeMemory, clock: FakeClock) -> None:
    """As long as it is hidden, and the newest one that says so once they are erased."""
    text = f"the word is {SECRET}"
    async with make_memory() as memory:
        days = [datetime(2026, 2, day, tzinfo=UTC) for day in (1, 2)]
        kept = [await memory.remember(text, occurred=day) for day in days]
        for one, day in zip(kept, days, strict=True):
            await memory.forget(one.event_id)
            with pytest.raises(Forgotten, match=one.record.record_id) as refused:
                await memory.remember(text, occurred=day)
            assert refused.value.record_id == one.record.record_id
        clock.advance(DAY)
        await memory.erase_due()
        for one in reversed(kept):
            with pytest.raises(Forgotten, match=one.record.record_id) as refused:
                await memory.remember(text)
            assert not await memory.restore(refused.value.record_id)
        assert (await memory.remember(text)).is_new
        heard = await memory.record(text, key="message-1")
        await memory.forget(heard.record_id)
        clock.advance(DAY)
        await memory.erase_due()
        with pytest.raises(Forgotten, match=heard.record_id) as refused:
            await memory.record(text, key="message-1")
        assert not await memory.restore(refused.value.record_id)
        assert (await memory.record(text, key="message-1")).text == text


async def test_a_turn_that_was_erased_is_not_captured_again_under_its_key(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    async with make_memory() as memory:
        first = await memory.record(f"the word is {SECRET}", key="message-1")
        await memory.forget(first.record_id)
        again = await memory.record(f"the word is {SECRET}", key="message-1")
        assert again.record_id == first.record_id
        clock.advance(DAY)
        await memory.erase_due()
        receipt = memory.capture(f"the word is {SECRET}", key="message-1")
        await memory.flush()
        with pytest.raises(Forgotten):
            await receipt
        assert holding(tmp_path / "store", SECRET) == []
        said_again = await memory.record(f"the word is {SECRET}", key="message-2")
        assert said_again.content == f"the word is {SECRET}"


async def test_a_context_window_that_still_has_what_is_forgotten_folds_without_it(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    async with make_memory() as memory:
        told = await memory.record(f"my {SECRET} is in the harbour", role="user", key="1")
        await memory.record("the kettle is blue", role="user", key="2")
        await memory.forget(told.record_id)
        turns = [
            Turn("user", f"my {SECRET} is in the harbour", 9, key="1"),
            Turn("user", "the kettle is blue", 9, key="2"),
        ]
        assert SECRET not in (await memory.fold(turns)).text
        clock.advance(DAY)
        await memory.erase_due()
        fold = await memory.fold(turns)
        assert "kettle" in fold.text
        assert holding(tmp_path / "store", SECRET) == []


async def test_only_what_is_there_and_in_this_scope_is_forgotten_and_restored(
    make_memory: MakeMemory,
) -> None:
    async with make_memory() as memory:
        theirs = await memory.remember("the code is 4711", scope=("ann",))
        for call in (memory.forget, memory.restore):
            for name in ("f" * 32, "", theirs.event_id, theirs.record.record_id):
                with pytest.raises(NotFound):
                    await call(name)
        genesis, *_ = [record async for record in memory.records()]
        with pytest.raises(NotFound):
            await memory.forget(genesis.record_id)
        await memory.forget(theirs.event_id, scope=("ann",))
        [operation] = [record async for record in memory.records() if "hippo_operation" in record.metadata]
        with pytest.raises(NotFound):
            await memory.forget(operation.record_id)
        with pytest.raises(NotFound):
            await memory.restore(theirs.record.record_id)
        assert await memory.restore(theirs.record.record_id, scope=("ann",))


class Angles:
    """A model that gives each text a direction of its own."""

    model_id, dim, mean_similarity, multilingual = "angles", 8, 0.0, True

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed_documents(self, texts: Any) -> Any:
        self.embedded += texts
        rows = [np.random.default_rng(sum(text.encode())).normal(size=8) for text in texts]
        return np.array([row / np.linalg.norm(row) for row in rows], dtype=np.float32).reshape(len(texts), 8)

    def embed_queries(self, texts: Any) -> Any:
        return self.embed_documents(texts)


async def test_vectors_of_others_survive_an_erasure_and_those_made_with_the_text_do_not(
    make_memory: MakeMemory,
) -> None:
    model = Angles()
    async with make_memory({"delete": {"grace_hours": 0}}, embedder=model) as memory:
        await memory.recall("warm")
        said = [
            await memory.record(text, role="user", session="s")
            for text in ("one", f"two {SECRET}", "three", "four")
        ]
        await memory.recall("four")
        model.embedded.clear()
        await memory.forget(said[1].record_id)
        [nearest] = await memory.pattern_completion("three\nfour", 1)
        assert (nearest.record.content, round(nearest.score, 5)) == ("four", 1)
        assert "one\nthree" in model.embedded
        assert all(SECRET not in text for text in model.embedded)
        model.embedded.remove("three\nfour")
        assert not any("four" in text and "three" in text for text in model.embedded)


async def known(memory: Hippocampus) -> tuple[Any, ...]:
    found = sorted(map(str, await texts(memory, SECRET)))
    return await memory.pending_deletes(), found, memory.status().kinds


async def test_without_its_index_a_memory_knows_the_same_of_what_is_forgotten(
    make_memory: MakeMemory, clock: FakeClock, tmp_path: Path
) -> None:
    async with make_memory() as memory:
        ids = [(await memory.remember(f"fact {number} {SECRET}")).record.record_id for number in range(6)]
        for gone in ids[:4]:
            await memory.forget(gone)
        await memory.restore(ids[0])
        clock.advance(DAY)
        await memory.erase_due()
        await memory.restore(ids[1])
        await memory.forget(ids[4])
        await memory.remember(f"fact 5 {SECRET}")
        before = (
            await memory.pending_deletes(),
            sorted(map(str, await texts(memory, SECRET))),
            memory.status().kinds,
        )
    shutil.rmtree(tmp_path / "store/index")
    async with make_memory() as memory:
        after = (
            await memory.pending_deletes(),
            sorted(map(str, await texts(memory, SECRET))),
            memory.status().kinds,
        )
        assert after == before
        with pytest.raises(Forgotten):
            await memory.remember(f"fact 2 {SECRET}")
        assert (await memory.remember(f"fact 5 {SECRET}")).count == 3
