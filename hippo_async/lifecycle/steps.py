"""What a round of maintenance does (L9, L11, L12, L14, L24)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from hippo_async.config import Settings
from hippo_async.errors import AnchorsLocked
from hippo_async.lifecycle.forgetting import Erased, Operate
from hippo_async.lifecycle.layers import Layers
from hippo_async.lifecycle.maintenance import Step
from hippo_async.lives import Act, Operation
from hippo_async.protocols import Clock
from hippo_async.records import utc_timestamp

if TYPE_CHECKING:
    from hippo_async.engine import Engine

STALE_TASK = timedelta(days=7)
"""A task of which nothing was heard for so long is no longer the active one (L14)."""

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Round:
    """What the steps of one round work on."""

    engine: Engine
    data_dir: Path
    settings: Settings
    clock: Clock
    operate: Operate
    erase_due: Callable[[], Awaitable[Erased]]
    anchor: Callable[[], Awaitable[int]]
    layers: Layers

    def steps(self) -> list[Step]:
        """Return the steps in their order: what is to be gone first, then what is made of the rest."""
        return [
            Step("forget", self._forget),
            Step("tasks", self._demote),
            Step("raw", self._expire),
            Step("months", self._press_months),
            Step("trends", self._keep_trends),
            Step("topics", self._reflect),
            Step("reviews", self._reviews),
            Step("anchors", self._anchor),
            Step("storage", self._storage),
        ]

    async def _forget(self) -> Mapping[str, Any]:
        return asdict(await self.erase_due())

    async def _demote(self) -> Mapping[str, Any]:
        before = utc_timestamp(self.clock.now() - STALE_TASK)
        stale = await self.engine.lives.stale_tasks(before=before)
        for record_id in stale:
            await self.operate(Operation(Act.DEMOTED, record_id))
        return {"demoted": len(stale)}

    async def _expire(self) -> Mapping[str, Any]:
        today = self.clock.now().date()
        first = today - timedelta(days=self.settings.raw.retention_days)
        shards, size = await anyio.to_thread.run_sync(self.engine.raw.expire, first, today)
        return {"shards": shards, "bytes": size}

    async def _press_months(self) -> Mapping[str, Any]:
        return {"made": await self.layers.make_memos()}

    async def _keep_trends(self) -> Mapping[str, Any]:
        return {"kept": await self.layers.keep_trends(self.settings.temp)}

    async def _reflect(self) -> Mapping[str, Any]:
        if not self.settings.enable_reflection:
            return {"made": 0}
        return {"made": await self.layers.summarize_topics(self.settings.temp)}

    async def _reviews(self) -> Mapping[str, Any]:
        if not self.settings.review.enabled:
            return {"due": 0}
        due = await self.engine.lives.due_reviews(None, by=utc_timestamp(self.clock.now()))
        return {"due": len(due)}

    async def _anchor(self) -> Mapping[str, Any]:
        try:
            return {"made": await self.anchor()}
        except AnchorsLocked:  # somebody publishes anchors at this moment, and makes those that are missing
            return {"made": 0}

    async def _storage(self) -> Mapping[str, Any]:
        size = await anyio.to_thread.run_sync(_size_of, self.data_dir)
        budget = self.settings.storage_budget_mb * MIB
        return {"bytes": size, "budget": budget, "over": size > budget}


def _size_of(folder: Path) -> int:
    """Add up the sizes of all files; one that goes away meanwhile counts nothing."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total
