"""``hippo prove`` and ``hippo check-proof``: a record is shown to somebody who has nothing but the anchor."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from hippo_async import Hippocampus
from hippo_async.cli import proving
from hippo_async.testing import FakeClock

AGENT = "tester"
TEXT = "The [bold]kettle[/] is blue.\nholds: \x1b[2J"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A closed memory of two records."""
    folder = tmp_path / "store"
    asyncio.run(remember(folder, TEXT, "Use the small pan."))
    return folder


async def remember(folder: Path, *texts: str) -> None:
    async with Hippocampus(folder, agent_id=AGENT, embedder="none", clock=FakeClock()) as memory:
        for text in texts:
            await memory.record(text, role="user")


def hippo(*arguments: str, store: Path | None = None) -> Result:
    app = typer.Typer(rich_markup_mode=None)
    app.command()(proving.prove)
    app.command("check-proof")(proving.check)
    where = ["--data-dir", str(store), "--agent", AGENT] if store is not None else []
    return CliRunner().invoke(app, [*arguments, *where])


def as_json(result: Result, code: int = 0) -> Any:
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def ids(store: Path) -> list[str]:
    """The record ids of the journal, its genesis first."""
    [segment] = store.glob("journal/gen-*/seg-*.jsonl")
    return [json.loads(line)["id"] for line in segment.read_bytes().splitlines()]


def written(store: Path, *arguments: str) -> Path:
    """A proof of the first record, in a file."""
    path = store.parent / "proof.json"
    assert hippo("prove", ids(store)[1], "-o", str(path), *arguments, store=store).exit_code == 0
    return path


def test_a_proof_is_checked_without_key_or_journal(store: Path) -> None:
    path = written(store)
    for file in sorted(store.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    report = as_json(hippo("check-proof", str(path), "--json"))
    assert (report["holds"], report["leaf_index"], report["count"]) == (True, 1, 3)
    assert (report["agent_id"], report["content"]) == (AGENT, None)


def test_the_published_anchor_is_compared(store: Path) -> None:
    path = written(store)
    anchor = json.loads(path.read_bytes())["anchor_hash"]
    assert as_json(hippo("check-proof", str(path), "--anchor", anchor, "--json"))["anchor_hash"] == anchor
    assert "the published one" in hippo("check-proof", str(path), "--anchor", anchor).stdout
    assert "Compare this hash" in hippo("check-proof", str(path)).stdout
    report = as_json(hippo("check-proof", str(path), "--anchor", "0" * 64, "--json"), code=1)
    assert "published" in report["reason"]


def test_without_a_file_the_document_itself_is_printed(store: Path) -> None:
    plain, asked = (hippo("prove", ids(store)[1], *more, store=store) for more in ([], ["--json"]))
    assert plain.stdout_bytes == asked.stdout_bytes == written(store).read_bytes()


def test_the_text_is_shown_only_if_it_is_revealed_and_then_quoted(store: Path) -> None:
    assert b"kettle" not in written(store).read_bytes()
    path = written(store, "--reveal")
    assert as_json(hippo("check-proof", str(path), "--json"))["content"] == TEXT
    shown = hippo("check-proof", str(path)).stdout
    assert f"text: {TEXT!r}" in shown
    assert "\x1b[2J" not in shown


def test_a_changed_proof_does_not_hold_and_exits_with_1(store: Path) -> None:
    path = written(store)
    path.write_bytes(path.read_bytes().replace(b'"leaf_index":1', b'"leaf_index":2'))
    assert "audit path" in as_json(hippo("check-proof", str(path), "--json"), code=1)["reason"]
    result = hippo("check-proof", str(path))
    assert (result.exit_code, "does not hold" in result.stdout) == (1, True)


def test_what_is_no_proof_is_an_error(store: Path) -> None:
    path = store.parent / "other.json"
    path.write_text("{}")
    error = as_json(hippo("check-proof", str(path), "--json"), code=3)["error"]
    assert error["code"] == "MEM_E_INVALID_INPUT"
    assert hippo("check-proof", str(store / "nowhere")).exit_code == 3


def test_a_record_that_is_not_there_is_an_error(store: Path) -> None:
    error = as_json(hippo("prove", "0" * 32, "--json", store=store), code=3)["error"]
    assert error["code"] == "MEM_E_NOT_FOUND"


def test_an_edited_store_proves_nothing(store: Path) -> None:
    [segment] = store.glob("journal/gen-*/seg-*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b"blue", b"teal"))
    error = as_json(hippo("prove", ids(store)[2], "--json", store=store), code=1)["error"]
    assert error["code"] == "MEM_E_JOURNAL_CORRUPT"


def test_a_proof_leads_to_an_older_anchor_of_the_day_if_asked(store: Path) -> None:
    older = written(store).read_bytes()
    last = json.loads(older)["anchor"]["last_id"]
    asyncio.run(remember(store, "Added later that day."))
    assert written(store, "--last", last).read_bytes() == older
    assert written(store).read_bytes() != older
    early = hippo("prove", ids(store)[-1], "--last", last, "--json", store=store)
    assert as_json(early, code=3)["error"]["code"] == "MEM_E_NOT_FOUND"
    unknown = hippo("prove", ids(store)[1], "--last", "0" * 32, "--json", store=store)
    assert as_json(unknown, code=3)["error"]["code"] == "MEM_E_INVALID_INPUT"


def test_a_written_proof_is_named_with_its_place_and_anchor(store: Path) -> None:
    path = store.parent / "proof.json"
    facts = as_json(hippo("prove", ids(store)[1], "-o", str(path), "--json", store=store))
    assert facts["record_id"] == ids(store)[1]
    told = hippo("prove", ids(store)[1], "-o", str(path), store=store).stdout
    assert f"{path}: leaf 1 of 3" in told
    assert facts["anchor_hash"] in told
