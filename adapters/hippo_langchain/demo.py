"""The demonstration: a conversation over three days, the tools it uses, and a model that replays it offline.

The conversation lies beside this module as ``demo_conversation.json``. On its third day people ask for what
was said on the first two. These turns, the probes, have no scripted answer: the model quotes the words that
it finds in what it was sent, or says that it does not know. A probe names the string that a right answer
holds, which stands in for a real model's ability to read. Finding it in two days of talk and bringing it into
the prompt is the work of the memory that is being demonstrated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from importlib.resources import files
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall, tool_call
from langchain_core.tools import BaseTool, tool
from pydantic import TypeAdapter

from hippo_langchain.testing import ScriptedModel

RECALL_TOOL = "recall_memory"
"""Name of the memory tool that the model calls when the prompt does not hold an answer."""

UNKNOWN = "I do not know: nothing that I was shown says so."

POUNDS = {"GBP": Decimal(1), "EUR": Decimal("0.86"), "CNY": Decimal("0.108")}
"""What one unit of a currency is worth in this story, in pounds."""

SHELVES = {"black ink": "6 tins", "proof paper": "410 sheets", "turpentine-free cleaner": "3 litres"}
"""What the workshop of this story has in stock."""

SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class DemoCall:
    """A tool call that the assistant makes before it answers."""

    tool: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Probe:
    """What a question about earlier days is after.

    A right answer holds every string of ``asks_for``; each was said in one of the sessions
    ``from_sessions``, counted from 1. ``lead`` introduces the quotation in the language of the question.
    """

    asks_for: tuple[str, ...]
    from_sessions: tuple[int, ...]
    lead: str


@dataclass(frozen=True, slots=True)
class DemoTurn:
    """What the user says and what comes back: a scripted answer, after tool calls if any, or a probe's."""

    user: str
    assistant: str = ""
    calls: tuple[DemoCall, ...] = ()
    probe: Probe | None = None


@dataclass(frozen=True, slots=True)
class DemoSession:
    """One day of the conversation; ``session`` is its label. The texts of its users are all different."""

    day: date
    session: str
    turns: tuple[DemoTurn, ...]


@dataclass(frozen=True, slots=True)
class DemoConversation:
    """The whole conversation, oldest session first."""

    about: str
    sessions: tuple[DemoSession, ...]


def load_conversation() -> DemoConversation:
    """Read the conversation that is shipped with this package."""
    text = files("hippo_langchain").joinpath("demo_conversation.json").read_text(encoding="utf-8")
    return TypeAdapter(DemoConversation).validate_json(text)


def build_demo_model(session: DemoSession, *, recall_tool: str | None = RECALL_TOOL) -> ScriptedModel:
    """Return a model that replays the assistant's part of one session (M6).

    Which reply comes next is read off the messages alone, so the session can be replayed in a process of its
    own and continued at any turn. ``recall_tool`` is the tool to call, once, when a probe is not answered by
    what was sent; ``None`` if the agent has no such tool. The model raises ``LookupError`` when it is asked
    something that is not in the session.
    """
    return ScriptedModel(script=_SessionScript.of(session, recall_tool))


def demo_tools() -> list[BaseTool]:
    """Return the tools of the story: deterministic, offline, ``ValueError`` for what they do not know."""
    return [convert_currency, days_between, stock_level]


def answer_from_memory(messages: Sequence[BaseMessage], asks_for: Sequence[str], *, lead: str = "") -> str:
    """Answer with ``lead`` and the quoted :func:`evidence`, or say that the messages do not hold it.

    ``messages`` are what the model was sent, without the question itself.
    """
    quotes = evidence(messages, asks_for)
    return lead + " … ".join(quotes) if quotes else UNKNOWN


def evidence(messages: Sequence[BaseMessage], asks_for: Sequence[str]) -> tuple[str, ...]:
    """Return the first sentences that hold the wanted strings, as written; none unless all are held."""
    sentences = [
        sentence.strip()
        for message in messages
        for line in message.text.splitlines()
        for sentence in SENTENCE_END.split(line)
    ]
    found = [next((sentence for sentence in sentences if wanted in sentence), None) for wanted in asks_for]
    quotes = tuple(dict.fromkeys(sentence for sentence in found if sentence is not None))
    return () if None in found else quotes


@tool
def convert_currency(amount: float, source: str, target: str) -> str:
    """Convert an amount of money from one currency to another. Currencies are three-letter codes."""
    rate = _pounds(source) / _pounds(target)
    return f"{amount:,.2f} {source} = {Decimal(str(amount)) * rate:,.2f} {target}"


@tool
def days_between(start: str, end: str) -> str:
    """Count the days from one date to another. Dates are written YYYY-MM-DD."""
    return f"{(date.fromisoformat(end) - date.fromisoformat(start)).days} days from {start} to {end}"


@tool
def stock_level(item: str) -> str:
    """Say how much of an item is left on the shelves of the workshop."""
    if item not in SHELVES:
        raise ValueError(f"{item!r} is not on the shelf list")
    return f"{item}: {SHELVES[item]}"


def _pounds(currency: str) -> Decimal:
    if currency not in POUNDS:
        raise ValueError(f"no exchange rate for {currency}; there are rates for {', '.join(sorted(POUNDS))}")
    return POUNDS[currency]


@dataclass(frozen=True, slots=True)
class _SessionScript:
    """The script of one session: a pure function of the messages that the model is sent."""

    session: str
    recall_tool: str | None
    turns: Mapping[str, tuple[int, DemoTurn]] = field(repr=False)

    @classmethod
    def of(cls, session: DemoSession, recall_tool: str | None) -> _SessionScript:
        numbered = {turn.user: (number, turn) for number, turn in enumerate(session.turns, start=1)}
        return cls(session.session, recall_tool, numbered)

    def __call__(self, messages: list[BaseMessage]) -> AIMessage:
        asked = self._question(messages)
        number, turn = self.turns[messages[asked].text]
        sent = [*messages[:asked], *messages[asked + 1 :]]
        called = any(isinstance(message, ToolMessage) for message in messages[asked + 1 :])
        if not called and (calls := self._calls(turn, sent)):
            return AIMessage("", tool_calls=self._numbered(number, calls))
        if turn.probe is not None:
            return AIMessage(answer_from_memory(sent, turn.probe.asks_for, lead=turn.probe.lead))
        return AIMessage(turn.assistant)

    def _question(self, messages: Sequence[BaseMessage]) -> int:
        """Return where the newest line of the script stands; other human messages are a middleware's."""
        for index in range(len(messages) - 1, -1, -1):
            if isinstance(messages[index], HumanMessage) and messages[index].text in self.turns:
                return index
        raise LookupError(f"nothing in these messages is a line of the session {self.session!r}")

    def _calls(self, turn: DemoTurn, sent: Sequence[BaseMessage]) -> tuple[DemoCall, ...]:
        """Return the scripted calls, or one for a probe whose answer is not in what was sent."""
        if turn.probe is None or self.recall_tool is None or evidence(sent, turn.probe.asks_for):
            return turn.calls
        return (DemoCall(self.recall_tool, {"query": turn.user}),)

    def _numbered(self, number: int, calls: Sequence[DemoCall]) -> list[ToolCall]:
        """Return the calls with ids that no other call of the conversation has."""
        return [
            tool_call(name=call.tool, args=dict(call.args), id=f"{self.session}-{number}-{position}")
            for position, call in enumerate(calls, start=1)
        ]
