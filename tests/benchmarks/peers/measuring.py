"""Running one memory, ours or a peer's, over all conversations."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

from hippo_async.embedding import choose_embedder
from hippo_async.evaluation import (
    CATEGORIES,
    DEPTH,
    Answer,
    Conversation,
    by_category,
    measure,
    percentile,
    summarize,
)
from hippo_async.protocols import Embedder
from peers.peer import Peer

MODEL = "semantic"
"""The setting under which hippo-async takes MiniLM; the peers get this very embedder."""

OURS = {"hippo": MODEL, "hippo-words": "none"}
PEERS = {
    "agentrecall-hybrid": "peers.agentrecall_memory:AgentrecallHybrid",
    "agentrecall": "peers.agentrecall_memory:Agentrecall",
    "mem0": "peers.mem0_memory:Mem0",
    "engram": "peers.engram:Engram",
    "langgraph": "peers.langgraph_store:LanggraphStore",
    "langchain": "peers.langchain_store:LangchainStore",
    "fts5": "peers.fts5:Fts5",
}
NAMES = (*OURS, *PEERS)


@dataclass(frozen=True, slots=True)
class Told:
    """What one conversation gave: the answers, and how long it took to store the turns."""

    turns: int
    add_seconds: float
    answers: Sequence[Answer]


def run(name: str, conversations: Sequence[Conversation]) -> dict[str, Any]:
    """Measure one memory and return its figures as plain JSON values."""
    if name in OURS:
        package, how = "hippo-async", f"defaults, embedder {OURS[name]}"
        tell = partial(_tell_us, embedder=OURS[name])
    else:
        module, class_name = PEERS[name].split(":")
        peer = getattr(import_module(module), class_name)
        package, how = peer.package, peer.how
        tell = partial(_tell, peer=peer, model=_loaded_model())
    told = []
    for conversation in conversations:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # some close no files
            told.append(tell(conversation, Path(folder)))
    return {"name": name, "version": version(package) if package else "", "how": how, **_figures(told)}


def _tell_us(conversation: Conversation, folder: Path, *, embedder: str) -> Told:
    run = asyncio.run(measure(conversation, folder, embedder=embedder))
    return Told(run.turns, run.capture_seconds, run.answers)


def _tell(conversation: Conversation, folder: Path, *, peer: type[Peer], model: Embedder) -> Told:
    memory = peer(folder, model)
    began = perf_counter()
    memory.add(conversation.turns)
    add_seconds = perf_counter() - began
    answers = []
    for question in conversation.questions:
        began = perf_counter()
        found = memory.ask(question.text, DEPTH)
        answers.append(conversation.answer(question, found, perf_counter() - began))
    return Told(len(conversation.turns), add_seconds, answers)


def _loaded_model() -> Embedder:
    model = choose_embedder(MODEL)
    model.embed_queries(["is it warm?"])
    return model


def _figures(told: Sequence[Told]) -> dict[str, Any]:
    answers = [answer for one in told for answer in one.answers]
    seconds = [answer.seconds for answer in answers]
    return {
        "overall": asdict(summarize(answers)),
        "categories": {
            CATEGORIES[number]: asdict(summary) for number, summary in by_category(answers).items()
        },
        "add_ms": 1000 * sum(one.add_seconds for one in told) / sum(one.turns for one in told),
        "ask_p50_ms": 1000 * percentile(seconds, 0.5),
        "ask_p95_ms": 1000 * percentile(seconds, 0.95),
    }
