"""Time-stamps by a real authority of RFC 3161, and everything that does not pass for one."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from anchored_days import anchored, noon, noted, run
from local_authority import Authority, needs_openssl
from local_server import Asked, LocalServer

from hippo_async.anchors import Ledger, PostPublisher, TimestampPublisher, read_roots, verify_timestamp
from hippo_async.anchors.timestamp import REPLY
from hippo_async.errors import InvalidInput, MissingExtra, TimestampRefused

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = needs_openssl

RECORDS = noted("2026-03-02", "2026-03-03")
DAY = anchored("2026-03-03", RECORDS)
HASH = bytes.fromhex(DAY.anchor_v2_hash)


@pytest.fixture
def stamping(server: LocalServer, authority: Authority) -> LocalServer:
    """The server is the authority."""
    server.answer = lambda asked: (200, authority.stamp(asked.body))
    return server


async def test_the_stamp_is_over_the_v2_hash_and_the_authority_sees_nothing_else(
    stamping: LocalServer, authority: Authority
) -> None:
    returned = await TimestampPublisher(stamping.url, roots=read_roots(authority.root)).publish(DAY)
    [asked] = stamping.asked
    assert asked.content_type == "application/timestamp-query"
    assert HASH in asked.body
    assert len(asked.body) < 100
    stamped = datetime.fromisoformat(str(returned["time"]))
    assert abs(datetime.now(UTC) - stamped) < timedelta(minutes=1)  # noqa: TID251 - the authority is real
    assert returned["verified"] is True


async def test_anyone_can_check_the_kept_reply_with_the_command_line(
    stamping: LocalServer, authority: Authority, stranger: Authority
) -> None:
    returned = await TimestampPublisher(stamping.url).publish(DAY)
    reply = base64.b64decode(str(returned[REPLY]))
    assert authority.verifies(reply, DAY.anchor_v2_hash)
    assert not authority.verifies(reply, DAY.anchor_payload_hash)
    assert not stranger.verifies(reply, DAY.anchor_v2_hash)


async def test_without_roots_the_reply_is_kept_and_said_to_be_unverified(stamping: LocalServer) -> None:
    assert (await TimestampPublisher(stamping.url).publish(DAY))["verified"] is False


async def test_a_reply_to_another_request_is_refused(server: LocalServer, authority: Authority) -> None:
    """The right hash and a good signature, but a nonce that was not asked for: a reply played back."""
    earlier = authority.stamp(authority.query(DAY.anchor_v2_hash))
    server.answer = lambda _: (200, earlier)
    with pytest.raises(TimestampRefused, match="nonce") as caught:
        await TimestampPublisher(server.url, roots=read_roots(authority.root)).publish(DAY)
    assert caught.value.code == "MEM_E_ANCHOR_TIMESTAMP_REFUSED"
    verify_timestamp(earlier, HASH, roots=read_roots(authority.root))


@pytest.mark.parametrize("roots", [True, False], ids=["with roots", "without"])
async def test_a_stamp_over_another_hash_is_refused(
    server: LocalServer, authority: Authority, roots: bool
) -> None:
    server.answer = lambda _: (200, authority.stamp(authority.query(DAY.anchor_payload_hash)))
    with pytest.raises(TimestampRefused, match="another hash"):
        await TimestampPublisher(server.url, roots=read_roots(authority.root) if roots else ()).publish(DAY)


async def test_an_authority_of_another_root_is_refused(stamping: LocalServer, stranger: Authority) -> None:
    with pytest.raises(TimestampRefused, match="do not vouch"):
        await TimestampPublisher(stamping.url, roots=read_roots(stranger.root)).publish(DAY)


async def test_one_of_several_roots_is_enough(
    stamping: LocalServer, authority: Authority, stranger: Authority
) -> None:
    roots = read_roots(stranger.root + authority.root)
    assert (await TimestampPublisher(stamping.url, roots=roots).publish(DAY))["verified"] is True


async def test_a_reply_that_is_cut_anywhere_is_refused(authority: Authority) -> None:
    reply = authority.stamp(authority.query(DAY.anchor_v2_hash))
    roots = read_roots(authority.root)
    for length in range(len(reply)):
        for trusted in (roots, ()):
            with pytest.raises(TimestampRefused):
                verify_timestamp(reply[:length], HASH, roots=trusted)


async def test_a_reply_with_any_bit_changed_is_refused_or_says_the_same(authority: Authority) -> None:
    """What is not signed (a text for people, say) may change; time and hash may not."""
    reply = authority.stamp(authority.query(DAY.anchor_v2_hash))
    roots = read_roots(authority.root)
    stamped = verify_timestamp(reply, HASH, roots=roots)
    for at in range(len(reply)):
        changed = bytearray(reply)
        changed[at] ^= 1 << at % 8
        try:
            assert verify_timestamp(bytes(changed), HASH, roots=roots) == stamped
        except TimestampRefused:
            continue


async def test_what_the_authority_does_not_grant_is_refused_with_its_words(
    server: LocalServer, authority: Authority
) -> None:
    server.answer = lambda _: (200, authority.stamp(b"no request at all"))
    with pytest.raises(TimestampRefused, match="not granted, status 2"):
        await TimestampPublisher(server.url).publish(DAY)


@pytest.mark.parametrize("body", [b"", b"<html>busy</html>", b"0" * 300_000], ids=["nothing", "page", "long"])
async def test_a_reply_that_is_none_is_refused(server: LocalServer, body: bytes) -> None:
    server.answer = lambda _: (200, body)
    with pytest.raises(TimestampRefused, match="not a reply"):
        await TimestampPublisher(server.url).publish(DAY)


def test_a_refused_stamp_is_tried_again_and_the_good_one_kept(
    ledger: Ledger, server: LocalServer, authority: Authority
) -> None:
    answers: Iterator[Callable[[Asked], bytes]] = iter(
        [lambda _: b"", lambda asked: authority.stamp(asked.body)]
    )
    server.answer = lambda asked: (200, next(answers)(asked))
    clock, publisher = noon("2026-03-04"), TimestampPublisher(server.url, roots=read_roots(authority.root))
    report = run(noted("2026-03-03"), ledger, clock, publisher)
    assert report.failed[0].error.startswith("TimestampRefused: ")
    clock.advance(60)
    assert run(noted("2026-03-03"), ledger, clock, publisher).waiting == 0
    [receipt] = ledger.read("2026-03-03").receipts
    assert receipt.publisher == f"timestamp {server.url}"
    reply = base64.b64decode(str(receipt.returned[REPLY]))
    day = ledger.read("2026-03-03")
    verify_timestamp(reply, bytes.fromhex(day.anchor_v2_hash), roots=read_roots(authority.root))


@pytest.mark.parametrize("pem", [b"", b"none here", b"-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_what_holds_no_certificate_is_no_roots_file(pem: bytes) -> None:
    with pytest.raises(InvalidInput, match="PEM"):
        read_roots(pem)


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hippo_async.anchors.web.find_spec", lambda name: None if "rfc" in name else name)
    PostPublisher("https://example.org/")
    with pytest.raises(MissingExtra, match=r"a time-stamp needs the extra 'timestamp'"):
        TimestampPublisher("https://example.org/")
    with pytest.raises(MissingExtra):
        read_roots(b"")
