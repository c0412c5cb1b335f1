"""What holds for times in every language: edges of the calendar, zones, closeness, and any text at all."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.recall.dates import Span, near, time_spans
from hippo_async.recall.dates.chinese import WORDS as CHINESE
from hippo_async.recall.dates.english import WORDS as ENGLISH
from hippo_async.recall.dates.russian import WORDS as RUSSIAN

WORDS = [
    *ENGLISH,
    *CHINESE,
    *RUSSIAN,
    *map(str, range(0, 40, 3)),
    *"-,.%年月日天周",
    "2023",
    "2024",
    "1000",
    "may",
]
FIGURES = "1 8 28 30 31 2023 2024-02-30 - , of to с по 到 年 月 日"
MOMENTS = st.datetimes(
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-14))])
)
TEXTS = st.text() | (
    st.lists(st.sampled_from(WORDS), max_size=5) | st.lists(st.sampled_from(WORDS), max_size=30)
).flatmap(lambda words: st.sampled_from([" ".join(words).replace("~", " "), "".join(words)]))


def spans_at(text: str, now: str) -> list[tuple[str, str]]:
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    return [(f"{span.start:%Y-%m-%d}", f"{span.end:%Y-%m-%d}") for span in time_spans(text, now=moment)]


@pytest.mark.parametrize(
    ("text", "now", "start", "end"),
    [
        ("yesterday", "2024-03-01", "2024-02-29", "2024-03-01"),
        ("yesterday", "2023-03-01", "2023-02-28", "2023-03-01"),
        ("29 February", "2023-11-15", "2020-02-29", "2020-03-01"),
        ("29 февраля 2024 года", "2024-11-15", "2024-02-29", "2024-03-01"),
        ("February 30", "2023-11-15", "2023-02-01", "2023-03-01"),  # the month is all that is left of it
        ("a month ago", "2023-03-31", "2023-02-01", "2023-03-01"),
        ("last month", "2024-01-31", "2023-12-01", "2024-01-01"),
        ("上个月", "2024-01-01", "2023-12-01", "2024-01-01"),
        ("на прошлой неделе", "2024-01-01", "2023-12-25", "2024-01-01"),
        ("last quarter", "2024-02-29", "2023-10-01", "2024-01-01"),
        ("вчера", "2024-01-01", "2023-12-31", "2024-01-01"),
        ("the month before 31 March 2023", "2023-11-15", "2023-02-28", "2023-03-31"),
        ("in November", "2023-11-01", "2023-11-01", "2023-12-01"),
        ("in December", "2023-11-30", "2022-12-01", "2023-01-01"),
        ("last May", "2023-05-31", "2022-05-01", "2022-06-01"),
        ("in the winter", "2024-01-15", "2023-12-01", "2024-03-01"),
        ("this winter", "2024-01-15", "2023-12-01", "2024-03-01"),
        ("last winter", "2024-01-15", "2022-12-01", "2023-03-01"),
        ("last Monday", "2023-11-13", "2023-11-06", "2023-11-07"),
        ("on Monday", "2023-11-13", "2023-11-13", "2023-11-14"),
        ("next Monday", "2023-11-13", "2023-11-20", "2023-11-21"),
        ("上周一", "2023-11-19", "2023-11-06", "2023-11-07"),
        ("last weekend", "2023-11-18", "2023-11-11", "2023-11-13"),
        ("on the weekend", "2023-11-19", "2023-11-18", "2023-11-20"),
        ("from November to February", "2023-11-15", "2023-11-01", "2024-03-01"),
        ("from Dec 28 to Jan 3 2022", "2023-11-15", "2021-12-28", "2022-01-04"),
    ],
)
def test_the_edges_of_months_and_years(text: str, now: str, start: str, end: str) -> None:
    assert spans_at(text, now) == [(start, end)]


def test_spans_come_in_the_order_of_the_text() -> None:
    found = spans_at("今天, last week и 8 мая 2023", "2023-11-15")
    assert [start for start, _ in found] == ["2023-11-15", "2023-11-06", "2023-05-08"]


@pytest.mark.parametrize("offset", [-14, 0, 14])
def test_days_are_those_of_the_zone_that_now_is_in(offset: int) -> None:
    zone = timezone(timedelta(hours=offset))
    now = datetime(2023, 12, 31, 23, 59, tzinfo=zone)
    for moment in (now, now + timedelta(minutes=2)):
        (today,) = time_spans("сегодня", now=moment)
        assert today.start == moment.replace(hour=0, minute=0)
        assert today.end - today.start == timedelta(days=1)
        assert today.start.utcoffset() == timedelta(hours=offset)


@pytest.mark.parametrize("fold", [0, 1])
def test_a_day_on_which_clocks_are_put_back_has_all_its_hours(fold: int) -> None:
    zone = ZoneInfo("Europe/Berlin")
    (today,) = time_spans("today", now=datetime(2023, 10, 29, 2, 30, tzinfo=zone, fold=fold))
    assert today.end.astimezone(UTC) - today.start.astimezone(UTC) == timedelta(hours=25)


@pytest.mark.parametrize("now", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
@pytest.mark.parametrize(
    "text", ["yesterday", "明天", "30 years ago", "100年前", "since May", "next year", "в мае"]
)
def test_the_ends_of_the_calendar_raise_nothing(text: str, now: datetime) -> None:
    for span in time_spans(text, now=now):
        assert span.start < span.end


def _span(start: str, end: str) -> Span:
    first, last = (datetime.fromisoformat(edge).replace(tzinfo=UTC) for edge in (start, end))
    return Span(first, last, "", "range")


DAY, MONTH, YEAR = (
    _span("2023-05-08", "2023-05-09"),
    _span("2023-05-01", "2023-06-01"),
    _span("2023-01-01", "2024-01-01"),
)


@pytest.mark.parametrize(
    ("span", "moment", "closeness"),
    [
        (DAY, "2023-05-08", 1.0),
        (DAY, "2023-05-08T23:59", 1.0),
        (DAY, "2023-05-09", 1.0),  # just outside, by nothing
        (DAY, "2023-05-14", 0.5),
        (DAY, "2023-05-03", 0.5),
        (DAY, "2023-05-19", 0.0),
        (DAY, "2020-01-01", 0.0),
        (MONTH, "2023-06-16", 0.5),
        (MONTH, "2023-04-16", 0.5),
        (MONTH, "2023-07-01", 0.0),
        (YEAR, "2024-02-15", 0.5),
        (YEAR, "2024-04-01", 0.0),
        (_span("2010-01-01", "2020-01-01"), "2020-02-15", 0.5),
        (_span("2023-05-08T05", "2023-05-08T12"), "2023-05-13T12", 0.5),
    ],
)
def test_closeness_falls_with_distance_by_the_size_of_the_span(
    span: Span, moment: str, closeness: float
) -> None:
    assert near(datetime.fromisoformat(moment).replace(tzinfo=UTC), [span]) == pytest.approx(
        closeness, abs=0.01
    )


def test_the_closest_span_counts_and_none_is_far() -> None:
    moment = datetime(2023, 5, 14, tzinfo=UTC)
    assert near(moment, ()) == 0.0
    assert near(moment, (DAY, MONTH)) == 1.0
    assert near(moment, (_span("2020-01-01", "2020-01-02"), DAY)) == pytest.approx(0.5)


@given(TEXTS, MOMENTS)
def test_any_text_gives_ordered_spans_of_its_own_words(text: str, now: datetime) -> None:
    spans = time_spans(text, now=now)
    place = 0
    for span in spans:
        assert span.start < span.end
        assert span.start.tzinfo is span.end.tzinfo is now.tzinfo
        assert span.text
        place = text.index(span.text, place) + len(span.text)
        assert 0.0 <= near(now, [span]) <= 1.0
        assert near(span.start, [span]) == 1.0
    assert time_spans(text, now=now) == spans


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), st.sampled_from([" ", ""]))
def test_time_to_read_is_bounded_whatever_is_repeated(words: list[str], joint: str) -> None:
    repeated = joint.join(words) + joint
    text = (repeated * (10_000 // len(repeated) + 1))[:10_000]
    began = time.process_time()
    time_spans(text, now=datetime(2023, 11, 15, tzinfo=UTC))
    assert time.process_time() - began < 2.0  # a tenth of it is usual; a search that backtracks takes minutes


def test_any_few_words_about_time_are_read_without_an_error() -> None:
    """Ten thousand mixtures of up to six of them: rules meet words in ways that nobody thought of."""
    chance = random.Random(3)
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    for vocabulary in (list(ENGLISH), list(RUSSIAN), list(CHINESE)):
        words = [*vocabulary, *FIGURES.split()]
        for _ in range(3500):
            between = "" if vocabulary[0] in CHINESE else " "
            text = between.join(chance.choice(words) for _ in range(chance.randint(1, 6))).replace("~", " ")
            for span in time_spans(text, now=now):
                assert span.start < span.end
                assert span.text in text


@pytest.mark.parametrize("text", ["the first of May", "from the first of May", "on the twenty-first of May"])
def test_a_day_may_be_said_in_words(text: str) -> None:
    [(start, end)] = spans_at(text, "2026-06-10")
    assert start in {"2026-05-01", "2026-05-21"}
    assert end in {"2026-05-02", "2026-05-22"}
