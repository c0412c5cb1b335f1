"""Reading conversations, and telling one to a fresh memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hippo_async import Hippocampus
from hippo_async.errors import HippoError, InvalidInput
from hippo_async.evaluation import Conversation, measure, read_conversations
from hippo_async.protocols import Vectors

FILE = Path(__file__).parent / "small_talk.json"


@pytest.fixture
def talks() -> list[Conversation]:
    """Both conversations, read before a test's event loop runs."""
    return read_conversations(FILE)


def written(folder: Path, value: Any) -> Path:
    file = folder / "talk.json"
    file.write_text(json.dumps(value))
    return file


def test_turns_come_session_by_session_each_a_second_after_the_one_before() -> None:
    talk = read_conversations(FILE)[0]
    assert [turn.dia_id for turn in talk.turns] == ["D1:1", "D1:2", "D1:3", "D2:1", "D2:2", "D10:1"]
    assert [turn.session for turn in talk.turns][2:5] == ["session_1", "session_2", "session_2"]
    assert talk.turns[1].speaker == "Tomas"
    assert talk.turns[1].at == datetime(2023, 5, 8, 13, 56, 1, tzinfo=UTC)
    assert talk.turns[3].at == datetime(2023, 6, 1, 0, 5, tzinfo=UTC)
    assert talk.ended == datetime(2023, 6, 2, 9, 31, tzinfo=UTC)


def test_an_image_is_put_in_words_below_the_text() -> None:
    assert read_conversations(FILE)[0].turns[2].text == "Look at this.\n[shares a photo of a green kayak]"


def test_evidence_is_read_however_it_is_written() -> None:
    questions = read_conversations(FILE)[0].questions
    assert [sorted(question.evidence) for question in questions] == [
        ["D10:1", "D1:1"],
        ["D2:1"],
        ["D1:2"],
        ["D1:3"],
    ]


def test_questions_whose_evidence_names_no_turn_are_left_out_and_counted() -> None:
    assert [talk.skipped for talk in read_conversations(FILE)] == [2, 0]


def test_conversations_are_chosen_by_number() -> None:
    assert [talk.name for talk in read_conversations(FILE)] == ["talk-1", "talk-2"]
    assert [talk.name for talk in read_conversations(FILE, [2])] == ["talk-2"]
    with pytest.raises(InvalidInput, match="conversation 3"):
        read_conversations(FILE, [3])


@pytest.mark.parametrize(
    "value", ["text", [1], [{"sample_id": "a"}], [{"sample_id": "a", "conversation": {}, "qa": []}], {"a": 1}]
)
def test_another_format_is_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InvalidInput, match="not in the format of LoCoMo"):
        read_conversations(written(tmp_path, value))


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "talk.json").write_bytes(b"\xff{")
    with pytest.raises(InvalidInput, match="not in the format of LoCoMo"):
        read_conversations(tmp_path / "talk.json")


def test_a_file_without_conversations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no conversation"):
        read_conversations(written(tmp_path, []))


async def test_what_a_question_finds_stands_beside_its_evidence(
    tmp_path: Path, talks: list[Conversation]
) -> None:
    talk = talks[0]
    asked: list[None] = []

    run = await measure(talk, tmp_path, embedder="none", asked=lambda: asked.append(None))

    assert (run.name, run.turns, run.skipped, run.embedder) == ("talk-1", 6, 2, None)
    assert len(asked) == len(run.answers) == 4
    moved = run.answers[1]
    assert (moved.category, moved.found[0], moved.sessions[0]) == (2, "D2:1", "session_2")
    assert (moved.evidence, moved.evidence_sessions) == ({"D2:1"}, {"session_2"})
    assert run.answers[3].found[0] == "D1:3", "found by the caption"


async def test_two_runs_find_the_same_in_the_same_order(tmp_path: Path, talks: list[Conversation]) -> None:
    talk = talks[0]
    runs = [await measure(talk, tmp_path / name, embedder="none") for name in ("one", "two")]
    assert [answer.found for answer in runs[0].answers] == [answer.found for answer in runs[1].answers]


async def test_turns_are_captured_as_people_say_them_at_the_time_they_said_them(
    tmp_path: Path, talks: list[Conversation]
) -> None:
    await measure(talks[0], tmp_path, embedder="none")
    async with Hippocampus(tmp_path / "memory", embedder="none", witness=None) as memory:
        [turn] = await memory.session("session_10")
    assert (turn.role, turn.metadata["speaker"], turn.metadata["dia_id"]) == ("user", "Mira", "D10:1")
    assert turn.at == datetime(2023, 6, 2, 9, 30, tzinfo=UTC)


async def test_every_turn_has_its_vector_before_the_first_question(
    tmp_path: Path, talks: list[Conversation]
) -> None:
    """To this model all turns are alike, so the first question finds every one that has its vector."""
    run = await measure(talks[0], tmp_path, embedder=Alike())
    assert run.embedder == "alike"
    assert set(run.answers[0].found) == {turn.dia_id for turn in talks[0].turns}


async def test_a_model_that_cannot_be_loaded_gives_no_figures(
    tmp_path: Path, talks: list[Conversation]
) -> None:
    with pytest.raises(HippoError, match="could not be loaded"):
        await measure(talks[1], tmp_path, embedder=Alike(fails_on="is it warm?"))


async def test_a_model_that_fails_on_one_question_gives_no_figures(
    tmp_path: Path, talks: list[Conversation]
) -> None:
    with pytest.raises(HippoError, match="failed 1 times"):
        await measure(talks[1], tmp_path, embedder=Alike(fails_on="tune?"))


class Alike:
    """A model to which all texts are alike; it fails on questions with ``fails_on`` in them."""

    model_id = "alike"
    dim = 2
    mean_similarity = 0.1
    multilingual = True

    def __init__(self, fails_on: str | None = None) -> None:
        self._fails_on = fails_on

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.full((len(texts), 2), 0.5**0.5, dtype=np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        if self._fails_on and any(self._fails_on in text for text in texts):
            raise RuntimeError("no such question")
        return self.embed_documents(texts)
