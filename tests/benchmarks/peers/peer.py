"""What every peer is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Protocol

from hippo_async.evaluation import Said
from hippo_async.protocols import Embedder


class Peer(Protocol):
    """A memory of one conversation in ``folder``, set up as its own documentation says.

    ``package`` is what it is installed as, ``None`` for the standard library. ``how`` says in a few words
    which of its ways to search is used.
    """

    package: ClassVar[str | None]
    how: ClassVar[str]

    def __init__(self, folder: Path, model: Embedder) -> None: ...

    def add(self, turns: Sequence[Said]) -> None:
        """Store turns, one by one, so that all can be found when this returns."""
        ...

    def ask(self, question: str, k: int) -> list[str]:
        """Return the ``dia_id`` of up to ``k`` turns, best first."""
        ...


def spoken(turn: Said) -> str:
    """A turn as one text. Peers know no speakers, and with the name in front all of them find more."""
    return f"{turn.speaker}: {turn.text}"
