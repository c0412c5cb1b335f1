"""One run over a ledger: anchor the days that are finished, then offer them to publishers (J11, J12)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC
from typing import Any, ParamSpec, TypeVar

import anyio
import anyio.to_thread

from hippo_async.anchors.cursor import Source
from hippo_async.anchors.ledger import Ledger
from hippo_async.anchors.publishers import Publisher
from hippo_async.anchors.tally import ONE_DAY, Tally
from hippo_async.errors import InvalidInput, RecordRejected
from hippo_async.protocols import Clock
from hippo_async.workers import Worker

P = ParamSpec("P")
T = TypeVar("T")

BATCH = 2000
PATIENCE = 3
PUBLISH_SECONDS = 120.0

logger: logging.Logger = logging.getLogger("hippo_async.anchors")


@dataclass(frozen=True, slots=True)
class Published:
    """That a publisher took a day in this run."""

    date: str
    publisher: str


@dataclass(frozen=True, slots=True)
class Failed:
    """That a publisher did not take a day in this run, and why."""

    date: str
    publisher: str
    error: str


@dataclass(frozen=True, slots=True)
class AnchorRun:
    """What :func:`publish_due` did.

    ``anchored`` are the days that got their anchor now. ``waiting`` counts what is still to be published:
    failures, days whose back-off runs, and days not tried since their publisher kept failing.
    """

    anchored: tuple[str, ...]
    published: tuple[Published, ...]
    failed: tuple[Failed, ...]
    waiting: int

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return asdict(self)


async def publish_due(
    journal: Source,
    ledger: Ledger,
    publishers: Sequence[Publisher],
    clock: Clock,
    *,
    retry_now: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> AnchorRun:
    """Anchor every finished UTC day, and offer what is due to each publisher (J11, J12).

    The journal is read in a worker thread, once: from the first record on whose day the last run left without
    an anchor, or whole, if that record or the ledger's days are not those it left. Only one record is read if
    no day since the first one's is without an anchor. ``retry_now`` ignores back-off. ``progress(done,
    total)`` counts publications. Publishers run at the same time, each oldest day first. One that fails, or
    takes over two minutes, costs the others nothing: its failure is noted and tried again by a later run.
    After three failures in a row it is left alone until then.

    When this returns, anchors, receipts and failures are durable. A publisher may be offered a day again that
    it took before, if a crash or a failing disk kept its receipt from being noted. A caller that is cancelled
    leaves a ledger that the next run completes; an offer under way is neither a receipt nor a failure then.

    Raises :class:`~hippo_async.errors.InvalidInput` for two publishers of one name,
    :class:`~hippo_async.errors.AnchorsLocked` while another run is at work,
    :class:`~hippo_async.errors.AnchorDamaged` for a day that is not what was written, what reading the
    journal raises, and ``OSError`` if the ledger's disk fails.
    """
    names = [publisher.name for publisher in publishers]
    if len(set(names)) < len(names):
        raise InvalidInput(f"publishers need a name each; these are {', '.join(sorted(names))}")
    run = _Run(ledger, clock, progress)
    try:
        await run.call(ledger.acquire)
        await run.anchor(journal)
        await run.publish(publishers, retry_now=retry_now)
        return run.report()
    finally:
        run.worker.submit(ledger.release)  # behind whatever a cancelled caller left under way
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(run.worker.close)


@dataclass(slots=True)
class _Run:
    """The state of one run. All of the ledger is done in one thread, so a note never meets another."""

    ledger: Ledger
    clock: Clock
    progress: Callable[[int, int], None] | None
    worker: Worker = field(default_factory=lambda: Worker("hippo-anchors"))
    anchored: list[str] = field(default_factory=list)
    published: list[Published] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    resting: int = 0
    offers: int = 0

    async def call(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Await a call in the run's thread; it is carried out even if its caller is cancelled."""
        return await asyncio.shield(asyncio.wrap_future(self.worker.submit(call, *args, **kwargs)))

    async def anchor(self, journal: Source) -> None:
        """Write down the anchors that are missing, after one pass over the records, a batch at a time."""
        yesterday = self.clock.now().astimezone(UTC).date() - ONE_DAY
        dates = await self.call(self.ledger.dates)
        records, first = await self.call(journal.resumed, await self.call(self.ledger.cursor, dates))
        tally = Tally(records, anchored=dates, until=yesterday, first=first)
        while await self.call(tally.read, BATCH):
            pass
        await self._write_down(tally)
        cursor = tally.cursor(journal.journal_id)
        if cursor is not None:
            # not the dates there are now: an anchor that somebody removed meanwhile is to be made again
            await self.call(self.ledger.keep_cursor, cursor, sorted({*dates, *self.anchored}))

    async def _write_down(self, tally: Tally) -> None:
        anchors = tally.anchors(agent_id=self.ledger.agent_id)
        while (made := await self.call(next, anchors, None)) is not None:
            await self.call(self.ledger.add, made)
            self.anchored.append(made.date)

    async def publish(self, publishers: Sequence[Publisher], *, retry_now: bool) -> None:
        """Offer each publisher its days, all publishers at the same time."""
        names = [publisher.name for publisher in publishers]
        due = await self.call(self.ledger.due, names, None if retry_now else self.clock.now())
        self.resting = due.resting
        self.offers = sum(map(len, due.offers.values()))
        try:
            async with anyio.create_task_group() as group:
                for publisher in publishers:
                    group.start_soon(self._offer_all, publisher, due.offers[publisher.name])
        except ExceptionGroup as failures:  # only the ledger's own: a publisher's are caught
            raise failures.exceptions[0] from failures

    def report(self) -> AnchorRun:
        """Say what was done."""
        waiting = self.resting + self.offers - len(self.published)
        return AnchorRun(tuple(self.anchored), tuple(self.published), tuple(self.failed), waiting)

    async def _offer_all(self, publisher: Publisher, dates: Sequence[str]) -> None:
        in_a_row = 0
        for date in dates:
            in_a_row = 0 if await self._offer(publisher, date) else in_a_row + 1
            if self.progress is not None:
                self.progress(len(self.published) + len(self.failed), self.offers)
            if in_a_row == PATIENCE:
                return

    async def _offer(self, publisher: Publisher, date: str) -> bool:
        """Offer one day and note what came of it; return whether the publisher took it."""
        day = await self.call(self.ledger.read, date)
        try:
            with anyio.fail_after(PUBLISH_SECONDS):
                returned = await publisher.publish(day)
        except Exception as error:  # noqa: BLE001 - no fault of a publisher reaches the others
            await self._note_failed(publisher, date, error)
            return False
        return await self._note_published(publisher, date, returned)

    async def _note_published(self, publisher: Publisher, date: str, returned: Mapping[str, Any]) -> bool:
        now = self.clock.now()
        try:
            await self.call(self.ledger.note_published, date, publisher.name, returned, now)
        except RecordRejected as error:
            await self._note_failed(publisher, date, error)
            return False
        self.published.append(Published(date, publisher.name))
        return True

    async def _note_failed(self, publisher: Publisher, date: str, error: Exception) -> None:
        reason = f"{type(error).__name__}: {error}".removesuffix(": ")
        logger.warning("the anchor of %s was not published by %s: %s", date, publisher.name, reason)
        await self.call(self.ledger.note_failed, date, publisher.name, reason, self.clock.now())
        self.failed.append(Failed(date, publisher.name, reason))
