"""Late imports of packages that are extras."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hippo_async.errors import MissingExtra


def import_optional(package: str, *, extra: str, needed_for: str) -> Any:
    """Import a package by name and return it. Raises :class:`MissingExtra` when it is not installed."""
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingExtra(extra, needed_for) from error
