"""How a memory is doing, in numbers that can be read at any moment without waiting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hippo_async.engine import Engine


@dataclass(frozen=True, slots=True)
class Status:
    """A snapshot. Counts begin at zero when the memory is opened, but for ``novelty`` and the seqs.

    ``captured`` turns were taken; of these ``written`` are durable, ``deduplicated`` were known already,
    ``rejected`` could not be written down, ``buffered`` are in memory only. ``refused`` were never taken.
    ``failures`` of the disk were met, the last being ``last_error``; ``retrying`` says that it fails still.
    Records up to ``journal_seq`` are durable, up to ``indexed_seq`` they can be found. ``embedder`` is the
    model in use, ``None`` while there is none or it is loading.
    """

    open: bool
    captured: int = 0
    written: int = 0
    deduplicated: int = 0
    rejected: int = 0
    refused: int = 0
    buffered: int = 0
    failures: int = 0
    last_error: str | None = None
    retrying: bool = False
    journal_id: str | None = None
    journal_seq: int = -1
    indexed_seq: int = -1
    index_rebuilds: int = 0
    embedder: str | None = None
    embedder_failures: int = 0
    raw_kept: int = 0
    raw_failures: int = 0
    novelty: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the snapshot as plain JSON values."""
        return asdict(self)


def status_of(engine: Engine | None, *, captured: int, refused: int, waiting: int) -> Status:
    """Read the counters of an open memory; those of a closed one are gone with it.

    ``waiting`` turns are in no engine's buffer yet.
    """
    if engine is None:
        return Status(open=False, captured=captured, refused=refused)
    pipeline, sink, library = engine.pipeline, engine.sink, engine.library
    state = pipeline.state
    return Status(
        open=True,
        captured=captured,
        written=sink.written,
        deduplicated=sink.deduplicated,
        rejected=sink.rejected,
        refused=refused + state.refused,
        buffered=pipeline.buffered + waiting,
        failures=state.failures,
        last_error=state.last_error,
        retrying=state.retry_at is not None,
        journal_id=engine.report.journal_id,
        journal_seq=sink.durable_seq,
        indexed_seq=library.indexed_seq,
        index_rebuilds=library.rebuilds,
        embedder=engine.model,
        embedder_failures=library.embed_failures + engine.judge.failures,
        raw_kept=engine.raw.kept,
        raw_failures=engine.raw.failures,
        novelty=dict(library.novelty),
        kinds=dict(library.kinds),
    )
