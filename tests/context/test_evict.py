"""What leaves a full window, and that pairs of calls and results hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.context import EvictionPlan, pairs_hold, plan_eviction
from hippo_async.records import Turn

SIZE = 10


def system(tokens=SIZE):
    return Turn("system", "rules", tokens)


def user(tokens=SIZE):
    return Turn("user", "question", tokens)


def said(tokens=SIZE):
    return Turn("assistant", "answer", tokens)


def calls(*ids, tokens=SIZE):
    return Turn("assistant", "", tokens, tool_calls=ids)


def result(of, tokens=SIZE):
    return Turn("tool", "found", tokens, answers=of)


def kept(turns, plan):
    return [turns[index] for index in plan.keep]


def plan(turns, *, share=0.5, threshold=0.85, target=0.7, fixed=0):
    """Plan for a window of which the turns take ``1 / share``."""
    tokens = sum(turn.tokens for turn in turns) + fixed
    return plan_eviction(
        turns, max_tokens=int(tokens * share), threshold=threshold, target=target, fixed_tokens=fixed
    )


@st.composite
def conversations(draw):
    """Turns of any order: parallel calls, mixed owners, ids used twice, orphans, calls without results."""
    ids = st.sampled_from("abcd")
    turn = st.one_of(
        st.builds(system, st.integers(0, 30)),
        st.builds(user, st.integers(0, 30)),
        st.builds(said, st.integers(0, 30)),
        st.builds(
            lambda some, tokens: calls(*some, tokens=tokens), st.lists(ids, max_size=3), st.integers(0, 30)
        ),
        st.builds(result, st.one_of(ids, st.none()), st.integers(0, 60)),
    )
    return draw(st.lists(turn, max_size=25))


@st.composite
def sound_conversations(draw):
    """Turns as agents make them: rounds of a question, tool steps with parallel calls, an answer."""
    turns, number = [system()] if draw(st.booleans()) else [], 0
    for _ in range(draw(st.integers(0, 6))):
        turns.append(user(draw(st.integers(1, 30))))
        for _ in range(draw(st.integers(0, 4))):
            ids = [f"call{number + place}" for place in range(draw(st.integers(1, 3)))]
            number += len(ids)
            turns.append(calls(*ids, tokens=draw(st.integers(1, 30))))
            turns += [result(each, draw(st.integers(1, 60))) for each in draw(st.permutations(ids))]
        if draw(st.booleans()):
            turns.append(said(draw(st.integers(1, 30))))
    waiting = draw(st.integers(0, 2))
    return [*turns, calls(*[f"wait{place}" for place in range(waiting)])] if waiting else turns


windows = st.integers(1, 400)


def test_nothing_leaves_at_the_threshold():
    turns = [user(), said()]
    assert plan_eviction(turns, max_tokens=100, fixed_tokens=65) == EvictionPlan((), (0, 1), 85, 85)


def test_over_the_threshold_the_oldest_leave_until_the_target_is_met():
    turns = [user(), said()] * 5
    found = plan_eviction(turns, max_tokens=100)
    assert found == EvictionPlan((0, 1, 2, 3), (4, 5, 6, 7, 8, 9), 100, 60)


def test_what_is_fixed_counts():
    turns = [user(), said()] * 4
    assert plan_eviction(turns, max_tokens=100).evict == ()
    assert plan_eviction(turns, max_tokens=100, fixed_tokens=10).evict == (0, 1)


def test_system_turns_and_the_newest_question_stay():
    turns = [system(), user(), said(), system(), user()]
    assert plan_eviction(turns, max_tokens=1).keep == (0, 3, 4)


def test_a_call_and_its_results_leave_together():
    turns = [user(), calls("a", "b"), result("a"), result("b"), said(), user(), said()]
    found = plan(turns, share=1.05, target=0.9)
    assert found.evict == (1, 2, 3)
    assert pairs_hold(kept(turns, found))


def test_in_a_long_tool_loop_the_question_and_the_newest_steps_stay():
    """One question, ten steps with large results (LangChain #39261 dropped them all)."""
    turns = [user()]
    for step in range(10):
        turns += [calls(f"call{step}"), result(f"call{step}", 2000)]
    found = plan_eviction(turns, max_tokens=9000)
    assert found.keep == (0, *range(15, 21))
    assert found.tokens_after <= 0.7 * 9000


def test_the_step_under_way_stays_however_large_it_is():
    turns = [user(), calls("a"), result("a"), calls("b"), result("b", 5000)]
    assert plan_eviction(turns, max_tokens=100).keep == (0, 3, 4)


def test_a_round_keeps_its_question_while_any_of_its_answers_is_kept():
    turns = [user(), calls("a"), result("a"), calls("b"), result("b"), said(), user()]
    assert plan(turns, share=1.1, target=0.8).evict == (1, 2)
    assert plan(turns, share=0.5).keep == (6,)


def test_a_run_of_results_with_two_owners_is_taken_apart_by_owner():
    """LangChain #38352: the cut kept a result whose call had left."""
    turns = [user(), calls("a"), calls("b"), result("a"), result("b"), user(), said()]
    found = plan(turns, share=1.1, target=0.8)
    assert found.evict == (1, 3)
    orphan = [user(), calls("b"), result("a"), result("b")]
    assert 2 not in plan(orphan).keep


def test_a_call_without_results_leaves_once_the_conversation_has_gone_on():
    turns = [user(), calls("a", "b"), result("a"), user(), said()]
    assert not pairs_hold(turns)
    assert plan(turns, share=1.1).evict == (1, 2)


def test_calls_at_the_very_end_may_wait():
    turns = [user(), said(), user(), calls("a", "b"), result("a")]
    assert pairs_hold(turns)
    assert plan(turns, share=0.1).keep == (2, 3, 4)


def test_an_answer_in_front_of_the_first_question_leaves_first():
    turns = [said(), said(), user(), said(), user()]
    assert plan(turns, share=1.1, target=0.85).evict == (0, 1)


def test_without_any_question_the_newest_stays():
    turns = [said(), said(), said()]
    assert plan(turns, share=0.1).keep == (2,)
    assert plan(turns, share=0.9, target=0.8).evict == (0,)


def test_of_nothing_but_orphans_the_last_stays():
    assert plan([result("a"), result("b")], share=0.1).keep == (1,)


@pytest.mark.parametrize("turns", [[], [system()]])
def test_nothing_to_evict_is_no_fault(turns):
    assert plan_eviction(turns, max_tokens=1, fixed_tokens=100).evict == ()


@given(conversations(), windows, st.integers(0, 100))
def test_each_turn_is_kept_or_leaves_and_the_sizes_add_up(turns, window, fixed):
    found = plan_eviction(turns, max_tokens=window, fixed_tokens=fixed)
    assert sorted(found.evict + found.keep) == list(range(len(turns)))
    assert found.evict == tuple(sorted(found.evict))
    assert found.keep == tuple(sorted(found.keep))
    assert found.tokens_before == fixed + sum(turn.tokens for turn in turns)
    assert found.tokens_after == fixed + sum(turn.tokens for turn in kept(turns, found))


@given(conversations(), windows)
def test_pairs_hold_afterwards_whatever_was_there(turns, window):
    found = plan_eviction(turns, max_tokens=window)
    if found.tokens_before > 0.85 * window and any(turn.role in ("user", "assistant") for turn in turns):
        assert pairs_hold(kept(turns, found))


@given(sound_conversations(), windows)
def test_pairs_that_held_still_hold(turns, window):
    assert pairs_hold(turns)
    assert pairs_hold(kept(turns, plan_eviction(turns, max_tokens=window)))


@given(conversations(), windows)
def test_system_turns_and_the_newest_question_always_stay(turns, window):
    stays = {index for index, turn in enumerate(turns) if turn.role == "system"}
    stays |= {max((index for index, turn in enumerate(turns) if turn.role == "user"), default=-1)} - {-1}
    assert stays <= set(plan_eviction(turns, max_tokens=window).keep)


@given(conversations(), windows)
def test_the_list_never_becomes_empty(turns, window):
    after = kept(turns, plan_eviction(turns, max_tokens=window))
    spoken = [turn for turn in turns if turn.role != "system"]
    assert not spoken or any(turn.role != "system" for turn in after)


@given(conversations(), windows)
def test_what_is_kept_begins_with_a_question_if_there_is_one(turns, window):
    found = plan_eviction(turns, max_tokens=window)
    spoken = [turn.role for turn in kept(turns, found) if turn.role != "system"]
    if found.evict and "user" in spoken and found.tokens_after < found.tokens_before:
        broken_only = not _sound_leaves(turns, found)
        assert spoken[0] == "user" or broken_only


def _sound_leaves(turns, found):
    """Whether anything left but for being broken."""
    everything_fits = plan_eviction(turns, max_tokens=10**9, threshold=0.0, target=1.0)
    return set(found.evict) > set(everything_fits.evict)


@given(conversations(), windows)
def test_the_target_is_met_or_all_has_left_that_may(turns, window):
    found = plan_eviction(turns, max_tokens=window)
    if found.tokens_before > 0.85 * window:
        most = plan_eviction(turns, max_tokens=window, target=-1000.0)
        assert found.tokens_after <= 0.7 * window or found.keep == most.keep


@given(conversations(), windows, st.integers(0, 200))
def test_a_smaller_window_evicts_at_least_as_much(turns, window, more):
    small, large = (plan_eviction(turns, max_tokens=size) for size in (window, window + more))
    assert set(large.evict) <= set(small.evict)


@given(conversations(), windows)
def test_planning_again_over_what_was_kept_does_nothing(turns, window):
    after = kept(turns, plan_eviction(turns, max_tokens=window))
    assert plan_eviction(after, max_tokens=window).evict == ()
