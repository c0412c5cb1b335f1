from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.recall.rank import NEIGHBOUR_WEIGHT, Scores, rank

seqs = st.integers(0, 15)


def scores(values: st.SearchStrategy[float]) -> st.SearchStrategy[list[tuple[int, float]]]:
    return st.dictionaries(seqs, values, max_size=10).map(lambda found: list(found.items()))


words = scores(st.floats(0, 50))
cosines = scores(st.floats(-1, 1))
neighbours = st.dictionaries(seqs, st.tuples(st.none() | seqs, st.none() | seqs))


@given(words, cosines, neighbours)
def test_the_reasons_add_up_to_the_score(words: Scores, meaning: Scores, neighbours: dict) -> None:
    for candidate in rank(words, meaning, neighbours=neighbours):
        assert candidate.why
        assert candidate.score == sum(candidate.why.values())


@given(words, cosines, neighbours)
def test_each_candidate_comes_once_best_first_newer_ones_first_among_equals(
    words: Scores, meaning: Scores, neighbours: dict
) -> None:
    ranked = rank(words, meaning, neighbours=neighbours)
    assert {candidate.seq for candidate in ranked} == {seq for seq, _ in [*words, *meaning]}
    order = [(-candidate.score, -candidate.seq) for candidate in ranked]
    assert order == sorted(set(order))


@given(words, cosines, neighbours, st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(
    words: list, meaning: list, neighbours: dict, random: object
) -> None:
    ranked = rank(words, meaning, neighbours=neighbours)
    random.shuffle(words)
    random.shuffle(meaning)
    assert rank(words, meaning, neighbours=neighbours) == ranked


@given(words, cosines)
def test_the_best_by_words_and_by_meaning_gets_a_whole_point(words: Scores, meaning: Scores) -> None:
    """Without neighbours scores stay within 0 and 1."""
    best = [*words, (99, 60.0)], [*meaning, (99, 1.5)]
    first = rank(*best)[0]
    assert (first.seq, first.score) == (99, 1.0)
    assert all(0 <= candidate.score <= 1 for candidate in rank(words, meaning))


def test_words_alone_count_whole() -> None:
    ranked = rank([(1, 8.0), (2, 2.0)], [])
    assert [(candidate.seq, candidate.score) for candidate in ranked] == [(1, 1.0), (2, 0.25)]
    assert ranked[0].why == {"words": 1.0}


def test_meaning_alone_is_stretched_over_its_list() -> None:
    ranked = rank([], [(1, 0.9), (2, 0.5), (3, 0.7)])
    assert [(candidate.seq, candidate.score) for candidate in ranked] == [
        (1, 1.0),
        (3, pytest.approx(0.5)),
        (2, 0.0),
    ]


def test_both_count_half() -> None:
    ranked = rank([(1, 4.0), (2, 2.0)], [(2, 0.8), (3, 0.2)])
    assert {candidate.seq: dict(candidate.why) for candidate in ranked} == {
        1: {"words": 0.5},
        2: {"words": 0.25, "meaning": 0.5},
        3: {"meaning": 0.0},
    }


def test_a_turn_gains_from_those_beside_it_but_not_from_their_gains() -> None:
    ranked = rank([(1, 4.0), (2, 2.0), (3, 1.0)], [], neighbours={1: (None, 2), 2: (1, 3), 3: (2, 7)})
    gains = {candidate.seq: candidate.why["neighbours"] for candidate in ranked}
    assert gains == pytest.approx(
        {1: NEIGHBOUR_WEIGHT * 0.5, 2: NEIGHBOUR_WEIGHT * 1.25, 3: NEIGHBOUR_WEIGHT * 0.5}
    )


def test_nothing_found_is_nothing_ranked() -> None:
    assert rank([], [], neighbours={1: (2, 3)}) == []


def test_what_has_no_vector_yet_is_judged_by_words_alone() -> None:
    """Else a store that is still being embedded would hide its newest memories."""
    words, meaning = [(1, 4.0), (2, 2.0)], [(2, 0.9), (3, 0.1)]
    behind = rank(words, meaning)
    ahead = rank(words, meaning, unembedded={1})
    assert (behind[0].seq, ahead[0].seq) == (2, 1)
    assert ahead[0].why == {"words": 1.0}


def test_the_question_itself_does_not_make_all_answers_look_alike() -> None:
    words, meaning = [(9, 40.0), (1, 4.0), (2, 1.0)], [(9, 1.0), (1, 0.6), (2, 0.5)]
    ranked = {found.seq: found.score for found in rank(words, meaning, echoes={9})}
    assert ranked == {found.seq: found.score for found in rank(words[1:], meaning[1:])} | {9: 1.0}
