"""``hippo demo``: three days of talk, each in a process of its own, one memory, and a forgery that fails.

The parent starts one process a day. Each opens the memory, builds a real ``create_agent`` with the scripted
model, replays its day, and prints what it measured as JSON; then it is gone, and with it everything but the
memory on disk.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from langchain.agents import create_agent
from langchain.agents.middleware import ToolErrorMiddleware
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hippo_async import Hippocampus, Record, is_briefing
from hippo_async.clock import SystemClock
from hippo_async.errors import IntegrityError
from hippo_langchain.demo import (
    DemoConversation,
    DemoSession,
    DemoTurn,
    build_demo_model,
    demo_tools,
    load_conversation,
)
from hippo_langchain.middleware import HippoMiddleware
from hippo_langchain.tools import memory_tools

AGENT = "letterpress"
WINDOW = 2000
BRIEFING = 500
PROMPT = "You help a small letterpress shop through its move. Answer in the language of the question."
FORGED = ("750 kg", "950 kg")


class StoryClock(SystemClock):
    """Real time, moved to a day of the story, so that memories carry its dates."""

    def __init__(self, session: DemoSession) -> None:
        nine = datetime.combine(session.day, time(9), tzinfo=UTC)
        self._shift: timedelta = nine - super().now()

    def now(self) -> datetime:
        """Return the moment in the story."""
        return super().now() + self._shift


@dataclass(frozen=True, slots=True)
class Answer:
    """What the agent said to a question about earlier days, and the memory it came from."""

    question: str
    answer: str
    right: bool
    session: str | None = None
    record_id: str | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class DayReport:
    """What one process measured."""

    session: str
    user_turns: int
    captured: int
    records: int
    folds: int
    tool_errors: int
    model_calls: int
    largest_prompt: int
    largest_briefing: int
    seconds: float
    answers: tuple[Answer, ...]


async def replay(session: DemoSession, folder: Path) -> DayReport:
    """Replay one day of the conversation against the memory in ``folder`` and measure what happens."""
    clock = StoryClock(session)
    began = clock.monotonic()
    model = build_demo_model(session)
    memory = Hippocampus(folder / "memory", agent_id=AGENT, witness=folder / "witness", clock=clock)
    async with memory:
        agent = create_agent(
            model,
            demo_tools(),
            system_prompt=PROMPT,
            middleware=[
                HippoMiddleware(memory, max_tokens=WINDOW, briefing_tokens=BRIEFING),
                ToolErrorMiddleware(on_error=lambda error, _request: f"{type(error).__name__}: {error}"),
            ],
            checkpointer=InMemorySaver(),
        )
        config: Any = {"configurable": {"thread_id": session.session}}
        replies = []
        for turn in session.turns:
            result = await agent.ainvoke({"messages": [HumanMessage(turn.user)]}, config)
            replies.append(result["messages"][-1].text)
        await memory.flush()
        mine = await memory.session(session.session)
        earlier = [
            record async for record in memory.records() if record.session not in {None, session.session}
        ]
        return DayReport(
            session=session.session,
            user_turns=len(session.turns),
            captured=memory.status().captured,
            records=len(mine),
            folds=sum(record.is_fold for record in mine),
            tool_errors=sum(record.kind == "error" for record in mine),
            model_calls=len(model.seen),
            largest_prompt=max(_tokens(memory, messages) for messages in model.seen) + _tool_tokens(memory),
            largest_briefing=max(_briefing_tokens(memory, messages) for messages in model.seen),
            seconds=clock.monotonic() - began,
            answers=tuple(_answers(session, replies, earlier)),
        )


def demo(
    keep: Annotated[Path | None, typer.Option(help="Keep the memory in this new folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Replay three days of talk in three processes, then try to change what was remembered."""
    with _folder(keep) as folder:
        conversation = load_conversation()
        days = [_in_own_process(number, folder) for number in range(1, len(conversation.sessions) + 1)]
        chain = asyncio.run(_verify(folder))
        forgery = _forge(folder)
    facts = {"days": [asdict(day) for day in days], "verify_chain": chain, "forgery": forgery}
    if as_json:
        sys.stdout.write(json.dumps(facts, ensure_ascii=False, indent=2) + "\n")
    else:
        _show(conversation, days, chain, forgery)


