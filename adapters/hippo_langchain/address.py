"""Whose memory and which conversation a run belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

DEFAULT_SESSION = "default"

SessionSource = str | Callable[[Any], str]
"""A session label, or a function that finds it in LangGraph's ``Runtime``."""

ScopeSource = Sequence[str] | Callable[[Any], Sequence[str]]
"""A scope, or a function that finds it in LangGraph's ``Runtime``."""


@dataclass(frozen=True, slots=True)
class Address:
    """The wall (``scope``) and the label (``session``) under which a conversation is kept."""

    scope: tuple[str, ...] = ()
    session: str = DEFAULT_SESSION


current_address: ContextVar[Address | None] = ContextVar("hippo_langchain_address", default=None)
"""The address of the run whose tool is being called, set by the middleware for what recalls in there."""


def address_in(scope: Sequence[str] | None, session: str | None = None) -> Address:
    """The address that is given, as far as it is, else that of the run, else the agent's own memory."""
    run = current_address.get() or Address()
    return Address(run.scope if scope is None else tuple(scope), run.session if session is None else session)


def address_of(
    runtime: Any, *, session: SessionSource | None = None, scope: ScopeSource | None = None
) -> Address:
    """Find the address of a run.

    Session: the argument, else ``session`` or ``session_id`` of the run's context, else its thread id, else
    ``"default"``. Scope: the argument, else ``(user_id,)`` of the context, else the agent's own, ``()``.
    """
    return Address(scope=_scope(runtime, scope), session=_session(runtime, session))


def _session(runtime: Any, given: SessionSource | None) -> str:
    if given is not None:
        return given(runtime) if callable(given) else given
    context = getattr(runtime, "context", None)
    found = _attribute(context, "session") or _attribute(context, "session_id") or _thread_id(runtime)
    return found or DEFAULT_SESSION


def _scope(runtime: Any, given: ScopeSource | None) -> tuple[str, ...]:
    if given is not None:
        return tuple(given(runtime) if callable(given) else given)
    user = _attribute(getattr(runtime, "context", None), "user_id")
    return (user,) if user else ()


def _thread_id(runtime: Any) -> str | None:
    return _attribute(getattr(runtime, "execution_info", None), "thread_id")


def _attribute(context: Any, name: str) -> str | None:
    value = context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)
    return None if value is None else str(value)
