"""What happens when a model calls a memory tool. Nothing is raised: what goes wrong is said."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from typing import Any, Literal

from hippo_async import Hippocampus
from hippo_async.asking import Mode
from hippo_async.errors import HippoError, InvalidInput
from hippo_async.naming import id_meant, record_at
from hippo_async.records import PINNED_TAG, Source
from hippo_async.selection import moment_of
from hippo_langchain import tool_answers as answers
from hippo_langchain.address import Address, address_in
from hippo_langchain.tool_arguments import Question

MOST_TAGS = 30
MOST_DERIVED = 10
MOST_REVIEWS = 10

_OWNERS_TAGS = (PINNED_TAG, "status:")
"""What stands in every briefing, and what a record is, no model decides: somebody may have told it to."""

Call = Callable[..., Awaitable[str]]


def _answered(what: str) -> Callable[[Call], Call]:
    """Have a method open the memory first, and say in words if it could not do ``what``."""

    def answered(call: Call) -> Call:
        @wraps(call)
        async def answer(self: ToolCalls, **arguments: Any) -> str:
            try:
                await self.memory.open()
                return await call(self, **arguments)
            except (HippoError, OSError) as error:
                return answers.not_done(what, error)

        return answer

    return answered


class ToolCalls:
    """The memory tools' calls, each by the name that it has as a tool; never outside of its scope.

    Without ``scope`` and ``session`` they are those of the run in which a tool is called. ``with_ids`` has
    recalled memories named, for tools that take a name.
    """

    def __init__(
        self,
        memory: Hippocampus,
        *,
        scope: Sequence[str] | None,
        session: str | None,
        max_tokens: Callable[[], int],
        with_ids: bool,
    ) -> None:
        self.memory = memory
        self._scope = scope
        self._session = session
        self._max_tokens = max_tokens
        self._with_ids = with_ids

    @_answered("remembered")
    async def remember(self, text: str, tags: list[str], occurred: str = "") -> str:
        for tag in tags:
            if tag.strip().casefold().startswith(_OWNERS_TAGS):
                raise InvalidInput(f"the tag {tag!r} is for the owner of the memory; leave it out")
        where = self._address
        made = await self.memory.remember(
            text,
            tags=tags,
            scope=where.scope,
            session=where.session,
            source=Source.ASSISTANT,
            occurred=moment_of(occurred, name="occurred") if occurred else None,
        )
        return answers.remembered(made)

    @_answered("recalled")
    async def recall(
        self, query: str, tags: list[str], limit: int, since: str, until: str, mode: Mode = "memories"
    ) -> str:
        start = moment_of(since, name="since") if since else None
        end = moment_of(until, name="until", whole_day=True) if until else None
        if mode == "deep_raw" and (start is None or end is None):
            raise InvalidInput("deep_raw needs both since and until, as YYYY-MM-DD")
        found = await self.memory.recall(
            query, tags=tags, scope=self._address.scope, start=start, end=end, mode=mode
        )
        if mode == "deep_raw":
            return self._fitting(answers.quoted(found, limit))
        return self._fitting(answers.told(found, limit, with_ids=self._with_ids))

    @_answered("kept")
    async def checkpoint(self, task: str, text: str, progress: int) -> str:
        active = await self.memory.checkpoint(task, text, progress=progress, scope=self._address.scope)
        return "Kept. " + answers.in_progress(active)

    @_answered("captured")
    async def capture(self, text: str, role: Literal["user", "assistant"], speaker: str) -> str:
        where = self._address
        receipt = self.memory.capture(
            text,
            role=role,
            speaker=speaker or None,
            session=where.session,
            scope=where.scope,
            source=Source.ASSISTANT,
        )
        if receipt.done():
            await receipt
        return "Captured."

    @_answered("confirmed")
    async def reinforce(self, memory_id: str) -> str:
        scope = self._address.scope
        target = await self._meant(memory_id, scope)
        return answers.confirmed(await self.memory.reinforce(target, scope=scope))

    @_answered("forgotten")
    async def forget(self, memory_id: str) -> str:
        scope = self._address.scope
        target = await self._meant(memory_id, scope)
        return answers.hidden(await self.memory.forget(target, scope=scope))

    @_answered("restored")
    async def restore(self, memory_id: str) -> str:
        scope = self._address.scope
        target = await self._meant(memory_id, scope)
        return answers.restored(target, is_back=await self.memory.restore(target, scope=scope))

    @_answered("answered")
    async def admin(self, action: Question) -> str:
        scope = self._address.scope
        match action:
            case "status":
                return answers.working(self.memory.status())
            case "active_tags":
                tags = await self.memory.active_tags(scope=scope, most=MOST_TAGS)
                return self._fitting([answers.tags_in_use(tags)])
            case "active_task":
                return await self._active_task(scope)
            case "semantic":
                return await self._semantic(scope)
            case "reviews":
                return await self._reviews(scope)
            case "pending_deletes":
                found = await self.memory.pending_deletes(scope=scope)
                return self._fitting([*map(answers.to_delete, found)] or ["Nothing is to be forgotten."])
            case "maintain":
                return answers.maintained(await self.memory.run_maintenance())

    async def _active_task(self, scope: Sequence[str]) -> str:
        task = await self.memory.active_task(scope=scope)
        said = "" if task is None else (await record_at(self.memory, task.seq)).text
        return self._fitting([answers.in_progress(task, said)])

    async def _semantic(self, scope: Sequence[str]) -> str:
        made = await self.memory.semantic(scope=scope, limit=MOST_DERIVED)
        return self._fitting([*map(answers.derived, made)] or ["Nothing was summarized yet."])

    async def _reviews(self, scope: Sequence[str]) -> str:
        due = (await self.memory.reviews(scope=scope))[:MOST_REVIEWS]
        lines = [answers.to_review(await record_at(self.memory, state.seq), state) for state in due]
        return self._fitting(lines or ["No review is due."])

    async def _meant(self, memory_id: str, scope: Sequence[str]) -> str:
        """Find the id that a model wrote off, maybe with the brackets around it."""
        return await id_meant(self.memory, memory_id.strip(" []"), scope=scope)

    def _fitting(self, lines: Sequence[str]) -> str:
        return answers.fitting(lines, self._max_tokens(), self.memory.count_tokens)

    @property
    def _address(self) -> Address:
        return address_in(self._scope, self._session)
