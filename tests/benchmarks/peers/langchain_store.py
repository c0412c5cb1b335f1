"""langchain-core's store in memory: plain search by meaning, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from hippo_async.evaluation import Said
from hippo_async.protocols import Embedder
from peers.peer import spoken


class LangchainStore:
    """One document a turn, found by cosine."""

    package = "langchain-core"
    how = "InMemoryVectorStore: cosine"

    def __init__(self, folder: Path, model: Embedder) -> None:
        self._store = InMemoryVectorStore(Shared(model))

    def add(self, turns: Sequence[Said]) -> None:
        for turn in turns:
            self._store.add_documents([Document(spoken(turn), id=turn.dia_id)])

    def ask(self, question: str, k: int) -> list[str]:
        return [str(found.id) for found in self._store.similarity_search(question, k=k)]


class Shared(Embeddings):
    """The model that all share, as LangChain wants one."""

    def __init__(self, model: Embedder) -> None:
        self._model = model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._model.embed_documents(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        return self._model.embed_queries([text])[0].tolist()
