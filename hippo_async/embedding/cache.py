"""Remembers the vectors of recent texts, so that novelty and the index do not compute the same one twice."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from hippo_async.protocols import Embedder, Vectors


class CachedEmbedder:
    """An :class:`Embedder` around another one, with the vectors of the last ``size`` texts at hand.

    Entries are kept by content hash, documents apart from queries; the least recently used go first. 4096
    vectors of 512 numbers take 8 MB. May be called from any thread: calls run one after the other, which is
    what the inner embedder asks for.
    """

    def __init__(self, inner: Embedder, *, size: int = 4096) -> None:
        self._inner = inner
        self._size = size
        self._vectors: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
        self._one_at_a_time = threading.Lock()

    @property
    def model_id(self) -> str:
        """The inner model's id."""
        return self._inner.model_id

    @property
    def dim(self) -> int:
        """The inner model's vector length."""
        return self._inner.dim

    @property
    def mean_similarity(self) -> float:
        """The inner model's mean cosine of unrelated texts."""
        return self._inner.mean_similarity

    @property
    def multilingual(self) -> bool:
        """Whether the inner model can be trusted beyond English."""
        return self._inner.multilingual

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text, computed only where it is not at hand. Raises what the inner does."""
        return self._embed(b"document", texts, self._inner.embed_documents)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row per query, computed only where it is not at hand. Raises what the inner does."""
        return self._embed(b"query", texts, self._inner.embed_queries)

    def _embed(
        self, use: bytes, texts: Sequence[str], compute: Callable[[Sequence[str]], Vectors]
    ) -> Vectors:
        keys = [_key(use, text) for text in texts]
        with self._one_at_a_time:
            found = {key: self._vectors[key] for key in keys if key in self._vectors}
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
            if missing:
                found.update(zip(missing, compute(list(missing.values())), strict=True))
            self._keep(keys, found)
        rows = np.empty((len(keys), self.dim), dtype=np.float32)
        for row, key in enumerate(keys):
            rows[row] = found[key]
        return rows

    def _keep(self, keys: Sequence[bytes], found: dict[bytes, NDArray[np.float32]]) -> None:
        for key in keys:
            if key not in self._vectors:
                self._vectors[key] = found[key].copy()  # a view would keep its whole batch alive
            self._vectors.move_to_end(key)
        while len(self._vectors) > self._size:
            self._vectors.popitem(last=False)


def _key(use: bytes, text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, person=use).digest()
