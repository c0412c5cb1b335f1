"""The figures, by examples worked out by hand and by what must hold of any ranking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.evaluation import DEPTHS, Answer, by_category, percentile, summarize
from hippo_async.evaluation.metrics import any_session, hit_at, recall_at, reciprocal_rank

IDS = st.sampled_from([f"D{number}" for number in range(30)])
RANKED = st.lists(IDS, unique=True)
WANTED = st.frozensets(IDS, min_size=1)
DEPTH = st.integers(min_value=1, max_value=40)


def answer(found: str, evidence: str, *, category: int = 4, seconds: float = 0.0) -> Answer:
    """An answer from ids of one letter; each is said in a session of its own, named alike."""
    return Answer(category, tuple(found), tuple(found), frozenset(evidence), frozenset(evidence), seconds)


def test_recall_is_the_share_of_the_evidence_that_was_found() -> None:
    ranked = ["x", "a", "y", "b", "c"]
    assert [recall_at(ranked, {"a", "b", "c", "d"}, depth) for depth in (1, 2, 4, 5)] == [0, 0.25, 0.5, 0.75]


def test_a_hit_is_any_of_the_evidence() -> None:
    assert [hit_at(["x", "a", "b"], {"a", "b", "z"}, depth) for depth in (1, 2, 3)] == [0, 1, 1]


def test_the_rank_of_the_first_evidence_counts_from_one() -> None:
    assert reciprocal_rank(["a", "b"], {"a", "b"}) == 1
    assert reciprocal_rank(["x", "y", "b", "a"], {"a", "b"}) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x", "y"], {"a"}) == 0


def test_a_session_counts_once_however_many_of_its_turns_stand_at_the_top() -> None:
    sessions = ["s1", "s1", "s1", "s2", "s1", "s3"]
    assert any_session(sessions, {"s3"}, first=3) == 1
    assert any_session(sessions, {"s3"}, first=2) == 0


def test_questions_count_alike_whatever_their_evidence() -> None:
    summary = summarize([answer("ab", "ab"), answer("xa", "ab"), answer("", "a"), answer("xxxxxa", "a")])
    assert summary.questions == 4
    assert summary.recall == {5: 1.5 / 4, 10: 2.5 / 4, 20: 2.5 / 4, 50: 2.5 / 4}
    assert summary.hit == {5: 2 / 4, 10: 3 / 4, 20: 3 / 4, 50: 3 / 4}
    assert summary.mrr == pytest.approx((1 + 1 / 2 + 0 + 1 / 6) / 4)
    assert summary.session_any == 3 / 4


def test_no_questions_give_zeros() -> None:
    summary = summarize([])
    assert (summary.questions, summary.mrr, summary.session_any) == (0, 0, 0)
    assert summary.recall == dict.fromkeys(DEPTHS, 0)


def test_categories_are_averaged_by_themselves() -> None:
    parts = by_category([answer("a", "a", category=4), answer("x", "a", category=1), answer("b", "b")])
    assert [(number, part.questions, part.mrr) for number, part in parts.items()] == [(1, 1, 0), (4, 2, 1)]


def test_percentiles_are_values_that_occurred() -> None:
    assert [percentile(range(1, 101), share) for share in (0.5, 0.95, 0.99, 1.0)] == [50, 95, 99, 100]
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([7.0], 0.01) == 7.0
    assert percentile([], 0.5) == 0.0


@given(RANKED, WANTED, DEPTH)
def test_every_figure_is_a_share(ranked: list[str], wanted: frozenset[str], depth: int) -> None:
    assert 0 <= recall_at(ranked, wanted, depth) <= hit_at(ranked, wanted, depth) <= 1
    assert 0 <= reciprocal_rank(ranked, wanted) <= hit_at(ranked, wanted, len(ranked)) <= 1


@given(RANKED, WANTED, DEPTH, DEPTH)
def test_further_down_never_less_is_found(
    ranked: list[str], wanted: frozenset[str], one: int, other: int
) -> None:
    shallow, deep = sorted((one, other))
    assert recall_at(ranked, wanted, shallow) <= recall_at(ranked, wanted, deep)
    assert hit_at(ranked, wanted, shallow) <= hit_at(ranked, wanted, deep)
    assert any_session(ranked, wanted, shallow) <= any_session(ranked, wanted, deep)


@given(RANKED, WANTED, DEPTH, st.randoms())
def test_recall_does_not_ask_for_the_order_above_its_depth(
    ranked: list[str], wanted: frozenset[str], depth: int, random: object
) -> None:
    top = ranked[:depth]
    random.shuffle(top)
    shuffled = top + ranked[depth:]
    assert recall_at(shuffled, wanted, depth) == recall_at(ranked, wanted, depth)
    assert hit_at(shuffled, wanted, depth) == hit_at(ranked, wanted, depth)


@given(WANTED, RANKED)
def test_a_perfect_ranking_is_perfect(wanted: frozenset[str], others: list[str]) -> None:
    ranked = [*wanted, *(found for found in others if found not in wanted)]
    assert recall_at(ranked, wanted, len(wanted)) == 1
    assert reciprocal_rank(ranked, wanted) == 1


@given(
    st.lists(
        st.builds(
            answer,
            st.text("abcdef", max_size=8).map(dict.fromkeys).map("".join),
            st.text("abcdef", min_size=1),
        ),
        min_size=1,
    ),
    st.randoms(),
)
def test_the_order_of_the_questions_does_not_matter(answers: list[Answer], random: object) -> None:
    shuffled = list(answers)
    random.shuffle(shuffled)
    assert summarize(shuffled) == summarize(answers)


@given(st.lists(st.floats(0, 10), min_size=1), st.floats(0.01, 1))
def test_a_percentile_leaves_its_share_at_or_below(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9
