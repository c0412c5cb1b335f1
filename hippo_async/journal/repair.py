"""Repairing a damaged journal into a new generation (FORMAT.md §8a).

What is cut or replaced is kept: the damaged generation is moved aside, whole.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from hippo_async.clock import SystemClock
from hippo_async.errors import (
    AcknowledgedLoss,
    HeadMismatch,
    IntegrityError,
    InvalidInput,
    JournalCorrupt,
    RolledBack,
)
from hippo_async.files import Files
from hippo_async.journal.acceptance import accept_draft
from hippo_async.journal.codec import RESERVED_KEY
from hippo_async.journal.diagnosis import GENERATION, Case, Diagnosis, Examination
from hippo_async.journal.head import HeadFile, HeadState, peek_number
from hippo_async.journal.journal import SEGMENT_BYTES, Journal
from hippo_async.journal.keys import Key
from hippo_async.journal.layout import Layout, read_current, write_current
from hippo_async.journal.lock import WriterLock
from hippo_async.journal.mending import Line
from hippo_async.journal.moved import refuse_moved
from hippo_async.journal.purging import without_texts
from hippo_async.journal.recovery import recover
from hippo_async.journal.rewriting import Placed, in_segments, write_generation
from hippo_async.journal.scan import ACCEPT, CLOSE, PURGE, RECORD
from hippo_async.journal.writer import Identity, Tail, seal_drafts
from hippo_async.lives.operations import with_names
from hippo_async.protocols import Clock
from hippo_async.records import Draft, Kind, Novelty, utc_timestamp

REPAIRED_KEY = "repaired"

_RETIRED = (
    "the journal was closed by a change of keys, and nothing can be recorded behind that; "
    "put it back from a backup, or take out what is left of it with 'hippo salvage'"
)
_ROLLED_BACK = "That is no damage: accept it with 'hippo witness accept', or put the newest copy back"


@dataclass(frozen=True, slots=True)
class Repair:
    """The repair of one journal, which lies in its data directory. Building it touches nothing; everything
    blocks.
    """

    root: Path
    agent_id: str
    key: Key
    witness: Path | None
    files: Files = field(default_factory=Files)
    clock: Clock = field(default_factory=SystemClock)
    segment_bytes: int = SEGMENT_BYTES

    @property
    def examination(self) -> Examination:
        """Looks at the journal without changing it."""
        return Examination(self.root, self.agent_id, self.key, self.witness, self.files)

    def apply(self) -> Diagnosis:
        """Repair the journal and return what was done; does nothing to one that is sound.

        When it returns the chain is as good as it can be made, what is missing is recorded in it as accepted,
        and the damaged generation lies beside it; durably. A crash on the way leaves the damaged journal or
        the repaired one. Raises :class:`JournalLocked`; :class:`StoreMoved` or :class:`MigrationLocked` if
        the data directory is not the one to write to; what :meth:`Examination.case` raises; and
        :class:`InvalidInput` for a rollback, or a closed journal that has lost something.
        """
        refuse_moved(self.root.parent, self.files)
        lock = WriterLock(self.files, self.root)
        lock.acquire()
        try:
            refuse_moved(self.root.parent, self.files)  # again: it may have been before the lock was ours
            verdict = self.examination.verdict()
            if verdict is None:
                return Diagnosis(self.root, None)
            if isinstance(verdict, RolledBack):
                raise InvalidInput(f"{verdict}. {_ROLLED_BACK}")
            case = self.examination.case(verdict)
            rewritten = not case.untouched or read_current(self.files, self._layout) is None
            if rewritten:
                self._rewrite(case)
        finally:
            lock.release()
        if not rewritten:
            self._accept()
        self._set_aside()
        return case.describe(self.root)

    @property
    def _layout(self) -> Layout:
        return Layout(self.root)

    def _accept(self) -> None:
        """Every line is sound; what HEAD and the witness miss is accepted."""
        journal = Journal(
            self.root,
            agent_id=self.agent_id,
            key=self.key,
            witness=self.witness,
            files=self.files,
            clock=self.clock,
            segment_bytes=self.segment_bytes,
        )
        with closing(journal):
            journal.open(accepting=(AcknowledgedLoss, HeadMismatch, RolledBack))

    def _rewrite(self, case: Case) -> None:
        """Write the repaired chain into a new generation, put it in force, and move the damaged one aside."""
        forgotten = case.plan.to_purge
        lines = [
            Placed(line.header.seq, line.record_id, without_texts(line.data, forgotten))
            for line in case.plan.chain
        ]
        additions = [] if case.restored else self._additions(case)
        state = self._next_state(case, [*lines, *additions][-1])
        write_generation(
            self.files,
            self._layout,
            state.generation,
            in_segments([*lines, *additions], self.segment_bytes),
            journal_id=case.journal_id,
            sealer=case.sealers.segments,
            ended=case.plan.chain[-1].header.type == CLOSE,
        )
        # nothing is put in force that does not verify
        recover(
            self.files, self._layout, state.generation, agent_id=self.agent_id, key=self.key, witness=None
        )
        write_current(self.files, self._layout, state.generation)
        self._start_heads(case, state)

    def _set_aside(self) -> None:
        """Keep every generation but the one in force under another name."""
        current = read_current(self.files, self._layout)
        for name in self.files.list(self.root):
            found = GENERATION.fullmatch(name)
            if found is not None and int(found[1]) != current:
                self.files.move(self.root / name, f"damaged-{found[1]}-{secrets.token_hex(4)}")

    def _additions(self, case: Case) -> list[Placed]:
        """The lines behind the chain: a purge of lost texts, what the owner accepts, what is repeated."""
        last = case.plan.chain[-1]
        if last.header.type == CLOSE:
            raise InvalidInput(f"{self.root}: {_RETIRED}")
        groups: list[tuple[str, list[Draft]]] = [
            (PURGE, [_purge_draft(case.plan.to_purge)] if case.plan.to_purge else []),
            (ACCEPT, [accept_draft(_objections(case), case.head.state, case.witnessed.state)]),
        ]
        identity = Identity.of(case.journal_id, self.agent_id, last.header.epoch)
        now = utc_timestamp(self.clock.now())
        tail = Tail(last.header.seq, last.record_id)
        placed: list[Placed] = []
        for type_, drafts in groups:
            for record, data in seal_drafts(
                drafts, tail, identity, case.sealers.record, now=now, type_=type_
            ):
                placed.append(Placed(record.seq, record.record_id, data))
                tail = Tail(record.seq, record.record_id)
        renamed: dict[str, str] = {}
        for line in case.plan.carried:
            [(record, data)] = seal_drafts(
                [_repeated(line, renamed)], tail, identity, case.sealers.record, now=now, type_=RECORD
            )
            placed.append(Placed(record.seq, record.record_id, data))
            tail = Tail(record.seq, record.record_id)
            renamed[line.record_id] = record.record_id
        return placed

    def _next_state(self, case: Case, last: Placed) -> HeadState:
        """What HEAD and the witness are to say: above all that they, or damaged slots of them, claim."""
        generation = 1 + max(case.generation, *(state.generation for state in case.states), 0)
        claimed = peek_number(self.files, self._layout.head)
        number = 1 + max(claimed, *(state.number for state in case.states), 0)
        return HeadState(case.journal_id, generation, number, last.seq, last.record_id)

    def _start_heads(self, case: Case, state: HeadState) -> None:
        """Tell the witness, then HEAD: a crash in between is HEAD's to object to, which a repair accepts."""
        places = [(self._layout.head, case.sealers.head, case.head)]
        if self.witness is not None:
            self.files.mkdir(self.witness)
            places.insert(0, (self.witness / case.journal_id, case.sealers.witness, case.witnessed))
        for path, sealer, found in places:
            with closing(HeadFile(self.files, path, sealer)) as head:
                head.start(state, newest_slot=found.slot)
            self.files.sync_dir(path.parent)


