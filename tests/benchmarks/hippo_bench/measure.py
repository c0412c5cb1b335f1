"""Medians of rounds taken in turn, so that the drift of a shared machine falls on both sides alike."""

from __future__ import annotations

import asyncio
import gc
import statistics
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Measure = Callable[[], float]
"""Measures once, blocks, and returns one figure: seconds, or something a second."""

Round = Callable[[], Awaitable[float]]
"""The same for what is awaited."""


@dataclass(frozen=True, slots=True)
class Samples:
    """One figure per round, in the order in which they were taken."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle figure."""
        return statistics.median(self.values)

    @property
    def low(self) -> float:
        """The smallest figure."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The largest figure."""
        return max(self.values)

    def times(self, factor: float) -> Samples:
        """Return the same figures in another unit."""
        return Samples(tuple(value * factor for value in self.values))

    def minus(self, other: Samples) -> Samples:
        """Return the difference round by round: what this side adds to the other one."""
        return Samples(tuple(a - b for a, b in zip(self.values, other.values, strict=True)))

    def per(self, other: Samples) -> float:
        """Return the median of the ratios round by round, which drift between rounds does not touch."""
        return statistics.median(a / b for a, b in zip(self.values, other.values, strict=True))


def in_thread(measure: Measure) -> Round:
    """Return a round that measures what blocks, in a thread, while the loop waits idle."""

    async def one_round() -> float:
        return await asyncio.to_thread(measure)

    return one_round


async def interleave(rounds: int, **sides: Round) -> dict[str, Samples]:
    """Measure every side once a round, A B then B A, and return the figures of each by its name.

    The order turns round by round, so that neither side always pays for what the other left behind.
    Garbage is collected before each measurement, outside the time that is taken.
    """
    figures: dict[str, list[float]] = {name: [] for name in sides}
    order = list(sides)
    for _ in range(rounds):
        for name in order:
            gc.collect()
            figures[name].append(await sides[name]())
        order.reverse()
    return {name: Samples(tuple(values)) for name, values in figures.items()}
