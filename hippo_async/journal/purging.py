"""Taking the text of records away for good, with the chain left whole (FORMAT.md §8)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from hippo_async.files import Files
from hippo_async.journal.codec import NO_PAYLOAD, RESERVED_KEY, encode_line, parse_header, split_line
from hippo_async.journal.layout import Layout, list_segments, read_closed, write_current
from hippo_async.journal.recovery import Recovered
from hippo_async.journal.rewriting import Segment, Unchanged, write_generation
from hippo_async.journal.scan import RECORD, lines_of
from hippo_async.records import Draft, Kind, Novelty

SOUGHT = 20
"""More ids are not looked for in all bytes of a segment: to look at each of its lines is as fast."""

_GENERATION = re.compile(r"gen-\d{6}")
_REMAINS = re.compile(r"gen-\d{6}|damaged-.*|torn|.*\.new")


def purge_draft(record_ids: Collection[str]) -> Draft:
    """Compose the purge record that names what is forgotten."""
    text = f"The text of {len(record_ids)} records was forgotten."
    return Draft(text, Kind.STATE, Novelty.NOVEL, {RESERVED_KEY: {"records": sorted(record_ids)}})


def without_texts(data: bytes, record_ids: Collection[str]) -> bytes:
    """Return a segment without the payload of the named records, and every other byte as it was."""
    if not _speaks_of(data, record_ids):
        return data
    return b"".join(_bare(line) if _names(line, record_ids) else line for line in lines_of(data))


def bare_length(line: bytes) -> int:
    """Return how many bytes a record's line has once its text is taken away."""
    return len(_bare(line))


def with_texts(files: Files, layout: Layout, generation: int, record_ids: Collection[str]) -> set[str]:
    """Return those of the named records that stand in a generation and have their text still."""
    found: set[str] = set()
    for first in list_segments(files, layout, generation):
        data = files.read(layout.segment(generation, first))
        if _speaks_of(data, record_ids):
            found.update(_id_of(line) for line in lines_of(data) if _names(line, record_ids))
    return found


def rewrite_without(files: Files, layout: Layout, found: Recovered, record_ids: Collection[str]) -> None:
    """Write the next generation without the named texts and put it in force, durably.

    ``found`` is what opening the journal found, as far as it still holds; its generation and its closed
    segments are then those of the new one. The heads are the caller's to tell, and then what is left of the
    old one to be removed. A crash leaves the old generation in force or the new one.
    """
    generation = found.generation + 1
    ended = found.chain.closed
    write_generation(
        files,
        layout,
        generation,
        _segments(files, layout, found, record_ids),
        journal_id=found.journal_id,
        sealer=found.sealers.segments,
        ended=ended,
    )
    write_current(files, layout, generation)
    found.generation = generation
    found.closed[:] = read_closed(
        files, layout, generation, journal_id=found.journal_id, sealer=found.sealers.segments
    )


def remove_remains(files: Files, layout: Layout, generation: int) -> None:
    """Remove every other generation, cut tails and unfinished files: they may hold what was purged."""
    for name in files.list(layout.root):
        if _REMAINS.fullmatch(name) and name != layout.generation(generation).name:
            path = layout.root / name
            if name.endswith(".new"):
                files.remove(path)
            else:
                files.remove_tree(path)
    files.sync_dir(layout.root)


def remove_other_generations(files: Files, layout: Layout, generation: int) -> None:
    """Remove what a purge or a repair that broke off left of the generations before and after this one.

    A crash may have come when the next generation was in force and written to already. What a repair keeps
    is named otherwise.
    """
    for name in files.list(layout.root):
        if _GENERATION.fullmatch(name) and name != layout.generation(generation).name:
            files.remove_tree(layout.root / name)


def _segments(
    files: Files, layout: Layout, found: Recovered, record_ids: Collection[str]
) -> Iterator[Segment | Unchanged]:
    """Yield the segments in force, the named texts taken out; an empty one holds nothing to keep."""
    closed = {entry.first: entry for entry in found.closed}
    for first in list_segments(files, layout, found.generation):
        path = layout.segment(found.generation, first)
        data = files.read(path)
        if first in closed and not _speaks_of(data, record_ids):
            yield Unchanged(path, closed[first])
        elif data := without_texts(data, record_ids):
            last = first + data.count(b"\n") - 1
            yield Segment(first, last, _id_of(lines_of(data)[-1]), data)


def _speaks_of(data: bytes, record_ids: Collection[str]) -> bool:
    """Whether any of the ids may stand in a segment; if not, nobody has to look at its lines."""
    return len(record_ids) > SOUGHT or any(record_id.encode() in data for record_id in record_ids)


def _names(line: bytes, record_ids: Collection[str]) -> bool:
    """Whether a line is an agent's record, among the named ones, with its text."""
    frame = split_line(line)
    if frame is None or frame.payload == NO_PAYLOAD or frame.record_id.decode("latin-1") not in record_ids:
        return False
    return parse_header(frame.header).type == RECORD


def _bare(line: bytes) -> bytes:
    frame = split_line(line)
    assert frame is not None  # noqa: S101 - its id was read from the frame
    return encode_line(frame.header, NO_PAYLOAD, frame.seal.decode())[1]


def _id_of(line: bytes) -> str:
    frame = split_line(line)
    return "" if frame is None else frame.record_id.decode("latin-1")
