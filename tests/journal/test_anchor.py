"""The daily anchor (J11): what it covers, what it depends on, and what it does not."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from hippo_async.journal.anchor import DailyAnchor, daily_anchor
from hippo_async.journal.canon import canonical
from hippo_async.records import Kind, Novelty, Record

DAY = date(2026, 3, 1)


@dataclass(frozen=True)
class Entry:
    """As little of a record as an anchor needs."""

    record_id: str
    timestamp: str = "2026-03-01T12:00:00.000000Z"
    novelty: Novelty = Novelty.NOVEL


def anchor(*records: Entry, day: date = DAY) -> DailyAnchor:
    return daily_anchor(records, agent_id="agent", date=day)


def test_the_hash_is_over_the_sorted_ids_joined_by_a_bar() -> None:
    made = anchor(Entry("cc"), Entry("aa"), Entry("bb"))
    assert made.dna_hash == hashlib.sha256(b"aa|bb|cc").hexdigest()
    assert (made.first_id, made.last_id, made.count) == ("cc", "bb", 3)


def test_only_records_of_that_day_count() -> None:
    first, last = "2026-03-01T00:00:00.000000Z", "2026-03-01T23:59:59.999999Z"
    around = [Entry("aa", "2026-02-28T23:59:59.999999Z"), Entry("dd", "2026-03-02T00:00:00.000000Z")]
    made = anchor(around[0], Entry("bb", first), Entry("cc", last), around[1])
    assert made == anchor(Entry("bb", first), Entry("cc", last))
    assert made.count == 2


def test_a_day_without_records_has_an_anchor() -> None:
    made = anchor(Entry("aa", "2026-02-28T12:00:00.000000Z"))
    assert made.as_dict() == {
        "agent_id": "agent",
        "date": "2026-03-01",
        "count": 0,
        "dna_hash": hashlib.sha256(b"").hexdigest(),
        "novelty_distribution": {"routine": 0, "novel": 0, "prediction_error": 0},
        "first_id": None,
        "last_id": None,
    }
    assert len(made.anchor_payload_hash) == 32


def test_every_novelty_is_counted() -> None:
    made = anchor(
        Entry("aa", novelty=Novelty.ROUTINE),
        Entry("bb", novelty=Novelty.ROUTINE),
        Entry("cc", novelty=Novelty.NOVEL),
    )
    assert made.novelty_distribution == {"routine": 2, "novel": 1, "prediction_error": 0}


def test_the_published_hash_is_over_the_canonical_payload() -> None:
    made = anchor(Entry("aa"))
    assert made.anchor_payload_hash == hashlib.sha256(canonical(made.as_dict())).digest()


def test_each_field_of_the_payload_changes_the_published_hash() -> None:
    made = anchor(Entry("aa"), Entry("bb"))
    others = [
        replace(made, agent_id="another"),
        replace(made, date="2026-03-02"),
        replace(made, count=3),
        replace(made, dna_hash="0" * 64),
        replace(made, novelty_distribution={"routine": 2, "novel": 0, "prediction_error": 0}),
        replace(made, first_id="bb"),
        replace(made, last_id="aa"),
    ]
    assert len({other.anchor_payload_hash for other in [made, *others]}) == 8


def test_a_purged_record_and_one_of_the_journals_own_count_like_any_other() -> None:
    record = Record(
        seq=0,
        record_id="aa",
        agent_id="agent",
        timestamp="2026-03-01T12:00:00.000000Z",
        kind=Kind.STATE,
        novelty=Novelty.NOVEL,
        content="a text",
        metadata={"role": "user"},
        prev_id=None,
    )
    purged = replace(record, content=None, metadata={})
    genesis = replace(record, type="genesis")
    made = [daily_anchor([each], agent_id="agent", date=DAY) for each in (record, purged, genesis)]
    assert made[0] == made[1] == made[2]
    assert made[0].count == 1


def test_a_moment_stands_for_its_day() -> None:
    assert anchor(Entry("aa"), day=datetime(2026, 3, 1, 18, 30, tzinfo=UTC)) == anchor(Entry("aa"))


@given(
    st.lists(st.integers(0, 2**128 - 1), unique=True).flatmap(
        lambda ids: st.tuples(st.just(ids), st.permutations(ids))
    )
)
def test_the_order_of_records_changes_first_and_last_alone(orders: tuple[list[int], list[int]]) -> None:
    made, other = (anchor(*(Entry(f"{number:032x}") for number in order)) for order in orders)
    assert other == replace(made, first_id=other.first_id, last_id=other.last_id)


@given(st.lists(st.integers(0, 6 * 24), max_size=30))
def test_the_anchors_of_all_days_cover_every_record_once(hours: list[int]) -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    moments = [(start + timedelta(hours=hour)).isoformat() for hour in hours]
    entries = [Entry(f"{index:032x}", moment) for index, moment in enumerate(moments)]
    days = [anchor(*entries, day=DAY + timedelta(days=day)) for day in range(7)]
    assert sum(day.count for day in days) == len(entries)
