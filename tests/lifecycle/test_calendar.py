"""Days and months of a time zone: every moment is in just one (L19, L20)."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.lives.calendar import AFTER_ALL, Calendar
from hippo_async.records import utc_timestamp

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Pacific/Kiritimati", "Pacific/Niue", "Asia/Kathmandu"]
calendars = st.sampled_from(ZONES).map(Calendar)
offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1), timezones=offsets)  # noqa: DTZ001 - see timezones


@given(calendars, moments)
def test_a_moment_is_in_the_day_and_month_that_it_is_said_to_be_in(
    calendar: Calendar, moment: datetime
) -> None:
    at = utc_timestamp(moment)
    day, month = calendar.of_day(calendar.day(moment)), calendar.of_month(calendar.month(moment))
    assert day.start <= at < day.end
    assert month.start <= at < month.end


@given(calendars, st.dates(date(1800, 1, 1), date(2200, 1, 1)))
def test_days_follow_each_other_without_a_gap(calendar: Calendar, day: date) -> None:
    assert calendar.of_day(day).end == calendar.of_day(day + timedelta(days=1)).start


@given(calendars, moments)
def test_where_a_moment_is_written_makes_no_difference(calendar: Calendar, moment: datetime) -> None:
    assert calendar.day(moment) == calendar.day(moment.astimezone(UTC))


def test_a_day_on_which_clocks_are_set_has_23_or_25_hours() -> None:
    for day, hours in ((date(2026, 3, 29), 23), (date(2026, 10, 25), 25)):
        time = Calendar("Europe/Berlin").of_day(day)
        assert datetime.fromisoformat(time.end) - datetime.fromisoformat(time.start) == timedelta(hours=hours)


def test_both_hours_that_clocks_show_twice_are_of_that_day() -> None:
    berlin = Calendar("Europe/Berlin")
    twice = [berlin.here(datetime(2026, 10, 25, hour, 30, tzinfo=UTC)) for hour in (0, 1)]
    assert [moment.hour for moment in twice] == [2, 2]
    assert [moment.fold for moment in twice] == [0, 1]
    assert [berlin.day(moment) for moment in twice] == [date(2026, 10, 25)] * 2


def test_29_february_is_a_day_of_its_own() -> None:
    leap, months = date(2028, 2, 29), [f"2028-{month:02}" for month in range(1, 13)]
    assert Calendar().of_day(leap).end == Calendar().of_month("2028-03").start
    assert all(
        one.end == other.start for one, other in pairwise(Calendar().of_month(month) for month in months)
    )


@pytest.mark.parametrize("zone", ZONES)
def test_the_ends_of_the_calendar_are_in_a_month(zone: str) -> None:
    calendar = Calendar(zone)
    for moment in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
        month = calendar.of_month(calendar.month(moment))
        assert month.start <= month.end
    assert calendar.of_month("9999-12").end == AFTER_ALL
