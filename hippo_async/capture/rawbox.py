"""Offering turns to the raw black box, beside the journal and never in its way."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from hippo_async.capture.turns import Captured
from hippo_async.config import RawSettings
from hippo_async.files import Files
from hippo_async.novelty import salience
from hippo_async.protocols import Clock
from hippo_async.raw import Candidate, Erasure, RawShards, RawTurn, admit
from hippo_async.records import Kind, Novelty

logger: logging.Logger = logging.getLogger("hippo_async.capture")


class RawBox:
    """Keeps what ``raw.mode`` admits (L2-L4, L10). A failure here is counted and costs no turn its record."""

    def __init__(self, data_dir: Path, *, settings: RawSettings, files: Files, clock: Clock) -> None:
        self._shards = RawShards(data_dir, files=files)
        self.settings: RawSettings = settings
        self._clock = clock
        self.kept: int = 0
        self.failures: int = 0

    def offer(self, turns: Sequence[tuple[Captured, Novelty]]) -> None:
        """Decide on each turn and append those that are kept. Blocks; never raises for a failing disk."""
        settings = self.settings  # it may be changed meanwhile, from another thread
        if settings.mode == "off" or not settings.auto_capture:
            return
        candidates = [_candidate(turn, novelty) for turn, novelty in turns]
        try:
            decisions = admit(candidates, settings=settings, sizes=self._shards.sizes())
            kept = [decision.turn for decision in decisions if decision.kept]
            self._shards.append(kept)
        except OSError as error:
            self.failures += 1
            logger.warning("the raw box missed up to %d turns: %s", len(candidates), error)
        else:
            self.kept += len(kept)

    def expire(self, first: date, today: date) -> tuple[int, int]:
        """Remove what is older than ``first``; return how many days and bytes. Blocks. Raises ``OSError``."""
        return self._shards.expire(first, today)

    def erase(self, erasures: Sequence[Erasure]) -> int:
        """Take out what is erased, and return of how many lines. Blocks. Raises ``OSError``."""
        return self._shards.erase(erasures, now=self._clock.now())


def _candidate(turn: Captured, novelty: Novelty) -> Candidate:
    error = turn.kind is Kind.ERROR
    weight = salience(turn.content, novelty=novelty, role=turn.role, error=error)
    return Candidate(RawTurn(turn.turn_id, turn.at, turn.role, turn.content), weight, error)
