"""What of the evidence a briefing holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from hippo_async.evaluation import (
    Briefed,
    Conversation,
    measure_briefings,
    read_conversations,
    summarize_briefings,
)

FILE = Path(__file__).parent / "small_talk.json"


@pytest.fixture
def talk() -> Conversation:
    """The first conversation, read before a test's event loop runs."""
    return read_conversations(FILE)[0]


async def test_a_briefing_with_room_for_all_holds_all(tmp_path: Path, talk: Conversation) -> None:
    briefed = await measure_briefings(talk, tmp_path, budget=2000, embedder="none")
    assert [(one.category, one.asked, one.before) for one in briefed] == [
        (1, 1, 1),
        (2, 1, 1),
        (4, 1, 1),
        (4, 1, 1),
    ]
    assert {one.memories for one in briefed} == {6}
    assert all(0 < one.tokens <= 2000 for one in briefed)


async def test_a_briefing_without_room_holds_nothing(tmp_path: Path, talk: Conversation) -> None:
    briefed = await measure_briefings(talk, tmp_path, budget=0, embedder="none")
    assert {(one.asked, one.before, one.tokens, one.memories) for one in briefed} == {(0, 0, 0, 0)}


async def test_what_is_asked_for_comes_first_into_a_small_one(tmp_path: Path, talk: Conversation) -> None:
    briefed = await measure_briefings(talk, tmp_path, budget=120, embedder="none")
    assert [one.asked for one in briefed[1:]] == [1, 1, 1]
    assert all(one.tokens <= 120 and one.memories < 6 for one in briefed)


def test_questions_count_alike() -> None:
    summary = summarize_briefings([Briefed(1, 1.0, 0.5, 900, 10), Briefed(4, 0.0, 1.0, 1000, 20)])
    assert (summary.questions, summary.asked, summary.before) == (2, 0.5, 0.75)
    assert (summary.tokens, summary.memories) == (950, 15)
    assert summarize_briefings([]).asked == 0
