"""Records of a life that a test made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hippo_async.records import OPERATION, Record


def written(maker: Callable[..., Record], life: Sequence[tuple[str, dict[str, Any]]]) -> list[Record]:
    """The records of a life; what they name are their seqs, also later ones and their own."""

    def name_of(seq: int) -> str:
        return maker(seq, life[seq][0]).record_id if seq < len(life) else "f" * 32

    records = []
    for seq, (text, fields) in enumerate(life):
        told = dict(fields)
        if "originals" in told:
            told["originals"] = [name_of(original) for original in told["originals"]]
        if OPERATION in told:
            told[OPERATION] = told[OPERATION] | {"target": name_of(told[OPERATION]["target"])}
        records.append(maker(seq, text, timestamp=f"2026-01-01T00:00:{seq:02}.000000Z", **told))
    return records
