"""The contracts that users of this library may implement themselves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar, runtime_checkable

from hippo_async.records import Turn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
Vectors: TypeAlias = "NDArray[np.float32]"

TokenCounter = Callable[[str], int]
"""Counts the tokens of a text. Must never raise; used wherever a budget is kept."""

Summarizer = Callable[[Sequence[Turn]], Awaitable[str]]
"""Folds evicted turns into a summary, awaited on the caller's own loop. May fail: the extractive fold stands
behind it."""

Tagger = Callable[[str], Awaitable[Sequence[str]]]
"""Gives a text its tags, awaited on the caller's own loop. May fail: tags from the text's own words stand
behind it. What is no tag in its answer is left out."""


class Clock(Protocol):
    """The only source of time. All methods may be called from any thread."""

    def now(self) -> datetime:
        """Return the current moment, aware, in UTC. A label: never used to order records."""
        ...

    def monotonic(self) -> float:
        """Return seconds on a clock that never goes back within one process."""
        ...

    def get(self, queue: SimpleQueue[T], timeout: float | None) -> T | None:
        """Wait up to ``timeout`` seconds of this clock for an item (for ever if ``None``).

        Returns ``None`` when the time has passed. Blocks the calling thread; never call it on a loop.
        """
        ...


@runtime_checkable
class Embeddings(Protocol):
    """What LangChain calls ``Embeddings``: texts in, lists of numbers out. Blocks; called off the loop."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector per text."""
        ...

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of what is searched for."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of one model. Called in one thread at a time, never on the event loop.

    ``model_id`` names the model and its version: vectors of two ids are never compared. ``dim`` is the length
    of a vector. ``mean_similarity`` is the mean cosine of unrelated texts under this model; it calibrates the
    novelty thresholds (design §7). ``multilingual`` says whether it can be trusted with text that is not
    mostly English.
    """

    @property
    def model_id(self) -> str: ...
    @property
    def dim(self) -> int: ...
    @property
    def mean_similarity(self) -> float: ...
    @property
    def multilingual(self) -> bool: ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one normalised float32 row per text, shape ``(len(texts), dim)``."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one normalised float32 row per query, shape ``(len(texts), dim)``."""
        ...


EmbedderChoice: TypeAlias = str | Embedder | Embeddings | None
"""How a caller says which embedder a memory uses: see :func:`hippo_async.embedding.choose_embedder`."""
