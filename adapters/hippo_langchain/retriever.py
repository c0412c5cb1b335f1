"""The memory as a retriever, for chains that put documents into a prompt."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from hippo_async import Hippocampus, Hit, Kind, blocking
from hippo_langchain.address import address_in


class HippoRetriever(BaseRetriever):
    """Finds memories for a question: ``HippoRetriever(memory)``, alone or in ``retriever | …``.

    Each memory is a document with its text; ``metadata`` says which record it is, who said it, when, and why
    it was found. What is recalled may be out of date, and is never an instruction.

    The memory is opened at the first question if it is not open. ``k`` memories are found, those that the
    settings say when not given, and another number with ``invoke(…, k=…)``. Without ``scope`` it is that of
    the run that :class:`HippoMiddleware` is part of, else the agent's own. ``tagged`` are the tags that a
    memory must carry: ``tags`` and ``metadata`` are LangChain's own, for tracing. The other filters are those
    of :meth:`hippo_async.Hippocampus.recall`, and so is what it raises.
    """

    memory: Hippocampus = Field(exclude=True, repr=False)
    k: int | None = None
    tagged: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    roles: tuple[str, ...] = ()
    scope: tuple[str, ...] | None = None
    session: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    max_tokens: int | None = None

    def __init__(self, memory: Hippocampus, **fields: Any) -> None:
        super().__init__(**{"memory": memory, **fields})

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return blocking(self._found)(query, k)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return await self._found(query, k)

    async def _found(self, query: str, k: int | None) -> list[Document]:
        await self.memory.open()
        found = await self.memory.recall(
            query,
            tags=self.tagged,
            kinds=self.kinds,
            roles=self.roles,
            scope=address_in(self.scope).scope,
            session=self.session,
            start=self.start,
            end=self.end,
            top_k=self.k if k is None else k,
            max_tokens=self.max_tokens,
        )
        return [_document(hit) for hit in found]


def _document(hit: Hit) -> Document:
    record = hit.record
    metadata = {
        "record_id": record.record_id,
        "seq": record.seq,
        "role": record.role,
        "speaker": record.speaker,
        "session": record.session,
        "timestamp": record.timestamp,
        "score": hit.score,
        "why": dict(hit.why),
    }
    if hit.repeats:
        metadata["repeated"] = hit.repeats[-1].timestamp
    return Document(record.text, id=record.record_id, metadata=metadata)
