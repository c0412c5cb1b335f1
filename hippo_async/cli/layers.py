"""Commands that show what is made of memories: the diary, summaries and trends (L20)."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date, datetime
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from hippo_async.cli.output import console, print_json
from hippo_async.cli.store import Agent, DataDir, Json, KeyFile, Scope, Store
from hippo_async.hippocampus import Hippocampus
from hippo_async.lifecycle.diary import DiaryDay
from hippo_async.lives.trends import Trend
from hippo_async.naming import short
from hippo_async.records import Record

Day = Annotated[
    datetime | None, typer.Argument(formats=["%Y-%m-%d"], help="The first day; today if not given.")
]
LastDay = Annotated[
    datetime | None, typer.Option("--to", formats=["%Y-%m-%d"], help="The last day; the first.")
]


def diary(
    day: Day = None,
    to: LastDay = None,
    scope: Scope = None,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Show what was told on a day, or on each day up to another."""

    async def look(memory: Hippocampus) -> list[DiaryDay]:
        return await memory.diary(day and day.date(), to and to.date(), scope=scope or ())

    found = Store.named(data_dir, agent, key_file).ask(look, as_json=as_json)
    if as_json:
        print_json([one.as_dict() for one in found])
        return
    for one in found:
        about = f": {', '.join(one.tags)}" if one.tags else ""
        console.print(f"{one.day}, {one.told:,} told{about}", style="bold", markup=False, highlight=False)
        console.print(one.text, markup=False, highlight=False, soft_wrap=True)
    if not found:
        console.print("nothing was told")


def semantic(
    n: Annotated[int, typer.Option("-n", min=1, help="How many at most.")] = 20,
    scope: Scope = None,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Show what maintenance made of memories, newest first: summaries of topics, trends, memos of months."""

    async def look(memory: Hippocampus) -> list[Record]:
        return await memory.semantic(scope=scope or (), limit=n)

    found = Store.named(data_dir, agent, key_file).ask(look, as_json=as_json)
    if as_json:
        print_json([record.as_dict() for record in found])
        return
    for record in found:
        head = f"{record.timestamp[:10]} {short(record.record_id)} {', '.join(record.tags)}"
        console.print(head, style="bold", markup=False, highlight=False)
        console.print(record.text, markup=False, highlight=False, soft_wrap=True)
    if not found:
        console.print("nothing was made of memories yet; 'hippo maintain' does it")


def trends(
    scope: Scope = None,
    data_dir: DataDir = None,
    agent: Agent = "agent",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Show what keeps coming up lately, the most frequent first, and what of it is kept."""

    async def look(memory: Hippocampus) -> list[Trend]:
        return await memory.trends(scope=scope or ())

    found = Store.named(data_dir, agent, key_file).ask(look, as_json=as_json)
    if as_json:
        print_json([_plain(trend) for trend in found])
        return
    table = Table("tag", "times", "days", "first", "last", "kept because", box=None)
    for trend in found:
        numbers = (f"{trend.count:,}", f"{trend.days:,}", str(trend.first), str(trend.last))
        table.add_row(escape(trend.tag), *numbers, trend.reason or "")
    console.print(table if found else "nothing keeps coming up")


def _plain(trend: Trend) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, date) else value for name, value in asdict(trend).items()}
