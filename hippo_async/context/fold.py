"""Folding evicted turns into a short text without a model: what carries most stays, word for word (L17)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hippo_async.context.clip import clip
from hippo_async.context.signs import exact_things, is_conclusion, is_task, sentences_of, weight_of
from hippo_async.context.tokens import estimate_tokens
from hippo_async.protocols import TokenCounter
from hippo_async.records import Turn
from hippo_async.tagging.names import names_in

SHORT_TURN = 160
"""Characters up to which a turn is not taken apart."""

POINTER_TOKENS = 16
"""Tokens of a line that only says that there was a turn, and how it began."""

_LONGEST_LINE = 3  # no line takes more than this part of the limit
_SHORTEST_LINE = 4
_NAMES_SHOWN = 12
_RECENCY = 0.5
_NOT_THE_USER = 0.8


@dataclass(frozen=True, slots=True)
class Fold:
    """A summary in the turns' own words.

    ``text`` is what goes into memory; it never takes more tokens than was allowed. ``names``, ``tasks``,
    ``conclusions`` and ``facts`` (dates, amounts, addresses, identifiers) are all that were found, shown or
    not. ``originals`` are the records of the turns, where all that the text leaves out is found.
    """

    text: str
    names: tuple[str, ...]
    tasks: tuple[str, ...]
    conclusions: tuple[str, ...]
    facts: tuple[str, ...]
    originals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Passage:
    order: int
    turn: int
    line: str
    weight: float


def fold_text(
    turns: Sequence[Turn], *, limit_tokens: int = 400, count: TokenCounter = estimate_tokens
) -> Fold:
    """Fold turns into at most ``limit_tokens`` (L17).

    The text says how many turns it stands for and whom and what they name. Then come lines of what was said,
    in the order of the conversation, chosen by what they carry: exact things, tasks, conclusions, names. A
    turn that no record keeps has at least a short line, as far as half of the limit allows.
    English, Russian and Chinese are known; in other languages exact things still count. Deterministic.
    """
    names = names_in(turn.content for turn in turns)
    sentences = [sentence for turn in turns for sentence in sentences_of(turn.content)]
    head = clip(_head(turns, names), limit_tokens, count)
    lines = _choose(
        turns, list(_passages(turns, names[:_NAMES_SHOWN])), limit_tokens, limit_tokens - count(head), count
    )
    return Fold(
        text=_within(limit_tokens, [head, *lines], count),
        names=names,
        tasks=_unique(filter(is_task, sentences)),
        conclusions=_unique(filter(is_conclusion, sentences)),
        facts=_unique(fact for sentence in sentences for fact in exact_things(sentence)),
        originals=_unique(turn.record_id for turn in turns if turn.record_id),
    )


def _head(turns: Sequence[Turn], names: Sequence[str]) -> str:
    about = f", about {', '.join(names[:_NAMES_SHOWN])}" if names else ""
    return f"Folded from {len(turns)} turns{about}."


def _passages(turns: Sequence[Turn], names: Sequence[str]) -> Iterator[_Passage]:
    """Yield what may be shown: short turns whole, longer ones by sentences."""
    order = 0
    for place, turn in enumerate(turns):
        flat = " ".join(turn.content.split())
        trust = 1.0 if turn.role == "user" else _NOT_THE_USER
        for text in [flat] if len(flat) <= SHORT_TURN else sentences_of(turn.content):
            weight = trust * weight_of(text, names) + _RECENCY * place / len(turns)
            if text:
                yield _Passage(order, place, f"- {_speaker(turn)}: {text}", weight)
            order += 1


def _speaker(turn: Turn) -> str:
    """Return the role, with the name behind it: a tool that calls itself "user" is still a tool."""
    return f"{turn.role} {turn.name}" if turn.name else turn.role


def _choose(
    turns: Sequence[Turn], passages: Sequence[_Passage], limit: int, room: int, count: TokenCounter
) -> list[str]:
    """Return the lines to show, in order, chosen by weight.

    If there are turns that no record keeps, half of the limit is left for a short line from each of them.
    """
    page = _Page(room, count)
    ranked = sorted(passages, key=lambda each: (-each.weight, each.order))
    best = {each.turn: each for each in reversed(ranked) if not turns[each.turn].record_id}
    ranked = ranked[: max(limit, 0)]  # each line takes a token at least
    page.show(ranked, most=limit // _LONGEST_LINE, reserve=limit // 2 if best else 0)
    seen = {each.turn for each in passages if each.order in page.lines}
    page.show([best[turn] for turn in sorted(best) if turn not in seen], most=POINTER_TOKENS)
    page.show(ranked, most=limit // _LONGEST_LINE)
    return [page.lines[order] for order in sorted(page.lines)]


class _Page:
    """Lines by their order, and the tokens that are left for more."""

    def __init__(self, room: int, count: TokenCounter) -> None:
        self.lines: dict[int, str] = {}
        self._room = room
        self._count = count

    def show(self, passages: Iterable[_Passage], *, most: int, reserve: int = 0) -> None:
        """Take passages, or more of them, cut to ``most`` tokens each, while ``reserve`` tokens stay free."""
        for passage in passages:
            if self._room - reserve < _SHORTEST_LINE:
                return
            line = clip(passage.line, most, self._count)
            before = self.lines.get(passage.order, "")
            extra = self._count("\n" + line) - (self._count("\n" + before) if before else 0)
            if len(line) > len(before) and extra <= self._room - reserve:
                self.lines[passage.order] = line
                self._room -= extra


def _within(limit: int, lines: list[str], count: TokenCounter) -> str:
    """Join lines. With a counter whose parts do not bound the whole, the last lines may have to go."""
    while count("\n".join(lines)) > limit and lines:
        lines = lines[:-1]
    return "\n".join(lines)


def _unique(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))
