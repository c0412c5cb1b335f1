"""What is said more than once is one hit, which says when it was said again."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.language.plain import regular
from hippo_async.recall.folding import distinct
from hippo_async.records import Hit, Kind, Novelty, Record


def said(seq: int, text: str, role: str = "user", speaker: str | None = None) -> Hit:
    metadata = {"role": role, **({"speaker": speaker} if speaker else {})}
    time = f"2026-01-01T00:{seq // 60:02}:{seq % 60:02}.000000Z"
    record = Record(seq, f"{seq:064}", "a", time, Kind.OBSERVATION, Novelty.NOVEL, text, metadata, None)
    return Hit(record, score=1000.0 - seq)


def folded(hits: Sequence[Hit], limit: int = 10) -> list[tuple[int, list[int]]]:
    found = distinct(hits, list, limit=limit)
    return [(hit.record.seq, [same.seq for same in hit.repeats]) for hit in found]


def test_the_best_stands_for_all_and_its_repeats_come_in_the_order_of_time() -> None:
    hits = [said(5, "Good morning!"), said(9, "Tea?"), said(7, "good  morning!"), said(2, "GOOD\nMORNING!")]
    assert folded(hits) == [(5, [2, 7]), (9, [])]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Привет, Мир", "привет,  мир"),
        ("ＡＢＣ", "abc"),
        ("你好\u3000世界", "你好 世界"),
        ("Straße", "STRASSE"),
        ("Good night", "good night."),
        ("Хорошо!", "хорошо!!!"),
        ("好的。", "好的！"),
        ("well…", "well..."),
    ],
)
def test_case_width_and_white_space_make_no_difference_in_any_script(one: str, other: str) -> None:
    assert folded([said(1, one), said(2, other)]) == [(1, [2])]


def test_marks_alone_are_a_text_too() -> None:
    assert folded([said(1, "..."), said(2, "!"), said(3, "...")]) == [(1, [3]), (2, [])]


def test_other_words_other_marks_and_other_people_do() -> None:
    hits = [
        said(1, "I live in Utrecht."),
        said(2, "I live in Utrecht?"),
        said(3, "I live in Utrecht.", role="assistant"),
        said(4, "I live in Utrecht.", speaker="Ben"),
    ]
    assert folded(hits) == [(1, []), (2, []), (3, []), (4, [])]


def test_ten_greetings_do_not_fill_a_recall() -> None:
    hits = [said(seq, "hello") for seq in range(300)] + [said(300, "My boat is Nimbus.")]
    assert folded(hits, limit=2) == [(0, list(range(1, 300))), (300, [])]


def test_no_more_is_read_than_it_takes_to_find_enough() -> None:
    read: list[int] = []

    def reading(hits: Sequence[Hit]) -> list[Hit]:
        read.extend(hit.record.seq for hit in hits)
        return list(hits)

    distinct([said(seq, f"text {seq}") for seq in range(400)], reading, limit=60)
    assert read == list(range(60))


@given(st.lists(st.sampled_from(["a", "A ", "b", "c", "С"]), max_size=60), st.integers(1, 60))
def test_hits_differ_come_best_first_and_none_is_lost(texts: list[str], limit: int) -> None:
    hits = [said(seq, text) for seq, text in enumerate(texts)]
    found = distinct(hits, list, limit=limit)
    assert len({regular(hit.record.text) for hit in found}) == len(found)
    assert len(found) == min(limit, len({regular(text) for text in texts}))
    assert [hit.record.seq for hit in found] == sorted(hit.record.seq for hit in found)
    for hit in found:
        same = [seq for seq, text in enumerate(texts) if regular(text) == regular(hit.record.text)]
        seen = [hit.record.seq, *(record.seq for record in hit.repeats)]
        assert seen == same[: len(seen)]
        if len(found) < limit:
            assert seen == same
