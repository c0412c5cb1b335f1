"""What of a question's evidence a briefing holds: what the model would have had before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from hippo_async.evaluation.locomo import Conversation
from hippo_async.evaluation.metrics import mean, recall_at
from hippo_async.evaluation.running import Told, told
from hippo_async.protocols import EmbedderChoice


@dataclass(frozen=True, slots=True)
class Briefed:
    """The share of one question's evidence in a briefing, and the size of that.

    ``asked`` is the share when the briefing is made for the question. ``before`` is the share that is there
    when nobody asked: for each turn of the evidence, in a briefing made for the turn that came before it.
    """

    category: int
    asked: float
    before: float
    tokens: int
    memories: int


@dataclass(frozen=True, slots=True)
class BriefedSummary:
    """Means over questions."""

    questions: int
    asked: float
    before: float
    tokens: float
    memories: float


async def measure_briefings(
    conversation: Conversation,
    folder: Path,
    *,
    budget: int,
    embedder: EmbedderChoice = "auto",
    asked: Callable[[], None] = lambda: None,
) -> list[Briefed]:
    """Brief a fresh memory's agent for each question within ``budget`` tokens; ``asked`` is told of each.

    Raises what :func:`~hippo_async.evaluation.running.told` raises.
    """
    turns = conversation.turns
    before = {turn.dia_id: turns[at - 1].text if at else "" for at, turn in enumerate(turns)}
    briefed = []
    async with told(conversation, folder, embedder=embedder) as there:
        for question in conversation.questions:
            made = await there.memory.brief(question.text, budget=budget)
            held = [there.turns[record_id] for record_id in made.record_ids]
            shown = [await _shows(there, turn, before[turn], budget) for turn in question.evidence]
            share = recall_at(held, question.evidence, len(held))
            briefed.append(Briefed(question.category, share, mean(shown), made.tokens, len(held)))
            asked()
    return briefed


async def _shows(there: Told, turn: str, query: str, budget: int) -> float:
    made = await there.memory.brief(query, budget=budget)
    return float(turn in {there.turns[record_id] for record_id in made.record_ids})


def summarize_briefings(briefed: Iterable[Briefed]) -> BriefedSummary:
    """Average over questions, each counting alike."""
    listed = list(briefed)
    return BriefedSummary(
        questions=len(listed),
        asked=mean(one.asked for one in listed),
        before=mean(one.before for one in listed),
        tokens=mean(one.tokens for one in listed),
        memories=mean(one.memories for one in listed),
    )
