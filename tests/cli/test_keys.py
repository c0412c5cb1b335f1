"""``hippo key rotate``: one command, and the memory goes on as if nothing had happened."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hippo_async import Hippocampus
from hippo_async.cli.app import build


@pytest.fixture
def store(tmp_path: Path) -> Path:
    async def fill() -> None:
        async with Hippocampus(tmp_path / "store", embedder="none") as memory:
            await memory.record("The kettle is blue.")

    asyncio.run(fill())
    return tmp_path / "store"


def hippo(*arguments: str, store: Path) -> Result:
    return CliRunner().invoke(build(), [*arguments, "--data-dir", str(store)])


def test_a_change_of_keys_is_one_command(store: Path) -> None:
    result = hippo("key", "rotate", "--json", store=store)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"epoch": 1, "journal": str(store / "journal.1"), "seq": 3}
    assert (store / "agent.key.1").stat().st_mode & 0o777 == 0o600
    assert (store / "agent.key").read_text() not in result.output
    assert (store / "agent.key.1").read_text().strip() not in result.output
    assert hippo("verify", store=store).exit_code == 0


def test_old_and_new_memories_are_found_after_it_and_the_index_is_kept(store: Path) -> None:
    assert hippo("key", "rotate", store=store).exit_code == 0

    async def ask() -> None:
        async with Hippocampus(store, embedder="none") as memory:
            await memory.record("The pan is small.")
            found = [hit.record.text for hit in await memory.recall("kettle or pan?")]
            assert sorted(found) == ["The kettle is blue.", "The pan is small."]
            assert memory.status().index_rebuilds == 0
            assert (await memory.verify_chain()).intact
            assert [record.type async for record in memory.records()] == [
                "genesis",
                "record",
                "close",
                "genesis",
                "record",
            ]

    asyncio.run(ask())


def test_keys_that_the_application_holds_are_handed_over_with_the_retired_ones(tmp_path: Path) -> None:
    first, second = bytes(range(32)), bytes(range(1, 33))
    for name, key in (("agent.key", first), ("agent.key.1", second)):
        path = tmp_path / name
        path.write_text(key.hex())
        path.chmod(0o600)

    async def fill() -> None:
        async with Hippocampus(tmp_path, key=first, embedder="none") as memory:
            await memory.record("The kettle is blue.")

    async def ask() -> list[str]:
        async with Hippocampus(tmp_path, key=second, retired_keys=[first], embedder="none") as memory:
            return [hit.record.text for hit in await memory.recall("kettle")]

    asyncio.run(fill())
    assert hippo("key", "rotate", store=tmp_path).exit_code == 0
    assert asyncio.run(ask()) == ["The kettle is blue."]


def test_a_store_that_an_agent_has_open_keeps_its_key(store: Path) -> None:
    with Hippocampus(store, embedder="none"):
        result = hippo("key", "rotate", store=store)
    assert result.exit_code == 3
    assert "MEM_E_JOURNAL_LOCKED" in result.output
    assert not (store / "agent.key.1").exists()
