"""LangChain's doors to :mod:`hippo_async`: middleware, callbacks, message history, retriever, tools, tagger.

Names are loaded when they are first used; all but the middleware need ``langchain-core`` only.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hippo_async.errors import MissingExtra

if TYPE_CHECKING:
    from hippo_langchain.callbacks import HippoCallbackHandler
    from hippo_langchain.history import HippoChatMessageHistory
    from hippo_langchain.middleware import HippoMiddleware
    from hippo_langchain.retriever import HippoRetriever
    from hippo_langchain.tagging import tagger
    from hippo_langchain.tools import memory_tools

__all__ = [
    "HippoCallbackHandler",
    "HippoChatMessageHistory",
    "HippoMiddleware",
    "HippoRetriever",
    "memory_tools",
    "tagger",
]

_HOME = {
    "HippoCallbackHandler": "callbacks",
    "HippoChatMessageHistory": "history",
    "HippoMiddleware": "middleware",
    "HippoRetriever": "retriever",
    "memory_tools": "tools",
    "tagger": "tagging",
}
_EXTRA_PACKAGES = {"langchain", "langchain_core", "langgraph"}


def __getattr__(name: str) -> Any:
    """Load a public name. Raises :class:`MissingExtra` when LangChain is not installed."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in _EXTRA_PACKAGES:
            raise MissingExtra("langchain", f"hippo_langchain.{name}") from error
        raise


def __dir__() -> list[str]:
    return sorted(__all__)
