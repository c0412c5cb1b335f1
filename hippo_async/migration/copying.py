"""What is copied when a memory moves: the store, its keys, its settings and its index.

The index is a projection, and copied all the same: making it anew costs a pass of the embedder over every
record, hours for a million, in which memories are found by words only. It is copied last, while nobody has it
open; what is wrong with it is noticed and mended when it is opened, as anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from hippo_async.backup.checking import check_store, differing
from hippo_async.backup.copying import Progress, StoreCopy, in_force, survey
from hippo_async.engine import KEY_FILE
from hippo_async.files import Files
from hippo_async.index.generations import Generations
from hippo_async.journal import KeyFiles, Keyring
from hippo_async.migration.arrival import SETTINGS, clear
from hippo_async.place import Place

INDEX = "index"


@dataclass(slots=True)
class MovingCopy:
    """The copy of one memory in the directory that it moves to. Building it touches nothing."""

    source: Place
    target: Path
    keys: Keyring
    files: Files
    progress: Progress
    store: StoreCopy | None = None

    @property
    def place(self) -> Place:
        """The copy as a store of its own, of which the witness knows nothing yet."""
        return replace(self.source, data_dir=self.target, witness=None)

    def expected(self) -> int:
        """How many bytes there are to copy now."""
        source = self.source.data_dir
        names = [*survey(source, in_force(source, self.files), self.files).names, SETTINGS, *self._index()]
        return sum(self.files.size(source / name) for name in names)

    def bring(self) -> StoreCopy:
        """Copy the store, or bring its copy up to it; all of it is durable and was checked when this returns.

        The first time, and after the source was rewritten (a purge, a change of keys), everything is copied
        and every seal checked at both ends. Raises what opening raises, and ``FileNotFoundError`` if the
        source is rewritten meanwhile.
        """
        generations = in_force(self.source.data_dir, self.files)
        if self.store is not None and self.store.generations == generations:
            self._take(self.store)
            return self.store
        self.store = None
        clear(self.target, self.source.data_dir, self.files)
        check_store(self.source, self.keys, self.files)
        store = self._store(generations)
        store.add_keys(self.keys, self._keys_to_bring())
        self._take(store)
        store.put_in_force()
        check_store(self.place, self.keys, self.files)
        self.store = store
        return store

    def bring_index(self, store: StoreCopy) -> None:
        """Copy the index, durably. Nobody may have it open."""
        if names := self._index():
            store.add(names)
            Generations(self.target / INDEX, files=self.files).switch((self.target / names[0]).parent)

    def spoilt(self, store: StoreCopy) -> Iterator[Path]:
        """Yield the files of the copy that do not hold what was read from the source."""
        return differing(self.target, store.entries.values(), self.files)

    def _take(self, store: StoreCopy) -> None:
        store.take()
        if self.files.exists(self.source.data_dir / SETTINGS):
            store.add([SETTINGS])

    def _index(self) -> list[str]:
        """The files of the index, named from the root of the store."""
        current = Generations(self.source.data_dir / INDEX, files=self.files).current()
        names = [] if current is None else self.files.list(current)
        return [f"{INDEX}/{current.name}/{name}" for name in names if current is not None]

    def _store(self, generations: Mapping[int, int]) -> StoreCopy:
        source = self.source.data_dir
        return StoreCopy(source, self.target, generations, files=self.files, progress=self.progress)

    def _keys_to_bring(self) -> int:
        """How many keys lie in the old directory; those that lie elsewhere stay there."""
        key_file = self.source.key_file or self.source.data_dir / KEY_FILE
        if (
            not isinstance(self.keys, KeyFiles)
            or key_file.absolute().parent != self.source.data_dir.absolute()
        ):
            return 0
        epoch = 0
        while self.files.exists(self.keys.path(epoch)):
            epoch += 1
        return epoch
