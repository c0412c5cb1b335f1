"""A record is named by the first digits of its id."""

from __future__ import annotations

from pathlib import Path

import pytest

from hippo_async import Hippocampus
from hippo_async.errors import InvalidInput, NotFound
from hippo_async.naming import id_meant, only_match, record_at

IDS = ["abcdef00" + "0" * 24, "abcdef01" + "0" * 24, "12345678" + "0" * 24]


def test_one_id_begins_so_or_it_is_said_which_do() -> None:
    assert only_match("123456", IDS) == IDS[2]
    assert only_match("abcdef01", [*IDS, *IDS]) == IDS[1]
    with pytest.raises(InvalidInput, match=f"2 ids begin with abcdef: {IDS[0]}, {IDS[1]}; give more digits"):
        only_match("abcdef", IDS)
    with pytest.raises(NotFound, match="begins with 999999"):
        only_match("999999", IDS)


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
