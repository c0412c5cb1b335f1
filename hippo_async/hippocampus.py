"""The one public class: an agent's long-term memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import anyio
import anyio.to_thread

from hippo_async import asking
from hippo_async.asking import Mode
from hippo_async.capture.receipt import Receipt
from hippo_async.capture.turns import Captured, Labels, captured, turn_ids
from hippo_async.clock import SystemClock
from hippo_async.config import Settings
from hippo_async.configuring import Configuration
from hippo_async.context import RememberedCounts, estimate_tokens, fold_text
from hippo_async.errors import InvalidInput
from hippo_async.files import Files
from hippo_async.life import Life
from hippo_async.lifecycle.maintenance import Source
from hippo_async.lifecycle.schedule import Schedule
from hippo_async.place import Place, Tools, named_witness, place_of
from hippo_async.protocols import Clock, EmbedderChoice, Summarizer, Tagger, TokenCounter
from hippo_async.records import FOLDED_TAG, Briefing, Kind, Recall, Record, Turn, fold_metadata
from hippo_async.selection import filters_of, kind_of, limit_of
from hippo_async.status import Status, status_of
from hippo_async.summary import summarized, without_forgotten
from hippo_async.tending import Tending, Written

if TYPE_CHECKING:
    from hippo_async.engine import Engine
    from hippo_async.journal import OpenReport

logger: logging.Logger = logging.getLogger("hippo_async")


class Hippocampus(Tending):
    """An agent's long-term memory in one directory.

    - ``data_dir``: where it lies; when not given, where ``settings`` say, ``HIPPO_DATA_DIR``, or the
      platform's folder.
    - ``agent_id``: whose it is; a journal of another agent is refused.
    - ``key`` (32 bytes) or ``key_file``: the agent's secret; else ``agent.key`` in the data directory, made
      at the first start with mode 0600. ``retired_keys`` are those before ``key``, oldest first, once keys
      were changed; key files of earlier epochs are found beside ``key_file``.
    - ``embedder``: ``"auto"``, ``"none"``, ``"multilingual"``, ``"semantic"``, a model's name or folder,
      LangChain ``Embeddings``, or an :class:`~hippo_async.protocols.Embedder`.
    - ``settings``: how it works, taken as they are; else they are read when it is opened, from the
      environment (``HIPPO_RAW__MODE=all``), ``config.toml`` in the data directory, and the defaults.
    - ``summarizer``: a coroutine function that folds evicted turns; the extractive fold stands behind it.
    - ``tagger``: a coroutine function that gives a memory its tags (:meth:`remember`); what is suggested from
      the text's own words stands behind it.
    - ``token_counter``: counts tokens exactly; else they are estimated, never too low.
    - ``witness``: a directory outside the store with a second copy of the head, so that a rollback of the
      whole store is noticed; ``"default"`` is the user's state folder, ``None`` goes without.
    - ``maintenance``: whether :meth:`run_maintenance` comes by itself while the memory is open.

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
        retired_keys: Sequence[bytes] = (),
        settings: Settings | None = None,
        embedder: EmbedderChoice = "auto",
        summarizer: Summarizer | None = None,
        tagger: Tagger | None = None,
        token_counter: TokenCounter | None = None,
        witness: str | Path | None = "default",
        maintenance: bool = True,
        clock: Clock | None = None,
        files: Files | None = None,
    ) -> None:
        place = Place(
            data_dir=place_of(data_dir, settings),
            agent_id=agent_id,
            key=key,
            key_file=Path(key_file) if key_file is not None else None,
            retired_keys=tuple(retired_keys),
            witness=named_witness(witness),
        )
        self._tools = Tools(settings or Settings(), embedder, clock or SystemClock(), files or Files())
        self._configuration = Configuration(place.data_dir, settings, self._tools.files)
        self._summarizer = summarizer
        self._tagger = tagger
        self._count = RememberedCounts(token_counter or estimate_tokens)
        self._life = Life(place, self._tools, self._configuration, self._attended)
        self._turn_ids = turn_ids()
        self._maintained = maintenance
        self._captured = 0
        self._refused = 0

    def __repr__(self) -> str:
        state = "open" if self._life.engine is not None else "closed"
        return f"<Hippocampus {self.agent_id!r} at {self.data_dir} {state}>"

    # ---------------------------------------------------------------- life

    @property
    def agent_id(self) -> str:
        """Whose memory this is."""
        return self._life.place.agent_id

    @property
    def data_dir(self) -> Path:
        """Where it lies; :meth:`migrate` moves it."""
        return self._life.place.data_dir

    @property
    def settings(self) -> Settings:
        """How it works now. Before the first :meth:`open`: those passed in, or the defaults."""
        return self._configuration.current

    @property
    def is_open(self) -> bool:
        """Whether turns are taken now."""
        return self._life.engine is not None

    async def open(self, progress: Callable[[int, int], None] | None = None) -> OpenReport:
        """Check the journal, bring the index up to it, and start taking turns.

        Opening what is open does nothing. Where there is no memory yet, one is fetched first from where the
        setting ``migrate_from`` says (L13): a directory, or the empty string for one under an old name. That
        raises as :func:`hippo_async.migration.migrate` does, and no memory begins then. ``progress(done,
        total)`` is called in a worker thread while it is fetched, then while the index is brought up.

        Raises :class:`~hippo_async.errors.JournalLocked` if another writer holds it, a
        :class:`~hippo_async.errors.IntegrityError` if it is not what was written, a
        :class:`~hippo_async.errors.KeyFileError`, a :class:`~hippo_async.errors.ConfigError` for a setting
        of environment or file that is not allowed, or ``OSError``. A caller that is cancelled leaves the
        opening to finish by itself.
        """
        return await self._life.open(progress)

    async def close(self) -> None:
        """Flush and close. May be called twice; a cancelled caller leaves it to finish by itself.

        When it returns, every captured turn is durable. Raises :class:`~hippo_async.errors.HippoError` if
        some could not be written; the memory is closed all the same.
        """
        await self._life.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __enter__(self) -> Self:
        self._life.open_here()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._life.close_here()

    async def configure(self, patch: Mapping[str, Any]) -> Settings:
        """Change settings while it is open, and keep them in ``config.toml`` in the data directory (L23).

        ``patch`` maps keys to values, nested or dotted, in either spelling: ``{"raw.maxResultTokens": 500}``.
        The whole is validated as at the start; then it is durable, then it holds:

        - at once: ``briefing``, ``time_zone``, ``max_recall_top_k``, ``capture``, ``context``, ``retrieval``,
          ``decay``, ``active_set``, ``raw`` but for ``raw.retention_days``; what reads :attr:`settings` when
          it acts sees all of them;
        - from the next maintenance: ``raw.retention_days``, ``temp``, ``enable_reflection``, ``review``;
        - from the next open: ``migrate_from``, ``auto_maintain_on_boot``;
        - ``data_dir`` takes the present directory only: :meth:`migrate` moves a memory.

        A memory that was given ``settings=`` goes by those again when it is built anew; the file is then not
        read. Returns the settings that hold now. Raises :class:`~hippo_async.errors.ConfigError` for what is
        not allowed, or for what the environment sets and would undo, :class:`~hippo_async.errors.Closed`,
        and ``OSError`` if the file cannot be written; nothing has changed then. A caller that is cancelled
        leaves the change to finish by itself.
        """
        return await anyio.to_thread.run_sync(self._life.configure, patch)

    def status(self) -> Status:
        """Say how the memory is: what was captured, what waits, what failed, what is stored. Never blocks."""
        life = self._life
        return status_of(life.engine, captured=self._captured, refused=self._refused, waiting=life.waiting)

    # ------------------------------------------------------------- writing

    def capture(
        self,
        content: str,
        *,
        role: str = "user",
        speaker: str | None = None,
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

        ``speaker`` is the name of who spoke, where several people do: a question that names one finds what
        they said. ``key`` is the caller's own id of the turn: one that was captured before, even by another
        process, gives no second record, and the receipt resolves to the first.
        """
        turn_id = next(self._turn_ids)
        try:
            labels = Labels(role, session, scope, tags, source, key, metadata, speaker)
            turn = self._turn(turn_id, content, labels, kind, timestamp, explicit=False)
            self._captured += 1
            self._life.put(turn)
        except Exception as error:  # noqa: BLE001 - no fault of memory reaches the agent
            return self._refuse(turn_id, error)
        return Receipt(turn_id, turn.future)

    async def record(
        self,
        content: str,
        *,
        kind: Kind | str = Kind.OBSERVATION,
        role: str | None = None,
        speaker: str | None = None,
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
        labels = Labels(role, session, scope, tags, source, key, metadata, speaker)
        return (await self._write(content, labels, kind, timestamp)).record

    async def flush(self) -> None:
        """Return once everything captured so far is durable and can be found.

        Raises the disk's error if it fails; the turns stay buffered, and writing goes on. So it does for a
        caller that is cancelled.
        """
        await self._running.flush()

    async def fold(
        self, turns: Sequence[Turn], *, session: str | None = None, scope: Sequence[str] = ()
    ) -> Record:
        """Fold turns that leave a context window into one record with pointers to the originals (M3, L17).

        Durable when it returns, so that what was folded may go. A fold is trusted no more than what went into
        it: with a tool's result in it, its source is ``tool``. With a summarizer, its text; if that fails,
        takes over a minute or says nothing, what the extractive fold finds. Raises as :meth:`record` does,
        and :class:`~hippo_async.errors.InvalidInput` for no turns.
        """
        if not turns:
            raise InvalidInput("there are no turns to fold")
        await self.flush()
        library = self._running.library
        turns, originals = await without_forgotten(self._running, turns)
        summary = await summarized(turns, self._summarizer)
        if summary is None:
            summary = (await library.run(fold_text, turns, count=self._count)).text
        source = "tool" if any(turn.role == "tool" for turn in turns) else "self"
        ours = fold_metadata(originals, turns=len(turns))
        labels = Labels(None, session, scope, [FOLDED_TAG], source, None, None, ours=ours)
        return (await self._write(summary, labels, Kind.STATE)).record

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
        max_tokens: int | None = None,
        neighbours: int = 0,
        mode: Mode = "memories",
    ) -> Recall:
        """Find memories by words and, with an embedder, by meaning; best first (L1).

        Sees everything captured before the call. Only records of exactly this ``scope`` are found, with all
        of ``tags``, one of ``kinds`` and ``roles``, in ``session``, from ``start`` up to ``end``. Every hit
        was read from the journal and checked; ``hit.why`` always says what adds up to ``hit.score``. What one
        speaker said more than once is one hit with its ``repeats``. With ``neighbours``, ``hit.around`` are
        that many turns before and after it in its session and scope. The texts of hits and neighbours take at
        most ``max_tokens``; ``notes`` say what was left out.

        ``mode="deep_raw"`` looks for every word, as it was said, through the raw black box from ``start`` to
        ``end``, which it needs both (L7), and answers in ``recall.raw``: redacted (L5), at most
        ``raw.max_result_tokens`` (L8), and nothing that no record within the filters proves was said.

        Raises :class:`~hippo_async.errors.InvalidInput` for what cannot be asked,
        :class:`~hippo_async.errors.JournalCorrupt` if a memory is not what was written.
        """
        question = asking.Question.of(
            query,
            filters_of(tags, kinds, roles, scope, session, start, end),
            top_k=top_k,
            max_tokens=max_tokens,
            neighbours=neighbours,
            mode=mode,
            settings=self.settings,
        )
        return await asking.recall(self._life.in_use, question, self.data_dir, self.settings.raw, self._count)

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

        The task in progress and what carries the tag ``pinned`` come first, in a third of the room each at
        most; then what recall finds for ``query``, then the newest that was not routine. ``budget`` is in
        tokens, an eighth of ``context.max_tokens`` when not given; the text never exceeds it.
        ``exclude_keys`` are capture keys of turns that the prompt shows anyway. Does not wait for the disk or
        for a model that is still loading: it briefs what can be found at this moment.
        """
        limit = asking.briefing_budget(budget, self.settings)
        if not self.settings.briefing:
            return Briefing("", 0, limit)
        return await asking.brief(
            self._life.in_use,
            query,
            budget=limit,
            filters=filters_of(scope=scope),
            exclude_keys=exclude_keys,
            top_k=self.settings.retrieval.top_k,
            count=self._count,
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
        chars, filters = budget * chars_per_token, filters_of(scope=scope)
        return await asking.newest_within(self._running, chars, routine=include_routine, filters=filters)

    async def pattern_completion(self, query: str, top_k: int = 5, *, scope: Sequence[str] = ()) -> Recall:
        """Return the records most like ``query``: by cosine over all of them, or by substring (J10).

        Plain: no words, no ranking signals. Writes nothing.
        """
        limit = limit_of(top_k, self.settings)
        return await asking.most_like(self._running, query, limit=limit, filters=filters_of(scope=scope))

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
        filters = filters_of(tags, kinds, roles, scope, session)
        return await asking.latest(self._running, limit=n, filters=filters)

    async def session(
        self, session: str, *, scope: Sequence[str] = (), limit: int | None = None
    ) -> list[Record]:
        """Return the records of a session in the order in which they came; the newest ``limit`` if given."""
        found = await self.latest(n=limit if limit is not None else 2**31, session=session, scope=scope)
        return found[::-1]

    async def records(self, *, after: int = -1) -> AsyncIterator[Record]:
        """Yield every record of the journal above seq ``after``, verified, whatever its scope or type.

        What is to be forgotten comes without its text, as it will be once it is erased.
        """
        await self.flush()
        hidden = await self._running.lives.hidden()
        scan = self._running.journal.scan(after=after)
        while batch := await anyio.to_thread.run_sync(lambda: [record for record, _ in islice(scan, 500)]):
            for record in batch:
                yield record.without_text() if record.record_id in hidden else record

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text as every budget here does."""
        return self._count(text)

    @property
    def _running(self) -> Engine:
        return self._life.running

    def _attended(self) -> Schedule | None:
        """Have maintenance come by itself from now on, in a thread and on a loop of its own."""
        if not self._maintained:
            return None

        def run(source: Source) -> None:
            asyncio.run(self.run_maintenance(source))

        return Schedule(run, lambda: self.settings, self._tools.clock)

    async def _write(
        self, content: str, labels: Labels, kind: Kind | str, timestamp: datetime | None = None
    ) -> Written:
        turn_id = next(self._turn_ids)
        turn = self._turn(turn_id, content, labels, kind, timestamp, explicit=True)
        self._life.put(turn)
        record = await Receipt(turn_id, turn.future)
        return Written(record, record.metadata.get("turn_id") == turn_id)

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
        return captured(
            turn_id,
            content,
            labels,
            kind=kind_of(kind),
            at=timestamp or self._tools.clock.now(),
            explicit=explicit,
            max_turn_kb=self.settings.capture.max_turn_kb,
        )

    def _refuse(self, turn_id: str, error: Exception) -> Receipt:
        self._refused += 1
        logger.warning("a turn was not captured: %s", error)
        return Receipt.refused(turn_id, error)
