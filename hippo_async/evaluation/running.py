"""Telling a conversation to a fresh memory, and asking it the questions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from hippo_async.clock import SystemClock
from hippo_async.errors import HippoError
from hippo_async.evaluation.locomo import Conversation, Said
from hippo_async.evaluation.metrics import DEPTHS, Answer
from hippo_async.hippocampus import Hippocampus
from hippo_async.protocols import Clock, EmbedderChoice

DEPTH: int = max(DEPTHS)
"""How many memories each question asks for."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one conversation gave: ``embedder`` is the model that was in use, ``None`` for words only.

    ``capture_seconds`` is from the first capture until all turns were durable and could be found, by meaning
    too where there is a model.
    """

    name: str
    turns: int
    skipped: int
    embedder: str | None
    capture_seconds: float
    answers: tuple[Answer, ...]


class _StoppedClock(SystemClock):
    """Real time for all that waits, but the date stands still: right after the conversation."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self) -> datetime:
        return self._moment


@dataclass(frozen=True, slots=True)
class Told:
    """A memory that was told a conversation. ``turns`` are the ``dia_id`` of its records, by record id."""

    memory: Hippocampus
    clock: Clock
    embedder: str | None
    seconds: float
    turns: Mapping[str, str]


@asynccontextmanager
async def told(conversation: Conversation, folder: Path, *, embedder: EmbedderChoice) -> AsyncIterator[Told]:
    """Tell a conversation to a fresh memory in ``folder``, and keep it open for questions.

    Both speakers are people, so every turn is a user's; who spoke is in its metadata, as ``speaker``. All
    settings are the defaults. For the memory it is the moment after the conversation, and stays so.
    Raises :class:`~hippo_async.errors.HippoError` if the model could not be used for every turn and question:
    the figures would be those of another memory.
    """
    clock = _StoppedClock(conversation.ended)
    memory = Hippocampus(
        folder / "memory",
        embedder=embedder,
        witness=folder / "witness",
        maintenance=False,
        clock=clock,
    )
    async with memory:
        model = await _loaded(memory, embedder)
        began = clock.monotonic()
        turns = await _tell(memory, conversation.turns)
        yield Told(memory, clock, model, clock.monotonic() - began, turns)
        failures = memory.status().embedder_failures
    if failures:
        raise HippoError(f"the embedder failed {failures} times; the log says why")


async def measure(
    conversation: Conversation,
    folder: Path,
    *,
    embedder: EmbedderChoice = "auto",
    asked: Callable[[], None] = lambda: None,
) -> Run:
    """Ask a fresh memory in ``folder`` the questions of a conversation; ``asked`` is told of each.

    One question after the other. Raises what :func:`told` raises.
    """
    answers = []
    async with told(conversation, folder, embedder=embedder) as there:
        for question in conversation.questions:
            began = there.clock.monotonic()
            found = await there.memory.recall(question.text, top_k=DEPTH)
            seconds = there.clock.monotonic() - began
            turns = [there.turns[hit.record.record_id] for hit in found]
            answers.append(conversation.answer(question, turns, seconds))
            asked()
    return Run(
        name=conversation.name,
        turns=len(conversation.turns),
        skipped=conversation.skipped,
        embedder=there.embedder,
        capture_seconds=there.seconds,
        answers=tuple(answers),
    )


async def _loaded(memory: Hippocampus, embedder: EmbedderChoice) -> str | None:
    """Wait for the model and name it.

    What is captured once it is loaded gets its vector before the index has followed. Turns captured earlier
    get theirs in the background, and nothing tells when.
    """
    await memory.recall("warm up")
    model = memory.status().embedder
    if model is None and embedder not in ("auto", "none", None):
        raise HippoError(f"the embedder {embedder!r} could not be loaded; the log says why")
    return model


async def _tell(memory: Hippocampus, turns: Sequence[Said]) -> dict[str, str]:
    receipts = [
        memory.capture(
            turn.text,
            session=turn.session,
            timestamp=turn.at,
            metadata={"speaker": turn.speaker, "dia_id": turn.dia_id},
        )
        for turn in turns
    ]
    await memory.flush()
    return {(await receipt).record_id: turn.dia_id for receipt, turn in zip(receipts, turns, strict=True)}
