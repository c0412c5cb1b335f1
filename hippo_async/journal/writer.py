"""The one thread that writes: seal, write, sync, note the head, acknowledge: a group at a time.

Whoever appends gets a future that resolves once the records are durable. A caller that gives up changes
nothing: its records are either not begun, or finished by this thread.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import NamedTuple

from hippo_async.errors import Closed as ClosedError
from hippo_async.errors import JournalPoisoned, RecordRejected, WriteFailed
from hippo_async.files import AppendFile
from hippo_async.journal.canon import canonical
from hippo_async.journal.codec import (
    RESERVED_KEY,
    Form,
    commitment_of,
    encode_line,
    encode_payload,
)
from hippo_async.journal.head import HeadFile, HeadState
from hippo_async.journal.scan import CLOSE, RECORD
from hippo_async.journal.seal import Sealer
from hippo_async.protocols import Clock
from hippo_async.records import Draft, Kind, Location, Novelty, Record, utc_timestamp

GROUP_RECORDS = 1024
GROUP_BYTES = 8 * 1024 * 1024
SETTLE_SECONDS = 1.0
SALT_BYTES = 16


class Appended(NamedTuple):
    """A record that was made durable, and where it stands."""

    record: Record
    location: Location


@dataclass(frozen=True, slots=True)
class Tail:
    """What the next record links to."""

    seq: int
    record_id: str | None


@dataclass(frozen=True, slots=True)
class Identity:
    """What all records of a journal have in common."""

    journal_id: str
    agent_id: str
    epoch: int
    agent_json: str

    @classmethod
    def of(cls, journal_id: str, agent_id: str, epoch: int) -> Identity:
        """Prepare the identity of one journal."""
        return cls(journal_id, agent_id, epoch, canonical(agent_id, at="$.agent_id").decode())


@dataclass(slots=True)
class Submission:
    """Records that are appended together, or not at all.

    ``size`` is counted here, in the thread of whoever appends: what is no draft fails there, and not among
    the others. Content that is no text is left to sealing, which says where it is. ``rewrite`` puts a new
    generation in force once the records are durable, and before anything else is written.
    """

    drafts: Sequence[Draft]
    future: Future[list[Appended]]
    type: str = RECORD
    rewrite: Callable[[Live], Live] | None = None
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = sum(len(draft.content) for draft in self.drafts if isinstance(draft.content, str))


@dataclass(slots=True)
class Live:
    """The segment that is being written and all that moves with it."""

    file: AppendFile
    segment: int
    tail: Tail
    head: HeadState
    closed: bool = False


Sealed = tuple[Record, bytes]
"""A record and the line that says it. A plain tuple: there is one for each record, and soon none."""


def seal_drafts(
    drafts: Sequence[Draft], tail: Tail, identity: Identity, sealer: Sealer, *, now: str, type_: str = RECORD
) -> list[Sealed]:
    """Give drafts their place after ``tail`` and seal them; return each record with its line.

    Raises :class:`hippo_async.errors.RecordRejected` if one of them cannot be written down; none is then.
    """
    sealed = []
    agent_id = identity.agent_id
    form = Form.of(identity.agent_json, epoch=identity.epoch, journal_id=identity.journal_id, type_=type_)
    seq, prev_id = tail.seq, tail.record_id
    for draft, salt in zip(drafts, _salts(len(drafts)), strict=True):
        _check_draft(draft, type_)
        content, metadata, kind, novelty = draft.content, draft.metadata, draft.kind, draft.novelty
        timestamp = now if draft.timestamp is None else utc_timestamp(draft.timestamp)
        seq += 1
        payload = encode_payload(content, metadata, salt=salt)
        header = form.header(commitment_of(payload), kind, novelty, prev_id, seq, timestamp)
        record_id, line = encode_line(header, payload, sealer.seal(header))
        # by position: ten names would add half to what building a record takes
        record = Record(seq, record_id, agent_id, timestamp, kind, novelty, content, metadata, prev_id, type_)
        sealed.append((record, line))
        prev_id = record_id
    return sealed


def _salts(count: int) -> list[str]:
    """Draw that many salts at once."""
    digits = secrets.token_hex(SALT_BYTES * count)
    return [digits[at : at + 2 * SALT_BYTES] for at in range(0, len(digits), 2 * SALT_BYTES)]


class GroupWriter:
    """Owns the live segment, ``HEAD`` and the witness while a journal is open for writing."""

    def __init__(
        self,
        live: Live,
        identity: Identity,
        sealer: Sealer,
        heads: Sequence[HeadFile],
        *,
        clock: Clock,
        check: Callable[[], None],
        is_locked: Callable[[], bool],
        rotate: Callable[[Live], Live],
        segment_bytes: int,
    ) -> None:
        self.live = live
        self._identity = identity
        self._sealer = sealer
        self._heads = heads
        self._clock = clock
        self._check = check
        self._is_locked = is_locked
        self._rotate = rotate
        self._segment_bytes = segment_bytes
        self._queue: SimpleQueue[Submission | None] = SimpleQueue()
        self._door = threading.RLock()  # so that the sign to end comes last in the queue
        self._closed = False
        self._settle_at: float | None = None
        self.poison: str | None = None
        self._thread = threading.Thread(target=self._run, name="hippo-journal", daemon=True)
        self._thread.start()

    def submit(self, submission: Submission) -> None:
        """Queue records for the next group. Never blocks. Raises if closed, poisoned or in a forked child."""
        self._check()
        self._refuse_if_poisoned()
        with self._door:
            if self._closed:
                raise ClosedError("the journal is closed")
            self._queue.put(submission)

    def close(self) -> None:
        """Write what is queued, settle the heads and close the files. Blocks until done."""
        with self._door:
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        with ExitStack() as files:
            files.callback(self.live.file.close)
            for head in self._heads:
                files.callback(head.close)
            if self.poison is None:
                self._settle()

    def _run(self) -> None:
        while True:
            first = self._clock.get(self._queue, self._patience())
            if first is None and self._closed and self._queue.empty():
                return
            if first is not None:
                group = self._collect(first)
                self._commit([entry for entry in group if entry.future.set_running_or_notify_cancel()])
            if self._patience() == 0:
                self._settle_quietly()

    def _patience(self) -> float | None:
        """How long the heads may stay as they are: for ever if they are settled, else until it is due."""
        return None if self._settle_at is None else max(0.0, self._settle_at - self._clock.monotonic())

    def _collect(self, first: Submission) -> list[Submission]:
        """Take what else is waiting, up to the size of a group."""
        group = [first]
        records, size = len(first.drafts), first.size
        while records < GROUP_RECORDS and size < GROUP_BYTES and group[-1].rewrite is None:
            try:
                entry = self._queue.get_nowait()
            except Empty:
                break
            if entry is None:
                self._queue.put(None)
                break
            group.append(entry)
            records += len(entry.drafts)
            size += entry.size
        return group

    def _commit(self, group: list[Submission]) -> None:
        try:
            self._refuse_if_poisoned()
            self._check_file()
            accepted = self._seal(group)
            results = self._write(accepted) if accepted else []
            if accepted and (rewrite := accepted[-1][0].rewrite) is not None:
                self._change_generation(rewrite)
        except JournalPoisoned as error:
            _fail(group, error)
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may be left waiting
            self.poison = f"a write to {self.live.file.path} failed: {error}"
            failed = WriteFailed(f"{self.live.file.path}: {error}; nothing of this group is acknowledged")
            failed.__cause__ = error
            _fail([submission for submission in group if not submission.future.done()], failed)
            return
        for (submission, _), appended in zip(accepted, results, strict=True):
            submission.future.set_result(appended)

    def _seal(self, group: list[Submission]) -> list[tuple[Submission, list[Sealed]]]:
        """Seal each submission; one that is rejected fails alone and leaves no gap."""
        accepted = []
        tail = self.live.tail
        now = utc_timestamp(self._clock.now())
        closed = self.live.closed
        for submission in group:
            try:
                lines = self._seal_one(submission, tail, now, closed=closed)
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one must not fail the group
                submission.future.set_exception(error)
                continue
            if lines:
                last, _ = lines[-1]
                tail = Tail(last.seq, last.record_id)
                closed = submission.type == CLOSE
            accepted.append((submission, lines))
        return accepted

    def _seal_one(self, submission: Submission, tail: Tail, now: str, *, closed: bool) -> list[Sealed]:
        if closed:
            raise ClosedError("the journal ends with its close record; go on in the one it names")
        return seal_drafts(
            submission.drafts, tail, self._identity, self._sealer, now=now, type_=submission.type
        )

    def _write(self, accepted: list[tuple[Submission, list[Sealed]]]) -> list[list[Appended]]:
        if self.live.file.end >= self._segment_bytes:
            self.live = self._rotate(self.live)
            self._settle()
        live = self.live
        offset = live.file.end
        results = []
        for _, lines in accepted:
            appended = []
            for record, line in lines:
                appended.append(Appended(record, Location(live.segment, offset, len(line))))
                offset += len(line)
            results.append(appended)
        last = next((lines[-1][0] for _, lines in reversed(accepted) if lines), None)
        if last is not None:
            live.file.write(b"".join(line for _, lines in accepted for _, line in lines))
            live.file.sync()
            self._acknowledge(last)
        return results

    def _change_generation(self, rewrite: Callable[[Live], Live]) -> None:
        self._settle()
        self.live = rewrite(self.live)
        for head in self._heads:
            head.start(self.live.head, newest_slot=head.newest_slot)

    def _acknowledge(self, last: Record) -> None:
        live, known = self.live, self.live.head
        state = HeadState(known.journal_id, known.generation, known.number + 1, last.seq, last.record_id)
        for head in self._heads:
            head.note(state)
        live.head = state
        live.tail = Tail(last.seq, last.record_id)  # not before: who recovers looks for what comes after it
        live.closed = last.type == CLOSE
        if self._settle_at is None:
            self._settle_at = self._clock.monotonic() + SETTLE_SECONDS

    def _settle(self) -> None:
        if self._settle_at is not None:
            for head in self._heads:
                head.settle()
            self._settle_at = None

    def _settle_quietly(self) -> None:
        try:
            self._settle()
        except OSError as error:
            self.poison = f"HEAD could not be made durable: {error}"

    def _check_file(self) -> None:
        if not self._is_locked():
            self.poison = "the lock file was removed or replaced by somebody else, and others may write too"
            self._refuse_if_poisoned()
        if not self.live.file.is_ours():
            self.poison = f"{self.live.file.path} was replaced, cut or written by somebody else"
            self._refuse_if_poisoned()

    def _refuse_if_poisoned(self) -> None:
        if self.poison is not None:
            raise JournalPoisoned(f"{self.poison}; open the journal again to recover")


def _check_draft(draft: Draft, type_: str) -> None:
    """Refuse a kind or novelty outside the closed sets (J3), since headers are written without escaping.

    And metadata under the key that is the journal's own, unless the journal itself is writing.
    """
    if type(draft.kind) is not Kind:
        raise RecordRejected("$.kind", f"{draft.kind!r} is not a Kind")
    if type(draft.novelty) is not Novelty:
        raise RecordRejected("$.novelty", f"{draft.novelty!r} is not a Novelty")
    if type_ == RECORD and RESERVED_KEY in draft.metadata:
        raise RecordRejected(f"$.metadata.{RESERVED_KEY}", "kept for the journal's own records")


def _fail(group: Sequence[Submission], error: Exception) -> None:
    for submission in group:
        submission.future.set_exception(error)
