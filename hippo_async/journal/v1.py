"""Protocol v1 (J1-J6): a ``stream.jsonl`` made here or elsewhere (FORMAT.md §10).

New journals are v2. This reads, verifies, continues and imports the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from hippo_async.errors import (
    InvalidInput,
    JournalCorrupt,
    JournalPoisoned,
    NotFound,
    RecordRejected,
    WriteFailed,
)
from hippo_async.files import AppendFile, Files
from hippo_async.journal.codec import MAX_LINE_BYTES, encode_payload
from hippo_async.journal.keys import Key
from hippo_async.journal.lock import WriterLock
from hippo_async.journal.seal import DOMAIN_V1, Sealer
from hippo_async.journal.v1_codec import (
    DIALECTS,
    Dialect,
    V1LineError,
    V1Record,
    V1Verdict,
    encode_v1,
    open_v1,
    record_id_of,
    sign,
)
from hippo_async.protocols import Clock
from hippo_async.records import Draft, utc_timestamp

IMPORTED_KEY = "imported"


@dataclass(frozen=True, slots=True)
class V1Report:
    """What :meth:`V1Journal.verify_chain` found.

    ``records`` verified before the walk ended at byte ``offset``. ``record_id`` is the record at fault, or
    the last one of an intact chain. ``unmatched_ids`` counts the verified records whose id is not the hash of
    their seed; ids are not under the signature, so that is no verdict.
    """

    verdict: V1Verdict
    reason: str
    records: int
    record_id: str | None
    offset: int
    dialect: str
    unmatched_ids: int = 0

    @property
    def intact(self) -> bool:
        """Whether every signature and link verified and the last line is complete."""
        return self.verdict is V1Verdict.INTACT


@dataclass(slots=True)
class _Live:
    """The stream while it is open for appending."""

    file: AppendFile
    dialect: Dialect
    tail: str | None


class V1Journal:
    """One agent's ``stream.jsonl``. The constructor touches nothing; everything else blocks.

    The first append verifies the chain and takes the writer's lock of the directory, :meth:`close` gives it
    back.
    """

    def __init__(self, path: Path, *, agent_id: str, key: Key | bytes, files: Files, clock: Clock) -> None:
        secret = key if isinstance(key, Key) else Key(key)
        self.path = path
        self.agent_id = agent_id
        self._sealer = Sealer(secret.secret, domain=DOMAIN_V1)
        self._files = files
        self._clock = clock
        self._lock = WriterLock(files, path.parent)
        self._live: _Live | None = None
        self._poison: str | None = None

    def verify_chain(self) -> V1Report:
        """Walk from the first record to the last and name the first wrong signature or broken link (J6).

        The signature is checked before the link; a foreign domain or key is a wrong signature, not a format
        error (J5). The report is of the first dialect under which the whole chain verifies, else of the one
        that came furthest. Raises :class:`NotFound` if there is no such file.
        """
        if not self._files.exists(self.path):
            raise NotFound(f"{self.path}: there is no v1 journal here")
        reports = []
        for dialect in DIALECTS:
            reports.append(self._verify(dialect))
            if reports[-1].intact:
                return reports[-1]
        return max(reports, key=lambda report: report.records)

    def records(self) -> Iterator[V1Record]:
        """Yield the records in order, each verified and linked to the one before.

        Raises :class:`NotFound` if there is no such file, :class:`JournalCorrupt` at the first record that
        does not verify.
        """
        dialect = _dialect(self.verify_chain())
        count, end = 0, 0
        try:
            for record, line_end in self._walk(dialect):
                yield record
                count, end = count + 1, line_end
        except V1LineError as bad:
            raise JournalCorrupt(self.path, end, count, bad.reason) from None

    def append(self, draft: Draft) -> V1Record:
        """Append one record after the tail; it is durable when this returns (J1).

        Written in the dialect of the chain, a new stream in RFC 8785. Raises :class:`RecordRejected` for a
        value without a canonical form, :class:`JournalCorrupt` if the chain is not intact (a torn last line
        counts: see :meth:`cut_torn`), :class:`JournalLocked`, :class:`WriteFailed`, and after that
        :class:`JournalPoisoned`.
        """
        self._refuse_if_poisoned()
        live = self._live or self._start()
        self._lock.check_process()
        record = self._seal(draft, live)
        if not live.file.is_ours():
            self._poison = f"{self.path} was replaced, cut or written by somebody else"
            self._refuse_if_poisoned()
        try:
            live.file.write(encode_v1(record, live.dialect))
            live.file.sync()
        except OSError as error:
            self._poison = f"a write to {self.path} failed: {error}"
            raise WriteFailed(f"{self.path}: {error}; the record is not acknowledged") from error
        live.tail = record.record_id
        return record

    def cut_torn(self) -> Path:
        """Cut off an unfinished last line, durably; return the copy of it that is kept beside the stream.

        Nothing in v1 says whether that record was acknowledged, so it is never cut unasked. Raises
        :class:`InvalidInput` unless the chain is intact up to a torn last line.
        """
        self.close()
        self._lock.acquire()
        try:
            report = self.verify_chain()
            if report.verdict is not V1Verdict.TORN:
                raise InvalidInput(f"{self.path}: {report.reason}; there is no torn last line to cut")
            copy = self._keep_torn(report.offset)
            self._files.truncate(self.path, report.offset)
        finally:
            self._lock.release()
        return copy

    def close(self) -> None:
        """Close the stream and give back the lock; may be called twice."""
        live, self._live = self._live, None
        if live is not None:
            try:
                live.file.close()
            finally:
                self._lock.release()

    def _start(self) -> _Live:
        self._files.mkdir(self.path.parent)
        self._lock.acquire()
        try:
            dialect, tail = self._find_tail()
            self._live = _Live(AppendFile(self._files, self.path), dialect, tail)
            self._files.sync_dir(self.path.parent)
        except BaseException:
            self.close()
            self._lock.release()
            raise
        return self._live

    def _find_tail(self) -> tuple[Dialect, str | None]:
        if not self._files.exists(self.path):
            return DIALECTS[0], None
        report = self.verify_chain()
        if not report.intact:
            raise _corrupt(self.path, report)
        return _dialect(report), report.record_id

    def _seal(self, draft: Draft, live: _Live) -> V1Record:
        encode_payload(draft.content, draft.metadata, salt="")  # the door of v2: no dialect converts anything
        record = V1Record(
            record_id="",
            agent_id=self.agent_id,
            timestamp=utc_timestamp(self._clock.now() if draft.timestamp is None else draft.timestamp),
            kind=draft.kind,
            content=draft.content,
            metadata=dict(draft.metadata),
            novelty=draft.novelty,
            prev_id=live.tail,
            signature="",
        )
        return replace(
            record,
            record_id=record_id_of(record, live.dialect),
            signature=sign(record, self._sealer, live.dialect),
        )

    def _keep_torn(self, offset: int) -> Path:
        torn = self._files.read_at(self.path, offset, self._files.size(self.path) - offset)
        name = f"{self.path.name}.torn-{offset}-{hashlib.sha256(torn).hexdigest()[:8]}"
        copy = self.path.with_name(name)
        self._files.write_atomic(copy, torn)
        return copy

    def _refuse_if_poisoned(self) -> None:
        if self._poison is not None:
            raise JournalPoisoned(f"{self._poison}; open the journal again to recover")

    def _verify(self, dialect: Dialect) -> V1Report:
        report = V1Report(V1Verdict.INTACT, "chain intact", 0, None, 0, dialect.name)
        count, end, unmatched, tail = 0, 0, 0, None
        try:
            for record, line_end in self._walk(dialect):
                count, end, tail = count + 1, line_end, record.record_id
                unmatched += record_id_of(record, dialect) != tail
        except V1LineError as bad:
            report = replace(report, verdict=bad.verdict, reason=bad.reason)
            tail = bad.record_id
        return replace(report, records=count, record_id=tail, offset=end, unmatched_ids=unmatched)

    def _walk(self, dialect: Dialect) -> Iterator[tuple[V1Record, int]]:
        """Yield each record that verifies and links, with the offset at which its line ends."""
        tail = None
        end = 0
        for line in self._lines():
            record = open_v1(line, self._sealer, dialect)
            at = record.record_id
            if record.prev_id != tail:
                raise V1LineError(V1Verdict.BROKEN_LINK, f"chain break in {at}", at)
            if record.agent_id != self.agent_id:
                raise V1LineError(V1Verdict.FOREIGN_AGENT, f"a record of another agent: {at}", at)
            tail = at
            end += len(line)
            yield record, end

    def _lines(self) -> Iterator[bytes]:
        """Yield each line with its newline; what stands behind the last newline comes without one."""
        rest = b""
        for piece in self._files.chunks(self.path):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                yield line + b"\n"
            if len(rest) > MAX_LINE_BYTES:
                break
        if rest:
            yield rest


def import_v1(journal: V1Journal) -> Iterator[Draft]:
    """Return drafts for a v2 journal, one a record, in order.

    Each keeps kind, content, metadata, novelty and the moment of its timestamp; ``metadata["imported"]``
    keeps what else it takes to check the v1 signature again. Raises :class:`JournalCorrupt` at once if the
    chain is not intact; later, while iterating, :class:`RecordRejected` for a timestamp that names no moment
    and for metadata that has that key already.
    """
    report = journal.verify_chain()
    if not report.intact:
        raise _corrupt(journal.path, report)
    return (_to_draft(record) for record in journal.records())


def _to_draft(record: V1Record) -> Draft:
    at = f"record {record.record_id}"
    if IMPORTED_KEY in record.metadata:
        raise RecordRejected(f"{at}, $.metadata.{IMPORTED_KEY}", "the import needs this key for itself")
    origin = {
        "prev_id": record.prev_id,
        "protocol": "v1",
        "record_id": record.record_id,
        "signature": record.signature,
        "timestamp": record.timestamp,
    }
    return Draft(
        content=record.content,
        kind=record.kind,
        novelty=record.novelty,
        metadata={**record.metadata, IMPORTED_KEY: origin},
        timestamp=_moment(record.timestamp, at),
    )


def _moment(timestamp: str, at: str) -> datetime:
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        raise RecordRejected(f"{at}, $.timestamp", "not an ISO-8601 time") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _dialect(report: V1Report) -> Dialect:
    return next(dialect for dialect in DIALECTS if dialect.name == report.dialect)


def _corrupt(path: Path, report: V1Report) -> JournalCorrupt:
    return JournalCorrupt(path, report.offset, report.records, report.reason)
