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
from hippo_async.migration.arrival import clear
from hippo_async.place import Place

INDEX = "index"


def keeps_its_keys(place: Place) -> bool:
    """Whether the key files of a memory lie in its data directory, and so move with it."""
    key_file = place.key_file or place.data_dir / KEY_FILE
    return place.key is None and key_file.absolute().parent == place.data_dir.absolute()


def place_at(target: Path, place: Place) -> Place:
    """Where a memory is once it moved to another directory."""
    return replace(place, data_dir=target, key_file=None if keeps_its_keys(place) else place.key_file)


@dataclass(slots=True)
class MovingCopy:
    """The copy of one memory in the directory that it moves to. Building it touches nothing.

    ``settings`` says whether ``config.toml`` comes along.
    """

    source: Place
    target: Path
    keys: Keyring
    files: Files
    progress: Progress
    settings: bool
    store: StoreCopy | None = None

    @property
    def place(self) -> Place:
        """The copy as a store of its own, of which the witness knows nothing yet."""
        return replace(place_at(self.target, self.source), witness=None)

    def expected(self) -> int:
        """How many bytes there are to copy now."""
        source = self.source.data_dir
        found = survey(source, in_force(source, self.files), self.files, settings=self.settings)
        return sum(self.files.size(source / name) for name in [*found.names, *self._index()])

    def bring(self) -> StoreCopy:
        """Copy the store, or bring its copy up to it; all of it is durable and was checked when this returns.

        The first time, and after the source was rewritten (a purge, a change of keys), everything is copied
        and every seal checked at both ends. Raises what opening raises, and ``FileNotFoundError`` if the
        source is rewritten meanwhile.
        """
        generations = in_force(self.source.data_dir, self.files)
        if self.store is not None and self.store.generations == generations:
            self.store.take()
            return self.store
        self.store = None
        clear(self.target, self.source.data_dir, self.files, settings=self.settings)
        check_store(self.source, self.keys, self.files)
        store = self._store(generations)
        store.add_keys(self.keys, self._keys_to_bring())
        store.take()
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

    def _index(self) -> list[str]:
        """The files of the index, named from the root of the store."""
        current = Generations(self.source.data_dir / INDEX, files=self.files).current()
        names = [] if current is None else self.files.list(current)
        return [f"{INDEX}/{current.name}/{name}" for name in names if current is not None]

    def _store(self, generations: Mapping[int, int]) -> StoreCopy:
        return StoreCopy(
            self.source.data_dir,
            self.target,
            generations,
            files=self.files,
            progress=self.progress,
            settings=self.settings,
        )

    def _keys_to_bring(self) -> int:
        """How many keys lie in the old directory; those that lie elsewhere stay there."""
        if not isinstance(self.keys, KeyFiles) or not keeps_its_keys(self.source):
            return 0
        epoch = 0
        while self.files.exists(self.keys.path(epoch)):
            epoch += 1
        return epoch
