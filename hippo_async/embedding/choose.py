"""Which embedder a memory uses when it is opened (design §6)."""

from __future__ import annotations

from importlib.util import find_spec

from hippo_async.embedding.given import GivenEmbeddings
from hippo_async.embedding.sentence import BUNDLED, LIBRARY, SentenceEmbedder
from hippo_async.embedding.use import PACKAGE as MULTILINGUAL
from hippo_async.embedding.use import UseEmbedder
from hippo_async.errors import MissingExtra
from hippo_async.protocols import Embedder, EmbedderChoice, Embeddings


def choose_embedder(setting: EmbedderChoice, *, prefer_multilingual: bool = False) -> Embedder | None:
    """Return the embedder that a setting asks for, or ``None`` for words only (J7, J8, J16).

    ``setting`` is an embedder, taken as it is; LangChain's ``Embeddings``; ``"none"`` or ``None``;
    ``"multilingual"``; ``"semantic"``; ``"auto"``; or else the folder or cached name of a
    sentence-transformers model.

    ``"auto"`` takes the first that is installed: semantic, then multilingual, then none; the other way round
    with ``prefer_multilingual``, which is for a store whose text is not mostly English. Which packages are
    there is looked up without importing them, so this is fast and loads no model.

    Raises :class:`MissingExtra` when the packages of a kind named outright are not installed. Whether a named
    model exists shows at its first use.
    """
    if isinstance(setting, Embeddings):
        return GivenEmbeddings(setting)
    if not isinstance(setting, str):
        return setting
    if setting == "none":
        return None
    if setting == "auto":
        return _automatic(prefer_multilingual=prefer_multilingual)
    return _named(setting)


def _automatic(*, prefer_multilingual: bool) -> Embedder | None:
    multilingual = _installed(MULTILINGUAL)
    if _installed(LIBRARY, BUNDLED) and not (prefer_multilingual and multilingual):
        return SentenceEmbedder()
    return UseEmbedder() if multilingual else None


def _named(setting: str) -> Embedder:
    if setting == "multilingual":
        _require("multilingual", MULTILINGUAL)
        return UseEmbedder()
    if setting == "semantic":
        _require("semantic", LIBRARY, BUNDLED)
        return SentenceEmbedder()
    _require("semantic", LIBRARY)
    return SentenceEmbedder(setting)


def _require(extra: str, *packages: str) -> None:
    if not _installed(*packages):
        raise MissingExtra(extra, f"the {extra} embedder")


def _installed(*packages: str) -> bool:
    return all(find_spec(package) is not None for package in packages)
