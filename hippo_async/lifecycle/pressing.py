"""Making one text of many records: for a fold that is made again, a month's memo, a topic's summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import anyio.to_thread

from hippo_async.context import fold_text
from hippo_async.lives.layers import Layer, Subject
from hippo_async.protocols import Summarizer, TokenCounter
from hippo_async.records import Record, Turn
from hippo_async.summary import summarized

FOLD_TOKENS = 400
LAYER_TOKENS = {Layer.MONTH: 800, Layer.TOPIC: 300}


@dataclass(frozen=True, slots=True)
class Press:
    """Presses records into a text: the summarizer's if there is one and it answers, else an extract."""

    summarizer: Summarizer | None
    count: TokenCounter

    async def text_of(self, records: Sequence[Record], subject: Subject | None) -> str:
        """Return what these records say, for a memory of a subject, or for a fold that is of none.

        An extract takes at most the tokens of its layer.
        """
        limit = LAYER_TOKENS.get(subject.layer, FOLD_TOKENS) if subject else FOLD_TOKENS
        text = await self._summary_of(records) or await self.extract_of(records, limit)
        return f"{subject.name}: {text}" if subject else text

    async def _summary_of(self, records: Sequence[Record]) -> str | None:
        if self.summarizer is None:  # then nothing need be counted on the loop
            return None
        return await summarized([self._as_turn(record) for record in records], self.summarizer)

    async def extract_of(self, records: Sequence[Record], limit: int) -> str:
        """Return an extract of what these records say, of at most ``limit`` tokens, made off the loop."""

        def extract() -> str:
            turns = [self._as_turn(record) for record in records]
            return fold_text(turns, limit_tokens=limit, count=self.count).text

        return await anyio.to_thread.run_sync(extract)

    def _as_turn(self, record: Record) -> Turn:
        text = record.text
        return Turn(
            record.role or "user", text, self.count(text), name=record.speaker, record_id=record.record_id
        )
