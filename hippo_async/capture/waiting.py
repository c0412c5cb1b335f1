"""Where turns wait while there is nobody to write them."""

from __future__ import annotations

from collections import deque

from hippo_async.capture.turns import Captured
from hippo_async.errors import CaptureRefused


class WaitingRoom:
    """Holds turns in the order in which they came, so many at most. For one thread at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._turns: deque[Captured] = deque()

    def __len__(self) -> int:
        return len(self._turns)

    def put(self, turn: Captured) -> None:
        """Take a turn. Raises :class:`CaptureRefused` if the room is full: what was taken has no gap."""
        if len(self._turns) >= self._most:
            raise CaptureRefused(f"{self._most:,} turns wait already until the memory is open again")
        self._turns.append(turn)

    def call(self, most: int) -> list[Captured]:
        """Take out those that came first, so many at most."""
        return [self._turns.popleft() for _ in range(min(most, len(self._turns)))]
