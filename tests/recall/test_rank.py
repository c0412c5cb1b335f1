"""The order of candidates: every signal is named, bounded, and adds up."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.index import Traits
from hippo_async.recall import rank as ranking
from hippo_async.recall.rank import Asked, Scores, rank

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HALF_LIFE = timedelta(days=30)
ASKED_NOW = Asked(NOW, HALF_LIFE)
BOTH = ranking.WORDS + ranking.MEANING

seqs = st.integers(0, 15)


def trait(**given: Any) -> Traits:
    """A turn of a session, said now by nobody in particular, that says a little and asks nothing."""
    known: dict[str, Any] = {
        "session": None,
        "speaker": None,
        "timestamp": NOW.isoformat(),
        "substance": 0,
        "asks": False,
        **given,
    }
    return Traits(**known)


def scores(values: st.SearchStrategy[float]) -> st.SearchStrategy[list[tuple[int, float]]]:
    return st.dictionaries(seqs, values, max_size=10).map(lambda found: list(found.items()))


words = scores(st.floats(0, 50))
cosines = scores(st.floats(-1, 1))
traits = st.dictionaries(
    seqs,
    st.builds(
        trait,
        session=st.none() | st.sampled_from("ab"),
        speaker=st.none() | st.sampled_from(["Ada", "Bo"]),
        timestamp=st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat),
        substance=st.integers(0, 500),
        asks=st.booleans(),
        derived=st.booleans(),
        again=st.integers(0, 100),
        before=st.none() | seqs,
        after=st.none() | seqs,
    ),
)
questions = st.none() | st.builds(
    Asked,
    now=st.just(NOW),
    speaker=st.none() | st.just("Ada"),
    nearness=st.none() | st.just(lambda moment: 1.0 if moment.month == 5 else 0.0),
)


@given(words, cosines, traits, questions)
def test_the_reasons_add_up_to_the_score(
    words: Scores, meaning: Scores, traits: Mapping[int, Traits], asked: Asked | None
) -> None:
    for candidate in rank(words, meaning, traits=traits, asked=asked):
        assert candidate.why
        assert candidate.score == sum(candidate.why.values())


@given(words, cosines, traits, questions)
def test_each_candidate_comes_once_best_first_newer_ones_first_among_equals(
    words: Scores, meaning: Scores, traits: Mapping[int, Traits], asked: Asked | None
) -> None:
    ranked = rank(words, meaning, traits=traits, asked=asked)
    assert {candidate.seq for candidate in ranked} == {seq for seq, _ in [*words, *meaning]}
    order = [(-candidate.score, -candidate.seq) for candidate in ranked]
    assert order == sorted(set(order))


@given(words, cosines, traits, st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(
    words: list, meaning: list, traits: Mapping[int, Traits], random: Any
) -> None:
    ranked = [candidate.seq for candidate in rank(words, meaning, traits=traits)]
    random.shuffle(words)
    random.shuffle(meaning)
    again = rank(words, meaning, traits=traits)
    assert {candidate.seq for candidate in again} == set(ranked)
    first = rank(words, meaning, traits=traits)
    assert [candidate.seq for candidate in first] == [candidate.seq for candidate in again]


@given(words, cosines, traits, questions)
def test_no_signal_beside_words_and_meaning_goes_beyond_its_weight(
    words: Scores, meaning: Scores, traits: Mapping[int, Traits], asked: Asked | None
) -> None:
    bounds = {
        "speaker": ranking.SPEAKER,
        "substance": ranking.SUBSTANCE,
        "question": ranking.ASKING,
        "time": ranking.TIME,
    }
    for candidate in rank(words, meaning, traits=traits, asked=asked):
        for name, bound in bounds.items():
            assert abs(candidate.why.get(name, 0.0)) <= bound
        again = candidate.why.get("again", 0.0)
        before = candidate.score - again
        assert 0 <= again <= ranking.AGAIN * max(0.0, before) + 1e-9
        rest = before - candidate.why.get("recency", 0.0)
        assert abs(candidate.why.get("recency", 0.0)) <= ranking.RECENCY * abs(rest) + 1e-9


def test_the_best_by_words_and_by_meaning_gets_all_of_both() -> None:
    [first, *_] = rank([(1, 4.0), (9, 60.0)], [(1, 0.2), (9, 0.9)])
    assert (first.seq, first.score) == (9, pytest.approx(BOTH))


def test_words_alone_count_for_both() -> None:
    ranked = rank([(1, 8.0), (2, 2.0)], [])
    assert [(candidate.seq, candidate.score) for candidate in ranked] == [
        (1, BOTH),
        (2, pytest.approx(BOTH / 4)),
    ]


def test_meaning_alone_is_stretched_over_its_list() -> None:
    ranked = rank([], [(1, 0.9), (2, 0.5), (3, 0.7)])
    assert [(candidate.seq, candidate.score) for candidate in ranked] == [
        (1, BOTH),
        (3, pytest.approx(BOTH / 2)),
        (2, 0.0),
    ]


def test_a_turn_gains_from_those_beside_it_but_not_from_their_gains() -> None:
    beside = {1: trait(after=2), 2: trait(before=1, after=3), 3: trait(before=2, after=7)}
    ranked = rank([(1, 4.0), (2, 2.0), (3, 1.0)], [], traits=beside)
    gains = {candidate.seq: candidate.why["neighbours"] / BOTH for candidate in ranked}
    assert gains == pytest.approx(
        {
            1: ranking.AFTER * 0.5,
            2: ranking.BEFORE * 1 + ranking.AFTER * 0.25,
            3: ranking.BEFORE * 0.5,
        }
    )


def test_what_the_person_said_who_is_named_comes_before_what_was_said_to_them() -> None:
    said = {1: trait(speaker="Ada"), 2: trait(speaker="Bo")}
    ranked = rank([(1, 4.0), (2, 4.2)], [], traits=said, asked=Asked(NOW, HALF_LIFE, speaker="Ada"))
    assert [candidate.seq for candidate in ranked] == [1, 2]
    assert ranked[0].why["speaker"] == ranking.SPEAKER


def test_a_session_that_gathers_the_words_lifts_each_of_its_turns() -> None:
    sessions = {1: trait(session="a"), 2: trait(session="a"), 3: trait(session="b"), 4: trait(session="a")}
    ranked = rank([(1, 4.0), (2, 4.0), (3, 4.0), (4, 4.0)], [], traits=sessions)
    assert {candidate.seq for candidate in ranked[:3]} == {1, 2, 4}


def test_what_says_more_comes_first_and_what_only_asks_comes_last() -> None:
    ranked = rank(
        [(1, 4.0), (2, 4.0), (3, 4.0)],
        [],
        traits={1: trait(substance=2), 2: trait(substance=12), 3: trait(substance=12, asks=True)},
    )
    assert [candidate.seq for candidate in ranked] == [2, 1, 3]


def test_what_stands_at_the_time_asked_for_comes_first() -> None:
    times = {seq: trait(timestamp=f"2026-0{seq}-15T00:00:00+00:00") for seq in (1, 2, 3)}
    asked = Asked(NOW, HALF_LIFE, nearness=lambda moment: 1.0 if moment.month == 2 else 0.0)
    ranked = rank([(1, 4.0), (2, 4.0), (3, 4.0)], [], traits=times, asked=asked)
    assert ranked[0].seq == 2
    assert ranked[0].why["time"] == ranking.TIME


def test_of_two_alike_the_newer_comes_first_and_age_alone_never_beats_a_better_match() -> None:
    old = {1: trait(timestamp=(NOW - timedelta(days=3650)).isoformat()), 2: trait()}
    assert [found.seq for found in rank([(1, 4.0), (2, 4.0)], [], traits=old, asked=ASKED_NOW)] == [2, 1]
    assert [found.seq for found in rank([(1, 4.4), (2, 4.0)], [], traits=old, asked=ASKED_NOW)] == [1, 2]


def test_a_moment_yet_to_come_is_no_newer_than_now() -> None:
    times = {1: trait(timestamp=(NOW + timedelta(days=900)).isoformat()), 2: trait()}
    [later, now] = sorted(rank([(1, 4.0), (2, 4.0)], [], traits=times, asked=ASKED_NOW), key=lambda r: r.seq)
    assert later.why["recency"] == now.why["recency"]


def test_nothing_found_is_nothing_ranked() -> None:
    assert rank([], [], traits={1: trait(before=2, after=3)}) == []


def test_what_has_no_vector_yet_is_judged_by_words_alone() -> None:
    """Else a store that is still being embedded would hide its newest memories."""
    words, meaning = [(1, 4.0), (2, 2.5)], [(2, 0.9), (3, 0.1)]
    behind = rank(words, meaning)
    ahead = rank(words, meaning, unembedded={1})
    assert (behind[0].seq, ahead[0].seq) == (2, 1)
    assert ahead[0].why == {"words": BOTH}


def test_the_question_itself_does_not_make_all_answers_look_alike() -> None:
    words, meaning = [(9, 40.0), (1, 4.0), (2, 1.0)], [(9, 1.0), (1, 0.6), (2, 0.5)]
    ranked = {found.seq: found.score for found in rank(words, meaning, echoes={9})}
    without = {found.seq: found.score for found in rank(words[1:], meaning[1:])}
    assert ranked == without | {9: pytest.approx(BOTH)}


def test_what_was_made_of_others_comes_after_them() -> None:
    traits = {1: trait(), 2: trait(derived=True)}
    first, second = ranking.rank([(2, 10.0), (1, 9.0)], [], traits=traits, asked=None)
    assert (first.seq, second.seq) == (1, 2)
    assert second.why["second_hand"] == -ranking.SECOND_HAND


def test_what_was_confirmed_comes_before_its_like_and_ever_less_is_gained_by_more() -> None:
    traits = {seq: trait(again=seq) for seq in range(5)}
    ranked = ranking.rank([(seq, 10.0) for seq in range(5)], [], traits=traits, asked=None)
    assert [found.seq for found in ranked] == [4, 3, 2, 1, 0]
    gains = [found.why.get("again", 0.0) for found in reversed(ranked)]
    steps = [after - before for before, after in pairwise(gains)]
    assert steps == sorted(steps, reverse=True)
    assert gains[0] == 0
    assert gains[1] == pytest.approx(ranking.AGAIN / 2 * ranked[-1].score)


def test_no_confirmation_makes_up_for_a_worse_match() -> None:
    traits = {1: trait(), 2: trait(again=1000)}
    first, _ = ranking.rank([(1, 10.0), (2, 8.5)], [], traits=traits, asked=None)
    assert first.seq == 1
