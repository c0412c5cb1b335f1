"""Where the files of a journal lie (FORMAT.md §2), and the list of its closed segments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict, StrictInt, StrictStr, TypeAdapter, ValidationError

from hippo_async.files import Files
from hippo_async.journal.seal import Sealer
from hippo_async.journal.sealed import open_document, seal_document

_SEGMENT = re.compile(r"seg-(\d{12})\.jsonl")
_GENERATION = re.compile(rb"gen-(?!000000)(\d{6})\n")


@dataclass(frozen=True, slots=True)
class Closed:
    """A segment that is never written again: its first and last record, its length and digest."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    first: StrictInt
    last: StrictInt
    last_id: StrictStr
    size: StrictInt
    sha256: StrictStr


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of one journal."""

    root: Path

    @property
    def current(self) -> Path:
        """Names the generation in force."""
        return self.root / "CURRENT"

    @property
    def head(self) -> Path:
        """How far the journal was acknowledged."""
        return self.root / "HEAD"

    @property
    def torn(self) -> Path:
        """Where cut tails are kept."""
        return self.root / "torn"

    def generation(self, number: int) -> Path:
        """The directory of one generation."""
        return self.root / f"gen-{number:06d}"

    def closed_list(self, generation: int) -> Path:
        """The sealed list of closed segments."""
        return self.generation(generation) / "SEGMENTS"

    def segment(self, generation: int, first: int) -> Path:
        """The segment that begins with record ``first``."""
        return self.generation(generation) / f"seg-{first:012d}.jsonl"


def read_current(files: Files, layout: Layout) -> int | None:
    """Return the number of the generation in force, or ``None`` if there is no journal yet.

    Raises ``ValueError`` if ``CURRENT`` holds anything else than one generation's name.
    """
    try:
        text = files.read(layout.current)
    except FileNotFoundError:
        return None
    found = _GENERATION.fullmatch(text)
    if found is None:
        raise ValueError("CURRENT does not name a generation")
    return int(found[1])


def write_current(files: Files, layout: Layout, generation: int) -> None:
    """Switch to a generation, durably."""
    files.write_atomic(layout.current, f"gen-{generation:06d}\n".encode())


def list_segments(files: Files, layout: Layout, generation: int) -> list[int]:
    """Return the first seq of each segment of a generation, ascending."""
    names = files.list(layout.generation(generation))
    return [int(found[1]) for name in names if (found := _SEGMENT.fullmatch(name))]


def write_closed(
    files: Files,
    layout: Layout,
    generation: int,
    closed: Sequence[Closed],
    *,
    journal_id: str,
    sealer: Sealer,
) -> None:
    """Write the list of closed segments, durably."""
    document = {
        "generation": generation,
        "journal_id": journal_id,
        "segments": [asdict(entry) for entry in closed],
    }
    files.write_atomic(layout.closed_list(generation), seal_document(document, sealer) + b"\n")


def read_closed(
    files: Files, layout: Layout, generation: int, *, journal_id: str, sealer: Sealer
) -> list[Closed]:
    """Read the list of closed segments. Raises ``ValueError`` if it is missing or does not verify."""
    try:
        data = files.read(layout.closed_list(generation))
    except FileNotFoundError:
        raise ValueError("the list of closed segments is missing") from None
    document = open_document(data.removesuffix(b"\n"), sealer) if data.endswith(b"\n") else None
    if document is None or (document.get("generation"), document.get("journal_id")) != (
        generation,
        journal_id,
    ):
        raise ValueError("the list of closed segments does not verify")
    try:
        return _SEGMENTS.validate_python(document.get("segments"))
    except ValidationError:
        raise ValueError("the list of closed segments has other fields than this release knows") from None


_SEGMENTS = TypeAdapter(list[Closed])
