"""Small sealed documents: canonical JSON, a blank, the seal (FORMAT.md §5). Pure."""

from __future__ import annotations

import json
from typing import Any

from hippo_async.journal.canon import canonical
from hippo_async.journal.seal import Sealer


def seal_document(value: dict[str, Any], sealer: Sealer) -> bytes:
    """Write a document with its seal, without a newline."""
    return seal_canonical(canonical(value), sealer)


def seal_canonical(body: bytes, sealer: Sealer) -> bytes:
    """Write a document that is in canonical form already."""
    return body + b" " + sealer.seal(body).encode()


def open_document(data: bytes, sealer: Sealer) -> dict[str, Any] | None:
    """Return the document if its seal verifies and it is written in the one allowed way, else ``None``."""
    body, _, seal = data.rpartition(b" ")
    if not sealer.verifies(body, seal.decode("latin-1")):
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and seal_document(value, sealer) == data else None
