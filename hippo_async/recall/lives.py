"""Asking what became of memories, from any loop: the questions of :mod:`hippo_async.index.lives`,
:mod:`~hippo_async.index.layers` and :mod:`~hippo_async.index.activity`."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from hippo_async.index import activity, layers, lives
from hippo_async.index.activity import Candidate
from hippo_async.index.company import tag_lists
from hippo_async.index.layers import Made, Tagged
from hippo_async.lives.calendar import Between, Calendar
from hippo_async.lives.layers import Layer
from hippo_async.lives.states import MemoryState, Pending, Standing, Task
from hippo_async.recall.library import Library
from hippo_async.tagging import TagGraph, tag_graph, topical


class Lives:
    """Answers from what is indexed at the moment; flush first to know of everything."""

    def __init__(self, library: Library) -> None:
        self._library = library

    async def by_event(self, event_id: str) -> str | None:
        """Return the record id of the memory with this event id."""
        return await self._library.run(self._library.about, lives.by_event, event_id)

    async def standing(self, record_id: str) -> Standing | None:
        """Return how a record stands; ``None`` for one that is unknown."""
        return await self._library.run(self._library.about, lives.standing, record_id)

    async def state(self, record_id: str) -> MemoryState | None:
        """Return what became of a memory that was remembered; ``None`` for any other record."""
        return await self._library.run(self._library.about, lives.state, record_id)

    async def due_reviews(self, scope: Sequence[str] | None, *, by: str) -> list[MemoryState]:
        """Return the memories of a scope, or of all, whose review is due, the longest due first (L12)."""
        return await self._library.run(lambda: self._library.about(lives.due_reviews, scope, by=by))

    async def active_task(self, scope: Sequence[str]) -> Task | None:
        """Return the task in progress of a scope (L14)."""
        return await self._library.run(self._library.about, lives.active_task, scope)

    async def stale_tasks(self, *, before: str) -> list[str]:
        """Return the last checkpoints of active tasks that nothing was heard of since."""
        return await self._library.run(lambda: self._library.about(lives.stale_tasks, before=before))

    async def pending(self, record_ids: Sequence[str]) -> list[Pending]:
        """Return which of these records are to be forgotten or were erased."""
        return await self._library.run(self._library.about, lives.pending, record_ids)

    async def pending_in(self, scope: Sequence[str], mark: str) -> list[Pending]:
        """Return what of a scope is to be forgotten or was erased, the soonest due first."""
        return await self._library.run(self._library.about, lives.pending_in, scope, mark)

    async def beginning(self, digits: str, scope: Sequence[str], mark: str) -> list[str]:
        """Return the ids that begin so of what can be found or is to be forgotten in a scope."""
        return await self._library.run(self._library.about, lives.beginning, digits, scope, mark)

    async def overdue(self, *, by: str) -> list[str]:
        """Return the records that are due to be erased at a moment and still have their text."""
        return await self._library.run(lambda: self._library.about(lives.overdue, by=by))

    async def made_of_overdue(self, *, by: str) -> list[int]:
        """Return the seqs of folds with a text that were made of what is due to be erased, or was."""
        return await self._library.run(lambda: self._library.about(lives.made_of_overdue, by=by))

    async def folds_of(self, seqs: Sequence[int]) -> list[int]:
        """See :func:`hippo_async.index.lives.folds_of`."""
        return await self._library.run(self._library.about, lives.folds_of, seqs)

    async def bearing(self, marks: Sequence[str]) -> dict[str, str]:
        """Return the erased record that each mark stands for, the newest of several."""
        return await self._library.run(self._library.about, lives.bearing, marks)

    async def unseen(self, record_ids: Sequence[str]) -> set[str]:
        """Return those of these records that no search can find."""
        return await self._library.run(self._library.about, lives.unseen, record_ids)

    async def hidden(self) -> set[str]:
        """Return the ids of all records that have a text and may not be found now."""
        return await self._library.run(self._library.about, lives.hidden)

    async def candidates(self, scope: Sequence[str], *, cap: int) -> list[Candidate]:
        """Return what may be among the strongest memories of a scope (L14)."""
        return await self._library.run(lambda: self._library.about(activity.candidates, scope, cap=cap))

    async def size(self, scope: Sequence[str]) -> int:
        """Return how many records of a scope searches can find."""
        return await self._library.run(self._library.about, activity.size, scope)

    async def scopes(self, *, since: str) -> list[tuple[str, ...]]:
        """Return the scopes in which something is of a time since then."""
        return await self._library.run(lambda: self._library.about(layers.scopes, since=since))

    async def made(self, layer: Layer, scope: Sequence[str]) -> dict[str, Made]:
        """Return the last memory of each subject of a layer and scope."""
        return await self._library.run(self._library.about, layers.made, layer, scope)

    async def in_layers(self, scope: Sequence[str], *, limit: int) -> list[int]:
        """Return the seqs of the newest memories of all layers in a scope, newest first."""
        return await self._library.run(lambda: self._library.about(layers.newest, scope, limit=limit))

    async def superseded(self) -> list[int]:
        """Return the seqs of memories with a text of whose subject there is a later one."""
        return await self._library.run(self._library.about, layers.superseded)

    async def without_episodes(self, *, by: str) -> list[int]:
        """Return the seqs of trends of which each episode is due to be erased at a moment, or was."""
        return await self._library.run(lambda: self._library.about(layers.without_episodes, by=by))

    async def months_without_memo(
        self, calendar: Calendar, *, now: datetime
    ) -> list[tuple[tuple[str, ...], str]]:
        """Return the scopes and months that are over and have records and no memo (L19)."""
        return await self._library.run(
            lambda: self._library.about(layers.months_without_memo, calendar, now=now)
        )

    async def told(self, scope: Sequence[str], time: Between) -> list[int]:
        """Return the seqs of what was told in a time; of too much, what says most."""
        return await self._library.run(self._library.about, layers.told, scope, time)

    async def count_told(self, scope: Sequence[str], time: Between) -> int:
        """Return how much was told in a time."""
        return await self._library.run(self._library.about, layers.count_told, scope, time)

    async def told_with(self, scope: Sequence[str], tag: str, *, limit: int) -> list[tuple[int, int]]:
        """Return what was told with a tag, the newest first: each seq, and how much it says."""
        return await self._library.run(lambda: self._library.about(layers.told_with, scope, tag, limit=limit))

    async def told_since(self, scope: Sequence[str], *, since: str, limit: int) -> list[Tagged]:
        """Return the newest things that were told since then with their topics, the newest first."""

        def found() -> list[Tagged]:
            told = self._library.about(layers.told_since, scope, since=since, limit=limit)
            return [one._replace(tags=topical(one.tags)) for one in told]

        return await self._library.run(found)

    async def tag_graph(self, scope: Sequence[str], *, max_edges: int | None) -> TagGraph:
        """Return the network of the tags that searches can find in a scope (L20)."""
        return await self._library.run(self._library.about, _graph, scope, max_edges)


def _graph(db: sqlite3.Connection, scope: Sequence[str], max_edges: int | None) -> TagGraph:
    return tag_graph(tag_lists(db, scope), max_edges=max_edges)
