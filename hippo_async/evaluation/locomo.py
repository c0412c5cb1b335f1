"""Conversations in the format of LoCoMo (Maharana et al., ACL 2024): long talks and questions about them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hippo_async.errors import InvalidInput
from hippo_async.evaluation.metrics import Answer

CATEGORIES: Mapping[int, str] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}

_DATE = "%I:%M %p on %d %B, %Y"
_SESSION = re.compile(r"session_(\d+)")
_DIA_ID = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Said:
    """One turn: who said what, when, and in which session. ``dia_id`` is its name in the evidence."""

    dia_id: str
    session: str
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the turns that hold its answer; there is at least one."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A talk in the order of time. ``skipped`` counts the questions whose evidence names no turn of it."""

    name: str
    turns: tuple[Said, ...]
    questions: tuple[Question, ...]
    skipped: int

    @property
    def ended(self) -> datetime:
        """A minute after the last turn: when the questions are asked."""
        return max(turn.at for turn in self.turns) + timedelta(minutes=1)

    def answer(self, question: Question, found: Sequence[str], seconds: float) -> Answer:
        """Put what a question found, by ``dia_id`` and best first, beside what holds its answer."""
        session = {turn.dia_id: turn.session for turn in self.turns}
        return Answer(
            category=question.category,
            found=tuple(found),
            sessions=tuple(session[dia_id] for dia_id in found),
            evidence=question.evidence,
            evidence_sessions=frozenset(session[dia_id] for dia_id in question.evidence),
            seconds=seconds,
        )


def read_conversations(file: Path, numbers: Sequence[int] = ()) -> list[Conversation]:
    """Read the conversations of a file, or those with these ``numbers``, which count from 1.

    Raises :class:`~hippo_async.errors.InvalidInput` for another format and for a number that is not there,
    ``OSError`` for a file that cannot be read.
    """
    try:
        stored = json.loads(file.read_bytes())
        conversations = [_conversation(one) for one in stored]
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise InvalidInput(f"{file}: not in the format of LoCoMo: {error!r}") from error
    if not conversations:
        raise InvalidInput(f"{file}: holds no conversation")
    for number in numbers:
        if not 1 <= number <= len(conversations):
            raise InvalidInput(f"conversation {number}; {file} has 1 to {len(conversations)}")
    return [conversations[number - 1] for number in numbers] or conversations


def _conversation(stored: Mapping[str, Any]) -> Conversation:
    turns = tuple(_turns(stored["conversation"]))
    if not turns:
        raise ValueError("a conversation without turns")
    known = {turn.dia_id for turn in turns}
    questions = [
        Question(asked["question"], int(asked["category"]), _evidence(asked.get("evidence", ())) & known)
        for asked in stored["qa"]
    ]
    answerable = tuple(question for question in questions if question.evidence)
    return Conversation(stored["sample_id"], turns, answerable, len(questions) - len(answerable))


def _turns(conversation: Mapping[str, Any]) -> Iterator[Said]:
    """Yield the turns session by session; within one, each a second after the one before."""
    found = (_SESSION.fullmatch(name) for name in conversation)
    for number in sorted(int(match[1]) for match in found if match):
        session = f"session_{number}"
        began = datetime.strptime(conversation[f"{session}_date_time"], _DATE).replace(tzinfo=UTC)
        for order, turn in enumerate(conversation[session]):
            at = began + timedelta(seconds=order)
            yield Said(turn["dia_id"], session, turn["speaker"], _text(turn), at)


def _text(turn: Mapping[str, Any]) -> str:
    """What a turn says; an image it shows is put in words on a line below, as LoCoMo's own scripts do."""
    caption = turn.get("blip_caption")
    return f"{turn['text']}\n[shares {caption}]" if caption else turn["text"]


def _evidence(names: Sequence[str]) -> frozenset[str]:
    """Read evidence as it is written: some entries name several turns, some write a number as ``01``."""
    found = (match for name in names for match in _DIA_ID.finditer(name))
    return frozenset(f"D{int(match[1])}:{int(match[2])}" for match in found)
