"""Which directory holds the index now. ``CURRENT`` names one; whatever it does not name is rubbish."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from hippo_async.files import Files

_NAME = re.compile(r"gen-(\d+)")


class Generations:
    """The directories ``gen-N`` under ``root`` and the file ``CURRENT`` that names the valid one."""

    def __init__(self, root: Path, *, files: Files) -> None:
        self._root = root
        self._files = files

    def current(self) -> Path | None:
        """Return the valid generation, or ``None`` when ``CURRENT`` is missing, damaged or names nothing."""
        pointer = self._root / "CURRENT"
        if not self._files.exists(pointer):
            return None
        name = self._files.read(pointer).decode("ascii", errors="replace").strip()
        if not _NAME.fullmatch(name) or not self._files.exists(self._root / name):
            return None
        return self._root / name

    def fresh(self) -> Path:
        """Make the next directory, after all that are there. It is not valid before :meth:`switch`."""
        directory = self._root / f"gen-{max(self._numbers(), default=0) + 1}"
        self._files.mkdir(directory)
        return directory

    def switch(self, directory: Path) -> None:
        """Make ``directory`` the valid generation, in one step that a crash does or does not see."""
        self._files.write_atomic(self._root / "CURRENT", f"{directory.name}\n".encode("ascii"))

    def kept(self, name: str) -> Path | None:
        """Return the path of a file in the valid generation, or ``None`` if :meth:`keep` did not write it."""
        directory = self.current()
        return directory / name if directory and self._files.exists(directory / name) else None

    def keep(self, name: str, write: Callable[[Path], None]) -> None:
        """Have ``write`` write a file into the valid generation, whole or not at all.

        The only one of its suffix stays: others are removed. Without a valid generation nothing is written.
        """
        directory = self.current()
        if directory is None:
            return
        fresh = directory / f"{name}.new"
        write(fresh)
        self._files.sync_file(fresh)
        kept = self._files.move(fresh, name)
        for other in self._files.list(directory):
            if other != name and Path(other).suffix == kept.suffix:
                self._files.remove(directory / other)

    def drop_kept(self, *, but: str) -> None:
        """Remove every file of the valid generation, finished or not, whose name does not begin so."""
        directory = self.current()
        if directory is None:
            return
        for name in self._files.list(directory):
            if not name.startswith(but):
                self._files.remove(directory / name)

    def disown(self) -> None:
        """Leave no generation valid, so that the next one to open begins anew."""
        self._files.remove(self._root / "CURRENT")

    def sweep(self) -> None:
        """Remove every generation but the valid one: old ones, and new ones that were never finished."""
        current = self.current()
        for number in self._numbers():
            directory = self._root / f"gen-{number}"
            if directory != current:
                self._files.remove_tree(directory)

    def _numbers(self) -> list[int]:
        names = self._files.list(self._root)
        return [int(match[1]) for name in names if (match := _NAME.fullmatch(name))]
