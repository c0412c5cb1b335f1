"""The day shards ``raw/YYYY-MM-DD.jsonl`` (L3): appended to, and rewritten only to erase."""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from pathlib import Path

from hippo_async.files import Files
from hippo_async.raw.erasing import Erasure, without
from hippo_async.raw.turn import RawTurn, encode

FOLDER = "raw"
_SHARD = re.compile(r"(\d{4}-\d{2}-\d{2})\.jsonl")
_UNFINISHED = re.compile(rf"{_SHARD.pattern}\.new")


class RawShards:
    """Appends turns to the shards of one data directory, and erases them. Blocks; from any thread."""

    def __init__(self, root: Path, *, files: Files) -> None:
        self._folder = root / FOLDER
        self._files = files
        self._whole: set[Path] = set()
        self._one_at_a_time = threading.Lock()

    def append(self, turns: Sequence[RawTurn]) -> None:
        """Append each turn to the shard of its UTC date, in order, with one write per shard (L2-L4).

        The bytes are handed to the operating system and not synced: the black box is a convenience for
        looking back, what must survive a power loss is in the journal. A line that an earlier crash left torn
        is ended first, so that it alone is lost. Raises ``OSError``; then a prefix may have been written.
        """
        with self._one_at_a_time:
            for day, lines in _by_day(turns).items():
                self._append(self._folder / f"{day}.jsonl", b"".join(lines))

    def erase(self, erasures: Sequence[Erasure], *, now: datetime) -> int:
        """Put a tombstone in place of every line that says what is erased; return of how many (L6).

        Looks through all shards: a text may have been kept more than once. Line numbers stay. A shard is
        replaced as a whole, durably. Raises ``OSError``; shards before the one at fault are done then.
        """
        erased = 0
        with self._one_at_a_time:
            self._sweep()
            for _, name in days(self._files.list(self._folder)):
                path = self._folder / name
                lines, count = without(self._files.read(path), erasures, now=now)
                if count:
                    self._files.write_atomic(path, lines)
                erased += count
        return erased

    def expire(self, first: date, today: date) -> tuple[int, int]:
        """Remove whole shards of days before ``first``, never that of ``today`` or later (L9).

        Returns how many they were and their bytes. Raises ``OSError``; those before it are gone then.
        """
        shards = size = 0
        with self._one_at_a_time:
            self._sweep()
            for day, name in days(self._files.list(self._folder)):
                if day < min(first, today).isoformat():
                    size += self._files.size(self._folder / name)
                    self._files.remove(self._folder / name)
                    self._whole.discard(self._folder / name)
                    shards += 1
        return shards, size

    def sizes(self) -> dict[str, int]:
        """Return the bytes on disk of each day, ``YYYY-MM-DD``; what admission and the storage ring count."""
        return {
            day: self._files.size(self._folder / name) for day, name in days(self._files.list(self._folder))
        }

    def _sweep(self) -> None:
        """Remove what a crash left of a rewritten shard: nobody would look for what is forgotten in it."""
        for name in self._files.list(self._folder):
            if _UNFINISHED.fullmatch(name):
                self._files.remove(self._folder / name)

    def _append(self, path: Path, data: bytes) -> None:
        if path not in self._whole:
            self._files.mkdir(path.parent)
            data = self._line_end(path) + data
        self._whole.discard(path)
        self._files.append(path, data)
        self._whole.add(path)

    def _line_end(self, path: Path) -> bytes:
        size = self._files.size(path)
        return b"\n" if size and self._files.read_at(path, size - 1, 1) != b"\n" else b""


def days(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return ``(day, name)`` for each name that is a shard's, oldest first; other files are none of ours."""
    return sorted((match[1], name) for name in names if (match := _SHARD.fullmatch(name)))


def _by_day(turns: Sequence[RawTurn]) -> dict[str, list[bytes]]:
    shards: defaultdict[str, list[bytes]] = defaultdict(list)
    for turn in turns:
        shards[turn.day].append(encode(turn))
    return shards
