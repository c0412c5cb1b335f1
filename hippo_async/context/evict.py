"""Which turns leave a context window when it is full. Pure (M3, design §8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hippo_async.records import Turn


@dataclass(frozen=True, slots=True)
class EvictionPlan:
    """Indices of the turns that leave and that stay, each ascending; tokens include the fixed ones."""

    evict: tuple[int, ...]
    keep: tuple[int, ...]
    tokens_before: int
    tokens_after: int


def plan_eviction(
    turns: Sequence[Turn],
    *,
    max_tokens: int,
    threshold: float = 0.85,
    target: float = 0.7,
    fixed_tokens: int = 0,
) -> EvictionPlan:
    """Plan what leaves a window of ``max_tokens``, of which ``fixed_tokens`` are taken by other things.

    Nothing at or under ``threshold`` of the window. Over it the oldest leave until ``target`` is met, or as
    far as these rules allow: system turns and the newest user turn stay; an assistant turn leaves together
    with the results of its tool calls or not at all; so does a result without its call, at once; calls at the
    very end that wait for their results stay; what is kept begins with a user turn wherever one can be kept.
    """
    before = fixed_tokens + sum(turn.tokens for turn in turns)
    if before <= threshold * max_tokens:
        return EvictionPlan((), tuple(range(len(turns))), before, before)
    leaves = _leaving(turns, before - target * max_tokens)
    keep = tuple(index for index in range(len(turns)) if index not in leaves)
    after = before - sum(turns[index].tokens for index in leaves)
    return EvictionPlan(tuple(sorted(leaves)), keep, before, after)


def pairs_hold(turns: Sequence[Turn]) -> bool:
    """Whether each tool result has its call before it, and each call its result, but for calls at the end."""
    groups = _groups(turns)
    waiting = _waiting(turns, groups)
    return all(
        turns[group[0]].role != "tool" and (_is_answered(turns, group) or group is waiting)
        for group in groups
    )


def _leaving(turns: Sequence[Turn], excess: float) -> set[int]:
    groups = _groups(turns)
    waiting = _waiting(turns, groups)
    newest_user = max(
        (index for index, turn in enumerate(turns) if turn.role == "user"), default=len(turns) - 1
    )
    movable = [
        group
        for group in groups
        if turns[group[0]].role != "system" and group is not waiting and newest_user not in group
    ]
    leaves = {index for group in movable if turns[group[0]].role == "tool" for index in group}
    freed = sum(turns[index].tokens for index in leaves)
    for group in movable:
        if freed >= excess and _starts_well(turns, leaves):
            break
        if group[0] not in leaves:
            leaves.update(group)
            freed += sum(turns[index].tokens for index in group)
    return leaves


def _starts_well(turns: Sequence[Turn], leaves: set[int]) -> bool:
    kept = (turn.role for index, turn in enumerate(turns) if index not in leaves and turn.role != "system")
    return next(kept, "user") == "user"


def _groups(turns: Sequence[Turn]) -> list[list[int]]:
    """Group turns that leave together: an assistant turn with the results that it called for."""
    groups: list[list[int]] = []
    open_calls: dict[str, list[int]] = {}
    for index, turn in enumerate(turns):
        caller = open_calls.pop(turn.answers or "", None) if turn.role == "tool" else None
        if caller is not None:
            caller.append(index)
            continue
        groups.append([index])
        open_calls.update(dict.fromkeys(turn.tool_calls, groups[-1]))
    return groups


def _waiting(turns: Sequence[Turn], groups: Sequence[list[int]]) -> list[int] | None:
    """Return the last group if it is an assistant turn whose results are still to come."""
    for group in reversed(groups):
        if turns[group[0]].role != "tool":
            return None if _is_answered(turns, group) else group
    return None


def _is_answered(turns: Sequence[Turn], group: Sequence[int]) -> bool:
    return len(group) - 1 == len(turns[group[0]].tool_calls)