def _in_own_process(number: int, folder: Path) -> DayReport:
    command = [sys.executable, "-m", "hippo_langchain.replay", str(number), str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own module
    facts = json.loads(done.stdout)
    return DayReport(**{**facts, "answers": tuple(Answer(**answer) for answer in facts["answers"])})


async def _verify(folder: Path) -> dict[str, Any]:
    async with _reopened(folder / "memory", folder) as memory:
        return (await memory.verify_chain()).as_dict()


def _forge(folder: Path) -> dict[str, Any]:
    """Change one byte of a memory in a copy of the store, and open that."""
    copy = folder / "copy"
    shutil.copytree(folder / "memory", copy)
    said, forged = (text.encode() for text in FORGED)
    [segment] = [path for path in sorted(copy.glob("journal/gen-*/seg-*.jsonl")) if said in path.read_bytes()]
    segment.write_bytes(segment.read_bytes().replace(said, forged, 1))
    try:
        asyncio.run(_open_and_close(copy, folder))
    except IntegrityError as error:
        return {
            "said": FORGED[0],
            "forged": FORGED[1],
            "refused": True,
            "code": error.code,
            "path": str(error.path.relative_to(folder)),
            "offset": error.offset,
            "seq": error.seq,
            "reason": error.reason,
        }
    return {"said": FORGED[0], "forged": FORGED[1], "refused": False}


async def _open_and_close(store: Path, folder: Path) -> None:
    async with _reopened(store, folder):
        pass


def _reopened(store: Path, folder: Path) -> Hippocampus:
    return Hippocampus(store, agent_id=AGENT, witness=folder / "witness", embedder="none")


def _answers(session: DemoSession, replies: Sequence[str], earlier: Sequence[Record]) -> Iterator[Answer]:
    for turn, reply in zip(session.turns, replies, strict=True):
        if turn.probe is not None:
            yield _answer(turn, reply, turn.probe.asks_for, earlier)


def _answer(turn: DemoTurn, reply: str, asks_for: Sequence[str], earlier: Sequence[Record]) -> Answer:
    """Name the turn of an earlier day that the reply quotes; a fold that repeats it is not the source."""
    right = all(wanted in reply for wanted in asks_for)
    source = next((record for record in earlier if not record.is_fold and asks_for[0] in record.text), None)
    if not right or source is None:
        return Answer(turn.user, reply, right)
    return Answer(turn.user, reply, right, source.session, source.record_id, source.seq)


def _tokens(memory: Hippocampus, messages: Sequence[BaseMessage]) -> int:
    return sum(memory.count_tokens(message.text) + 4 for message in messages)


def _tool_tokens(memory: Hippocampus) -> int:
    tools = [*demo_tools(), *memory_tools(memory)]
    return sum(memory.count_tokens(json.dumps(convert_to_openai_tool(tool))) for tool in tools)


def _briefing_tokens(memory: Hippocampus, messages: Sequence[BaseMessage]) -> int:
    return sum(memory.count_tokens(message.text) for message in messages if is_briefing(message.text))


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True)
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="hippo-demo-") as folder:
        yield Path(folder)


def _show(
    conversation: DemoConversation, days: Sequence[DayReport], chain: dict[str, Any], forgery: dict[str, Any]
) -> None:
    console = Console(highlight=False, soft_wrap=True)
    console.print(conversation.about, style="dim")
    console.print(_days_table(conversation, days))
    answers = [answer for day in days for answer in day.answers]
    for answer in answers:
        console.print(f"\n? {escape(answer.question)}", style="bold")
        console.print(f"! {escape(answer.answer)}", style="green" if answer.right else "red")
        if answer.record_id is not None:
            source = f"{answer.session}, record {answer.record_id[:8]}, seq {answer.seq}"
            console.print(f"  remembered from {source}", style="dim")
    right = sum(answer.right for answer in answers)
    console.print(f"\n{right} of {len(answers)} questions about earlier days answered")
    intact = "intact" if chain["intact"] else "NOT INTACT"
    console.print(f"verify_chain: {intact}, {chain['records']} records")
    verdict = f"refused, {forgery['code']}" if forgery["refused"] else "NOT NOTICED"
    console.print(f"one byte changed in a copy ({forgery['said']} -> {forgery['forged']}): {verdict}")
    if forgery["refused"]:
        console.print(
            f"  {forgery['path']}: offset {forgery['offset']}, seq {forgery['seq']}: {forgery['reason']}"
        )


def _days_table(conversation: DemoConversation, days: Sequence[DayReport]) -> Table:
    table = Table("day", "process", "turns captured", "folds", box=SIMPLE_HEAD)
    table.add_column(f"largest prompt of {WINDOW} tokens", justify="right")
    table.add_column(f"largest briefing of {BRIEFING} tokens", justify="right")
    for number, (session, day) in enumerate(zip(conversation.sessions, days, strict=True), start=1):
        figures = (day.captured, day.folds, day.largest_prompt, day.largest_briefing)
        table.add_row(str(session.day), str(number), *map(str, figures))
    return table


def _main(arguments: Sequence[str]) -> None:
    number, folder = arguments
    session = load_conversation().sessions[int(number) - 1]
    report = asyncio.run(replay(session, Path(folder)))
    sys.stdout.write(json.dumps(asdict(report), ensure_ascii=False))


if __name__ == "__main__":
    _main(sys.argv[1:])
