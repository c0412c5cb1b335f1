"""Our side of each comparison, opened as a user would open it.

Everything lies in one folder, the witness too: a benchmark leaves nothing behind.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hippo_bench import texts
from hippo_bench.floor import KEY

if TYPE_CHECKING:
    from hippo_async import Hippocampus
    from hippo_async.journal import Journal
    from hippo_async.protocols import Embedder
    from hippo_async.records import Draft

AGENT = "bench"
SESSION = "s"
GROUP = 1_000  # records that are appended together where only their number matters
CHUNK = 500  # turns between two flushes, far below what the buffer holds


def memory(folder: Path, *, embedder: Embedder | str = "none") -> Hippocampus:
    """Return a memory over ``folder``, not yet open, that finds by words only if nothing else is said.

    Maintenance does not come by itself: it would be part of one run and not of the next.
    """
    from hippo_async import Hippocampus

    return Hippocampus(
        folder,
        agent_id=AGENT,
        key=KEY,
        embedder=embedder,
        witness=folder / "witness",
        maintenance=False,
    )


def journal(folder: Path) -> Journal:
    """Return the journal alone of the memory over ``folder``, not yet open."""
    from hippo_async.journal import Journal, Key

    return Journal(folder / "journal", agent_id=AGENT, key=Key(KEY), witness=folder / "witness")


def segments(folder: Path) -> list[Path]:
    """Return the files under ``folder`` that hold the journal's records, in order."""
    return sorted((folder / "journal").rglob("*.jsonl"))


def bare(folder: Path, segment: Path) -> Path:
    """Return where the floor's own lines lie that stand for those of a segment."""
    return folder / "floor" / segment.name


def drafts(start: int, count: int) -> list[Draft]:
    """Return ``count`` drafts as the capture buffer writes them, numbered from ``start``."""
    from hippo_async.records import Draft

    return [
        Draft(content=texts.message(number), metadata=_metadata(number))
        for number in range(start, start + count)
    ]


def fill(journal: Journal, count: int) -> None:
    """Append ``count`` records in large groups and return when they are durable. Blocks."""
    for start in range(0, count, GROUP):
        journal.append(drafts(start, min(GROUP, count - start))).result()


async def store(memory: Hippocampus, count: int) -> None:
    """Capture ``count`` messages and return when they are durable and indexed."""
    for start in range(0, count, CHUNK):
        for number in range(start, min(start + CHUNK, count)):
            memory.capture(texts.message(number), role=_role(number), session=SESSION)
        await memory.flush()


def _metadata(number: int) -> dict[str, str]:
    role = _role(number)
    return {"role": role, "session": SESSION, "source": role, "turn_id": f"{number:016x}"}


def _role(number: int) -> str:
    return "assistant" if number % 2 else "user"
