"""The blocking core behind :class:`hippo_async.Hippocampus`: what is opened, in which order, and closed
again.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import timedelta

from hippo_async import exits
from hippo_async.capture.admission import NoveltyJudge
from hippo_async.capture.pipeline import Pipeline
from hippo_async.capture.rawbox import RawBox
from hippo_async.capture.sink import JournalSink
from hippo_async.config import Settings
from hippo_async.embedding import CachedEmbedder, choose_embedder
from hippo_async.errors import Closed
from hippo_async.files import Files
from hippo_async.index import Index
from hippo_async.index.analyzer import terms
from hippo_async.journal import GivenKeys, KeyFiles, Keyring, Lineage, Marker, OpenReport
from hippo_async.lives.calendar import Calendar
from hippo_async.place import Place, Tools
from hippo_async.protocols import Embedder
from hippo_async.recall.library import Library
from hippo_async.recall.lives import Lives
from hippo_async.records import Filters, Record
from hippo_async.workers import OneAtATime, Worker

logger: logging.Logger = logging.getLogger("hippo_async")

KEY_FILE = "agent.key"
SEED_RECORDS = 1000
AWAITED_BATCHES = 8
"""How many batches of records get their vectors before a recall stops waiting for them: what was captured
while the model was loading. The rest follows behind."""

SCRIPT_SAMPLE = 200
MOSTLY_ENGLISH = 0.8


class Engine:
    """An open memory. Built by :meth:`open`, in a worker thread; gone after :meth:`close`."""

    def __init__(self, place: Place, tools: Tools, journal: Lineage, report: OpenReport) -> None:
        self.report = report
        self.journal = journal
        self._tools = tools
        index = Index(
            place.data_dir / "index",
            journal_id=journal.journal_id,
            generation=journal.generation,
            files=tools.files,
        )
        self.marker: Marker = journal.marker()
        half_life, calendar = _times(tools.settings)
        self.library: Library = Library(
            journal, index, clock=tools.clock, half_life=half_life, calendar=calendar
        )
        self.lives: Lives = Lives(self.library)
        self.erasing: OneAtATime = OneAtATime()
        self.judge: NoveltyJudge = NoveltyJudge(terms, literal=tools.settings.novelty.rule == "literal")
        self.raw: RawBox = RawBox(
            place.data_dir, settings=tools.settings.raw, files=tools.files, clock=tools.clock
        )
        self.sink: JournalSink = JournalSink(journal, self.library, self.judge, self.raw)
        self.sink.tags_itself = tools.settings.tags.automatic
        self.model: str | None = None
        self.warmed: Future[None] = Future()
        self._warmer = Worker("hippo-embedder")
        self.closing: threading.Event = threading.Event()
        self.maintaining: threading.Lock = threading.Lock()
        self._pid = os.getpid()
        self._pipeline: Pipeline | None = None

    @classmethod
    def open(cls, place: Place, tools: Tools, progress: Callable[[int, int], None] | None = None) -> Engine:
        """Open the journal, bring the index up to it, and start taking turns.

        The embedder is loaded in the background: until then memories are found by words. Raises what opening
        the journal raises; everything is closed again then.
        """
        journal = Lineage(
            place.data_dir,
            agent_id=place.agent_id,
            keys=find_keys(place, tools.files),
            witness=place.witness,
            files=tools.files,
            clock=tools.clock,
        )
        report = journal.open()
        for note in report.notes:
            logger.warning("%s: %s", place.data_dir, note)
        try:
            engine = cls(place, tools, journal, report)
        except BaseException:  # its marks need the key, which is read from the disk
            journal.close()
            raise
        try:
            engine._start(progress)
        except BaseException:
            engine.close()
            raise
        return engine

    @property
    def inherited(self) -> bool:
        """Whether this is a forked child's copy: its threads, and so its use, stayed with the parent."""
        return os.getpid() != self._pid

    @property
    def pipeline(self) -> Pipeline:
        """Where captured turns go."""
        if self._pipeline is None:
            raise Closed("the memory is being opened")
        return self._pipeline

    async def flush(self) -> None:
        """Wait until what was captured is durable and the index has followed. Raises the disk's error."""
        await asyncio.shield(asyncio.wrap_future(self.pipeline.flush()))
        await self.library.run(lambda: None)

    def adopt(self, settings: Settings) -> None:
        """Go by changed settings from the next turn and the next question on. From any thread."""
        capture = settings.capture
        self.library.adjust(*_times(settings))
        self.raw.settings = settings.raw
        self.sink.tags_itself = settings.tags.automatic
        self.pipeline.adjust(
            flush_turns=capture.flush_turns,
            flush_seconds=capture.flush_seconds,
            buffer_turns=capture.buffer_turns,
        )

    def close(self) -> int:
        """Flush, close everything, and return how many turns could not be written. Blocks; once only."""
        exits.forget(self)
        self.closing.set()
        try:
            return 0 if self._pipeline is None else self._pipeline.close()
        finally:
            self._warmer.close()
            self.library.close()
            self.journal.close()

    def _start(self, progress: Callable[[int, int], None] | None) -> None:
        self.library.call(self.library.open, progress)
        known = self.judge.known
        last = self.library.call(
            self.library.latest, filters=Filters(scope=None), limit=max(known, SCRIPT_SAMPLE)
        )
        self.judge.seed([record.text for record in reversed(last[:known])])
        capture = self._tools.settings.capture
        self._pipeline = Pipeline(
            self.sink,
            clock=self._tools.clock,
            flush_turns=capture.flush_turns,
            flush_seconds=capture.flush_seconds,
            buffer_turns=capture.buffer_turns,
        )
        exits.at_exit(self, self._close_at_exit)
        chosen = choose_embedder(
            self._tools.embedder, prefer_multilingual=not _mostly_english(last[:SCRIPT_SAMPLE])
        )
        if chosen is None:
            self.warmed.set_result(None)
        else:
            self._warmer.submit(self._warm_up, chosen)

    def _warm_up(self, chosen: Embedder) -> None:
        """Load the model, then give vectors to the records that have none of it."""
        embedder = CachedEmbedder(chosen)
        try:
            embedder.embed_queries(["is it warm?"])
            self.library.call(self.library.adopt, embedder)
            self.model = embedder.model_id
            self._work_through(self.library.embed_missing, most=AWAITED_BATCHES)
        except Exception:
            logger.exception("the embedder could not be loaded; memories are found by words only")
            return
        finally:
            self.warmed.set_result(None)
        self._teach_judge(embedder)
        try:
            self._work_through(self.library.embed_missing)
            self._work_through(self.library.settle_vectors)
        except Exception:
            logger.exception("some records have no vectors and are found by words; the next start goes on")

    def _work_through(self, step: Callable[[], bool], *, most: int | None = None) -> None:
        """Do one step after the other, so many at most, while there are more and nobody closes."""
        for _ in itertools.count() if most is None else range(most):
            if self.closing.is_set() or not self.library.call(step):
                return

    def _teach_judge(self, embedder: Embedder) -> None:
        """Tell the judge of novelty what came last; it goes by words until then."""
        try:
            last = self.library.call(self.library.latest, filters=Filters(scope=None), limit=SEED_RECORDS)
            self.judge.adopt(embedder, [record.text for record in reversed(last)])
        except Exception:
            logger.exception("novelty goes by words: what came before could not be embedded")

    def _close_at_exit(self) -> None:
        lost = self.close()
        if lost:
            logger.error("%d turns could not be written before the process ended", lost)


def find_keys(place: Place, files: Files, *, make: bool = True) -> Keyring:
    """Return the agent's keys: those given, or those in key files, the first made at the first start.

    A journal that lost its key file gets no new one: that would only hide the loss. ``make=False`` never
    makes one. Raises :class:`~hippo_async.errors.KeyFileError` if the first key cannot be read.
    """
    if place.key is not None:
        return GivenKeys([*place.retired_keys, place.key])
    keys = KeyFiles(files, place.key_file or place.data_dir / KEY_FILE)
    if not make or files.exists(place.data_dir / "journal" / "CURRENT"):
        keys.key(0)
    else:
        keys.provide(0)
    return keys


def _times(settings: Settings) -> tuple[timedelta, Calendar]:
    return timedelta(days=settings.decay.half_life_days), Calendar(settings.time_zone)


def _mostly_english(records: Sequence[Record]) -> bool:
    letters = [letter for record in records for letter in record.text[:500] if letter.isalpha()]
    return not letters or sum(letter.isascii() for letter in letters) / len(letters) >= MOSTLY_ENGLISH