def _objections(case: Case) -> list[IntegrityError]:
    """What the owner accepts by a repair: the verdict, and what the witness has against the outcome."""
    verdict = case.verdict
    if not isinstance(verdict, AcknowledgedLoss | HeadMismatch):
        verdict = JournalCorrupt(verdict.path, verdict.offset, verdict.seq, verdict.reason)
    seen = case.witnessed.state
    if seen is None or case.holds(seen):
        return [verdict]
    reason = f"the witness outside the store saw record {seen.seq} of generation {seen.generation}"
    return [verdict, RolledBack(verdict.path, verdict.offset, seen.seq, reason)]


def _purge_draft(record_ids: Sequence[str]) -> Draft:
    text = f"A repair found {len(record_ids)} records whose text was not the one that was sealed."
    return Draft(text, Kind.STATE, Novelty.NOVEL, {RESERVED_KEY: {"records": list(record_ids)}})


def _repeated(line: Line, renamed: Mapping[str, str]) -> Draft:
    """A record that lost its place in the chain, to be appended with where it stood.

    It names those that were ``renamed`` before it by the ids that they have now: a memory that was to be
    forgotten stays so.
    """
    record = line.record()
    stood = {"record_id": record.record_id, "seq": record.seq, "timestamp": record.timestamp}
    metadata = {**with_names(record.metadata, renamed), REPAIRED_KEY: stood}
    return Draft(record.text, record.kind, record.novelty, metadata, timestamp=record.at)
