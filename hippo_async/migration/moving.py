"""One migration, step by step (L13).

What counts is written in an order that leaves one directory to write to, whatever dies when:

1. ``MIGRATING`` in the target. From here on nobody writes there, and what is there counts for nothing.
2. All that is copied, verified; then ``MIGRATING`` again, with what was moved.
3. ``MOVED`` in the source, with the same bytes. From here on nobody writes there either.
4. ``MIGRATING`` becomes ``MIGRATED``: the target is the memory.

A run that finds 1 or 2 begins anew; one that finds 3 does 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from hippo_async.backup.checking import lineage
from hippo_async.backup.copying import Progress, in_force
from hippo_async.configuring import CONFIG_FILE
from hippo_async.engine import find_keys
from hippo_async.errors import (
    HippoError,
    IntegrityError,
    InvalidInput,
    MigrationFailed,
    MigrationTimeout,
    NotFound,
)
from hippo_async.files import Files
from hippo_async.journal import Keyring
from hippo_async.journal.lineage import journal_directory
from hippo_async.journal.lock import WriterLock
from hippo_async.journal.moved import MIGRATING, MOVED, refuse_moved
from hippo_async.migration.arrival import State, abandon, kept_for_us, read, state_of, strangers
from hippo_async.migration.copying import MovingCopy
from hippo_async.migration.document import MIGRATED, Announcement, End, Move, announced, decode, difference
from hippo_async.place import Place
from hippo_async.protocols import Clock
from hippo_async.records import utc_timestamp


@dataclass(slots=True)
class Tally:
    """Counts bytes over several stretches of copying, of which each knows only its own; never goes back."""

    progress: Progress | None
    check_time: Callable[[], None]
    expected: int = 0
    done: int = 0
    total: int = 0

    def tell(self, done: int, total: int) -> None:
        """Take in how far a stretch has come."""
        self.check_time()
        self.total = max(self.total, self.expected, self.done + total)
        self._say(self.done + done)
        if done == total:
            self.done += total

    def end(self) -> None:
        """Say that all is done."""
        self.total = max(self.total, self.done)
        self._say(self.total)

    def _say(self, done: int) -> None:
        if self.progress is not None:
            self.progress(done, self.total)


@dataclass(slots=True)
class Migration:
    """One migration; :meth:`run` once."""

    source: Place
    target: Path
    timeout_ms: int
    files: Files
    clock: Clock
    progress: Progress | None
    quiet: Callable[[], object] | None
    deadline: float = 0.0
    pointer: bytes | None = None
    settings: bool = True

    def run(self) -> tuple[Move, bool]:
        """Do what the target's state leaves to do; return what was moved, and whether it had been before."""
        self.deadline = self.clock.monotonic() + self.timeout_ms / 1000
        self._refuse_nested()
        if self._state() in {State.EMPTY, State.UNFINISHED}:
            self._refuse_source()
        made = not self.files.exists(self.target)
        self.files.mkdir(self.target)
        self.files.sync_dir(self.target.parent)  # it may be a killed run that made it
        with kept_for_us(self.target, self.files):
            state = self._state()  # again: whoever held the lock may have finished
            if state is State.DONE:
                return self._done(), True
            if state is State.ARRIVED:
                return self._finished(), False
            return self._moved(made=made), False

    # What is there

    def _state(self) -> State:
        """Look at the target. Raises :class:`InvalidInput` if something else is there."""
        names = self.files.list(self.target)
        migrating = read(self.target / MIGRATING, self.files)
        state = state_of(names, migrating=migrating, moved=self._found_pointer())
        if state is State.OCCUPIED:
            first = (strangers(names) or names)[0]
            raise InvalidInput(f"{self.target / first}: there is something here; name an empty directory")
        return state

    def _found_pointer(self) -> bytes | None:
        return read(self.source.data_dir / MOVED, self.files)

    def _refuse_nested(self) -> None:
        source, target = self.source.data_dir, self.target
        if target.is_relative_to(source) or source.is_relative_to(target):
            raise InvalidInput(f"{target}: not beside {source}, but inside it or around it")

    def _refuse_source(self) -> None:
        source = self.source.data_dir
        refuse_moved(source, self.files)
        if not in_force(source, self.files):
            raise NotFound(f"{source}: there is no memory here to be moved")
        find_keys(self.source, self.files, make=False)

    def _done(self) -> Move:
        """What was moved here. Raises :class:`InvalidInput` if that was another memory."""
        path = self.target / MIGRATED
        data = self.files.read(path)
        try:
            move = decode(data)
        except ValueError as error:
            raise InvalidInput(f"{path}: {error}") from None
        if data != self._found_pointer() and move.source != str(self.source.data_dir):
            raise InvalidInput(f"{self.target}: another memory was moved here, from {move.source}")
        self.files.sync_dir(self.target)
        return move

    # Doing it

    def _moved(self, *, made: bool) -> Move:
        self.settings = self._takes_settings()
        with ExitStack() as held, self._all_or_nothing(made=made):
            move, generations = self._copied(held)
            self._put_pointer(move.encode(), generations)
            self._arrive()
        return move

    def _finished(self) -> Move:
        """Do the last step of a run that a crash cut short just before it."""
        data = self.files.read(self.source.data_dir / MOVED)
        with self._no_writer():
            try:
                self.files.write_atomic(self.source.data_dir / MOVED, data)  # was it durable? it is now
                self._arrive()
            except OSError as error:
                raise MigrationFailed(self.source.data_dir, str(error), undone=False) from error
        return decode(data)

    def _copied(self, held: ExitStack) -> tuple[Move, Mapping[int, int]]:
        """Copy and verify all; the source has no writer afterwards, until ``held`` ends."""
        source, target = self.source.data_dir, self.target
        announcement = Announcement(str(source), str(target), self.settings)
        self.files.write_atomic(target / MIGRATING, announcement.encode())
        tally = Tally(self.progress, self._check_time)
        keys = find_keys(self.source, self.files, make=False)
        copy = MovingCopy(self.source, target, keys, self.files, tally.tell, self.settings)
        tally.expected = copy.expected()
        if self.quiet is not None:
            self._bring_beside_a_writer(copy)
            self.quiet()
        held.enter_context(self._no_writer())
        refuse_moved(source, self.files)
        store = copy.bring()
        copy.bring_index(store)
        for path in copy.spoilt(store):
            raise MigrationFailed(source, f"{path}: the copy does not hold what was read from the source")
        end = self._same_end(copy.place, keys)
        tally.end()
        self._check_time()
        move = Move(
            agent_id=self.source.agent_id,
            source=str(source),
            target=str(target),
            journal_id=end.journal_id,
            records=end.records,
            record_id=end.record_id,
            files=len(store.entries),
            size=sum(entry.size for entry in store.entries.values()),
            moved_at=utc_timestamp(self.clock.now()),
            settings=self.settings,
        )
        return move, store.generations

    def _takes_settings(self) -> bool:
        """Whether settings in the target, if any, were copied there by a run that a crash cut short."""
        found = read(self.target / MIGRATING, self.files)
        if found is None:
            return not self.files.exists(self.target / CONFIG_FILE)
        try:
            return announced(found).settings
        except ValueError as error:
            raise InvalidInput(f"{self.target / MIGRATING}: {error}") from None

    def _bring_beside_a_writer(self, copy: MovingCopy) -> None:
        """Copy what is there; if the source is rewritten meanwhile, all is left for when it is quiet."""
        before = in_force(self.source.data_dir, self.files)
        try:
            copy.bring()
        except (IntegrityError, FileNotFoundError):  # files that were replaced look like these
            if in_force(self.source.data_dir, self.files) == before:
                raise

    def _same_end(self, copy: Place, keys: Keyring) -> End:
        """Compare the journals of both ends. Raises :class:`MigrationFailed` unless they end alike."""
        here, there = self._end(self.source, keys), self._end(copy, keys)
        if reason := difference(here, there):
            raise MigrationFailed(self.source.data_dir, reason)
        return there

    def _end(self, place: Place, keys: Keyring) -> End:
        """Open the journals to read them, which finds every seq from the first to the last."""
        with closing(lineage(place, keys, self.files)) as journal:
            journal.open()
            return End(journal.journal_id, journal.tail.seq + 1, journal.tail.record_id or "")

    def _put_pointer(self, data: bytes, generations: Mapping[int, int]) -> None:
        """Say durably at both ends what was moved; from then on nobody writes at either."""
        source = self.source.data_dir
        self.files.write_atomic(self.target / MIGRATING, data)
        self.pointer = data
        self.files.write_atomic(source / MOVED, data)
        if in_force(source, self.files) != generations:  # a change of keys lets go of the lock for a moment
            raise MigrationFailed(source, "its keys were changed at the last moment; try again")

    def _arrive(self) -> None:
        self.files.move(self.target / MIGRATING, MIGRATED)

    @contextmanager
    def _no_writer(self) -> Iterator[None]:
        """Be the source's only writer, and write nothing. Raises :class:`JournalLocked` if there is one."""
        newest = max(in_force(self.source.data_dir, self.files))
        lock = WriterLock(self.files, journal_directory(self.source.data_dir, newest))
        lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _check_time(self) -> None:
        if self.clock.monotonic() > self.deadline:
            reason = f"it took longer than {self.timeout_ms / 1000:,.0f} s (migration.timeout_ms)"
            raise MigrationTimeout(self.source.data_dir, reason)

    # Undoing it

    @contextmanager
    def _all_or_nothing(self, *, made: bool) -> Iterator[None]:
        """Undo everything if it fails, and say so. What is wrong with the source is said as it is."""
        try:
            yield
        except BaseException as error:
            undone = self._undo(made=made)
            if isinstance(error, Exception) and (not undone or self._is_of_the_copy(error)):
                raise MigrationFailed(self.source.data_dir, str(error), undone=undone) from error
            raise

    def _undo(self, *, made: bool) -> bool:
        """Return whether the source is the memory again: what is left in the target counts for nothing."""
        try:
            if self.pointer is not None:
                if self.files.exists(self.target / MIGRATED):
                    return False  # it may be in use by now
                self._take_pointer_back()
        except OSError:
            return False
        with suppress(OSError):
            abandon(self.target, self.source.data_dir, self.files, made=made, settings=self.settings)
        return True

    def _take_pointer_back(self) -> None:
        source = self.source.data_dir
        for name in (MOVED, f"{MOVED}.new"):
            self.files.remove(source / name)
        self.files.sync_dir(source)

    def _is_of_the_copy(self, error: Exception) -> bool:
        if isinstance(error, IntegrityError):
            return error.path.is_relative_to(self.target)
        return isinstance(error, OSError) and not isinstance(error, HippoError)
