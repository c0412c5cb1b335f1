"""Which turns leave a context window when it is full. Pure (M3, design §8).

Turns leave in *groups*: an assistant turn that calls tools is one group with all the results of its calls,
wherever they stand; any other turn is a group of its own. A *round* is a user turn with the groups up to the
next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from hippo_async.records import Turn


@dataclass(frozen=True, slots=True)
class EvictionPlan:
    """Indices of the turns that leave and of those that stay, both ascending; together they are all turns.

    ``tokens_before`` and ``tokens_after`` include what is fixed.
    """

    evict: tuple[int, ...]
    keep: tuple[int, ...]
    tokens_before: int
    tokens_after: int


@dataclass(slots=True)
class _Group:
    role: str
    indices: list[int]
    unanswered: set[str] = field(default_factory=set)
    sound: bool = True


def plan_eviction(
    turns: Sequence[Turn],
    *,
    max_tokens: int,
    threshold: float = 0.85,
    target: float = 0.7,
    fixed_tokens: int = 0,
) -> EvictionPlan:
    """Plan what leaves a window of ``max_tokens``, of which ``fixed_tokens`` are taken by other things (M3).

    Nothing leaves at or under ``threshold`` of the window. Over it, turns leave until ``target`` is met, or
    as far as these rules allow:

    - oldest first, but the user turn of a round leaves last in it, so that what is kept begins with a user
      turn if any user turn is there;
    - system turns, the newest user turn and the last group stay: the model has yet to answer them;
    - a call and its results leave together or not at all;
    - a result without its call, a call whose results are missing though the conversation has gone on, and
      what stands before the first user turn leave at once. At the very end, calls may still wait;
    - something stays: where nothing but broken groups is left, the last of them.

    The same turns and numbers give the same plan; planning again over what was kept does nothing.
    """
    before = fixed_tokens + sum(turn.tokens for turn in turns)
    leaves: set[int] = set()
    if before > threshold * max_tokens:
        leaves = _leaving(turns, before - target * max_tokens)
    return EvictionPlan(
        evict=tuple(sorted(leaves)),
        keep=tuple(index for index in range(len(turns)) if index not in leaves),
        tokens_before=before,
        tokens_after=before - _size(turns, leaves),
    )


def pairs_hold(turns: Sequence[Turn]) -> bool:
    """Whether each tool result has its call before it and each call its result; calls at the end may wait."""
    return all(group.sound for group in _groups(turns))


def _leaving(turns: Sequence[Turn], excess: float) -> set[int]:
    groups = _groups(turns)
    sound = [group for group in groups if group.sound]
    broken = [group for group in groups if not group.sound]
    leaves = _indices([*(broken if sound else broken[:-1]), *_before_users(sound)])
    freed = _size(turns, leaves)
    for unit in _units(sound):
        if freed >= excess:
            break
        leaves.update(unit)
        freed += _size(turns, unit)
    return leaves


def _before_users(groups: Sequence[_Group]) -> list[_Group]:
    """Return what stands before the first user turn, if there is one: no window may begin with it."""
    if not any(group.role == "user" for group in groups):
        return []
    return list(takewhile(lambda group: group.role != "user", groups))


def _units(groups: Sequence[_Group]) -> Iterator[set[int]]:
    """Yield what may leave, oldest first, as sets of indices that leave in one step."""
    rounds: list[list[_Group]] = [[]]
    for group in groups:
        if group.role == "user":
            rounds.append([])
        rounds[-1].append(group)
    before_users, *rounds = rounds
    for user, *answers in rounds[:-1]:
        yield from (set(group.indices) for group in answers[:-1])
        yield _indices([user, *answers[-1:]])
    under_way = rounds[-1][1:] if rounds else before_users
    yield from (set(group.indices) for group in under_way[:-1])


def _groups(turns: Sequence[Turn]) -> list[_Group]:
    """Group all turns but the system's, in order of their first turn, and mark the ones that are broken."""
    groups: list[_Group] = []
    callers: dict[str, _Group] = {}
    for index, turn in enumerate(turns):
        caller = callers.get(turn.answers or "") if turn.role == "tool" else None
        if caller is not None:
            caller.indices.append(index)
            caller.unanswered.discard(turn.answers or "")
        elif turn.role != "system":
            group = _Group(turn.role, [index], set(turn.tool_calls), sound=turn.role != "tool")
            groups.append(group)
            callers.update(dict.fromkeys(turn.tool_calls, group))
    spoken = [group for group in groups if group.role != "tool"]
    for group in spoken[:-1]:
        group.sound = not group.unanswered
    return groups


def _indices(groups: Sequence[_Group]) -> set[int]:
    return {index for group in groups for index in group.indices}


def _size(turns: Sequence[Turn], indices: set[int]) -> int:
    return sum(turns[index].tokens for index in indices)
