"""Publishing what is due: side by side, each failure for itself, and again later."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import anyio
import pytest
from anchored_days import Held, Kept, Noted, cancelled_at, ledger_in, noon, noted, run, source

from hippo_async.anchors import AnchoredDay, AnchorRun, Failed, Ledger, Publisher, publish_due
from hippo_async.anchors import run as running
from hippo_async.errors import InvalidInput
from hippo_async.testing import ScriptedOps

RECORDS = noted("2026-03-01", "2026-03-03")
DATES = ["2026-03-01", "2026-03-02", "2026-03-03"]


def started(
    records: Iterable[Noted], ledger: Ledger, *publishers: Publisher, **options: Any
) -> asyncio.Task[AnchorRun]:
    """A run under way, on the test's own loop."""
    return asyncio.create_task(
        publish_due(source(records), ledger, publishers, noon("2026-03-04"), **options)
    )


def receipts(ledger: Ledger) -> dict[str, list[str]]:
    return {date: [receipt.publisher for receipt in ledger.read(date).receipts] for date in ledger.dates()}


def test_every_finished_day_goes_to_every_publisher_oldest_first(ledger: Ledger) -> None:
    one, two = Kept("one"), Kept("two", returns={"line": 7})
    report = run(RECORDS, ledger, noon("2026-03-04"), one, two)
    assert one.offered == two.offered == DATES
    assert (len(report.published), report.failed, report.waiting) == (6, (), 0)
    [given] = [receipt for receipt in ledger.read("2026-03-02").receipts if receipt.publisher == "two"]
    assert (given.returned, given.published_at) == ({"line": 7}, "2026-03-04T12:00:00.000000Z")


def test_the_day_that_is_not_over_is_neither_anchored_nor_published(ledger: Ledger) -> None:
    kept = Kept()
    report = run(RECORDS, ledger, noon("2026-03-03"), kept)
    assert list(report.anchored) == kept.offered == DATES[:2]


def test_a_publisher_that_joins_later_gets_the_days_from_the_beginning(ledger: Ledger) -> None:
    run(RECORDS, ledger, noon("2026-03-04"), Kept("early"))
    late = Kept("late")
    run(RECORDS, ledger, noon("2026-03-04"), Kept("early"), late)
    assert late.offered == DATES


def test_one_that_fails_costs_the_others_nothing(ledger: Ledger) -> None:
    bad, good = Kept("bad", refuses={"2026-03-02"}), Kept("good")
    report = run(RECORDS, ledger, noon("2026-03-04"), bad, good)
    assert good.offered == bad.offered == DATES
    assert report.failed == (Failed("2026-03-02", "bad", "ConnectionError: no anchors on 2026-03-02"),)
    assert report.waiting == 1
    [pending] = ledger.read("2026-03-02").pending
    assert (pending.publisher, pending.attempts) == ("bad", 1)
    assert pending.retry_at == "2026-03-04T12:01:00.000000Z"


def test_a_failure_is_tried_again_when_its_back_off_is_over(ledger: Ledger) -> None:
    clock, bad = noon("2026-03-04"), Kept("bad", refuses={"2026-03-02"})
    run(RECORDS, ledger, clock, bad)
    clock.advance(59)
    report = run(RECORDS, ledger, clock, bad)
    assert (bad.offered.count("2026-03-02"), report.waiting) == (1, 1)
    clock.advance(1)
    run(RECORDS, ledger, clock, bad)
    assert bad.offered.count("2026-03-02") == 2
    assert ledger.read("2026-03-02").pending[0].retry_at == "2026-03-04T12:03:00.000000Z"
    clock.advance(120)
    bad.refuses.clear()
    report = run(RECORDS, ledger, clock, bad)
    assert (report.waiting, ledger.read("2026-03-02").pending) == (0, ())
    assert bad.offered == [*DATES, "2026-03-02", "2026-03-02"]


def test_back_off_can_be_ignored(ledger: Ledger) -> None:
    clock, bad = noon("2026-03-04"), Kept("bad", refuses={"2026-03-02"})
    run(RECORDS, ledger, clock, bad)
    bad.refuses.clear()
    assert (run(RECORDS, ledger, clock, bad, retry_now=True)).waiting == 0


def test_after_three_failures_in_a_row_a_publisher_is_left_alone_until_the_next_run(
    ledger: Ledger,
) -> None:
    days = [f"2026-03-{day:02}" for day in range(1, 11)]
    down, good = Kept("down", refuses=set(days)), Kept("good")
    report = run(noted(days[0]), ledger, noon("2026-03-11"), down, good)
    assert (down.offered, good.offered, report.waiting) == (days[:3], days, 10)
    down.refuses.remove(days[4])
    run(noted(days[0]), ledger, noon("2026-03-11"), down)
    assert down.offered[3:] == [*days[3:8]], "one that succeeds begins the count again"


def test_one_that_hangs_is_a_failure_in_the_end(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "PUBLISH_SECONDS", 0.05)
    report = run(noted("2026-03-03"), ledger, noon("2026-03-04"), Held(), Kept())
    assert [failed.error for failed in report.failed] == ["TimeoutError"]
    assert [published.publisher for published in report.published] == ["kept"]


