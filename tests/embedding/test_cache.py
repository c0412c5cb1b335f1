"""A cached embedder gives what the inner one gives, and asks it once."""

import threading
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.embedding.cache import CachedEmbedder
from hippo_async.protocols import Embedder, Vectors


class CountingEmbedder:
    """Turns a text into its length and first character, and remembers what it was asked."""

    model_id = "counting"
    dim = 3
    mean_similarity = 0.25
    multilingual = True

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failing = False
        self._busy = threading.Lock()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, 0.0)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, 1.0)

    def _embed(self, texts: Sequence[str], use: float) -> Vectors:
        if self.failing:
            raise RuntimeError("no model today")
        assert self._busy.acquire(blocking=False), "called from two threads at once"
        self.asked.extend(texts)
        rows = [[len(text), ord(text[0]) if text else 0, use] for text in texts]
        self._busy.release()
        return np.array(rows, dtype=np.float32).reshape(len(texts), 3)


@given(st.lists(st.lists(st.text(max_size=3), max_size=6), max_size=8), st.integers(1, 5))
def test_it_gives_what_the_inner_one_gives(batches: list[list[str]], size: int):
    plain, cached = CountingEmbedder(), CachedEmbedder(CountingEmbedder(), size=size)
    for batch in batches:
        assert np.array_equal(cached.embed_documents(batch), plain.embed_documents(batch))
        assert np.array_equal(cached.embed_queries(batch), plain.embed_queries(batch))


def test_a_text_is_computed_once():
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner)
    cached.embed_documents(["a", "b", "a"])
    cached.embed_documents(["b", "c"])
    assert inner.asked == ["a", "b", "c"]


def test_documents_and_queries_are_kept_apart():
    cached = CachedEmbedder(CountingEmbedder())
    assert not np.array_equal(cached.embed_documents(["a"]), cached.embed_queries(["a"]))


def test_it_stays_bounded_and_lets_go_of_the_least_recently_used():
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner, size=2)
    for text in ("a", "b", "a", "c"):
        cached.embed_documents([text])
    inner.asked.clear()
    for text in ("a", "c", "b"):
        cached.embed_documents([text])
    assert inner.asked == ["b"]


def test_a_batch_larger_than_the_cache_is_whole():
    assert CachedEmbedder(CountingEmbedder(), size=2).embed_documents(list("abcde")).shape == (5, 3)


def test_a_caller_may_write_into_what_it_got():
    cached = CachedEmbedder(CountingEmbedder())
    cached.embed_documents(["abc"])[:] = 7
    assert cached.embed_documents(["abc"])[0, 0] == 3


def test_what_failed_is_tried_again():
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner)
    inner.failing = True
    with pytest.raises(RuntimeError):
        cached.embed_documents(["a"])
    inner.failing = False
    assert cached.embed_documents(["a"]).shape == (1, 3)


def test_texts_with_lone_surrogates_have_keys_too():
    assert CachedEmbedder(CountingEmbedder()).embed_documents(["\ud83d"]).shape == (1, 3)


def test_it_passes_on_what_the_model_is():
    cached = CachedEmbedder(CountingEmbedder())
    assert isinstance(cached, Embedder)
    assert (cached.model_id, cached.dim, cached.mean_similarity, cached.multilingual) == (
        "counting",
        3,
        0.25,
        True,
    )


def test_threads_never_meet_in_the_inner_embedder():
    cached = CachedEmbedder(CountingEmbedder(), size=8)
    errors: list[BaseException] = []

    def work(start: int) -> None:
        try:
            for n in range(200):
                texts = [str((start + n + k) % 20) for k in range(3)]
                assert cached.embed_documents(texts)[:, 0].tolist() == [len(text) for text in texts]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
