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
    from hippo_async.place import Place, Tools


class Proving:
    """Shows that a memory is what was written. What it needs, the public class has."""

    _place: Place
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
        from hippo_async.anchors import Ledger, publish_due

        await self.flush()
        ledger = Ledger(self.data_dir, agent_id=self.agent_id, files=self._tools.files)
        records = (record for record, _ in unhurried(self._running.journal.scan()))
        return await publish_due(records, ledger, publishers, self._tools.clock)

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
        make = partial(backup, self._place, Path(destination), with_keys=with_keys, files=files, clock=clock)
        return await anyio.to_thread.run_sync(make)
