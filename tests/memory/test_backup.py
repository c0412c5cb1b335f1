"""A memory is copied while it is open, and the copy is a memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hippo_async import Hippocampus

MakeMemory = Callable[..., Hippocampus]


async def test_a_backup_taken_while_open_holds_all_captured_before_it_and_opens(
    make_memory: MakeMemory, tmp_path: Path
) -> None:
    async with make_memory() as memory:
        for number in range(30):
            memory.capture(f"Fact {number}.", session="s")
        report = await memory.backup(tmp_path / "copy", with_keys=True)
        memory.capture("After the backup.", session="s")
    assert report.with_keys
    async with Hippocampus(tmp_path / "copy", agent_id="tester", embedder="none", witness=None) as copy:
        kept = [record.text async for record in copy.records() if record.type == "record"]
        assert kept == [f"Fact {number}." for number in range(30)]
        assert (await copy.verify_chain()).intact
