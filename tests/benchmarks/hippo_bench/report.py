"""What a benchmark found, and how it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from hippo_bench.measure import Samples


@dataclass(frozen=True, slots=True)
class Wanted:
    """The bound that design §15 sets, and which side of it is good."""

    bound: float
    at_least: bool

    def met(self, figure: float) -> bool:
        """Whether a figure is on the good side; the bound itself is."""
        return figure >= self.bound if self.at_least else figure <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"


@dataclass(frozen=True, slots=True)
class Line:
    """One comparison: ``theirs`` and ``ours`` in ``unit``, and the one ``figure`` that is judged.

    ``figure_unit`` is ``×`` for a ratio, else the unit of the figure. A line that has no ``wanted`` is there
    for information.
    """

    what: str
    against: str
    theirs: Samples | None
    ours: Samples
    unit: str
    figure: float
    figure_unit: str = "×"
    wanted: Wanted | None = None

    @property
    def met(self) -> bool | None:
        """Whether the wish is met; ``None`` when nothing is wished."""
        return None if self.wanted is None else self.wanted.met(self.figure)

    def as_dict(self) -> dict[str, Any]:
        """Return the line as plain JSON values."""
        return {
            "what": self.what,
            "against": self.against,
            "theirs": None if self.theirs is None else list(self.theirs.values),
            "ours": list(self.ours.values),
            "unit": self.unit,
            "figure": self.figure,
            "figure_unit": self.figure_unit,
            "wanted": None if self.wanted is None else str(self.wanted),
            "met": self.met,
        }


@dataclass(frozen=True, slots=True)
class Result:
    """The lines of one benchmark, with notes on how they were taken."""

    title: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return {
            "title": self.title,
            "lines": [line.as_dict() for line in self.lines],
            "notes": list(self.notes),
        }


def show(result: Result, console: Console) -> None:
    """Print one table and its notes."""
    table = Table(title=result.title, title_justify="left", title_style="bold")
    table.add_column("what")
    table.add_column("against")
    for heading in ("theirs", "ours", "figure", "wanted", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in result.lines:
        table.add_row(*_cells(line))
    console.print(table)
    for note in result.notes:
        console.print(f"  {note}", style="dim", highlight=False)
    console.print()


def _cells(line: Line) -> tuple[str, ...]:
    verdict = {None: "", True: "[green]met[/]", False: "[red]missed[/]"}[line.met]
    unit = "" if line.figure_unit == "×" else " "
    return (
        line.what,
        line.against,
        "" if line.theirs is None else _spread(line.theirs, line.unit),
        _spread(line.ours, line.unit),
        f"{_short(line.figure)}{unit}{line.figure_unit}",
        "" if line.wanted is None else str(line.wanted),
        verdict,
    )


def _spread(samples: Samples, unit: str) -> str:
    text = f"{_short(samples.median)} {unit}"
    if len(samples.values) == 1:
        return text
    return f"{text} [dim]({_short(samples.low)}…{_short(samples.high)})[/]"


def _short(value: float) -> str:
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 4
    return f"{value:,.{digits}f}"
