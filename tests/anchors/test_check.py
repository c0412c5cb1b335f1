"""Old anchors against the journal as it is now."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from anchored_days import AGENT, Noted, noon, noted, run
from hypothesis import given
from hypothesis import strategies as st
from local_authority import Authority, needs_openssl
from local_server import LocalServer

from hippo_async.anchors import DayCheck, Ledger, TimestampPublisher, check_ledger, read_roots
from hippo_async.anchors.check import _Comparison
from hippo_async.journal.proof import anchor_v2
from hippo_async.records import Novelty

RECORDS = noted("2026-03-01", "2026-03-03", "2026-03-01")
DATES = ["2026-03-01", "2026-03-02", "2026-03-03"]


@pytest.fixture
def kept(ledger: Ledger) -> Ledger:
    """Three days are anchored."""
    run(RECORDS, ledger, noon("2026-03-04"))
    return ledger


def test_the_anchors_of_a_sound_journal_hold(kept: Ledger) -> None:
    assert check_ledger(kept, RECORDS) == [DayCheck(day, None) for day in DATES]


def test_records_that_came_later_are_counted_and_no_fault(kept: Ledger) -> None:
    found = check_ledger(kept, [*RECORDS, *noted("2026-03-01", "2026-03-02", "2026-03-02", "2026-03-04")])
    assert [(check.holds, check.added_since) for check in found] == [(True, 1), (True, 2), (True, 0)]


@pytest.mark.parametrize(
    ("records", "days"),
    [
        (RECORDS[1:], ["2026-03-01"]),
        ([], ["2026-03-01", "2026-03-03"]),
        (RECORDS[::-1], ["2026-03-01"]),
        ([*RECORDS[:2], *noted(*DATES, "2026-03-01")[3:]], ["2026-03-01"]),
        ([RECORDS[0], replace(RECORDS[1], novelty=Novelty.ROUTINE), RECORDS[2]], ["2026-03-03"]),
    ],
    ids=["one missing", "all missing", "other order", "another one", "other novelty"],
)
def test_a_journal_that_is_another_than_was_anchored_is_found_out(
    kept: Ledger, records: list[Noted], days: list[str]
) -> None:
    assert [check.date for check in check_ledger(kept, records) if not check.holds] == days


def test_too_few_records_are_counted(kept: Ledger) -> None:
    [first, *_] = check_ledger(kept, RECORDS[:1])
    assert first.reason == "the journal has 1 records of this day, the anchor 2"


def test_a_damaged_day_is_a_finding_and_the_others_are_checked(kept: Ledger) -> None:
    path = kept.folder / "2026-03-02.json"
    path.write_bytes(path.read_bytes()[:-1])
    assert [check.holds for check in check_ledger(kept, RECORDS)] == [True, False, True]


@given(records=st.lists(st.sampled_from(noted(*["2026-03-01"] * 5)), unique=True), later=st.integers(0, 4))
def test_an_anchor_holds_against_any_journal_that_goes_on_from_it(records: list[Noted], later: int) -> None:
    made, _ = anchor_v2(records, agent_id=AGENT, date=date(2026, 3, 1))
    comparison = _Comparison(made)
    for record in records + noted(*["2026-03-01"] * 9)[5 : 5 + later]:
        comparison.take(record)
    assert (comparison.reason, comparison.added_since) == (None, later)


@needs_openssl
def test_stamps_are_verified_offline_if_roots_are_given(
    kept: Ledger, server: LocalServer, authority: Authority, stranger: Authority
) -> None:
    server.answer = lambda asked: (200, authority.stamp(asked.body))
    publisher = TimestampPublisher(server.url)
    run(RECORDS, kept, noon("2026-03-04"), publisher)
    asked = len(server.asked)
    assert all(not check.stamped for check in check_ledger(kept, RECORDS))
    for check in check_ledger(kept, RECORDS, roots=read_roots(authority.root)):
        assert check.holds
        assert list(check.stamped) == [publisher.name]
    for check in check_ledger(kept, RECORDS, roots=read_roots(stranger.root)):
        assert f"{publisher.name}: the time-stamp does not hold" in str(check.reason)
    assert len(server.asked) == asked


@needs_openssl
def test_a_stamp_moved_to_another_day_does_not_hold(
    kept: Ledger, server: LocalServer, authority: Authority
) -> None:
    server.answer = lambda asked: (200, authority.stamp(asked.body))
    publisher = TimestampPublisher(server.url)
    run(RECORDS, kept, noon("2026-03-04"), publisher)
    first, second = kept.read(DATES[0]), kept.read(DATES[1])
    moved = replace(second, receipts=first.receipts)
    (kept.folder / f"{DATES[1]}.json").write_bytes(moved.encode())
    found = check_ledger(kept, RECORDS, roots=read_roots(authority.root))
    assert [check.holds for check in found] == [True, False, True]
    assert "another hash" in str(found[1].reason)


@needs_openssl
def test_a_receipt_whose_reply_is_no_base64_does_not_hold(kept: Ledger, authority: Authority) -> None:
    kept.note_published(DATES[0], "timestamp x", {"time_stamp_reply": "!"}, noon("2026-03-04").now())
    [first, *_] = check_ledger(kept, RECORDS, roots=read_roots(authority.root))
    assert "not base64" in str(first.reason)
