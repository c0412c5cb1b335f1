"""How a memory is proved and copied: what :class:`hippo_async.Hippocampus` does with its journal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from hippo_async.workers import unhurried

if TYPE_CHECKING:
    from hippo_async.anchors import AnchorRun, Publisher
    from hippo_async.backup import BackupReport
    from hippo_async.engine import Engine
    from hippo_async.journal import ChainReport
    from hippo_async.journal.anchor import DailyAnchor
    from hippo_async.life import Life, Progress
    from hippo_async.migration import MigrationReport
    from hippo_async.place import Tools


class Proving:
    """Shows that a memory is what was written. What it needs, the public class has."""

    _life: Life
    _tools: Tools

    if TYPE_CHECKING:

        @property
        def agent_id(self) -> str: ...

        @property
        def data_dir(self) -> Path: ...

        @property
        def _running(self) -> Engine: ...

        async def flush(self) -> None: ...

    async def verify_chain(self) -> ChainReport:
        """Walk the journal once and check every seal and link (J6)."""
        await self.flush()
        return await anyio.to_thread.run_sync(self._running.journal.verify_chain)

    async def daily_anchor(self, day: date) -> DailyAnchor:
        """Fold the records of a UTC day into one hash that can be published and tells nothing else (J11)."""
        from hippo_async.journal.anchor import daily_anchor

        await self.flush()
        records = (record for record, _ in self._running.journal.scan())
        return await anyio.to_thread.run_sync(
            partial(daily_anchor, records, agent_id=self.agent_id, date=day)
        )

    async def publish_anchors(self, publishers: Sequence[Publisher] = ()) -> AnchorRun:
        """Anchor every UTC day that is over, and offer what is due to each publisher (J11, J12).

        Sees everything captured before the call. Anchors lie in ``anchors/`` in the data directory; one that
        is there stays as it was. When this returns, anchors, receipts and failures are durable. A publisher
        that fails raises nothing: it is in the report, and offered the day again by a later call, once a
        back-off of a minute, doubling up to a day, is over. Capturing goes on meanwhile. A caller that is
        cancelled leaves what the next call completes.

        Raises what :meth:`flush` and :meth:`records` raise,
        :class:`~hippo_async.errors.AnchorsLocked` while another run is at work on this store,
        :class:`~hippo_async.errors.AnchorDamaged` if an anchor is not what was written, ``OSError`` if the
        disk fails, and :class:`~hippo_async.errors.InvalidInput` for two publishers of one name.
        """
        from hippo_async.anchors import Ledger, Source, publish_due

        await self.flush()
        ledger = Ledger(self.data_dir, agent_id=self.agent_id, files=self._tools.files)
        journal = self._running.journal
        source = Source(
            journal.journal_id,
            lambda after: (record for record, _ in unhurried(journal.scan(after=after))),
        )
        return await publish_due(source, ledger, publishers, self._tools.clock)

    async def backup(self, destination: str | Path, *, with_keys: bool = False) -> BackupReport:
        """Copy this memory into a new or empty directory, and verify the copy; capturing goes on meanwhile.

        Holds everything captured before the call, and ``config.toml``, but no index, and the keys only
        ``with_keys``: without them, see ``report.warning``. When this returns, the copy is durable and every
        seal in it was checked. A caller that is cancelled leaves the copy to be finished. On an error there
        is no backup.

        Raises what :meth:`flush` raises, :class:`~hippo_async.errors.InvalidInput` if something is there
        already, an :class:`~hippo_async.errors.IntegrityError` if this memory or the copy is not what was
        written, :class:`~hippo_async.errors.JournalLocked` if purges did not let it finish, and ``OSError``.
        """
        from hippo_async.backup import backup

        await self.flush()
        files, clock = self._tools.files, self._tools.clock
        make = partial(
            backup, self._life.place, Path(destination), with_keys=with_keys, files=files, clock=clock
        )
        return await anyio.to_thread.run_sync(make)

    async def migrate(self, target: str | Path, *, progress: Progress | None = None) -> MigrationReport:
        """Move this memory to a new or empty directory while it is open; it goes on there (L13).

        Most is copied while it is used. Then it is closed for the time of reading it once or twice: turns
        that are captured, or written by ``record`` and the like, wait for its end, and so does
        :meth:`configure`; what else is asked is refused with
        :class:`~hippo_async.errors.MigrationLocked`, or fails with :class:`~hippo_async.errors.Closed` if it
        was under way. Both ends are compared before the switch. When this
        returns, the memory is open at the target, which is :attr:`data_dir` then, and everything captured
        before is durable there; the old directory stays as a backup that nobody writes to. A key file that
        lies in it comes along. ``progress(done, total)`` counts bytes, in a thread of its own.

        On an error the memory is open where it was, with everything captured. If it cannot be opened again
        for a failing disk, at either end, that is tried until it can or :meth:`close` is called; turns wait.
        A caller that is cancelled leaves the move to end by itself, done or undone; closing the memory gives
        it up as far as it can be undone. A process that dies leaves what ``hippo migrate`` completes.

        Raises what :func:`hippo_async.migration.migrate` raises: :class:`~hippo_async.errors.MigrationLocked`
        also if this memory is being moved already, :class:`~hippo_async.errors.InvalidInput` also if it was
        moved there before and went on without; :class:`~hippo_async.errors.ConfigError` if its
        ``config.toml`` names the old directory, :class:`~hippo_async.errors.Closed`, and ``OSError`` if
        captured turns cannot be written.
        """
        from hippo_async.relocation import relocate

        return await relocate(self._life, Path(target), self._tools, progress)
