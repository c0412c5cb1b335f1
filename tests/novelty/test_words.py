"""Novelty by words: how many of a record's words are new (J8)."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.novelty.words import WINDOW, WordNovelty
from hippo_async.records import Novelty

STREAMS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), max_size=25)


@pytest.mark.parametrize("literal", [True, False])
@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ("a b c d e f g h i j", Novelty.ROUTINE),
        ("a b c d e f g h X Y", Novelty.ROUTINE),  # 0.2 is not above 0.2
        ("a b c d e f g X Y Z", Novelty.NOVEL),
        ("a b c d e V W X Y Z", Novelty.NOVEL),  # 0.5 is not above 0.5
        ("a b c d U V W X Y Z", Novelty.PREDICTION_ERROR),
    ],
)
def test_the_share_of_new_words_decides(terms: str, expected: Novelty, literal: bool):
    novelty = WordNovelty(literal=literal)
    novelty.seed([list("abcde"), list("fghij")])
    assert novelty.classify(terms.split()) is expected


def test_words_count_once_however_often_they_are_said():
    novelty = WordNovelty()
    novelty.seed([["known"]])
    assert novelty.classify(["known"] * 9 + ["new"]) is Novelty.NOVEL


def test_the_thresholds_can_be_given():
    novelty = WordNovelty(thresholds=(0.9, 0.6))
    novelty.seed([["known"]])
    assert novelty.classify(["known", "new"]) is Novelty.ROUTINE


def test_the_first_record_surprises_and_its_repeat_is_routine():
    novelty = WordNovelty()
    assert novelty.classify(["hello", "world"]) is Novelty.PREDICTION_ERROR
    assert novelty.classify(["hello", "world"]) is Novelty.ROUTINE


def test_a_record_without_words_is_routine():
    assert WordNovelty().classify([]) is Novelty.ROUTINE


def test_a_word_is_new_again_once_its_record_has_left_the_window():
    novelty = WordNovelty(window=3)
    novelty.seed([["old"], ["x"], ["y"]])
    assert novelty.classify(["old"]) is Novelty.ROUTINE
    novelty.seed([["x"], ["y"], ["z"]])
    assert novelty.classify(["old"]) is Novelty.PREDICTION_ERROR


def test_the_literal_rule_never_forgets_a_word():
    novelty = WordNovelty(literal=True)
    novelty.seed([["old"], *([str(n)] for n in range(1000))])
    assert novelty.classify(["old"]) is Novelty.ROUTINE


def test_the_literal_rule_runs_dry_on_a_long_stream_and_the_window_does_not():
    rng = random.Random(7)
    words = [f"w{n}" for n in range(2000)]
    weights = [1 / (rank + 1) for rank in range(2000)]  # as words are distributed in speech
    stream = [rng.choices(words, weights, k=15) for _ in range(2000)]
    shares = []
    for novelty in (WordNovelty(literal=True), WordNovelty()):
        late = [novelty.classify(terms) for terms in stream][1000:]
        shares.append(late.count(Novelty.ROUTINE) / len(late))
    assert shares[0] > 0.95
    assert 0.05 < shares[1] < 0.95


@given(STREAMS, st.integers(1, 5))
def test_the_window_agrees_with_counting_afresh(stream: list[list[str]], window: int):
    novelty = WordNovelty(window=window)
    for place, terms in enumerate(stream):
        recent = {term for earlier in stream[max(0, place - window) : place] for term in earlier}
        share = len(set(terms) - recent) / max(1, len(set(terms)))
        above = (share > 0.5, share > 0.2)
        expected = {(True, True): Novelty.PREDICTION_ERROR, (False, True): Novelty.NOVEL}.get(
            above, Novelty.ROUTINE
        )
        assert novelty.classify(terms) is expected


@given(STREAMS, st.lists(st.sampled_from("abcdefgh"), max_size=6), st.booleans())
def test_a_seeded_window_equals_one_that_saw_it_all(stream: list[list[str]], last: list[str], literal: bool):
    live, seeded = (WordNovelty(window=4, literal=literal) for _ in range(2))
    for terms in stream:
        live.classify(terms)
    seeded.seed(stream)
    assert live.classify(last) is seeded.classify(last)


def test_a_long_memory_takes_no_more_room_than_its_window():
    novelty = WordNovelty()
    for n in range(10 * WINDOW):
        novelty.classify([f"only-{n}"])
    assert len(novelty._vocabulary) == WINDOW
