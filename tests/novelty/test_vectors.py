"""Novelty by meaning: how near the nearest recent record is (J7)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hippo_async.novelty.vectors import MeaningNovelty, by_similarity
from hippo_async.records import Novelty

BASE = np.array([1, 0, 0, 0], dtype=np.float32)
UNRELATED = np.array([0, 0, 0, 1], dtype=np.float32)


def at_cosine(cosine: float) -> NDArray[np.float32]:
    """A unit vector with this cosine to ``BASE``."""
    return np.array([cosine, np.sqrt(1 - cosine**2), 0, 0], dtype=np.float32)


@pytest.mark.parametrize(
    ("cosine", "expected"),
    [
        (0.49, Novelty.PREDICTION_ERROR),
        (0.51, Novelty.NOVEL),
        (0.84, Novelty.NOVEL),
        (0.86, Novelty.ROUTINE),
        (1.0, Novelty.ROUTINE),
    ],
)
def test_the_literal_rule_cuts_the_bare_cosine_at_a_half_and_at_85_hundredths(
    cosine: float, expected: Novelty
):
    novelty = MeaningNovelty(0.9, literal=True)
    novelty.seed(BASE[None])
    assert novelty.classify(at_cosine(cosine)) is expected


def test_the_literal_thresholds_belong_to_the_milder_class():
    literal = (0.50, 0.85)
    assert by_similarity(0.50, thresholds=literal) is Novelty.NOVEL
    assert by_similarity(0.85, thresholds=literal) is Novelty.ROUTINE


@given(st.floats(-1, 1).filter(lambda cosine: min(abs(cosine - cut) for cut in (0.497, 0.716, 0.85)) > 0.01))
def test_for_the_model_of_the_literal_rule_the_rescaled_one_says_the_same_but_for_paraphrases(cosine: float):
    vector = at_cosine(cosine)
    literal, rescaled = MeaningNovelty(0.188, literal=True), MeaningNovelty(0.188)
    for novelty in (literal, rescaled):
        novelty.seed(BASE[None])
    expected = literal.classify(vector)
    assert rescaled.classify(vector) is (Novelty.ROUTINE if cosine > 0.716 else expected)


def test_what_was_said_before_in_other_words_is_routine():
    novelty = MeaningNovelty(0.188)
    novelty.seed(BASE[None])
    assert novelty.classify(at_cosine(0.78)) is Novelty.ROUTINE  # the mean of paraphrases under this model


def test_a_model_to_which_all_texts_look_alike_still_sees_something_new():
    alike = at_cosine(0.88)  # under a mean of 0.836 hardly nearer than unrelated texts are
    for literal, expected in ((True, Novelty.ROUTINE), (False, Novelty.PREDICTION_ERROR)):
        novelty = MeaningNovelty(0.836, literal=literal)
        novelty.seed(BASE[None])
        assert novelty.classify(alike) is expected


def test_the_thresholds_can_be_given():
    novelty = MeaningNovelty(0.0, thresholds=(0.1, 0.2))
    novelty.seed(BASE[None])
    assert novelty.classify(at_cosine(0.3)) is Novelty.ROUTINE


def test_the_first_record_surprises():
    assert MeaningNovelty(0.2).classify(BASE) is Novelty.PREDICTION_ERROR


def test_a_record_is_remembered_once_it_was_classified():
    novelty = MeaningNovelty(0.2)
    assert novelty.classify(BASE) is Novelty.PREDICTION_ERROR
    assert novelty.classify(BASE) is Novelty.ROUTINE


def test_only_the_last_records_count():
    novelty = MeaningNovelty(0.2, cache_size=3)
    novelty.seed(np.stack([BASE, UNRELATED, UNRELATED]))
    assert novelty.classify(BASE) is Novelty.ROUTINE
    novelty.seed(np.stack([UNRELATED] * 3))
    assert novelty.classify(BASE) is Novelty.PREDICTION_ERROR


@given(st.integers(1, 5), st.lists(st.integers(0, 7), min_size=1, max_size=30))
def test_the_ring_agrees_with_a_plain_list_of_the_last_records(size: int, stream: list[int]):
    vectors = np.eye(8, dtype=np.float32)
    novelty = MeaningNovelty(0.0, cache_size=size)
    for place, item in enumerate(stream):
        seen = item in stream[max(0, place - size) : place]
        expected = Novelty.ROUTINE if seen else Novelty.PREDICTION_ERROR
        assert novelty.classify(vectors[item]) is expected


@given(st.integers(1, 5), st.lists(st.integers(0, 7), max_size=12), st.integers(0, 7))
def test_a_seeded_window_equals_one_that_saw_it_all(size: int, stream: list[int], last: int):
    vectors = np.eye(8, dtype=np.float32)
    live, seeded = MeaningNovelty(0.0, cache_size=size), MeaningNovelty(0.0, cache_size=size)
    for item in stream:
        live.classify(vectors[item])
    seeded.seed(vectors[stream])
    assert live.classify(vectors[last]) is seeded.classify(vectors[last])
