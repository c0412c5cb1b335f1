"""Making a journal: its genesis, and the files around it (FORMAT.md §2, §9)."""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass
from typing import Any

from hippo_async.errors import HeadMismatch
from hippo_async.files import Files
from hippo_async.journal.codec import RESERVED_KEY
from hippo_async.journal.head import HeadFile, HeadState, peek_number
from hippo_async.journal.keys import Key
from hippo_async.journal.layout import Layout, list_segments, write_closed, write_current
from hippo_async.journal.recovery import Sealers
from hippo_async.journal.scan import GENESIS
from hippo_async.journal.writer import Identity, Tail, seal_drafts
from hippo_async.records import Draft, Kind, Novelty, Record

FORMAT_VERSION = 2
FIRST_GENERATION = 1


@dataclass(frozen=True, slots=True)
class Previous:
    """The close record at which a journal takes over from the one before it."""

    journal_id: str
    record_id: str
    seq: int


@dataclass(frozen=True, slots=True)
class Beginning:
    """How a journal begins: the very first at seq 0, one under a new key where the last was closed."""

    journal_id: str
    epoch: int = 0
    previous: Previous | None = None

    @classmethod
    def fresh(cls, epoch: int = 0) -> Beginning:
        """Choose the random id of a new journal."""
        return cls(secrets.token_hex(16), epoch)

    @property
    def start(self) -> int:
        """The seq of the genesis."""
        return 0 if self.previous is None else self.previous.seq + 1


def create_if_absent(
    files: Files, layout: Layout, beginning: Beginning, *, agent_id: str, key: Key, now: str
) -> bool:
    """Write a journal of one genesis record, and say whether there was none.

    Durable when it returns; ``CURRENT`` comes last, so a crash leaves no journal. Raises
    :class:`HeadMismatch` if ``CURRENT`` is missing from a journal that had more.
    """
    if files.exists(layout.current):
        return False
    _refuse_remains(files, layout)
    generation = layout.generation(FIRST_GENERATION)
    files.remove_tree(generation)
    files.mkdir(generation)
    journal_id, start = beginning.journal_id, beginning.start
    sealers = Sealers.derive(key, journal_id)
    genesis, line = _genesis(beginning, agent_id, sealers, now)
    write_closed(files, layout, FIRST_GENERATION, [], journal_id=journal_id, sealer=sealers.segments)
    files.write_atomic(layout.segment(FIRST_GENERATION, start), line)
    head = HeadFile(files, layout.head, sealers.head)
    try:
        state = HeadState(journal_id, FIRST_GENERATION, 0, start, genesis.record_id)
        head.start(state, newest_slot=0)
    finally:
        head.close()
    files.sync_dir(layout.root)
    write_current(files, layout, FIRST_GENERATION)
    return True


def _genesis(beginning: Beginning, agent_id: str, sealers: Sealers, now: str) -> tuple[Record, bytes]:
    previous = beginning.previous
    metadata: dict[str, Any] = {
        RESERVED_KEY: {"format": FORMAT_VERSION, "previous": None if previous is None else asdict(previous)}
    }
    [genesis] = seal_drafts(
        [Draft("genesis", Kind.STATE, Novelty.NOVEL, metadata)],
        Tail(beginning.start - 1, None if previous is None else previous.record_id),
        Identity.of(beginning.journal_id, agent_id, beginning.epoch),
        sealers.record,
        now=now,
        type_=GENESIS,
    )
    return genesis


def _refuse_remains(files: Files, layout: Layout) -> None:
    """Raise if ``CURRENT`` is missing though more is there than a creation that a crash cut short."""
    generations = [name for name in files.list(layout.root) if name.startswith("gen-")]
    first = layout.generation(FIRST_GENERATION).name
    segments = [layout.segment(FIRST_GENERATION, n) for n in list_segments(files, layout, FIRST_GENERATION)]
    lines = sum(files.read(path).count(b"\n") for path in segments)
    if lines > 1 or generations not in ([], [first]) or peek_number(files, layout.head) > 0:
        reason = "CURRENT is missing, though there are or were records; put back the missing files"
        raise HeadMismatch(layout.head, 0, 0, reason)
