"""One model after the other: each compares with its own vectors only, and leaves none of another behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from hippo_async.index import Index, Row
from hippo_async.recall.meaning import Meaning
from hippo_async.records import Filters, Kind, Location, Novelty, Record

COUNT = 150
"""More than one batch."""

RECORDS = [
    Record(
        seq=seq,
        record_id=f"{seq:032x}",
        agent_id="agent",
        timestamp="2026-01-01T00:00:00.000000Z",
        kind=Kind.OBSERVATION,
        novelty=Novelty.NOVEL,
        content=f"{seq}",
        metadata={},
        prev_id=None,
    )
    for seq in range(COUNT)
]


@dataclass(frozen=True)
class Angles:
    """Puts the number a text is on a circle, from where this model has its zero."""

    model_id: str
    zero: float
    dim: int = 2
    mean_similarity: float = 0.0
    multilingual: bool = True

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        at = np.array([2 * np.pi * (float(text) / COUNT + self.zero) for text in texts])
        return np.stack([np.cos(at), np.sin(at)], axis=1).astype(np.float32)

    def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
        return self.embed_documents(texts)


def read(rows: Iterable[Row]) -> list[Record]:
    return [RECORDS[row.seq] for row in rows]


@pytest.fixture
def opened(new_index: Callable[[], Index]) -> Callable[[], Index]:
    def make() -> Index:
        index = new_index()
        index.add([(record, Location(0, 0, 1)) for record in RECORDS])
        return index

    return make


def nearest(meaning: Meaning, number: int) -> list[int]:
    return [seq for seq, _ in meaning.search(f"{number}", filters=Filters(), limit=3)]


def test_a_changed_model_embeds_all_anew_and_the_old_vectors_go_at_the_end(
    opened: Callable[[], Index],
) -> None:
    first = Meaning(opened(), read)
    first.adopt(Angles("first", zero=0.0))
    while first.embed_missing():
        pass
    assert nearest(first, 42) == [42, 43, 41]

    index = opened()
    second = Meaning(index, read)
    second.adopt(Angles("second", zero=0.5))
    assert nearest(second, 42) == []
    assert second.lacking([1, 2]) == {1, 2}

    assert second.embed_missing()
    assert set(nearest(second, 42)) <= set(range(64))
    assert index.count_vectors("first") == COUNT

    assert not second.settle()
    while second.embed_missing():
        pass
    assert nearest(second, 42) == [42, 43, 41]
    assert second.lacking(range(COUNT)) == set()
    assert index.count_vectors("first") == COUNT

    while second.settle():
        pass
    assert (index.count_vectors("first"), index.count_vectors("second")) == (0, COUNT)


def test_a_model_that_fails_takes_nothing_from_another(opened: Callable[[], Index]) -> None:
    index = opened()
    first = Meaning(index, read)
    first.adopt(Angles("first", zero=0.0))
    while first.embed_missing():
        pass

    class Failing(Angles):
        def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
            raise RuntimeError("out of memory")

    second = Meaning(index, read)
    second.adopt(Failing("second", zero=0.0))
    assert not second.embed_missing()
    assert not second.settle()
    assert second.failures == 1
    assert index.count_vectors("first") == COUNT
