"""The one public class: an agent's long-term memory."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import anyio
import anyio.to_thread

from hippo_async import exits
from hippo_async.briefing import BriefItem, compose, select_recent, trusted
from hippo_async.capture.receipt import Receipt
from hippo_async.capture.turns import Captured, Labels, check_size, metadata_of, storable
from hippo_async.clock import SystemClock
from hippo_async.config import Settings
from hippo_async.context import estimate_tokens, fold_text
from hippo_async.errors import CaptureRefused, Closed, HippoError, InvalidInput, WriteFailed
from hippo_async.files import Files
from hippo_async.place import Place, Tools, default_data_dir, default_witness
from hippo_async.protocols import Clock, Embedder, Summarizer, TokenCounter
from hippo_async.records import FOLDED_EVENT, FOLDED_TAG, Briefing, Filters, Kind, Recall, Record, Turn
from hippo_async.status import Status, status_of

if TYPE_CHECKING:
    from hippo_async.engine import Engine
    from hippo_async.index import Row
    from hippo_async.journal import ChainReport, OpenReport
    from hippo_async.journal.anchor import DailyAnchor

logger = logging.getLogger("hippo_async")

SUMMARY_SECONDS = 60.0
RECENT_ROWS = 2000


class Hippocampus:
    """An agent's long-term memory in one directory.

    ``async with Hippocampus("memory", agent_id="assistant") as memory: …``

    - ``data_dir``: where it lies; ``HIPPO_DATA_DIR`` or the platform's folder when not given. - ``agent_id``:
    whose it is; a journal of another agent is refused. - ``key`` (32 bytes) or ``key_file``: the agent's
    secret; else ``agent.key`` in the data directory, made at
      the first start with mode 0600.
    - ``embedder``: ``"auto"``, ``"none"``, ``"multilingual"``, ``"semantic"``, a model's name or folder, or
    an
      :class:`~hippo_async.protocols.Embedder`.
    - ``summarizer``: a coroutine function that folds evicted turns; the extractive fold stands behind it. -
    ``token_counter``: counts tokens exactly; else they are estimated, never too low. - ``witness``: a
    directory outside the store with a second copy of the head, so that a rollback of the whole
      store is noticed; ``"default"`` is the user's state folder, ``None`` goes without.

    The constructor touches neither disk nor event loop. An open memory may be used from any thread and any
    number of event loops; methods are safe to call at the same time. Sync code goes through
    :func:`hippo_async.blocking`, or ``with Hippocampus(…) as memory``.
    """

    def __init__(
        self,
        data_dir: str | Path | None = None,
        *,
        agent_id: str = "agent",
        key: bytes | None = None,
        key_file: str | Path | None = None,
        settings: Settings | None = None,
        embedder: str | Embedder | None = "auto",
        summarizer: Summarizer | None = None,
        token_counter: TokenCounter | None = None,
        witness: str | Path | None = "default",
        clock: Clock | None = None,
        files: Files | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self._place = Place(
            data_dir=Path(data_dir) if data_dir is not None else default_data_dir(),
            agent_id=agent_id,
            key=key,
            key_file=Path(key_file) if key_file is not None else None,
            witness=default_witness()
            if witness == "default"
            else Path(witness)
            if witness is not None
            else None,
        )
        self._tools = Tools(self.settings, embedder, clock or SystemClock(), files or Files())
        self._summarizer = summarizer
        self._count = token_counter or estimate_tokens
        self._engine: Engine | None = None
        self._opening: Future[OpenReport] | None = None
        self._captured = 0
        self._refused = 0

    def __repr__(self) -> str:
        state = "open" if self._engine is not None else "closed"
        return f"<Hippocampus {self._place.agent_id!r} at {self._place.data_dir} {state}>"

    # ---------------------------------------------------------------- life

    @property
    def agent_id(self) -> str:
        """Whose memory this is."""
        return self._place.agent_id

    @property
    def data_dir(self) -> Path:
        """Where it lies."""
        return self._place.data_dir

    @property
    def is_open(self) -> bool:
        """Whether turns are taken now."""
        return self._engine is not None

    async def open(self, progress: Callable[[int, int], None] | None = None) -> OpenReport:
        """Check the journal, bring the index up to it, and start taking turns.

        Opening what is open does nothing. ``progress(done, total)`` is called in a worker thread while the
        index is brought up. Raises :class:`~hippo_async.errors.JournalLocked` if another writer holds it, a
        :class:`~hippo_async.errors.IntegrityError` if it is not what was written, a
        :class:`~hippo_async.errors.KeyFileError`, or ``OSError``. A caller that is cancelled leaves the
        opening to finish by itself.
        """
        exits.watch_sigterm()
        opening = self._opening
        if opening is None:
            opening = self._opening = Future()
            await anyio.to_thread.run_sync(self._open, opening, progress)
        return await asyncio.shield(asyncio.wrap_future(opening))

    async def close(self) -> None:
        """Flush and close. May be called twice; a cancelled caller leaves it to finish by itself.

        When it returns, every captured turn is durable. Raises :class:`~hippo_async.errors.HippoError` if
        some could not be written; the memory is closed all the same.
        """
        engine, self._engine, self._opening = self._engine, None, None
        if engine is not None:
            lost = 0
            with anyio.CancelScope(shield=True):
                lost = await anyio.to_thread.run_sync(engine.close)
            exits.unwatch_sigterm()
            _complain_about(lost)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __enter__(self) -> Self:
        exits.watch_sigterm()
        opening = self._opening = self._opening or Future()
        if not opening.done():
            self._open(opening, None)
        opening.result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        engine, self._engine, self._opening = self._engine, None, None
        if engine is not None:
            lost = engine.close()
            exits.unwatch_sigterm()
            _complain_about(lost)

    def status(self) -> Status:
        """Say how the memory is: what was captured, what waits, what failed, what is stored. Never blocks."""
        return status_of(self._engine, captured=self._captured, refused=self._refused)

    # ------------------------------------------------------------- writing

    def capture(
        self,
        content: str,
        *,
        role: str = "user",
        session: str | None = None,
        scope: Sequence[str] = (),
        key: str | None = None,
        kind: Kind | str = Kind.OBSERVATION,
        source: str | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        timestamp: datetime | None = None,
    ) -> Receipt:
        """Take a turn into the buffer and return at once (M2, L4).

        Costs microseconds, never blocks, never raises; from any thread. The turn is durable when the receipt
        resolves: after ten turns or one second. What cannot be taken (an unknown kind, a full buffer, a
        closed memory) fails the receipt and is counted in :meth:`status`.

        ``key`` is the caller's own id of the turn: one that was captured before, even by another process,
        gives no second record, and the receipt resolves to the first.
        """
        turn_id = secrets.token_hex(8)
        try:
            labels = Labels(role, session, scope, tags, source, key, metadata)
            turn = self._turn(turn_id, content, labels, kind, timestamp, explicit=False)
            self._captured += 1
            self._running.pipeline.put(turn)
        except Exception as error:  # noqa: BLE001 - no fault of memory reaches the agent
            return self._refuse(turn_id, error)
        return Receipt(turn_id, turn.future)

    async def record(
        self,
        content: str,
        *,
        kind: Kind | str = Kind.OBSERVATION,
        role: str | None = None,
        session: str | None = None,
        scope: Sequence[str] = (),
        key: str | None = None,
        source: str | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        timestamp: datetime | None = None,
    ) -> Record:
        """Write one record; it is durable when this returns (J2, J14).

        Raises :class:`~hippo_async.errors.RecordRejected` for what cannot be written down,
        :class:`~hippo_async.errors.WriteFailed` for a failing disk (nothing is kept back then). A caller that
        is cancelled does not take the record back.
        """
        turn_id = secrets.token_hex(8)
        labels = Labels(role, session, scope, tags, source, key, metadata)
        turn = self._turn(turn_id, content, labels, kind, timestamp, explicit=True)
        self._running.pipeline.put(turn)
        return await Receipt(turn_id, turn.future)

    async def flush(self) -> None:
        """Return once everything captured so far is durable and can be found.

        Raises the disk's error if it fails; the turns stay buffered, and writing goes on. So it does for a
        caller that is cancelled.
        """
        engine = self._running
        await asyncio.shield(asyncio.wrap_future(engine.pipeline.flush()))
        await engine.library.worker.run(lambda: None)  # the index has followed

    async def fold(
        self, turns: Sequence[Turn], *, session: str | None = None, scope: Sequence[str] = ()
    ) -> Record:
        """Fold turns that leave a context window into one record with pointers to the originals (M3, L17).

        Durable when it returns, so that what was folded may go. With a summarizer, its text; if that fails,
        takes over a minute or says nothing, what the extractive fold finds. Raises as :meth:`record` does,
        and :class:`~hippo_async.errors.InvalidInput` for no turns.
        """
        if not turns:
            raise InvalidInput("there are no turns to fold")
        await self.flush()
        keys = [turn.key for turn in turns if turn.key is not None]
        known = await self._running.library.worker.run(self._running.library.ids_by_key, keys) if keys else {}
        originals = [turn.record_id or known.get(turn.key or "") for turn in turns]
        summary = await self._summarize(turns)
        found = fold_text(turns, count=self._count)
        return await self.record(
            summary or found.text,
            kind=Kind.STATE,
            session=session,
            scope=scope,
            source="self",
            tags=[FOLDED_TAG],
            metadata={
                "event": FOLDED_EVENT,
                "turns": len(turns),
                "originals": [record_id for record_id in originals if record_id],
            },
        )

    # ------------------------------------------------------------- finding

    async def recall(
        self,
        query: str,
        *,
        tags: Sequence[str] = (),
        kinds: Sequence[Kind | str] = (),
        roles: Sequence[str] = (),
        scope: Sequence[str] = (),
        session: str | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
        top_k: int | None = None,
    ) -> Recall:
        """Find memories by words and, with an embedder, by meaning; best first.

        Sees everything captured before the call. Only records of exactly this ``scope`` are found, with all
        of ``tags``, one of ``kinds`` and ``roles``, in ``session``, from ``start`` up to ``end``. Every hit
        was read from the journal and checked; ``hit.why`` adds up to ``hit.score``. Raises
        :class:`~hippo_async.errors.InvalidInput` for what cannot be asked,
        :class:`~hippo_async.errors.JournalCorrupt` if a memory is not what was written.
        """
        filters = _filters(tags, kinds, roles, scope, session, start, end)
        limit = self._limit(top_k)
        engine = self._running
        notes = await self._settle(engine)
        await asyncio.shield(asyncio.wrap_future(engine.warmed))
        hits = await engine.library.worker.run(engine.library.search, query, filters=filters, limit=limit)
        return Recall(query, tuple(hits), notes)

    async def brief(
        self,
        query: str | None = None,
        *,
        budget: int | None = None,
        session: str | None = None,
        scope: Sequence[str] = (),
        exclude_keys: Collection[str] = (),
    ) -> Briefing:
        """Select memories for a prompt under a hard token budget (M4, design §8).

        What recall finds for ``query`` comes first, then the newest that was not routine. ``budget`` is in
        tokens, an eighth of ``context.max_tokens`` when not given; the text never exceeds it.
        ``exclude_keys`` are capture keys of turns that the prompt shows anyway. Does not wait for the disk or
        for a model that is still loading: it briefs what can be found at this moment.
        """
        limit = budget if budget is not None else self.settings.context.max_tokens // 8
        if limit < 0:
            raise InvalidInput(f"a budget of {limit} tokens")
        if not self.settings.briefing:
            return Briefing("", 0, limit)
        engine = self._running
        filters = _filters(scope=scope)
        return await engine.library.worker.run(
            self._brief, engine, query, limit, filters, frozenset(exclude_keys)
        )

    async def selective_load(
        self,
        budget: int,
        *,
        chars_per_token: int = 4,
        include_routine: bool = False,
        scope: Sequence[str] = (),
    ) -> list[Record]:
        """Return the newest records that were not routine, as far as they fit, in chronological order (J9).

        Walks from the tail until the lengths of the contents would exceed ``budget × chars_per_token``.
        """
        if budget < 0 or chars_per_token < 1:
            raise InvalidInput(f"a budget of {budget} tokens of {chars_per_token} characters")
        library = self._running.library
        await self._settle(self._running)

        def load() -> list[Record]:
            rows = library.newest(filters=Filters(scope=tuple(scope)), include_routine=include_routine)
            return library.read(_within(rows, budget * chars_per_token))

        return await library.worker.run(load)

    async def pattern_completion(self, query: str, top_k: int = 5, *, scope: Sequence[str] = ()) -> Recall:
        """Return the records most like ``query``: by cosine over all of them, or by substring (J10).

        Plain: no words, no ranking signals. Writes nothing.
        """
        engine = self._running
        notes = await self._settle(engine)
        await asyncio.shield(asyncio.wrap_future(engine.warmed))
        filters = Filters(scope=tuple(scope))
        limit = self._limit(top_k)
        hits = await engine.library.worker.run(engine.library.complete, query, limit=limit, filters=filters)
        return Recall(query, tuple(hits), notes)

    async def latest(
        self,
        *,
        n: int = 1,
        kinds: Sequence[Kind | str] = (),
        tags: Sequence[str] = (),
        roles: Sequence[str] = (),
        scope: Sequence[str] = (),
        session: str | None = None,
    ) -> list[Record]:
        """Return the newest records that meet the filters, newest first."""
        filters = _filters(tags, kinds, roles, scope, session)
        engine = self._running
        await self._settle(engine)
        return await engine.library.worker.run(engine.library.latest, filters=filters, limit=n)

    async def session(
        self, session: str, *, scope: Sequence[str] = (), limit: int | None = None
    ) -> list[Record]:
        """Return the records of a session in the order in which they came; the newest ``limit`` if given."""
        found = await self.latest(n=limit if limit is not None else 2**31, session=session, scope=scope)
        return found[::-1]

    async def records(self, *, after: int = -1) -> AsyncIterator[Record]:
        """Yield every record of the journal above seq ``after``, verified, whatever its scope or type."""
        scan = self._running.journal.scan(after=after)
        while batch := await anyio.to_thread.run_sync(lambda: [record for record, _ in islice(scan, 500)]):
            for record in batch:
                yield record

    # ------------------------------------------------------------- proving

    async def verify_chain(self) -> ChainReport:
        """Walk the journal once and check every seal and link (J6)."""
        await self.flush()
        return await anyio.to_thread.run_sync(self._running.journal.verify_chain)

    async def daily_anchor(self, day: date) -> DailyAnchor:
        """Fold the records of a UTC day into one hash that can be published and tells nothing else (J11)."""
        from hippo_async.journal.anchor import daily_anchor

        await self.flush()
        journal = self._running.journal

        def fold_day() -> DailyAnchor:
            return daily_anchor((record for record, _ in journal.scan()), agent_id=self.agent_id, date=day)

        return await anyio.to_thread.run_sync(fold_day)

    # ------------------------------------------------------------ counting

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text as every budget here does."""
        return self._count(text)

    # ------------------------------------------------------------ internal

    @property
    def _running(self) -> Engine:
        if self._engine is None:
            raise Closed("the memory is not open; use 'async with memory:' or 'await memory.open()'")
        if self._engine.inherited:
            raise Closed("the memory was opened before a fork and belongs to the parent; build a new one")
        return self._engine

    def _open(self, opening: Future[OpenReport], progress: Callable[[int, int], None] | None) -> None:
        from hippo_async.engine import Engine

        try:
            engine = Engine.open(self._place, self._tools, progress)
        except BaseException as error:  # noqa: BLE001 - it is handed to whoever waits for the opening
            self._opening = None
            opening.set_exception(error)
        else:
            self._engine = engine
            opening.set_result(engine.report)

    def _turn(
        self,
        turn_id: str,
        content: str,
        labels: Labels,
        kind: Kind | str,
        timestamp: datetime | None,
        *,
        explicit: bool,
    ) -> Captured:
        check_size(content, max_turn_kb=self.settings.capture.max_turn_kb)
        at = timestamp or self._tools.clock.now()
        _check_aware("timestamp", at)
        return Captured(
            turn_id=turn_id,
            content=content if explicit else storable(content),
            kind=_kind(kind),
            metadata=metadata_of(labels, turn_id=turn_id),
            at=at,
            key=labels.key,
            explicit=explicit,
        )

    def _refuse(self, turn_id: str, error: Exception) -> Receipt:
        self._refused += 1
        logger.warning("a turn was not captured: %s", error)
        refused: Future[Record] = Future()
        ours = isinstance(error, HippoError)
        refused.set_exception(error if ours else CaptureRefused(f"{type(error).__name__}: {error}"))
        return Receipt(turn_id, refused)

    async def _settle(self, engine: Engine) -> tuple[str, ...]:
        """Flush before a read; a disk that fails is noted, for what is durable can still be found."""
        try:
            await self.flush()
        except (HippoError, OSError) as error:
            unwritten = f"{engine.pipeline.buffered} captured turns are not written yet ({error})"
            return (f"{unwritten}; they were not searched",)
        return ()

    async def _summarize(self, turns: Sequence[Turn]) -> str | None:
        if self._summarizer is None:
            return None
        try:
            async with asyncio.timeout(SUMMARY_SECONDS):
                return (await self._summarizer(turns)).strip() or None
        except Exception:
            logger.exception("the summarizer failed; the fold is extractive")
            return None

    def _brief(
        self, engine: Engine, query: str | None, budget: int, filters: Filters, exclude_keys: Collection[str]
    ) -> Briefing:
        """Select and compose, in the library's thread."""
        library = engine.library
        shown = set(library.ids_by_key(list(exclude_keys)).values())
        hits = library.search(query, filters=filters, limit=self.settings.retrieval.top_k) if query else []
        rows = islice(library.newest(filters=filters, include_routine=False), RECENT_ROWS)
        recent = library.read(_within(rows, budget * 4))
        items = [BriefItem(hit.record, "recalled") for hit in hits]
        items += [BriefItem(record, "recent") for record in recent]
        wanted = [item for item in items if item.record.record_id not in shown and trusted(item.record)]
        return compose(wanted, budget=budget, count=self._count)

    def _limit(self, top_k: int | None) -> int:
        limit = self.settings.retrieval.top_k if top_k is None else top_k
        if not 1 <= limit <= self.settings.max_recall_top_k:
            raise InvalidInput(f"top_k {limit}; it takes 1 to {self.settings.max_recall_top_k}")
        return limit


