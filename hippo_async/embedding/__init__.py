"""Turning texts into vectors: which model, how it is loaded, and what it has already computed.

Every model is an :class:`hippo_async.protocols.Embedder`. Constructors are cheap; a model is loaded by the
first call that needs it, in the thread that makes the call. Nothing here reaches for the network.
"""

from __future__ import annotations

from hippo_async.embedding.cache import CachedEmbedder
from hippo_async.embedding.choose import choose_embedder
from hippo_async.embedding.given import GivenEmbeddings
from hippo_async.embedding.sentence import SentenceEmbedder
from hippo_async.embedding.use import UseEmbedder

__all__ = ["CachedEmbedder", "GivenEmbeddings", "SentenceEmbedder", "UseEmbedder", "choose_embedder"]
