"""agentrecall-db: one SQLite file, by words alone or by words and meaning."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from hippo_async.evaluation import Said
from hippo_async.protocols import Embedder
from peers.peer import spoken


class Agentrecall:
    """As it is installed: FTS5 with any word of the question, no model."""

    package = "agentrecall-db"
    how = "FTS5: words, no model"

    def __init__(self, folder: Path, model: Embedder) -> None:
        from agentrecall import Memory

        self._memory = Memory(folder / "memory.db", **self._embedding(model))

    def _embedding(self, model: Embedder) -> dict[str, object]:
        return {"embeddings": False}

    def add(self, turns: Sequence[Said]) -> None:
        for turn in turns:
            self._memory.add(spoken(turn), metadata={"dia_id": turn.dia_id})

    def ask(self, question: str, k: int) -> list[str]:
        return [hit.metadata["dia_id"] for hit in self._memory.search(question, k=k)]


class AgentrecallHybrid(Agentrecall):
    """Words and meaning by RRF. Needs an SQLite that loads extensions, which many a Python's own does not."""

    how = "FTS5 and sqlite-vec by RRF"

    def __init__(self, folder: Path, model: Embedder) -> None:
        import pysqlite3

        sys.modules["sqlite3"] = pysqlite3
        super().__init__(folder, model)

    def _embedding(self, model: Embedder) -> dict[str, object]:
        return {"embeddings": True, "embedder": _Shared(model)}

    def add(self, turns: Sequence[Said]) -> None:
        super().add(turns)
        # without statistics this SQLite scans the vectors anew for every row
        self._memory._store.conn.execute("ANALYZE")


class _Shared:
    def __init__(self, model: Embedder) -> None:
        self._model = model
        self.dim = model.dim

    def embed(self, texts: list[str]) -> list[list[float]]:
        return self._model.embed_documents(texts).tolist()
