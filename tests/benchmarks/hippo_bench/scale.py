"""How large a run is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes of every benchmark. ``rounds`` is how often each side is measured."""

    rounds: int
    stored: tuple[int, ...]  # messages there before one more is added
    captures: int  # captures in a row of one round
    additions: int  # messages that a peer adds in a round
    durable: dict[int, int]  # size of a group -> groups a round
    chain: int  # records that verify_chain walks
    thread: int  # messages stored before an agent turn
    turns: int  # agent turns of one side in a round
    stall_seconds: float
    stall_rounds: int
    opened: tuple[int, ...]  # records of the stores that are opened


FULL = Scale(
    rounds=7,
    stored=(1, 1_000, 5_000),
    captures=50,
    additions=5,
    durable={1: 40, 10: 40, 100: 30},
    chain=100_000,
    thread=5_000,
    turns=2,
    stall_seconds=5.0,
    stall_rounds=3,
    opened=(100_000,),
)
MILLION = 1_000_000
QUICK = Scale(
    rounds=3,
    stored=(1, 1_000, 5_000),
    captures=50,
    additions=5,
    durable={1: 20, 10: 20, 100: 15},
    chain=20_000,
    thread=5_000,
    turns=1,
    stall_seconds=2.0,
    stall_rounds=1,
    opened=(20_000,),
)
SMOKE = Scale(
    rounds=1,
    stored=(1, 8),
    captures=4,
    additions=1,
    durable={1: 2, 10: 1},
    chain=40,
    thread=8,
    turns=1,
    stall_seconds=0.1,
    stall_rounds=1,
    opened=(40,),
)
