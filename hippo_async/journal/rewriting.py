"""Writing a generation anew: what a purge and a repair have in common (FORMAT.md §8)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from hippo_async.files import Files
from hippo_async.journal.layout import Closed, Layout, write_closed
from hippo_async.journal.seal import Sealer


class Placed(NamedTuple):
    """A line and the record that stands in it."""

    seq: int
    record_id: str
    data: bytes


class Segment(NamedTuple):
    """The lines of one segment."""

    first: int
    last: int
    last_id: str
    data: bytes

    @classmethod
    def of(cls, lines: list[Placed]) -> Segment:
        """Put lines that follow each other into one segment."""
        last = lines[-1]
        return cls(lines[0].seq, last.seq, last.record_id, b"".join(line.data for line in lines))


class Unchanged(NamedTuple):
    """A closed segment that is to stand in the next generation as it is."""

    path: Path
    entry: Closed


def in_segments(lines: Iterable[Placed], segment_bytes: int) -> Iterator[Segment]:
    """Cut a chain into segments that end once they have reached a size."""
    gathered: list[Placed] = []
    size = 0
    for line in lines:
        gathered.append(line)
        size += len(line.data)
        if size >= segment_bytes:
            yield Segment.of(gathered)
            gathered, size = [], 0
    if gathered:
        yield Segment.of(gathered)


def write_generation(
    files: Files,
    layout: Layout,
    generation: int,
    segments: Iterable[Segment | Unchanged],
    *,
    journal_id: str,
    sealer: Sealer,
    ended: bool,
) -> None:
    """Write a generation beside the one in force, durably; what an earlier attempt left is removed.

    All segments but the last are listed as closed, the last too if the chain has ``ended`` with a close.
    """
    files.remove_tree(layout.generation(generation))
    files.mkdir(layout.generation(generation))
    written = []
    for segment in segments:
        if isinstance(segment, Unchanged):
            files.share(segment.path, layout.segment(generation, segment.entry.first))
            written.append(segment.entry)
            continue
        files.write_atomic(layout.segment(generation, segment.first), segment.data)
        digest = hashlib.sha256(segment.data).hexdigest()
        written.append(Closed(segment.first, segment.last, segment.last_id, len(segment.data), digest))
    closed = written if ended else written[:-1]
    write_closed(files, layout, generation, closed, journal_id=journal_id, sealer=sealer)
