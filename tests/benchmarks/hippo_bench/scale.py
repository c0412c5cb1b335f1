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
    chains: dict[int, int]  # records of a journal that is opened and walked -> rounds
    thread: int  # messages stored before an agent turn
    turns: int  # agent turns of one side in a round
    stall_seconds: float
    stall_rounds: int
    opened: tuple[int, ...]  # records of the memories that are opened
    recalled: tuple[int, ...]  # records of the memories that are asked
    questions: int  # questions to each, in a round
    recall_rounds: int


SMALL = 10_000
LARGE = 100_000  # fewer records fit the live segment, which is walked one by one
MILLION = 1_000_000
FULL = Scale(
    rounds=7,
    stored=(1, 1_000, 5_000),
    captures=50,
    additions=5,
    durable={1: 100, 10: 100, 100: 100},
    chains={LARGE: 7, MILLION: 3},
    thread=5_000,
    turns=2,
    stall_seconds=5.0,
    stall_rounds=3,
    opened=(LARGE,),
    recalled=(SMALL, LARGE),
    questions=200,
    recall_rounds=3,
)
QUICK = Scale(
    rounds=3,
    stored=(1, 1_000, 5_000),
    captures=50,
    additions=5,
    durable={1: 50, 10: 50, 100: 50},
    chains={20_000: 3},
    thread=5_000,
    turns=1,
    stall_seconds=2.0,
    stall_rounds=1,
    opened=(20_000,),
    recalled=(SMALL,),
    questions=50,
    recall_rounds=1,
)
SMOKE = Scale(
    rounds=1,
    stored=(1, 8),
    captures=4,
    additions=1,
    durable={1: 2, 10: 1},
    chains={40: 1},
    thread=8,
    turns=1,
    stall_seconds=0.1,
    stall_rounds=1,
    opened=(40,),
    recalled=(40, 80),
    questions=4,
    recall_rounds=1,
)
