"""A record is named by the first digits of its id."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hippo_async import Hippocampus
from hippo_async.errors import InvalidInput, NotFound
from hippo_async.naming import id_meant, only_match, record_at
from hippo_async.testing import FakeClock

IDS = ["abcdef00" + "0" * 24, "abcdef01" + "0" * 24]


def test_one_id_begins_so_or_it_is_said_which_do() -> None:
    assert only_match("abcdef01", IDS[1:]) == IDS[1]
    with pytest.raises(InvalidInput, match=f"2 ids begin with abcdef: {IDS[0]}, {IDS[1]}; give more digits"):
        only_match("abcdef", IDS)
    with pytest.raises(NotFound, match="begins with 999999"):
        only_match("999999", [])


async def test_it_is_looked_for_in_one_scope_also_among_what_is_to_be_forgotten(tmp_path: Path) -> None:
    async with Hippocampus(tmp_path / "store", embedder="none") as memory:
        said = (await memory.record("tea")).record_id
        theirs = (await memory.record("tea", scope=("ann",))).record_id
        for name in (said, said[:6], f" {said[:8].upper()} "):
            assert await id_meant(memory, name) == said
        assert await id_meant(memory, theirs[:8], scope=("ann",)) == theirs
        with pytest.raises(NotFound):
            await id_meant(memory, theirs[:8])
        await memory.forget(said)
        assert await id_meant(memory, said[:8]) == said


async def test_ids_are_found_by_any_beginning_of_theirs_and_by_nothing_else(tmp_path: Path) -> None:
    """What can be found, what is hidden, and what was erased; in its scope, from an index made anew too."""
    clock = FakeClock(datetime(2026, 3, 2, 9, tzinfo=UTC))

    def opened() -> Hippocampus:
        return Hippocampus(tmp_path / "store", embedder="none", clock=clock, maintenance=False)

    async with opened() as memory:
        said = [(await memory.record(f"turn {number}")).record_id for number in range(40)]
        theirs = (await memory.record("tea", scope=("ann",))).record_id
        await memory.forget(said[0])
        clock.advance(24 * 3600)
        await memory.erase_due()
        await memory.forget(said[1])
    shutil.rmtree(tmp_path / "store" / "index")
    async with opened() as memory:
        beginnings = {name[:length] for name in [*said, theirs] for length in (1, 2, 3, 6, 32)}
        for digits in sorted(beginnings):
            wanted = sorted(name for name in said if name.startswith(digits))
            assert await memory.ids_beginning(digits) == wanted
        assert await memory.ids_beginning(theirs[:6], scope=("ann",)) == [theirs]
        assert await memory.ids_beginning(said[0][:6], scope=("ann",)) == []


async def test_what_no_search_finds_and_nobody_forgot_has_no_short_name(tmp_path: Path) -> None:
    """What was said of a task before, and a record that only says what was done to another."""
    async with Hippocampus(tmp_path / "store", embedder="none") as memory:
        for text in ("Hull done.", "Mast done."):
            await memory.checkpoint("boat", text)
        said = (await memory.record("tea")).record_id
        await memory.forget(said)
        records = [record async for record in memory.records()]
        named = [one for one in records if await memory.ids_beginning(one.record_id)]
        assert [one.text for one in named] == ["Mast done.", ""]


@pytest.mark.parametrize("name", ["", "abcde", "abcdeg", "a" * 33, "*", "абвгде"])
async def test_what_no_id_begins_with_is_refused(tmp_path: Path, name: str) -> None:
    async with Hippocampus(tmp_path / "store", embedder="none") as memory:
        with pytest.raises(InvalidInput, match="6 to 32 hexadecimal digits"):
            await id_meant(memory, name)


async def test_a_record_is_read_at_its_place(tmp_path: Path) -> None:
    async with Hippocampus(tmp_path / "store", embedder="none") as memory:
        said = [await memory.record(f"turn {number}") for number in range(3)]
        assert await record_at(memory, said[1].seq) == said[1]
        with pytest.raises(NotFound):
            await record_at(memory, said[2].seq + 1)
