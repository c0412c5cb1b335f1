"""Monthly memos: a calendar month that is over, pressed into one memory (L19)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import anyio.to_thread

from hippo_async.context import fold_text
from hippo_async.errors import Forgotten
from hippo_async.lifecycle.forgetting import as_turn
from hippo_async.records import utc_timestamp

if TYPE_CHECKING:
    from hippo_async.engine import Engine
    from hippo_async.protocols import TokenCounter

MEMO_TOKENS = 800


@dataclass(frozen=True, slots=True)
class Memo:
    """What a month's memo says, and the records that it was made of."""

    scope: tuple[str, ...]
    month: str
    text: str
    originals: tuple[str, ...]


WriteMemo = Callable[[Memo], Awaitable[None]]
"""Writes a memo; durable when it returns."""


async def make_memos(engine: Engine, *, now: datetime, write: WriteMemo, count: TokenCounter) -> int:
    """Make the memo of each scope and month that is over and has none; return how many were made.

    What is told of a month after its memo was made is not in it. One that was erased is not made again.
    """
    await engine.flush()
    made = 0
    for scope, month in await engine.lives.months_without_memo(before=utc_timestamp(now)[:7]):
        memo = await _memo(engine, scope, month, count)
        if memo is not None:
            made += await _written(memo, write)
    return made


async def _written(memo: Memo, write: WriteMemo) -> bool:
    try:
        await write(memo)
    except Forgotten:
        return False
    return True


async def _memo(engine: Engine, scope: Sequence[str], month: str, count: TokenCounter) -> Memo | None:
    library = engine.library
    records = await library.run(library.records_by_seq, await engine.lives.told_in(scope, month))
    turns = [as_turn(record, count) for record in records]
    if not turns:
        return None
    folded = await anyio.to_thread.run_sync(lambda: fold_text(turns, limit_tokens=MEMO_TOKENS, count=count))
    return Memo(tuple(scope), month, f"{month}: {folded.text}", tuple(one.record_id for one in records))
