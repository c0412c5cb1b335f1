"""``hippo anchor`` as people and programs use it."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from anchored_days import noon
from directories import contents
from local_authority import Authority, needs_openssl
from local_server import LocalServer, serving
from typer.testing import CliRunner, Result

from hippo_async import Hippocampus
from hippo_async.cli import anchoring
from hippo_async.cli.app import build
from hippo_async.testing import FakeClock

AGENT = "tester"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The clock that the commands go by; it is noon of the third day."""
    made = noon("2026-03-03")
    monkeypatch.setattr(anchoring, "SystemClock", lambda: made)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return made


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A closed memory of two records on the first of March."""
    folder = tmp_path / "store"
    asyncio.run(remember(folder, "The kettle is blue.", "Use the small pan."))
    return folder


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with serving() as local:
        yield local


async def remember(folder: Path, *texts: str) -> None:
    start = datetime(2026, 3, 1, 12, tzinfo=UTC)
    async with Hippocampus(folder, agent_id=AGENT, embedder="none", clock=FakeClock(start)) as memory:
        for number, text in enumerate(texts):
            await memory.record(text, timestamp=start + timedelta(seconds=number))


def anchor(*arguments: str, store: Path) -> Result:
    where = ["--data-dir", str(store), "--agent", AGENT]
    return CliRunner().invoke(build(), ["anchor", *arguments, *where])


def as_json(result: Result, code: int = 0) -> Any:
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_day_folds_one_day_and_writes_nothing(store: Path) -> None:
    made = as_json(anchor("day", "2026-03-01", "--json", store=store))
    assert set(made) == {"payload", "anchor_payload_hash", "merkle_root", "anchor_v2_hash"}
    assert made["payload"]["count"] == 3
    assert made["anchor_v2_hash"] in anchor("day", "2026-03-01", store=store).stdout
    assert not (store / "anchors").exists()


def test_a_memory_that_was_moved_away_is_not_anchored_where_it_was(store: Path, tmp_path: Path) -> None:
    target = tmp_path / "new"
    moving = ["migrate", "--from", str(store), str(target), "--agent", AGENT]
    assert CliRunner().invoke(build(), moving).exit_code == 0
    before = contents(store)
    public = tmp_path / "public.jsonl"
    error = as_json(anchor("publish", "--file", str(public), "--json", store=store), 3)["error"]
    assert (error["code"], str(target) in error["message"]) == ("MEM_E_MOVED", True)
    assert (contents(store), public.exists()) == (before, False)
    assert as_json(anchor("publish", "--json", store=target))["anchored"] == ["2026-03-01", "2026-03-02"]


def test_publish_anchors_all_finished_days_and_list_shows_them(store: Path, tmp_path: Path) -> None:
    public = tmp_path / "public.jsonl"
    run = as_json(anchor("publish", "--file", str(public), "--json", store=store))
    assert run["anchored"] == ["2026-03-01", "2026-03-02"]
    assert (len(run["published"]), run["failed"], run["waiting"]) == (2, [], 0)
    listed = as_json(anchor("list", "--json", store=store))
    assert [(day["date"], day["count"], day["pending"]) for day in listed] == [
        ("2026-03-01", 3, {}),
        ("2026-03-02", 0, {}),
    ]
    assert listed[0]["published"] == {f"file {public}": "2026-03-03T12:00:00.000000Z"}
    lines = [json.loads(line) for line in public.read_text().splitlines()]
    assert [line["anchor_v2_hash"] for line in lines] == [day["anchor_v2_hash"] for day in listed]
    made = as_json(anchor("day", "2026-03-01", "--json", store=store))
    assert made["anchor_v2_hash"] == listed[0]["anchor_v2_hash"]
    assert "2026-03-01" in anchor("list", store=store).stdout
    again = anchor("publish", "--file", str(public), store=store)
    assert "0 days anchored, 0 publications, 0 waiting" in again.stdout


def test_list_of_a_store_without_anchors_says_so(store: Path) -> None:
    assert as_json(anchor("list", "--json", store=store)) == []
    assert "no day is anchored yet" in anchor("list", store=store).stdout


def test_a_publisher_that_fails_is_exit_code_3_and_shown_as_pending(
    store: Path, server: LocalServer, tmp_path: Path, clock: FakeClock
) -> None:
    server.answer = lambda _: (500, b"")
    to = ["--post", server.url, "--file", str(tmp_path / "public.jsonl")]
    run = as_json(anchor("publish", *to, "--json", store=store), code=3)
    assert (len(run["published"]), len(run["failed"]), run["waiting"]) == (2, 2, 2)
    pending = as_json(anchor("list", "--json", store=store))[0]["pending"][f"post {server.url}"]
    assert (pending["attempts"], pending["retry_at"]) == (1, "2026-03-03T12:01:00.000000Z")
    assert "answered 500" in anchor("list", store=store).stdout

    server.answer = lambda _: (200, b"")
    assert as_json(anchor("publish", *to, "--json", store=store))["waiting"] == 2
    assert as_json(anchor("publish", *to, "--retry-now", "--json", store=store))["waiting"] == 0
    assert len(server.asked) == 4


def test_failures_are_told_to_people(store: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        result = anchor("publish", "--post", f"http://127.0.0.1:{free.getsockname()[1]}/", store=store)
    assert result.exit_code == 3
    assert "failed: 2026-03-01, post http://127.0.0.1" in result.stdout


def test_wrong_addresses_and_roots_are_errors_with_a_code(store: Path, tmp_path: Path) -> None:
    error = as_json(anchor("publish", "--post", "example.org", "--json", store=store), code=3)["error"]
    assert error["code"] == "MEM_E_INVALID_INPUT"
    (tmp_path / "roots.pem").write_text("none")
    for command in ("publish", "check"):
        wrong = anchor(command, "--timestamp-roots", str(tmp_path / "roots.pem"), "--json", store=store)
        assert as_json(wrong, code=3)["error"]["code"] == "MEM_E_INVALID_INPUT"


def test_a_missing_extra_is_named(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hippo_async.anchors.web.find_spec", lambda _: None)
    for option in ("--post", "--timestamp"):
        error = as_json(anchor("publish", option, "http://127.0.0.1/", "--json", store=store), code=3)
        assert error["error"]["code"] == "MEM_E_MISSING_EXTRA"


def test_check_holds_also_after_records_of_an_anchored_day_were_added(store: Path) -> None:
    anchor("publish", store=store)
    asyncio.run(remember(store, "Added later that day."))
    found = as_json(anchor("check", "--json", store=store))
    assert [(day["holds"], day["added_since"]) for day in found] == [(True, 1), (True, 0)]
    assert "2 of 2 anchors hold" in anchor("check", store=store).stdout


def test_anchors_from_before_a_change_of_keys_hold_after_it(store: Path) -> None:
    anchor("publish", store=store)
    rotate = ["key", "rotate", "--data-dir", str(store), "--agent", AGENT]
    assert CliRunner().invoke(build(), rotate).exit_code == 0
    asyncio.run(remember(store, "Under the new key."))
    found = as_json(anchor("check", "--json", store=store))
    assert [(day["date"], day["holds"]) for day in found] == [("2026-03-01", True), ("2026-03-02", True)]
    assert found[0]["added_since"] == 1


def test_check_finds_an_anchor_that_is_not_the_journals(store: Path) -> None:
    anchor("publish", store=store)
    path = store / "anchors" / "2026-03-02.json"
    path.write_bytes((store / "anchors" / "2026-03-01.json").read_bytes())
    found = as_json(anchor("check", "--json", store=store), code=1)
    assert [day["holds"] for day in found] == [True, False]
    told = anchor("check", store=store)
    assert (told.exit_code, "does not hold: 2026-03-02" in told.stdout) == (1, True)
    assert as_json(anchor("list", "--json", store=store), code=1)["error"]["code"] == "MEM_E_ANCHOR_DAMAGED"


@needs_openssl
def test_days_are_stamped_and_the_stamps_checked_later_offline(
    store: Path, server: LocalServer, tmp_path: Path
) -> None:
    authority, stranger = (Authority.made(tmp_path / name, name) for name in ("ours", "stranger"))
    server.answer = lambda asked: (200, authority.stamp(asked.body))
    roots = str(authority.folder / "root.pem")
    stamping = ["--timestamp", server.url, "--timestamp-roots", roots]
    assert len(as_json(anchor("publish", *stamping, "--json", store=store))["published"]) == 2
    asked = len(server.asked)
    found = as_json(anchor("check", "--timestamp-roots", roots, "--json", store=store))
    assert [list(day["stamped"]) for day in found] == [[f"timestamp {server.url}"]] * 2
    assert "2 time-stamps verified" in anchor("check", "--timestamp-roots", roots, store=store).stdout
    foreign = str(stranger.folder / "root.pem")
    refused = as_json(anchor("check", "--timestamp-roots", foreign, "--json", store=store), code=1)
    assert "do not vouch" in refused[0]["reason"]
    assert len(server.asked) == asked


def test_commands_work_while_an_agent_has_the_memory_open(store: Path) -> None:
    async def beside() -> Result:
        async with Hippocampus(store, agent_id=AGENT, embedder="none"):
            return await asyncio.to_thread(anchor, "publish", "--json", store=store)

    assert as_json(asyncio.run(beside()))["anchored"] == ["2026-03-01", "2026-03-02"]
