"""``max_tokens`` is a hard bound, spent on the best first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hippo_async.context import estimate_tokens
from hippo_async.recall.fitting import fit
from hippo_async.records import Hit, Kind, Novelty, Record


def record(seq: int, text: str) -> Record:
    time = "2026-01-01T00:00:00.000000Z"
    return Record(seq, f"{seq:064}", "a", time, Kind.OBSERVATION, Novelty.NOVEL, text, {}, None)


def hit(seq: int, text: str, *around: tuple[int, str]) -> Hit:
    return Hit(record(seq, text), 1.0, around=tuple(record(*turn) for turn in around))


def texts(hits: list[Hit]) -> list[str]:
    return [text for found in hits for text in (found.record.text, *(turn.text for turn in found.around))]


SCRIPTS = st.text(
    alphabet=st.one_of(
        st.characters(codec="utf-8"), st.sampled_from("абвгдежз我们住在柏林のはカナ한국어🙂👩‍🚀 \n")
    ),
    max_size=80,
)
AROUND = st.lists(st.tuples(st.integers(0, 9), SCRIPTS), max_size=5, unique_by=lambda turn: turn[0]).map(
    sorted
)
HITS = st.lists(st.tuples(SCRIPTS, AROUND), max_size=8).map(
    lambda found: [
        hit(10, text, *((seq if seq < 5 else seq + 10, said) for seq, said in around))
        for text, around in found
    ]
)


@given(HITS, st.integers(0, 300))
def test_the_texts_never_take_more_in_any_script(hits: list[Hit], budget: int) -> None:
    kept, notes = fit(hits, max_tokens=budget, count=estimate_tokens)
    assert sum(map(estimate_tokens, texts(kept))) <= budget
    assert [found.record for found in kept] == [found.record for found in hits[: len(kept)]]
    assert (not notes) == (kept == hits)
    for found, whole in zip(kept, hits, strict=False):
        assert [turn.seq for turn in found.around] == sorted(turn.seq for turn in found.around)
        assert all(turn in whole.around for turn in found.around)


@given(HITS, st.integers(0, 300))
def test_what_ends_the_list_would_not_have_fitted(hits: list[Hit], budget: int) -> None:
    kept, _ = fit(hits, max_tokens=budget, count=estimate_tokens)
    if len(kept) < len(hits):
        spent = sum(map(estimate_tokens, texts(kept)))
        assert spent + estimate_tokens(hits[len(kept)].record.text) > budget


def test_notes_say_how_much_was_left_out_and_for_what() -> None:
    found = [hit(1, "aaaa"), hit(2, "bbbb"), hit(3, "cccc")]
    kept, notes = fit(found, max_tokens=9, count=len)
    assert texts(kept) == ["aaaa", "bbbb"]
    assert notes == ("1 more memory was left out to keep to the budget of 9 tokens",)
    assert fit(found, max_tokens=3, count=len) == (
        [],
        ("3 more memories were left out to keep to the budget of 3 tokens",),
    )
    assert fit(found, max_tokens=12, count=len) == (found, ())


def test_of_the_turns_around_a_hit_the_nearest_stay() -> None:
    found = hit(5, "five", (1, "one."), (3, "tre."), (6, "six."), (8, "ate."))
    kept, notes = fit([found], max_tokens=12, count=len)
    assert [turn.seq for turn in kept[0].around] == [3, 6]
    assert notes == ("2 turns around them left out to keep to the budget of 12 tokens",)
