"""``index/`` lost, in whole or in any part of it: after opening all is as it was (goal 3 of DESIGN.md).

All that is known beside the journal lies there or is counted when it is asked for: tags and their graph,
tasks, reviews, what is to be forgotten, which months have a memo, words, vectors.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eventual import eventually
from tended import BUSY, QUERIES, SCOPES, memory_at, prepare, state_of

from hippo_async import Hippocampus
from hippo_async.protocols import Vectors
from hippo_async.recall import nearest

PARTS = {
    "the whole": "index",
    "CURRENT": "index/CURRENT",
    "the generation": "index/gen-*",
    "the file of SQLite": "index/gen-*/index.sqlite",
    "its log": "index/gen-*/index.sqlite-*",
    "the approximate vectors": "index/gen-*/*.faiss",
}
TOGETHER = ["CURRENT", "the file of SQLite", "its log", "the approximate vectors"]
LOST = [(name,) for name in PARTS] + [
    parts for count in range(2, len(TOGETHER) + 1) for parts in combinations(TOGETHER, count)
]


class Letters:
    """Gives texts vectors of the letters in them: near to each other where they share words."""

    model_id = "letters"
    dim = 16
    mean_similarity = 0.8
    multilingual = True

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        rows = np.ones((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            np.add.at(row, [ord(letter) % self.dim for letter in text], 1)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed_documents(texts)


def memory_in(base: Path) -> Hippocampus:
    return memory_at(base, embedder=Letters())


async def everything(memory: Hippocampus, base: Path) -> dict[str, Any]:
    """All that can be seen, recall with its scores."""
    hits = [hit for query in QUERIES for scope in SCOPES for hit in await memory.recall(query, scope=scope)]
    scores = [(hit.record.record_id, pytest.approx(hit.score, abs=1e-6)) for hit in hits]
    return await state_of(memory, base) | {"scores": scores, "kinds": memory.status().kinds}


@pytest.fixture
async def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a kill leaves of a store that was looked after: with approximate vectors, and a log of SQLite."""
    pytest.importorskip("faiss")
    monkeypatch.setattr(nearest, "HELD", 5)
    await prepare(tmp_path / "closed")
    async with memory_in(tmp_path / "closed") as memory:
        await memory.run_maintenance()
    async with memory_in(tmp_path / "closed") as memory:
        await made_approximate(tmp_path / "closed")
        await memory.checkpoint("sail", "the mast is up", progress=10)
        await memory.flush()
        return Path(shutil.copytree(tmp_path / "closed", tmp_path / "killed"))


async def made_approximate(base: Path) -> None:
    """Wait for the file of approximate vectors, which is made behind."""
    await eventually(lambda: any(base.glob("store/index/gen-*/*.faiss")))


def lose(store: Path, parts: Sequence[str]) -> int:
    """Delete parts of the index; return how many files and directories that were."""
    found = [path for part in parts for path in store.glob(PARTS[part])]
    for path in found:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    return len(found)


@pytest.mark.parametrize("parts", LOST, ids=" and ".join)
async def test_what_is_lost_of_the_index_is_there_again_after_opening_and_equal(
    base: Path, parts: tuple[str, ...]
) -> None:
    whole = Path(shutil.copytree(base, base.parent / "whole"))
    async with memory_in(whole) as memory:
        before = await everything(memory, whole)
    assert lose(base / "store", parts) >= len(parts)
    async with memory_in(base) as memory:
        assert await everything(memory, base) == before
        await made_approximate(base)
        report = await memory.run_maintenance()
        did = {step.name: step.did for step in report.steps}
        idle = [did[name] for name in BUSY - {"reviews"}]
        assert not any(value for each in idle for value in each.values()), "something was done a second time"
        assert await everything(memory, base) == before


def make_older(base: Path) -> None:
    """Have the index be one that another release made."""
    [file] = base.glob("**/index.sqlite")
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("UPDATE origin SET analyzer = 'that of an older release'")


async def test_an_index_of_another_release_is_made_anew_and_keeps_its_vectors(tmp_path: Path) -> None:
    async with memory_in(tmp_path) as memory:
        for text in ("The boat is in Oslo.", "The kettle is in Berlin."):
            await memory.record(text)
        await memory.recall("boat")
    make_older(tmp_path)
    async with memory_at(tmp_path, embedder="none") as memory:
        library = memory._running.library
        assert await library.run(library._index.count_vectors, "letters") == 2
        [best, *_] = await memory.recall("boat", top_k=2)
        assert best.record.text == "The boat is in Oslo."
