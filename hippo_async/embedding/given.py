"""An embedder made elsewhere: any LangChain ``Embeddings``, or what has its two methods."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from hippo_async.embedding.calibrate import UNRELATED, mean_cosine
from hippo_async.embedding.texts import embeddable
from hippo_async.errors import EmbedderFailed
from hippo_async.protocols import Embeddings, Vectors

NAMES = ("model_id", "model_name", "model", "deployment", "repo_id")
"""Where the classes of LangChain's packages keep the name of their model."""


@dataclass(frozen=True, slots=True)
class _Measured:
    dim: int
    mean_similarity: float


class GivenEmbeddings:
    """Implements :class:`hippo_async.protocols.Embedder` with embeddings that somebody hands over.

    ``model_id`` says when vectors must be made anew; when it is not given it is the class, the name of the
    model as the object states it, and the length of its vectors. Give it where that is not enough, as for a
    server that changes its model under the same name.

    The length, and how alike unrelated texts look, are measured on a small sample at the first use. Methods
    are called in worker threads, one call at a time. An object that has only the ``async`` ones (the others
    raise ``NotImplementedError``) gets an event loop of its own for each call: what it keeps open from one
    loop to the next, it must be able to lose.
    """

    multilingual = True

    def __init__(self, embeddings: Embeddings, *, model_id: str | None = None) -> None:
        self._given = embeddings
        self._model_id = model_id

    @property
    def model_id(self) -> str:
        """The model and its version. Asks the model for the sample once, unless the id was given."""
        if self._model_id is None:
            kind = type(self._given)
            name = next((str(getattr(self._given, name)) for name in NAMES if self._states(name)), "")
            self._model_id = "/".join(filter(None, (kind.__module__, kind.__qualname__, name, str(self.dim))))
        return self._model_id

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self._measured.dim

    @property
    def mean_similarity(self) -> float:
        """Mean cosine of unrelated texts under this model."""
        return self._measured.mean_similarity

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one normalised float32 row per text, in the order given, shape ``(len(texts), dim)``.

        Raises :class:`EmbedderFailed` if what comes back are no such vectors, and what the given object
        raises. Blocks.
        """
        return _rows(self._documents(texts), len(texts), self.dim)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row per query. Raises what :meth:`embed_documents` does."""
        found = [self._call("embed_query", text) for text in embeddable(texts)]
        return _rows(found, len(texts), self.dim)

    @cached_property
    def _measured(self) -> _Measured:
        sample = self._documents(UNRELATED)
        dim = len(sample[0]) if len(sample) else 0
        return _Measured(dim, mean_cosine(_rows(sample, len(UNRELATED), dim)))

    def _states(self, name: str) -> bool:
        return isinstance(getattr(self._given, name, None), str)

    def _documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return cast("Sequence[Sequence[float]]", self._call("embed_documents", embeddable(texts)))

    def _call(self, method: str, argument: str | list[str]) -> Any:
        try:
            return getattr(self._given, method)(argument)
        except NotImplementedError:
            asynchronous: Callable[[Any], Any] | None = getattr(self._given, f"a{method}", None)
            if asynchronous is None:
                raise
            return asyncio.run(asynchronous(argument))


def _rows(found: Sequence[Sequence[float]], count: int, dim: int) -> Vectors:
    try:
        rows = np.asarray(found, dtype=np.float32).reshape(count, dim)
    except (TypeError, ValueError) as error:
        raise EmbedderFailed(f"{count} vectors of {dim} numbers were expected: {error}") from error
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not dim or not np.isfinite(lengths).all() or not lengths.all():
        raise EmbedderFailed("a vector is empty, zero, or holds what is no number")
    normalised: Vectors = rows / lengths
    return normalised