def test_a_receipt_that_is_not_json_is_a_failure(ledger: Ledger) -> None:
    report = run(noted("2026-03-03"), ledger, noon("2026-03-04"), Kept(returns={"when": object()}))
    assert "object is not a JSON value" in report.failed[0].error
    assert ledger.read("2026-03-03").pending


async def test_publishers_work_at_the_same_time(ledger: Ledger) -> None:
    first, second = Held("first"), Held("second")
    task = started(noted("2026-03-03"), ledger, first, second)
    await first.reached.wait()
    await second.reached.wait()
    first.let_go.set()
    second.let_go.set()
    assert [published.publisher for published in (await task).published] == ["first", "second"]


def test_two_publishers_of_one_name_are_refused(ledger: Ledger) -> None:
    with pytest.raises(InvalidInput, match="a name each"):
        run(RECORDS, ledger, noon("2026-03-04"), Kept(), Kept())
    assert not ledger.folder.exists()


def test_progress_counts_publications(ledger: Ledger) -> None:
    seen: list[tuple[int, int]] = []
    run(
        RECORDS,
        ledger,
        noon("2026-03-04"),
        Kept("good"),
        Kept("bad", refuses={"2026-03-02"}),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(number, 6) for number in range(1, 7)]


@pytest.mark.parametrize("how", ["scope", "task"])
def test_a_cancelled_run_keeps_what_was_done_and_the_next_one_completes(ledger: Ledger, how: str) -> None:
    """By anyio's scope and by asyncio's own ``cancel``: neither a receipt nor a failure is made up."""
    kept = Kept()

    async def cancelled() -> None:
        held, seen = Held(), asyncio.Event()
        with anyio.CancelScope() as scope:
            task = started(
                RECORDS, ledger, held, kept, progress=lambda done, _: seen.set() if done == 3 else None
            )
            await seen.wait()  # `kept` has all three days, `held` is at its first
            assert held.reached.is_set()
            if how == "task":
                task.cancel()
            else:
                scope.cancel()
            await task

    with suppress(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert receipts(ledger) == {date: ["kept"] for date in DATES}
    assert all(not ledger.read(date).pending for date in DATES)
    other = Kept("held")
    report = run(RECORDS, ledger, noon("2026-03-04"), other, kept)
    assert (report.waiting, other.offered, kept.offered) == (0, DATES, DATES)


async def test_a_run_that_is_cancelled_while_it_reads_stops_after_the_batch(ledger: Ledger) -> None:
    reading = asyncio.Event()
    loop = asyncio.get_running_loop()

    def endless() -> Iterator[Noted]:
        loop.call_soon_threadsafe(reading.set)
        while True:
            yield from RECORDS

    task = started(endless(), ledger)
    await reading.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await started(RECORDS, ledger)).anchored == tuple(DATES)


def test_a_receipt_is_noted_even_if_the_run_is_cancelled_while_it_is_written(ledger: Ledger) -> None:
    run(noted("2026-03-03"), ledger, noon("2026-03-04"))
    ops = ScriptedOps()
    gate = ops.hold("replace", name="2026-03-03.json")

    async def cancelled() -> None:
        task = started(noted("2026-03-03"), ledger_in(ledger.folder.parent, ops), Kept())
        await cancelled_at(gate, task)

    asyncio.run(cancelled())
    assert receipts(ledger) == {"2026-03-03": ["kept"]}


def test_what_reading_the_records_raises_comes_through_and_nothing_is_anchored(
    ledger: Ledger,
) -> None:
    def records() -> Iterator[Noted]:
        yield from RECORDS
        raise OSError(errno.EIO, "unreadable")

    with pytest.raises(OSError, match="unreadable"):
        run(records(), ledger, noon("2026-03-04"), Kept())
    assert ledger.dates() == []


def test_a_ledger_that_cannot_be_written_is_an_error_and_no_publishers_failure(ledger: Ledger) -> None:
    run(noted("2026-03-03"), ledger, noon("2026-03-04"))
    ops = ScriptedOps()
    ops.fail("replace", errno.ENOSPC, name="2026-03-03.json")
    with pytest.raises(OSError, match="No space") as caught:
        run(
            noted("2026-03-03"),
            ledger_in(ledger.folder.parent, ops),
            noon("2026-03-04"),
            Kept("a"),
            Kept("b"),
        )
    assert not isinstance(caught.value, ExceptionGroup)
    assert not ledger.read("2026-03-03").pending


def test_what_a_publisher_is_given_shows_no_record(ledger: Ledger) -> None:
    given: list[Mapping[str, Any]] = []

    class Curious:
        name = "curious"

        async def publish(self, day: AnchoredDay) -> Mapping[str, Any]:
            given.append(day.hashes)
            return {}

    run(noted("2026-03-03"), ledger, noon("2026-03-04"), Curious())
    assert list(given[0]) == ["anchor_payload_hash", "anchor_v2_hash", "date"]
