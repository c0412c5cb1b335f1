"""Which captured turns the black box keeps (L10, and the ``raw.*`` limits of L23). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from hippo_async.config import RawSettings
from hippo_async.raw.turn import RawTurn, encode

KB = 1024
MB = 1024 * KB
SPEAKERS = ("user", "assistant")


class Reason(StrEnum):
    """Why a turn is kept or left out."""

    KEPT = "kept"
    OFF = "raw.mode is off"
    ROLE = "only what users and assistants say is kept"
    TOOL = "raw.capture_tools is off"
    SALIENCE = "below raw.min_salience"
    TURN_SIZE = "over raw.max_turn_kb"
    DAY_SIZE = "over raw.max_bytes_per_day"
    TOTAL_SIZE = "over raw.max_total_mb"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A captured turn with its salience (0 to 1); ``error`` marks an error or a failed tool's result."""

    turn: RawTurn
    salience: float
    error: bool = False


@dataclass(frozen=True, slots=True)
class Admission:
    """The decision on one turn."""

    turn: RawTurn
    reason: Reason

    @property
    def kept(self) -> bool:
        """Whether the turn goes into the black box."""
        return self.reason is Reason.KEPT


def admit(
    candidates: Sequence[Candidate], *, settings: RawSettings, sizes: Mapping[str, int]
) -> list[Admission]:
    """Decide on each candidate, in order; ``sizes`` are the bytes on disk of each day (L10).

    Errors pass by salience and by ``capture_tools``. Nothing passes by ``mode="off"`` or by the size limits,
    which are what keeps a disk from filling: an error is a record of the journal as well. What is over a
    limit is left out whole: the box keeps turns verbatim or not at all.
    """
    on_disk = Counter(sizes)
    decisions = []
    for candidate in candidates:
        size = len(encode(candidate.turn))
        reason = (
            _refused(candidate, settings)
            or _too_big(candidate.turn.day, size, settings, on_disk)
            or Reason.KEPT
        )
        if reason is Reason.KEPT:
            on_disk[candidate.turn.day] += size
        decisions.append(Admission(candidate.turn, reason))
    return decisions


def _refused(candidate: Candidate, settings: RawSettings) -> Reason | None:
    role = candidate.turn.role
    if settings.mode == "off":
        return Reason.OFF
    if candidate.error:
        return None
    if role not in SPEAKERS and not (role == "tool" and settings.capture_tools):
        return Reason.TOOL if role == "tool" else Reason.ROLE
    if settings.mode == "salience" and candidate.salience < settings.min_salience:
        return Reason.SALIENCE
    return None


def _too_big(day: str, size: int, settings: RawSettings, on_disk: Mapping[str, int]) -> Reason | None:
    if size > settings.max_turn_kb * KB:
        return Reason.TURN_SIZE
    if on_disk.get(day, 0) + size > settings.max_bytes_per_day:
        return Reason.DAY_SIZE
    if sum(on_disk.values()) + size > settings.max_total_mb * MB:
        return Reason.TOTAL_SIZE
    return None
