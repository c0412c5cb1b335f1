"""Where a batch of turns goes: past the known keys, into the raw box and the journal, and to the index."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from hippo_async.capture.admission import NoveltyJudge
from hippo_async.capture.rawbox import RawBox
from hippo_async.capture.turns import Captured
from hippo_async.errors import Forgotten, HippoError, RecordRejected
from hippo_async.journal import Appended, Lineage
from hippo_async.recall.library import Library
from hippo_async.records import Novelty
from hippo_async.tagging import suggest

logger: logging.Logger = logging.getLogger("hippo_async.capture")

Repeats = Sequence[Captured]
"""A turn and its repeats under the same key: one record stands for all of them."""


class JournalSink:
    """Implements :class:`hippo_async.capture.pipeline.Sink` over the journal."""

    def __init__(self, journal: Lineage, library: Library, judge: NoveltyJudge, raw: RawBox) -> None:
        self._journal = journal
        self._library = library
        self._judge = judge
        self._raw = raw
        self._judged: dict[str, Novelty] = {}
        self._recovered: dict[str, Appended] = {}
        self._failed_after: int | None = None
        self.tags_itself: bool = True
        self.written: int = 0
        self.deduplicated: int = 0
        self.rejected: int = 0
        self.durable_seq: int = journal.tail.seq

    def write(self, batch: Sequence[Captured]) -> None:
        """Make a batch durable, resolve its futures, and let the index follow.

        A turn whose key is known gets the record that is there. A turn that cannot be written down fails
        alone.
        """
        groups = _by_identity(self._without_known(batch))
        turns = [group[0] for group in groups]
        self._classify(turns)
        missing = [turn for turn in turns if turn.turn_id not in self._recovered]
        results = dict(zip((turn.turn_id for turn in missing), self._append(missing), strict=True))
        entries = []
        for group in groups:
            turn_id = group[0].turn_id
            result = results.get(turn_id) or self._recovered.pop(turn_id)
            self._settle(group, result)
            if isinstance(result, Appended):
                entries.append(result)
        self._library.feed_later(sorted(entries, key=lambda entry: entry.record.seq))

    def recover(self) -> None:
        """Open the journal again after a failed write.

        What of the failed batch turns out to be on disk is remembered by its turn id, so that it is not
        written twice; and indexed, so that whoever tries again under its key finds it. One that fails itself
        may be tried again.
        """
        if self._failed_after is None:
            self._failed_after = self._journal.tail.seq
        self._journal.close()
        self._journal.open()
        after = self._failed_after
        found = [Appended(record, location) for record, location in self._journal.scan(after=after)]
        self._failed_after = None
        self._recovered |= {str(entry.record.metadata.get("turn_id")): entry for entry in found}
        self._library.feed_later(found)

    def _without_known(self, batch: Sequence[Captured]) -> list[Captured]:
        keys = [turn.key for turn in batch if turn.key is not None]
        if not keys:
            return list(batch)
        known = self._library.call(self._library.ids_by_key, keys)
        erased = self._library.call(self._library.erased_by_key, [key for key in keys if key not in known])
        for turn in batch:
            if turn.key in known:
                self.deduplicated += 1
                self._point_to(turn, known[turn.key])
            elif turn.key in erased:
                self.rejected += 1
                target = erased[turn.key]
                gone = (
                    f"what was captured under {turn.key!r} was erased; restore {target} to capture it again"
                )
                turn.future.set_exception(Forgotten(gone, target))
        return [turn for turn in batch if turn.key not in known and turn.key not in erased]

    def _point_to(self, turn: Captured, record_id: str) -> None:
        """Give a turn the record that stands for it; one that cannot be read fails this turn alone."""
        try:
            [record] = self._library.call(self._library.records_by_id, [record_id])
        except HippoError as error:
            turn.future.set_exception(error)
        else:
            turn.future.set_result(record)

    def _classify(self, turns: Sequence[Captured]) -> None:
        """Judge each turn once, however often its batch has to be tried, and offer it to the raw box.

        What was done to a memory says nothing new, and was said by nobody.
        """
        unjudged = [turn for turn in turns if turn.turn_id not in self._judged]
        self._judged.update((turn.turn_id, Novelty.ROUTINE) for turn in unjudged if turn.is_operation)
        new = [turn for turn in unjudged if not turn.is_operation]
        classes = self._judge.classify([turn.content for turn in new])
        for turn, novelty in zip(new, classes, strict=True):
            self._judged[turn.turn_id] = novelty
        self._raw.offer([(turn, self._judged[turn.turn_id]) for turn in new])

    def _append(self, turns: Sequence[Captured]) -> list[Appended | RecordRejected]:
        """Append as one group; if one turn is at fault, each by itself so that only that one fails."""
        drafts = [turn.draft(self._judged[turn.turn_id], self._tags_for(turn)) for turn in turns]
        try:
            return list(self._journal.append(drafts).result())
        except RecordRejected as error:
            if len(drafts) == 1:
                return [error]
        futures = [self._journal.append([draft]) for draft in drafts]
        results: list[Appended | RecordRejected] = []
        for future in futures:
            try:
                results.extend(future.result())
            except RecordRejected as error:
                results.append(error)
        return results

    def _tags_for(self, turn: Captured) -> Sequence[str]:
        """Suggest tags for a turn that has none, from its own words: the same ones at each attempt."""
        return suggest(turn.content) if self.tags_itself and turn.wants_tags else ()

    def _settle(self, group: Repeats, result: Appended | RecordRejected) -> None:
        """Count a turn and its repeats, then tell those who wait: what they then ask for is up to date."""
        if isinstance(result, RecordRejected):
            self.rejected += len(group)
            logger.warning("a turn cannot be written down: %s", result)
        else:
            self.written += 1
            self.deduplicated += len(group) - 1
            self.durable_seq = max(self.durable_seq, result.record.seq)
        for turn in group:
            self._judged.pop(turn.turn_id, None)
            if isinstance(result, RecordRejected):
                turn.future.set_exception(result)
            else:
                turn.future.set_result(result.record)


def _by_identity(turns: Sequence[Captured]) -> list[list[Captured]]:
    """Group turns that are one: those under the same key."""
    groups: dict[str, list[Captured]] = {}
    for turn in turns:
        groups.setdefault(turn.key or turn.turn_id, []).append(turn)
    return list(groups.values())
