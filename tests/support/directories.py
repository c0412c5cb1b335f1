"""What is in a data directory."""

from __future__ import annotations

from pathlib import Path


def contents(root: Path) -> dict[str, bytes]:
    """All files below a directory but those of locks, by name."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.name.startswith("LOCK")
    }
