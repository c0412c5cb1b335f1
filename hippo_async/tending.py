"""What a memory's owner does with memories: remember, confirm, forget, and look after them (L1).

The part of :class:`hippo_async.Hippocampus` that is about the life of memories.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from hippo_async.capture.turns import Labels
from hippo_async.errors import Forgotten, MaintenanceInFlight, NotFound
from hippo_async.lifecycle import forgetting
from hippo_async.lifecycle.forgetting import Erased
from hippo_async.lifecycle.maintenance import MaintenanceReport, Progress, Source, run_steps
from hippo_async.lifecycle.remembering import (
    Remembered,
    checkpoint_metadata,
    identity_of,
    memory_metadata,
)
from hippo_async.lifecycle.steps import Round
from hippo_async.lives import Act, Operation
from hippo_async.lives.identity import CONTENT, Identity
from hippo_async.lives.layers import Derived
from hippo_async.lives.media import check_media, check_text
from hippo_async.lives.states import MemoryState, Pending, Task
from hippo_async.overview import Overview
from hippo_async.records import Kind, Record
from hippo_async.tags import tagged

if TYPE_CHECKING:
    from hippo_async.protocols import Tagger


class Written(NamedTuple):
    """A durable record, and whether it was written for this call: under its key there may have been one."""

    record: Record
    is_new: bool


class Tending(Overview):
    """Writes memories on purpose, and what is done to them. What it needs, the public class has."""

    _tagger: Tagger | None

    if TYPE_CHECKING:

        async def _write(
            self, content: str, labels: Labels, kind: Kind | str, timestamp: datetime | None = None
        ) -> Written: ...

    async def remember(
        self,
        content: str,
        *,
        tags: Sequence[str] = (),
        kind: Kind | str = Kind.OBSERVATION,
        scope: Sequence[str] = (),
        session: str | None = None,
        source: str | None = None,
        media_url: str | None = None,
        media_type: str | None = None,
        occurred: datetime | None = None,
        occurrence: int = 0,
        metadata: Mapping[str, Any] | None = None,
    ) -> Remembered:
        """Remember something for good; durable when it returns (L1, L22).

        What is remembered again is not written again: it is the same memory, and is counted. Two are the same
        if they say the same, in any case, width and white space, with the same tags in the same scope, of the
        same time: ``occurred``, or what ``identity.event_time_policy`` takes for it. ``occurrence`` is for
        what happened more than once. One without tags gets some (``tags.automatic``): from the ``tagger``, if
        one was handed over, else from its own words. The tag ``pinned``, which nothing gets that way, puts it
        into every briefing of its scope: the newest ten of them, in a third of the room. ``media_url`` (http,
        https or an absolute path) and ``media_type`` (image, video, document, audio) go together; nothing is
        fetched.

        Raises :class:`~hippo_async.errors.InvalidMedia` for a medium that cannot be, and for 256 or more
        characters of base64 in the text (L15, L16); :class:`~hippo_async.errors.Forgotten` for what was
        forgotten and not restored; and what ``record`` raises. A caller that is cancelled does not take it
        back.
        """
        check_text(content)
        media = check_media(media_url, media_type)
        identity = identity_of(
            content,
            tags=tags,
            scope=scope,
            media=media,
            policy=self.settings.identity.event_time_policy,
            occurred=occurred,
            occurrence=occurrence,
            now=self._calendar.here(self._tools.clock.now()),
        )
        known = await self._refuse_forgotten(identity)
        if not tags and not known:
            tags = await self._asked_for_tags(content)
        ours = memory_metadata(identity, media, occurred)
        labels = Labels(None, session, scope, tags, source, identity.key, metadata, ours=ours)
        record, is_new = await self._write(content, labels, kind)
        if not is_new:
            await self._operate(Operation(Act.REPEATED, record.record_id))
        await self._running.flush()
        state = await self._running.lives.state(record.record_id)
        if state is None:
            raise _forgotten(record.record_id)
        return Remembered(record, identity.event_id, state.count, is_new)

    async def checkpoint(
        self, task_id: str, content: str, *, progress: int = 0, scope: Sequence[str] = ()
    ) -> Task | None:
        """Say how far the one task in progress is; durable when it returns (L14).

        It becomes the active task of its scope, whichever was so before; at 100 there is none any more, which
        is what is returned then. What was said of the same task before is no longer found. One that is
        forgotten counts as never made. Raises
        :class:`~hippo_async.errors.InvalidInput` for a progress outside 0 to 100, and as ``record`` does.
        """
        labels = Labels(
            None, None, scope, (), "self", None, None, ours=checkpoint_metadata(task_id, progress)
        )
        await self._write(content, labels, Kind.STATE)
        return await self.active_task(scope=scope)

    async def reinforce(self, record_id: str, *, scope: Sequence[str] = ()) -> MemoryState:
        """Confirm a memory without writing it again, which moves its review on (L1, L12).

        Takes a record id or an event id. Durable when it returns. Raises
        :class:`~hippo_async.errors.NotFound` for none that was remembered in this scope, or one that is to be
        forgotten.
        """
        target = await forgetting.find(self._running, record_id, scope, visible=True)
        await self._state(target)
        await self._operate(Operation(Act.REINFORCED, target))
        return await self._state(target)

    async def forget(self, record_id: str, *, scope: Sequence[str] = ()) -> Pending:
        """Hide a record from every search at once, and erase it ``delete.grace_hours`` later (L11).

        Takes the id of any record, or an event id. Until it is due :meth:`restore` brings it back. Folds of
        it are hidden with it. With no grace it is erased when this returns. What it was is not remembered
        again, nor captured under the same key, before it is restored. Durable when it returns. Raises
        :class:`~hippo_async.errors.NotFound` for no such record in this scope.
        """
        hours = self.settings.delete.grace_hours
        found = await forgetting.forget(
            self._running,
            record_id,
            scope=scope,
            now=self._tools.clock.now(),
            grace=timedelta(hours=hours),
            operate=self._operate,
        )
        if not hours:
            await self.erase_due()
            [found] = await self._running.lives.pending([found.record_id]) or [found]
        return found

    async def restore(self, record_id: str, *, scope: Sequence[str] = ()) -> bool:
        """Take back a :meth:`forget`; return whether the text is back (L11).

        Takes a record id or an event id. It is not when it was erased already: then its content may be
        remembered anew from now on. Waits for an erasure that is under way. Raises
        :class:`~hippo_async.errors.NotFound` for a record that nobody asked to forget in this scope.
        """
        return await forgetting.restore(self._running, record_id, scope=scope, operate=self._operate)

    async def erase_due(self) -> Erased:
        """Erase everything that is due to be forgotten; durable when it returns (L6, L11).

        Out of the journal, whose chain stays whole, the index, the raw box, and folds of it, which are made
        again from what is left. Searches wait meanwhile. A crash or a cancelled caller leaves what the next
        call finishes.
        """
        return await forgetting.erase_due(
            self._running,
            now=self._tools.clock.now(),
            operate=self._operate,
            refold=self._refold,
            press=self._press,
        )

    # ------------------------------------------------------------- looking after

    async def run_maintenance(
        self, source: Source = "manual", *, progress: Progress | None = None
    ) -> MaintenanceReport:
        """Do all that is due, step by step, and say what each step did (L24).

        Erases what is to be forgotten, demotes a task of which nothing was heard for seven days, removes raw
        shards older than ``raw.retention_days``, makes the memo of each month that is over (L19), keeps
        trends and, with ``enable_reflection``, summarizes topics (L20), anchors finished days, counts reviews
        and bytes. A step that fails is reported, and stops no other. It comes by itself 30 seconds after
        opening, by ``maintenance_cron``, and after ``dream_idle_minutes`` in which nobody used the memory.
        Killed or cancelled anywhere, the next round ends where this one would have.

        Raises :class:`~hippo_async.errors.MaintenanceInFlight` while another one runs.
        """
        engine = self._running
        if not engine.maintaining.acquire(blocking=False):
            raise MaintenanceInFlight("maintenance is running already; this round is refused, not queued")
        try:
            steps = Round(
                engine,
                self.data_dir,
                self.settings,
                self._tools.clock,
                operate=self._operate,
                erase_due=self.erase_due,
                anchor=self._anchor_finished_days,
                layers=self._layers(),
            ).steps()
            return await run_steps(
                steps,
                source=source,
                clock=self._tools.clock,
                stopping=engine.closing.is_set,
                progress=progress,
            )
        finally:
            engine.maintaining.release()

    # ------------------------------------------------------------- how

    async def _asked_for_tags(self, content: str) -> Sequence[str]:
        """Ask the tagger; without one the capture thread suggests tags, as for every turn."""
        if self._tagger is None or not self.settings.tags.automatic:
            return ()
        return await tagged(content, self._tagger)

    async def _refuse_forgotten(self, identity: Identity) -> str | None:
        """Return the record of this memory, if there is one. Raises :class:`Forgotten`."""
        mark = self._running.marker.mark(CONTENT, identity.content_hash)
        await self._running.flush()
        known = await self._running.lives.by_event(identity.event_id)
        hidden = await self._running.lives.pending([known] if known else [])
        if hidden:
            raise _forgotten(hidden[0].record_id)
        erased = await self._running.lives.bearing([mark])
        if erased and not known:
            raise _forgotten(erased[mark])
        return known

    async def _state(self, record_id: str) -> MemoryState:
        await self._running.flush()
        found = await self._running.lives.state(record_id)
        if found is None:
            raise NotFound(f"record {record_id} is no memory that was remembered")
        return found

    async def _write_derived(self, derived: Derived) -> None:
        labels = Labels(
            None, None, derived.scope, derived.subject.tags, "self", None, None, ours=derived.metadata
        )
        await self._write(derived.text, labels, Kind.STATE)

    async def _anchor_finished_days(self) -> int:
        return len((await self.publish_anchors()).anchored)

    async def _operate(self, operation: Operation) -> None:
        labels = Labels(None, None, (), (), "self", None, None, ours=operation.metadata)
        await self._write(operation.content, labels, Kind.STATE)

    async def _refold(self, text: str, fold: Record, ours: Mapping[str, Any]) -> None:
        key = f"refold:{fold.record_id}"
        labels = Labels(None, fold.session, fold.scope, fold.tags, fold.source, key, None, ours=ours)
        await self._write(text, labels, Kind.STATE)


def _forgotten(record_id: str) -> Forgotten:
    return Forgotten(f"this was forgotten; restore {record_id} before it is remembered again", record_id)
