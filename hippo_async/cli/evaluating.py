"""``hippo bench``: how well memory finds what answers a question, on conversations with known evidence."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.markup import escape
from rich.table import Table

from hippo_async.cli.output import console, print_json, progress, reported
from hippo_async.cli.store import Json
from hippo_async.evaluation import (
    CATEGORIES,
    DEPTHS,
    Briefed,
    BriefedSummary,
    Conversation,
    Run,
    Summary,
    by_category,
    measure,
    measure_briefings,
    percentile,
    read_conversations,
    summarize,
    summarize_briefings,
)

T = TypeVar("T")
Asked = Callable[[], None]

app: typer.Typer = typer.Typer(
    help="Measure recall on conversations with known evidence.", no_args_is_help=True
)
PERCENTILES = (50, 95, 99)

Talks = Annotated[Path, typer.Argument(metavar="FILE", help="Conversations in the format of LoCoMo.")]
Model = Annotated[str, typer.Option(help="auto, none, multilingual, semantic, or a model's name.")]
Numbers = Annotated[
    list[int] | None, typer.Option("--conversation", help="Only this one, counted from 1; repeat for more.")
]


@app.command("locomo")
def locomo(
    file: Talks, embedder: Model = "auto", conversation: Numbers = None, as_json: Json = False
) -> None:
    """Tell each conversation to a fresh memory and see how far down its questions find their evidence.

    R@k is the share of a question's evidence among the first k turns found, hit whether any of it is there,
    MRR one over the rank of the first. 'session' is whether an evidence session is among the first five
    different sessions, in the order of their best turn.
    """

    def ask(talk: Conversation, folder: Path, asked: Asked) -> Coroutine[Any, Any, Run]:
        return measure(talk, folder, embedder=embedder, asked=asked)

    with reported(as_json=as_json):
        runs = list(_each(read_conversations(file, conversation or ()), ask, as_json=as_json))
    if as_json:
        print_json(_facts(runs))
    else:
        _show(runs)


@app.command("briefing")
def briefing(
    file: Talks,
    budget: Annotated[int, typer.Option("-b", "--budget", min=0, help="Most tokens of a briefing.")] = 1000,
    embedder: Model = "auto",
    conversation: Numbers = None,
    as_json: Json = False,
) -> None:
    """See what of a question's evidence a briefing holds.

    'asked' is the share when the briefing is made for the question, 'before' when it is made for no more than
    the turn that came before the evidence.
    """

    def brief(talk: Conversation, folder: Path, asked: Asked) -> Coroutine[Any, Any, list[Briefed]]:
        return measure_briefings(talk, folder, budget=budget, embedder=embedder, asked=asked)

    with reported(as_json=as_json):
        talks = _each(read_conversations(file, conversation or ()), brief, as_json=as_json)
        briefed = [one for talk in talks for one in talk]
    overall = summarize_briefings(briefed)
    categories = {
        CATEGORIES[number]: summarize_briefings(one for one in briefed if one.category == number)
        for number in sorted({one.category for one in briefed})
    }
    if as_json:
        parts = {name: asdict(part) for name, part in categories.items()}
        print_json({"budget": budget, "overall": asdict(overall), "categories": parts})
    else:
        console.print(_briefings({"all": overall, **categories}))


def _each(
    talks: Sequence[Conversation],
    measured: Callable[[Conversation, Path, Asked], Coroutine[Any, Any, T]],
    *,
    as_json: bool,
) -> Iterator[T]:
    """Measure one conversation after the other, each in a folder of its own that is gone afterwards."""
    with progress("asking", as_json=as_json) as bar:
        [task] = bar.task_ids
        bar.update(task, total=sum(len(talk.questions) for talk in talks))
        for talk in talks:
            with tempfile.TemporaryDirectory(prefix="hippo-bench-") as folder:
                yield asyncio.run(measured(talk, Path(folder), lambda: bar.advance(task)))


def _facts(runs: Sequence[Run]) -> dict[str, Any]:
    answers = [answer for run in runs for answer in run.answers]
    categories = by_category(answers)
    return {
        "embedder": runs[0].embedder,
        "turns": sum(run.turns for run in runs),
        "skipped": sum(run.skipped for run in runs),
        "overall": asdict(summarize(answers)),
        "categories": {CATEGORIES[number]: asdict(summary) for number, summary in categories.items()},
        "conversations": {run.name: asdict(summarize(run.answers)) for run in runs},
        "recall_ms": {f"p{share}": _milliseconds(runs, share) for share in PERCENTILES},
        "turns_per_second": _turns_per_second(runs),
    }


def _show(runs: Sequence[Run]) -> None:
    answers = [answer for run in runs for answer in run.answers]
    table = _table("questions", *(f"R@{depth}" for depth in DEPTHS), "hit@10", "MRR", "session")
    table.add_row("all", *_cells(summarize(answers)), style="bold")
    for number, summary in by_category(answers).items():
        table.add_row(CATEGORIES[number], *_cells(summary))
    for run in runs:
        table.add_row(escape(run.name), *_cells(summarize(run.answers)), style="dim")
    console.print(table)
    skipped = sum(run.skipped for run in runs)
    latency = ", ".join(f"p{share} {_milliseconds(runs, share):.1f}" for share in PERCENTILES)
    for line in (
        f"embedder: {runs[0].embedder or 'none, words only'}",
        f"{sum(run.turns for run in runs):,} turns captured, {_turns_per_second(runs):,.0f} a second",
        f"recall: {latency} ms",
        f"{skipped} questions skipped: their evidence names no turn",
    ):
        console.print(line, highlight=False, markup=False)


def _briefings(parts: dict[str, BriefedSummary]) -> Table:
    table = _table("questions", "asked", "before", "tokens", "memories")
    for name, part in parts.items():
        shares = (f"{part.asked:.3f}", f"{part.before:.3f}")
        table.add_row(name, f"{part.questions:,}", *shares, f"{part.tokens:,.0f}", f"{part.memories:.1f}")
    return table


def _table(*figures: str) -> Table:
    table = Table("", box=None, header_style="bold")
    for heading in figures:
        table.add_column(heading, justify="right")
    return table


def _cells(summary: Summary) -> list[str]:
    figures = (*summary.recall.values(), summary.hit[10], summary.mrr, summary.session_any)
    return [f"{summary.questions:,}", *(f"{figure:.3f}" for figure in figures)]


def _milliseconds(runs: Sequence[Run], share: int) -> float:
    return 1000 * percentile((answer.seconds for run in runs for answer in run.answers), share / 100)


def _turns_per_second(runs: Sequence[Run]) -> float:
    return sum(run.turns for run in runs) / sum(run.capture_seconds for run in runs)
