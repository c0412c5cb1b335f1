"""Embeddings that somebody hands over: LangChain's own classes, and those that break their word."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from hippo_async import Hippocampus
from hippo_async.embedding import GivenEmbeddings, UseEmbedder, choose_embedder
from hippo_async.errors import EmbedderFailed
from hippo_async.protocols import Embedder

SIDES = {"sea": 0.0, "harbour": 0.2, "kettle": 1.5, "teapot": 1.6}


class ByWord(Embeddings):
    """A plane on which each word has its direction, not normalised."""

    model = "plane-1"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        angles = [angle for word, angle in SIDES.items() if word in text.lower()] or [len(text) / 10]
        return [3 * math.cos(sum(angles)), 3 * math.sin(sum(angles))]


class OnlyAsync(ByWord):
    """As a client that talks to a server and has no blocking methods."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise NotImplementedError

    def embed_query(self, text: str) -> list[float]:
        raise NotImplementedError

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return [await self.aembed_query(text) for text in texts]

    async def aembed_query(self, text: str) -> list[float]:
        await asyncio.sleep(0)
        return ByWord.embed_query(self, text)


@pytest.mark.parametrize("embeddings", [ByWord(), OnlyAsync()])
async def test_a_memory_finds_by_the_meaning_of_langchain_embeddings(
    tmp_path: Path, embeddings: Embeddings
) -> None:
    async with Hippocampus(tmp_path / "store", embedder=embeddings, witness=None) as memory:
        await memory.recall("the model is loaded now")
        for text in ("The harbour was full.", "A teapot of tin.", "The sea is calm."):
            await memory.record(text)
        found = await memory.recall("kettle", top_k=1)
        assert [hit.record.content for hit in found] == ["A teapot of tin."]
        assert memory.status().embedder == f"{__name__}/{type(embeddings).__name__}/plane-1/2"


def test_vectors_are_normalised_and_measured_once() -> None:
    embedder = GivenEmbeddings(ByWord())
    assert isinstance(embedder, Embedder)
    assert embedder.dim == 2
    assert -1 <= embedder.mean_similarity <= 1
    rows = embedder.embed_documents(["sea", "kettle"])
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1])
    assert embedder.embed_documents([]).shape == embedder.embed_queries([]).shape == (0, 2)


def test_another_length_or_another_model_of_a_class_is_another_id() -> None:
    ids = {GivenEmbeddings(DeterministicFakeEmbedding(size=size)).model_id for size in (8, 16)}
    assert len(ids) == 2
    other = ByWord()
    other.model = "plane-2"
    assert GivenEmbeddings(other).model_id != GivenEmbeddings(ByWord()).model_id


def test_an_id_that_is_given_is_taken_without_asking_the_model() -> None:
    class Untouched(ByWord):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise AssertionError(texts)

    assert GivenEmbeddings(Untouched(), model_id="mine/1").model_id == "mine/1"


@pytest.mark.parametrize(
    "rows",
    [[], [[1.0, 0.0]], [[1.0], [1.0, 2.0]], [[1.0, math.nan]] * 2, [[0.0, 0.0]] * 2, [["a", "b"]] * 2],
)
def test_what_is_no_vector_is_refused(rows: list[list[float]]) -> None:
    embeddings = ByWord()
    embedder = GivenEmbeddings(embeddings)
    assert embedder.dim == 2
    embeddings.embed_documents = lambda _: rows  # type: ignore[method-assign]
    with pytest.raises(EmbedderFailed) as refused:
        embedder.embed_documents(["a", "b"])
    assert refused.value.code == "MEM_E_EMBEDDER_FAILED"


def test_the_choice_takes_embeddings_and_embedders_as_what_they_are() -> None:
    assert isinstance(choose_embedder(ByWord()), GivenEmbeddings)
    mine = UseEmbedder()
    assert choose_embedder(mine) is mine
