"""What can be done to a stored v2 journal, and how a case is written down."""

from __future__ import annotations

from typing import Any

from v2_vectors import Store, stores

STORES = stores()
PLAIN = STORES["plain"]
PURGED = STORES["purged"]
LIVE, END = PLAIN.path(7), PLAIN.offset(8)
HEAD = "HEAD"

Edit = dict[str, Any]


def splice(file: str, at: int, remove: int, insert: bytes = b"") -> Edit:
    """Take bytes out of a file and put others there; a missing file is an empty one."""
    return {"file": file, "at": at, "remove": remove, "insert": insert.hex()}


def write(file: str, data: bytes) -> Edit:
    """Put a file in place of what is there."""
    return {"file": file, "write": data.hex()}


def delete(file: str) -> Edit:
    """Remove a file."""
    return {"file": file, "delete": True}


def case(
    name: str,
    edits: list[Edit],
    verdict: str,
    file: str | None = None,
    offset: int | None = None,
    seq: int | None = None,
    *,
    store: Store = PLAIN,
    **opened: str,
) -> dict[str, Any]:
    """One damaged journal. An intact or torn one ends at record ``seq``; ``opened`` says how it is opened."""
    position = {"file": file, "offset": offset, "seq": seq}
    return {"name": name, "journal": store.name, "edits": edits, "verdict": verdict, **position, **opened}
