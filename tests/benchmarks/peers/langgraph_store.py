"""LangGraph's store, as LangMem and its agents use it for long-term memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langgraph.store.memory import InMemoryStore

from hippo_async.evaluation import Said
from hippo_async.protocols import Embedder
from peers.langchain_store import Shared
from peers.peer import spoken

NAMESPACE = ("turns",)


class LanggraphStore:
    """One item a turn with its date; by default the whole item is embedded, as JSON."""

    package = "langgraph"
    how = "InMemoryStore with index: cosine over whole items"

    def __init__(self, folder: Path, model: Embedder) -> None:
        self._store = InMemoryStore(index={"dims": model.dim, "embed": Shared(model)})

    def add(self, turns: Sequence[Said]) -> None:
        for turn in turns:
            item = {"text": spoken(turn), "date": turn.at.isoformat()}
            self._store.put(NAMESPACE, turn.dia_id, item)

    def ask(self, question: str, k: int) -> list[str]:
        return [item.key for item in self._store.search(NAMESPACE, query=question, limit=k)]