def _within(rows: Iterable[Row], budget_chars: int) -> list[Row]:
    """Take rows from the tail while their texts fit; return them in the order of time."""
    seen: dict[int, Row] = {}

    def lengths() -> Iterator[tuple[int, int]]:
        for row in rows:
            seen[row.seq] = row
            yield row.seq, row.length

    return [seen[seq] for seq in select_recent(lengths(), budget_chars=budget_chars)]


def _filters(
    tags: Sequence[str] = (),
    kinds: Sequence[Kind | str] = (),
    roles: Sequence[str] = (),
    scope: Sequence[str] = (),
    session: str | None = None,
    start: datetime | None = None,
    end: datetime | None = None,
) -> Filters:
    return Filters(
        tags=tuple(tags),
        kinds=tuple(_kind(kind) for kind in kinds),
        roles=tuple(roles),
        scope=tuple(scope),
        session=session,
        start=start,
        end=end,
    )


def _kind(kind: Kind | str) -> Kind:
    try:
        return Kind(kind)
    except ValueError:
        raise InvalidInput(f"kind {kind!r} is unknown; it is one of {', '.join(Kind)} (J3)") from None


def _check_aware(name: str, moment: datetime) -> None:
    if moment.tzinfo is None:
        raise InvalidInput(f"{name}: a naive datetime does not say which moment it means; add a time zone")


def _complain_about(lost: int) -> None:
    if lost:
        raise WriteFailed(f"{lost} captured turns could not be written before the memory was closed")
