"""One pass over a journal, and the anchors of all its days."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from anchored_days import AGENT, Noted, noted, numbered
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.anchors.tally import DayTally, Tally
from hippo_async.journal.anchor import daily_anchor
from hippo_async.journal.proof import AnchorV2, anchor_v2
from hippo_async.records import Novelty

FIRST, UNTIL = date(2026, 3, 1), date(2026, 3, 6)
DATES = st.dates(FIRST - timedelta(days=2), UNTIL + timedelta(days=2)).map(date.isoformat)
RECORDS = st.lists(
    st.builds(
        Noted,
        st.binary(min_size=16, max_size=16).map(bytes.hex),
        DATES.map(lambda day: f"{day}T10:00:00.000000Z"),
        st.sampled_from(Novelty),
    )
)


def collected(
    records: Iterable[Noted], *, have: Iterable[str] = (), until: date = UNTIL, batch: int = 3
) -> list[AnchorV2]:
    tally = Tally(numbered(records), anchored=list(have), until=until)
    while tally.read(batch):
        pass
    return list(tally.anchors(agent_id=AGENT))


def days_of(anchors: list[AnchorV2]) -> list[str]:
    return [anchor.date for anchor in anchors]


@given(records=RECORDS, batch=st.integers(1, 50))
def test_one_pass_makes_what_a_pass_a_day_makes(records: list[Noted], batch: int) -> None:
    for made in collected(records, batch=batch):
        day = date.fromisoformat(made.date)
        assert made == anchor_v2(records, agent_id=AGENT, date=day)[0]
        plain = daily_anchor(records, agent_id=AGENT, date=day).as_dict()
        assert plain | {"merkle_root": made.merkle_root} == made.as_dict()


@given(records=RECORDS, have=st.sets(DATES))
def test_every_finished_day_since_the_first_record_is_there_once_unless_it_was_before(
    records: list[Noted], have: set[str]
) -> None:
    named = [record.timestamp[:10] for record in records]
    since = (
        {
            (date.fromisoformat(named[0]) + timedelta(days=n)).isoformat()
            for n in range((UNTIL - date.fromisoformat(named[0])).days + 1)
        }
        if named
        else set()
    )
    days = days_of(collected(records, have=have))
    if since - have:
        since |= {day for day in named if day <= UNTIL.isoformat()}
        assert days == sorted(since - have)
    else:
        assert days == []


def test_a_record_with_an_older_time_counts_for_its_own_day() -> None:
    records = noted("2026-03-01", "2026-03-03", "2026-03-01", "2026-02-10")
    made = {anchor.date: anchor for anchor in collected(records, until=date(2026, 3, 3))}
    assert {day: anchor.count for day, anchor in made.items()} == {
        "2026-02-10": 1,
        "2026-03-01": 2,
        "2026-03-02": 0,
        "2026-03-03": 1,
    }
    assert made["2026-03-01"].last_id == records[2].record_id


def test_a_day_that_is_not_over_waits() -> None:
    assert days_of(collected(noted("2026-03-06", "2026-03-07"))) == ["2026-03-06"]
    assert collected(noted("2026-03-07")) == []
    assert collected([]) == []


def test_a_time_that_names_no_day_belongs_to_none() -> None:
    odd = [Noted("00" * 16, text) for text in ("2026-02-30T", "2026-W10-1T", "", "9999-99-99T")]
    assert days_of(collected([*odd, *noted("2026-03-06"), *odd])) == ["2026-03-06"]


def test_nothing_is_read_behind_the_first_record_when_no_day_is_missing() -> None:
    def records() -> Iterator[Noted]:
        yield from noted("2026-03-06")
        raise AssertionError("read on")

    assert collected(records(), have=["2026-03-06"]) == []


def test_a_record_costs_a_few_bytes_until_the_pass_is_over() -> None:
    tally = DayTally()
    for number in range(50_000):
        tally.add(Noted(f"{number:032x}", "", Novelty.NOVEL))
    held = sum(sys.getsizeof(value) for value in vars(tally).values())
    assert held / len(tally) < 20
