"""Copying the files of a store, also while an agent writes to it (FORMAT.md §5-§8).

Nothing of the source is locked or changed. The order of reading is what makes the copy one moment of the
store: of each journal first ``HEAD``, then ``SEGMENTS``, then the names of the segments, then their lines.
Segments only grow, so they hold all that ``HEAD`` names; ``SEGMENTS`` may name fewer of them than there are,
which is what a crash while a segment is closed leaves too. Only a purge, a repair or a change of keys moves
what was read before: then :func:`in_force` changes, and the copy has to be made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import accumulate
from pathlib import Path

from hippo_async.anchors.ledger import FOLDER as ANCHORS
from hippo_async.backup.manifest import MANIFEST, Entry
from hippo_async.configuring import CONFIG_FILE
from hippo_async.engine import KEY_FILE
from hippo_async.errors import JournalCorrupt, KeyFileError
from hippo_async.files import AppendFile, Files
from hippo_async.journal import KeyFiles, Keyring
from hippo_async.journal.layout import Layout, list_segments, read_current, write_current
from hippo_async.journal.lineage import epochs_in, journal_directory
from hippo_async.raw.shards import FOLDER as RAW

LINES = ".jsonl"
BESIDE = {RAW: LINES, ANCHORS: ".json"}
"""What is kept beside the journals: the folders, and how the names of the files in them end."""

Progress = Callable[[int, int], None]
"""Told how many of how many bytes are copied, after each file."""


def in_force(data_dir: Path, files: Files) -> dict[int, int]:
    """Return the generation in force for each key epoch that has a journal.

    Raises :class:`JournalCorrupt` if a ``CURRENT`` names none.
    """
    found = {}
    for epoch in epochs_in(data_dir, files):
        layout = Layout(journal_directory(data_dir, epoch))
        try:
            generation = read_current(files, layout)
        except ValueError as error:
            raise JournalCorrupt(layout.current, 0, 0, str(error)) from None
        if generation is not None:
            found[epoch] = generation
    return found


@dataclass(frozen=True, slots=True)
class Survey:
    """The files of a store, named from its root: some read already, the others for later."""

    read: dict[str, bytes] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)


def survey(data_dir: Path, generations: Mapping[int, int], files: Files, *, settings: bool = True) -> Survey:
    """Read ``HEAD`` and ``SEGMENTS`` of each journal, then list the segments, raw shards and anchors, and
    ``config.toml`` if it is there and the ``settings`` are wanted.
    """
    found = Survey()
    for epoch, generation in generations.items():
        layout = Layout(journal_directory(data_dir, epoch))
        for path in (layout.head, layout.closed_list(generation)):
            found.read[_name(path, data_dir)] = files.read(path)
        for first in list_segments(files, layout, generation):
            found.names.append(_name(layout.segment(generation, first), data_dir))
    for folder, ending in BESIDE.items():
        beside = (name for name in files.list(data_dir / folder) if name.endswith(ending))
        found.names.extend(f"{folder}/{name}" for name in beside)
    if settings and files.exists(data_dir / CONFIG_FILE):
        found.names.append(CONFIG_FILE)
    return found


class StoreCopy:
    """A store that is being copied into a directory without one. Building it touches nothing.

    ``entries`` are the files copied so far. ``settings`` says whether ``config.toml`` is one of its files.
    """

    def __init__(
        self,
        source: Path,
        target: Path,
        generations: Mapping[int, int],
        *,
        files: Files,
        progress: Progress | None,
        settings: bool = True,
    ) -> None:
        self.target = target
        self.generations = generations
        self.entries: dict[str, Entry] = {}
        self._source = source
        self._files = files
        self._progress = progress
        self._settings = settings
        self._folders: dict[str, None] = {}
        self._singles: list[Path] = []

    def take(self) -> None:
        """Copy all files but ``CURRENT``, durably: without it the copy is no store yet.

        Lines end at the last newline. Called again, it brings the copy up to its source: files of lines only
        grow, so those of the same size are not copied anew. Raises ``FileNotFoundError`` if a file went away
        meanwhile.
        """
        found = survey(self._source, self.generations, self._files, settings=self._settings)
        for name in self.entries.keys() - {*found.read, *found.names}:
            self._files.remove(self.target / name)
            del self.entries[name]
        for name, data in found.read.items():
            self._files.write_atomic(self._place(name), data)
            self._note(name, data)
        self.add([name for name in found.names if not self._is_up_to_date(name)])

    def add(self, names: Sequence[str]) -> None:
        """Copy files that are named from the root of the store, durably, in this order."""
        sizes = [self._files.size(self._source / name) for name in names]
        for name, done in zip(names, accumulate(sizes), strict=True):
            self._stream(name)
            if self._progress is not None:
                self._progress(done, sum(sizes))

    def cut(self, path: Path, size: int) -> None:
        """Cut a file of the copy, durably."""
        self._files.truncate(path, size)
        self._note(_name(path, self.target), self._files.chunks(path))

    def add_keys(self, keys: Keyring, count: int) -> None:
        """Put the keys of so many epochs into the copy, mode 0600, durably; one that is there already stays.

        Raises :class:`KeyFileError` if another key is there.
        """
        self._files.mkdir(self.target)
        places = KeyFiles(self._files, self.target / KEY_FILE)
        for epoch in range(count):
            secret = keys.key(epoch).secret
            if not self._files.exists(places.path(epoch)):
                self._add_key(places.path(epoch), secret)
            elif places.key(epoch).secret != secret:
                raise _another_key(places.path(epoch))

    def add_manifest(self, data: bytes) -> None:
        """Put the list of files into the copy, durably."""
        self._singles.append(self.target / MANIFEST)
        self._files.write_atomic(self.target / MANIFEST, data)

    def put_in_force(self) -> None:
        """Make the copy a store, durably: ``CURRENT`` of the first journal is the last file written.

        A crash on the way leaves later journals without the first, and no such store opens.
        """
        for epoch, generation in sorted(self.generations.items(), reverse=True):
            write_current(self._files, Layout(journal_directory(self.target, epoch)), generation)

    def discard(self) -> None:
        """Remove what was copied, first of all what makes it a store. A disk that fails ends it silently."""
        first = Layout(journal_directory(self.target, 0)).current
        with suppress(OSError):
            if self._files.exists(first):
                self._files.remove(first)
                self._files.sync_dir(first.parent)
            for folder in self._folders:
                self._files.remove_tree(self.target / folder)
            for path in (*self._singles, *self._unfinished()):
                self._files.remove(path)

    def _unfinished(self) -> list[Path]:
        """What a failed write of a key or of the list left beside it."""
        names = [name for name in self._files.list(self.target) if name.endswith(".new")]
        return [self.target / name for name in names if name.startswith((KEY_FILE, MANIFEST))]

    def _add_key(self, path: Path, secret: bytes) -> None:
        self._singles.append(path)
        try:
            self._files.create(path, secret.hex().encode() + b"\n")
        except FileExistsError:
            self._singles.remove(path)  # somebody else's: a key is never removed
            raise _another_key(path) from None

    def _place(self, name: str) -> Path:
        """Make the directory of a file, and return where the file goes."""
        path = self.target / name
        folder, inside, _ = name.partition("/")
        if inside:
            self._folders[folder] = None
        else:
            self._singles.append(path)
        self._files.mkdir(path.parent)
        return path

    def _is_up_to_date(self, name: str) -> bool:
        entry = self.entries.get(name)
        return (
            entry is not None and name.endswith(LINES) and entry.size == self._files.size(self._source / name)
        )

    def _stream(self, name: str) -> None:
        target = self._place(name)
        if name in self.entries:
            self._files.remove(target)
        with (
            closing(self._files.chunks(self._source / name)) as pieces,
            closing(AppendFile(self._files, target)) as out,
        ):
            self._note(name, _written(out, whole_lines(pieces) if name.endswith(LINES) else pieces))
            out.sync()

    def _note(self, name: str, pieces: Iterable[bytes] | bytes) -> None:
        digest, size = sha256(), 0
        for piece in [pieces] if isinstance(pieces, bytes) else pieces:
            digest.update(piece)
            size += len(piece)
        self.entries[name] = Entry(name, digest.hexdigest(), size)


@contextmanager
def copying(copy: StoreCopy) -> Iterator[None]:
    """Discard the copy if what is done with it fails."""
    try:
        yield
    except BaseException:
        copy.discard()
        raise


def whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes up to the last newline: a line that is still being written is left out."""
    rest = b""
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end:
            yield rest + piece[:end]
            rest = piece[end:]
        else:
            rest += piece


def _written(out: AppendFile, pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        out.write(piece)
        yield piece


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _another_key(path: Path) -> KeyFileError:
    return KeyFileError(f"{path}: another key is there already, and a key is never overwritten; move it away")
