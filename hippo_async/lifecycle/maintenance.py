"""One round of looking after a memory: step by step, each reported, none stopping the others (L24)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from hippo_async.protocols import Clock
from hippo_async.records import utc_timestamp

logger: logging.Logger = logging.getLogger("hippo_async.maintenance")

Source = Literal["manual", "boot", "cron", "dream"]
"""Who asks for a round: a caller, the opening of the memory, its schedule, or its being idle."""

Progress = Callable[[int, int, str], None]
"""Is told how many steps of how many are done, and the name of the next; an empty one at the end."""


class Step(NamedTuple):
    """A part of a round. ``run`` says in numbers what it did; it can be run again after a crash anywhere."""

    name: str
    run: Callable[[], Awaitable[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class StepReport:
    """What a step did, how long it took, and why it failed if it did."""

    name: str
    seconds: float
    did: Mapping[str, Any]
    error: str | None = None


@dataclass(frozen=True, slots=True)
class MaintenanceReport:
    """What a round did. ``stopped`` says that the memory was closed before all its steps were done."""

    source: Source
    started: str
    steps: tuple[StepReport, ...]
    stopped: bool = False

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the steps that failed; they are tried again by the next round."""
        return tuple(step.name for step in self.steps if step.error is not None)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {**asdict(self), "failed": list(self.failed)}


async def run_steps(
    steps: Sequence[Step],
    *,
    source: Source,
    clock: Clock,
    stopping: Callable[[], bool] = lambda: False,
    progress: Progress | None = None,
) -> MaintenanceReport:
    """Run the steps in their order. One that fails is logged and reported, and the others are run all the
    same. A caller that is cancelled ends the round within a step, which the next round makes good.
    """
    started: datetime = clock.now()
    reports: list[StepReport] = []
    for at, step in enumerate(steps):
        if stopping():
            break
        if progress is not None:
            progress(at, len(steps), step.name)
        reports.append(await _run_one(step, clock))
    if progress is not None:
        progress(len(reports), len(steps), "")
    return MaintenanceReport(source, utc_timestamp(started), tuple(reports), len(reports) < len(steps))


async def _run_one(step: Step, clock: Clock) -> StepReport:
    begin = clock.monotonic()
    try:
        did = await step.run()
    except Exception as error:
        logger.exception("maintenance: the step %r failed; the next round tries it again", step.name)
        return StepReport(step.name, clock.monotonic() - begin, {}, f"{type(error).__name__}: {error}")
    return StepReport(step.name, clock.monotonic() - begin, did)
