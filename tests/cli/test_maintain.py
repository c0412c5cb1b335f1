"""``hippo maintain``: all that is due is done, and said."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from typer.testing import CliRunner

from hippo_async import Hippocampus
from hippo_async.cli.app import build


async def forgotten(store: Path, witness: Path) -> None:
    async with Hippocampus(store, embedder="none", witness=witness, maintenance=False) as memory:
        kept = await memory.remember("the word is quokka")
        await memory.forget(kept.event_id)


def test_a_round_is_done_and_each_step_is_said(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HIPPO_WITNESS_DIR", str(tmp_path / "witness"))
    store = tmp_path / "store"
    asyncio.run(forgotten(store, tmp_path / "witness"))
    said = CliRunner().invoke(build(), ["maintain", "--data-dir", str(store)])
    assert said.exit_code == 0, said.output
    assert "forget" in said.output
    assert "anchors" in said.output
    told = CliRunner().invoke(build(), ["maintain", "--data-dir", str(store), "--json"])
    report = json.loads(told.stdout)
    assert report["failed"] == []
    assert report["steps"][0]["did"]["records"] == 0, "its day of grace is not over"


def test_a_memory_that_an_agent_has_open_is_left_to_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HIPPO_WITNESS_DIR", str(tmp_path / "witness"))
    with Hippocampus(tmp_path / "store", embedder="none", witness=tmp_path / "witness"):
        refused = CliRunner().invoke(build(), ["maintain", "--data-dir", str(tmp_path / "store"), "--json"])
    assert refused.exit_code == 3
    assert json.loads(refused.stdout)["error"]["code"] == "MEM_E_JOURNAL_LOCKED"
