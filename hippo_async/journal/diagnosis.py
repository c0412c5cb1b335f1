"""What is wrong with a journal, and what could be made of it. Reads only."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hippo_async.errors import (
    AcknowledgedLoss,
    FormatTooNew,
    HeadMismatch,
    IntegrityError,
    JournalCorrupt,
    NotFound,
    RolledBack,
)
from hippo_async.files import Files
from hippo_async.journal.head import HeadFound, HeadState, read_head
from hippo_async.journal.journal import Journal
from hippo_async.journal.keys import Key
from hippo_async.journal.layout import Layout, list_segments, read_current
from hippo_async.journal.mending import Damage, Line, Owner, Plan, Salvage, plan_repair, salvage
from hippo_async.journal.recovery import Sealers

_JOURNAL_ID = re.compile(rb'"journal_id":"([0-9a-f]{32})"')
GENERATION = re.compile(r"gen-(\d{6})")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is wrong with a journal, and what a repair leaves of it.

    ``verdict`` is what opening it says, ``None`` if nothing is wrong. ``kept`` records keep their place, of
    which ``texts_lost`` only their header; ``carried`` are repeated behind the others; of ``lost`` nothing is
    left.
    """

    root: Path
    verdict: IntegrityError | None
    damages: tuple[Damage, ...] = ()
    kept: int = 0
    texts_lost: int = 0
    carried: int = 0
    lost: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain JSON values."""
        return {
            "journal": str(self.root),
            "verdict": None if self.verdict is None else self.verdict.as_dict(),
            "damages": [damage.as_dict() for damage in self.damages],
            "kept": self.kept,
            "texts_lost": self.texts_lost,
            "carried": self.carried,
            "lost": self.lost,
        }


@dataclass(frozen=True, slots=True)
class Case:
    """A damaged journal as it was found, and the plan to repair it."""

    verdict: IntegrityError
    generation: int
    journal_id: str
    sealers: Sealers
    head: HeadFound
    witnessed: HeadFound
    salvaged: Salvage
    plan: Plan

    @property
    def states(self) -> list[HeadState]:
        """What HEAD and the witness know."""
        return [found.state for found in (self.head, self.witnessed) if found.state is not None]

    @property
    def untouched(self) -> bool:
        """Whether every line is as it was sealed and in its place: only HEAD or the witness object."""
        return isinstance(self.verdict, AcknowledgedLoss | HeadMismatch) and not self.salvaged.damages

    @property
    def restored(self) -> bool:
        """Whether the repaired chain is all that HEAD and the witness know, as it was sealed."""
        agreed = self.head.state is not None and all(map(self.holds, self.states))
        return agreed and not self.plan.to_purge and not self.plan.carried

    def holds(self, state: HeadState) -> bool:
        """Whether the repaired chain has what a state acknowledges."""
        place = state.seq - self.plan.chain[0].header.seq
        there = 0 <= place < len(self.plan.chain) and self.plan.chain[place].record_id == state.record_id
        return there and state.generation <= self.generation

    def describe(self, root: Path) -> Diagnosis:
        """Put it into numbers."""
        left = {line.header.seq for line in self.salvaged.lines}
        end = max([*left, *(state.seq for state in self.states)])
        return Diagnosis(
            root,
            self.verdict,
            damages=self.salvaged.damages,
            kept=len(self.plan.chain),
            texts_lost=sum(line.bare and line.record_id in self.plan.to_purge for line in self.plan.chain),
            carried=len(self.plan.carried),
            lost=end + 1 - self.plan.chain[0].header.seq - len(left),
        )


@dataclass(frozen=True, slots=True)
class Examination:
    """Looks at one journal's files, in whatever state they are."""

    root: Path
    agent_id: str
    key: Key
    witness: Path | None
    files: Files

    @property
    def layout(self) -> Layout:
        """The paths of the journal."""
        return Layout(self.root)

    def verdict(self) -> IntegrityError | None:
        """What opening the journal says; ``None`` if nothing is wrong.

        Raises :class:`FormatTooNew` unless that is damage, and :class:`NotFound` if there is no journal.
        """
        journal = Journal(
            self.root,
            agent_id=self.agent_id,
            key=self.key,
            witness=self.witness,
            read_only=True,
            files=self.files,
        )
        with closing(journal):
            try:
                journal.open()
            except NotFound:
                self.generation()
                return HeadMismatch(self.layout.current, 0, 0, "CURRENT is missing")
            except IntegrityError as error:
                return error
            except FormatTooNew as error:
                if not self.salvage().lines:
                    raise
                return JournalCorrupt(self.layout.generation(self.generation()), 0, 0, str(error))
        return None

    def generation(self) -> int:
        """The generation in force, or the newest one where ``CURRENT`` does not say."""
        with suppress(ValueError):
            named = read_current(self.files, self.layout)
            if named is not None:
                return named
        names = map(GENERATION.fullmatch, self.files.list(self.root))
        numbers = [int(found[1]) for found in names if found]
        if not numbers:
            raise NotFound(f"{self.root}: there is no journal here")
        return max(numbers)

    def salvage(self) -> Salvage:
        """Every line that can be trusted, and every stretch that cannot."""
        generation = self.generation()
        journal_id = self._journal_id(generation)
        owner = Owner(self.agent_id, journal_id, Sealers.derive(self.key, journal_id).record)
        lines: list[Line] = []
        damages: list[Damage] = []
        for first in list_segments(self.files, self.layout, generation):
            data = self.files.read(self.layout.segment(generation, first))
            # under a wrong key no line verifies, and no bit of them is to blame
            found = salvage(data, first, owner, mend=bool(lines) or not damages)
            lines += found.lines
            damages += found.damages
        return Salvage(tuple(lines), tuple(damages))

    def case(self, verdict: IntegrityError) -> Case:
        """Find out what could be made of a journal that was found wanting.

        Raises ``verdict`` itself if nothing is the agent's under this key, and :class:`JournalCorrupt` if the
        genesis is lost.
        """
        generation = self.generation()
        journal_id = self._journal_id(generation)
        sealers = Sealers.derive(self.key, journal_id)
        salvaged = self.salvage()
        if not salvaged.lines:
            raise verdict
        plan = plan_repair(salvaged.lines)
        if plan is None:
            reason = (
                "the genesis record is lost and with it the chain; 'hippo salvage' takes out what is left"
            )
            raise JournalCorrupt(verdict.path, verdict.offset, verdict.seq, reason) from verdict
        head = read_head(self.files, self.layout.head, sealers.head)
        witnessed = HeadFound()
        if self.witness is not None:
            witnessed = read_head(self.files, self.witness / journal_id, sealers.witness)
        return Case(verdict, generation, journal_id, sealers, head, witnessed, salvaged, plan)

    def diagnose(self) -> Diagnosis:
        """Say what is wrong and what a repair would make of it."""
        verdict = self.verdict()
        if verdict is None or isinstance(verdict, RolledBack):
            return Diagnosis(self.root, verdict)
        return self.case(verdict).describe(self.root)

    def _journal_id(self, generation: int) -> str:
        """The journal id that most lines claim: none of them vouches for it, but their seals will."""
        claims: Counter[bytes] = Counter()
        for first in list_segments(self.files, self.layout, generation):
            claims.update(_JOURNAL_ID.findall(self.files.read(self.layout.segment(generation, first))))
        return claims.most_common(1)[0][0].decode() if claims else "0" * 32
