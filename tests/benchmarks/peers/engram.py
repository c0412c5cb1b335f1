"""engram-search: dense, BM25 and name rankings, fused by rank."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engram.backends.base import Document
from engram.retrieval.pipeline import RetrievalPipeline

from hippo_async.evaluation import Said
from hippo_async.protocols import Embedder, Vectors
from peers.peer import spoken


class Engram:
    """One document a turn, through its own pipeline. Its reranker is on a model hub and so left out."""

    package = "engram-search"
    how = "RetrievalPipeline: meaning, BM25 and names by RRF"

    def __init__(self, folder: Path, model: Embedder) -> None:
        self._model = model
        self._pipeline = RetrievalPipeline(embedder=_Queries(model), use_reranker=False)
        self._documents: list[Document] = []

    def add(self, turns: Sequence[Said]) -> None:
        for turn in turns:
            text = spoken(turn)
            [vector] = self._model.embed_documents([text])
            said = {"timestamp": f"{turn.at:%Y-%m-%d}"}
            self._documents.append(Document(turn.dia_id, text, embedding=vector, metadata=said))

    def ask(self, question: str, k: int) -> list[str]:
        today = self._documents[-1].metadata["timestamp"]
        found = self._pipeline.search(question, self._documents, top_k=k, question_date=today)
        return [document.id for document in found]


class _Queries:
    def __init__(self, model: Embedder) -> None:
        self._model = model

    def encode_query(self, text: str) -> Vectors:
        return self._model.embed_queries([text])[0]
