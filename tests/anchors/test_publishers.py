"""The publishers that are shipped: a file, an address, the Montana chain."""

from __future__ import annotations

import importlib.util
import json
import socket
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from anchored_days import Kept, anchored, noon, noted, run
from local_server import LocalServer, serving

from hippo_async.anchors import (
    FilePublisher,
    Ledger,
    MontanaAnchor,
    MontanaPublisher,
    PostPublisher,
    montana_anchor,
)
from hippo_async.anchors.publishers import _missing
from hippo_async.errors import InvalidInput, MissingExtra, PublishFailed

RECORDS = noted("2026-03-02", "2026-03-03")
DAY = anchored("2026-03-03", RECORDS)


def test_only_what_is_missing_is_added_to_a_file() -> None:
    line = b'{"a":1}\n'
    assert _missing(b"", line) == line
    assert _missing(b"other\n", line) == line
    assert _missing(line + b"other\n", line) == b""
    assert _missing(b'other\n{"a', line) == b'":1}\n'
    assert _missing(b"other\n{torn", line) == b"\n" + line


def test_a_file_gets_one_canonical_line_a_day(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "public" / "anchors.jsonl"
    run(RECORDS, ledger, noon("2026-03-04"), FilePublisher(path))
    run(RECORDS, ledger, noon("2026-03-05"), FilePublisher(path))
    lines = path.read_text().splitlines()
    assert [json.loads(line)["date"] for line in lines] == ["2026-03-02", "2026-03-03", "2026-03-04"]
    assert lines[1] == (
        f'{{"anchor_payload_hash":"{DAY.anchor_payload_hash}","anchor_v2_hash":"{DAY.anchor_v2_hash}",'
        '"date":"2026-03-03"}'
    )


async def test_an_address_gets_the_hashes_and_nothing_else(server: LocalServer) -> None:
    server.answer = lambda _: (201, "принято".encode())
    returned = await PostPublisher(server.url).publish(DAY)
    [asked] = server.asked
    assert asked.content_type == "application/json"
    assert json.loads(asked.body) == DAY.hashes
    assert returned == {"status": 201, "answer": "принято"}


@pytest.mark.parametrize("status", [300, 302, 404, 500, 503])
async def test_any_answer_but_2xx_is_a_failure(server: LocalServer, status: int) -> None:
    server.answer = lambda _: (status, b"")
    with pytest.raises(PublishFailed, match=f"answered {status}") as caught:
        await PostPublisher(server.url).publish(DAY)
    assert caught.value.code == "MEM_E_ANCHOR_PUBLISH_FAILED"


async def test_a_server_that_does_not_answer_is_given_up(server: LocalServer) -> None:
    over = threading.Event()

    def hang(_: object) -> tuple[int, bytes]:
        over.wait(20)
        return 200, b""

    server.answer = hang
    with pytest.raises(PublishFailed, match=r"no answer within 0\.2 s"):
        await PostPublisher(server.url, seconds=0.2).publish(DAY)
    over.set()


async def test_of_a_long_answer_only_the_start_is_kept(server: LocalServer) -> None:
    server.answer = lambda _: (200, b"x" * 300_000)
    assert await PostPublisher(server.url).publish(DAY) == {"status": 200, "answer": "x" * 2000}


def test_a_server_that_is_down_gets_the_days_when_it_is_up_and_the_back_off_is_over(
    ledger: Ledger,
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    clock, other = noon("2026-03-04"), Kept()
    publisher = PostPublisher(f"http://127.0.0.1:{port}/anchors")
    report = run(RECORDS, ledger, clock, publisher, other)
    assert [failed.publisher for failed in report.failed] == [publisher.name] * 2
    assert len(other.offered) == 2
    with serving(port) as server:
        assert (run(RECORDS, ledger, clock, publisher)).waiting == 2
        assert server.asked == []
        clock.advance(60)
        report = run(RECORDS, ledger, clock, publisher)
        assert (len(report.published), report.waiting, len(server.asked)) == (2, 0, 2)


def test_a_server_with_faults_gets_the_day_in_the_end_and_once(ledger: Ledger, server: LocalServer) -> None:
    clock, statuses = noon("2026-03-04"), iter([500, 503, 200])
    server.answer = lambda _: (next(statuses), b"")
    for attempt in range(5):
        run(noted("2026-03-03"), ledger, clock, PostPublisher(server.url))
        clock.advance(60 * 2**attempt)
    assert len(server.asked) == 3
    [receipt] = ledger.read("2026-03-03").receipts
    assert receipt.publisher == f"post {server.url}"


@pytest.mark.parametrize("url", ["", "ftp://example.org/", "/anchors", "http://", "http://["])
def test_what_is_no_address_is_refused_at_once(url: str) -> None:
    with pytest.raises(InvalidInput, match="address"):
        PostPublisher(url)


def test_no_secret_of_an_address_is_kept_or_shown(ledger: Ledger, server: LocalServer) -> None:
    server.answer = lambda _: (500, b"")
    secret = PostPublisher(f"http://me:hunter2@127.0.0.1:{server.port}/anchors?token=hunter2")
    report = run(noted("2026-03-03"), ledger, noon("2026-03-04"), secret)
    assert server.asked[0].path == "/anchors?token=hunter2"
    assert secret.name == f"post {server.url}"
    assert "hunter2" not in str(report.as_dict())
    assert b"hunter2" not in (ledger.folder / "2026-03-03.json").read_bytes()


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hippo_async.anchors.web.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"hippo-async\[timestamp\]"):
        PostPublisher("https://example.org/")
    assert importlib.util.find_spec("httpx")


def test_the_operation_on_the_chain_is_account_hash_and_window() -> None:
    """J12: the hash is the 32 bytes of J11's payload hash, and nothing else of the day."""
    made = montana_anchor(DAY, agent_account="mt1agent", window_index=41_337)
    assert made == MontanaAnchor("mt1agent", DAY.anchor.anchor_payload_hash, 41_337)
    assert len(made.daily_dna_hash) == 32
    for account, window in (("", 1), ("mt1agent", -1)):
        with pytest.raises(InvalidInput):
            montana_anchor(DAY, agent_account=account, window_index=window)


def test_the_chain_is_reached_by_what_the_user_brings_along(ledger: Ledger) -> None:
    sent: list[MontanaAnchor] = []

    async def window() -> int:
        return 7 + len(sent)

    async def send(operation: MontanaAnchor) -> Mapping[str, Any]:
        sent.append(operation)
        return {"operation": f"op-{len(sent)}"}

    run(RECORDS, ledger, noon("2026-03-04"), MontanaPublisher("mt1agent", window=window, send=send))
    assert [operation.window_index for operation in sent] == [7, 8]
    [receipt] = ledger.read("2026-03-03").receipts
    assert receipt.publisher == "montana mt1agent"
    assert receipt.returned == {"window_index": 8, "operation": "op-2"}
