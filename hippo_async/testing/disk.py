"""A disk in memory that knows what a power loss may leave of it.

Each file and each directory has two states: what programs see (volatile) and what is certain to be there
after a power loss (durable). A sync of a file makes its content durable but not its name; a sync of a
directory makes the names in it durable but not the content behind them. What lies between the two states may
survive in part: :meth:`SimulatedDisk.crash_states` enumerates how.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, count, product
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeAlias, TypeVar

from hippo_async.files import PRIVATE_DIR, PRIVATE_FILE, Identity

P = ParamSpec("P")
R = TypeVar("R")

DiskState: TypeAlias = frozenset[tuple[Path, bytes | None]]
"""All that is on a disk: each path below the mount with a file's bytes, or ``None`` for a directory."""

EMPTY: DiskState = frozenset()
CUTS = (1, 200, 511)
FEW = 5
"""Up to so many unsynced writes, every subset of them is tried."""

_devices = count(1)


class _Change(NamedTuple):
    """Bytes written at an offset, or (``data`` is ``None``) the file cut to that size."""

    offset: int
    data: bytes | None

    def apply(self, content: bytearray) -> None:
        if self.data is None:
            del content[self.offset :]
        if self.data != b"":
            content.extend(bytes(max(0, self.offset - len(content))))
        if self.data:
            content[self.offset : self.offset + len(self.data)] = self.data

    def torn(self, cut: int, *, zeros: bool) -> _Change:
        """Only the first ``cut`` bytes; with ``zeros``, blank ones where the others belong."""
        if self.data is None:
            return self
        kept = self.data[:cut]
        return _Change(self.offset, kept.ljust(len(self.data), b"\0") if zeros else kept)


@dataclass(slots=True, eq=False)
class _File:
    number: int
    content: bytearray = field(default_factory=bytearray)
    durable: bytes = b""
    pending: list[_Change] = field(default_factory=list)

    def change(self, change: _Change) -> None:
        change.apply(self.content)
        self.pending.append(change)

    def sync(self) -> None:
        self.durable = bytes(self.content)
        self.pending.clear()


@dataclass(slots=True, eq=False)
class _Directory:
    """``pending`` holds one mapping an operation: the names it changed, and what they lead to now."""

    number: int
    entries: dict[str, _File | _Directory] = field(default_factory=dict)
    durable: dict[str, _File | _Directory] = field(default_factory=dict)
    pending: list[dict[str, _File | _Directory | None]] = field(default_factory=list)

    def change(self, names: dict[str, _File | _Directory | None]) -> None:
        _rename(self.entries, names)
        self.pending.append(names)

    def sync(self) -> None:
        self.durable = dict(self.entries)
        self.pending.clear()

    def survivors(self, operations: int) -> dict[str, _File | _Directory]:
        """The names in it if that many of the operations since the last sync survive."""
        entries = dict(self.durable)
        for names in self.pending[:operations]:
            _rename(entries, names)
        return entries


_Node: TypeAlias = _File | _Directory
_Survival: TypeAlias = list[tuple[_File, _Change]]  # the unsynced changes that come to the disk, in order


@dataclass(slots=True)
class _Descriptor:
    node: _Node
    path: Path
    appending: bool
    position: int = 0


def _step(call: Callable[Concatenate[SimulatedDisk, P], R]) -> Callable[Concatenate[SimulatedDisk, P], R]:
    """Do one call at a time, and remember it if it succeeds."""

    def remembered(self: SimulatedDisk, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:
            result = call(self, *args, **kwargs)
            self._log.append(lambda other: call(other, *args, **kwargs))
            return result

    return remembered


def _never(_path: Path) -> bool:
    return False


class SimulatedDisk:
    """Implements :class:`hippo_async.files.Ops` in memory, below the directory ``mount``.

    ``holds`` is what is on it, durably, to begin with. ``lies`` names the files and directories for which a
    sync says yes and does nothing. Every successful call but reads is a step; :attr:`steps` counts them. Safe
    to use from any thread. A rename goes within one directory (``EXDEV`` otherwise).
    """

    def __init__(
        self, mount: Path, *, holds: DiskState = EMPTY, lies: Callable[[Path], bool] = _never
    ) -> None:
        self.mount = mount
        self._holds = holds
        self._lies = lies
        self._device = next(_devices)
        self._lock = threading.RLock()
        self._log: list[Callable[[SimulatedDisk], object]] = []
        self._descriptors: dict[int, _Descriptor] = {}
        self._next_descriptor = count(3)
        self._next_number = count(1)
        self._nodes: list[_Node] = []
        self._top = self._directory()
        self._load(holds)

    @property
    def steps(self) -> int:
        """How many steps were made."""
        return len(self._log)

    def killed(self, at: int | None = None) -> SimulatedDisk:
        """Return a second disk as it is if all processes die before step ``at`` (default: now).

        What was written is there, synced or not, and may yet be lost in a power loss.
        """
        disk = SimulatedDisk(self.mount, holds=self._holds, lies=self._lies)
        for step in self._log[:at]:
            step(disk)
            disk._log.append(step)
        return disk

    def crash_states(self, at: int | None = None, *, cuts: Sequence[int] = CUTS) -> Iterator[DiskState]:
        """Yield, each once, what may be on the disk if the power fails before step ``at`` (default: now).

        Of the names: in each directory any prefix of the operations since its last sync. Of the writes since
        the last sync: any subset if they are few, else all, none, all but one and only one. And for each of
        ``cuts``, the last write to a file, or every write, torn after so many bytes, with the size before or
        (filled with zeros) after it. Torn is from the front: pages of one write do not change their order.
        """
        disk = self.killed(at)
        directories = [node for node in disk._nodes if isinstance(node, _Directory)]
        writes = [
            (node, change) for node in disk._nodes if isinstance(node, _File) for change in node.pending
        ]
        contents = [_contents(survival) for survival in _survivals(writes, cuts)]
        seen = set()
        for kept in product(*(range(len(directory.pending) + 1) for directory in directories)):
            names = {
                directory: directory.survivors(operations)
                for directory, operations in zip(directories, kept, strict=True)
            }
            for content in contents:
                state = frozenset(_walk(self.mount, disk._top, names, content))
                if state not in seen:
                    seen.add(state)
                    yield state

    # What Ops asks of an operating system.

    @_step
    def open(self, path: Path, flags: int, mode: int = PRIVATE_FILE) -> int:
        parent, name = self._parent(path)
        node = parent if not name else parent.entries.get(name)
        if node is None and flags & os.O_CREAT:
            node = self._file()
            parent.change({name: node})
        if node is None:
            raise _error(errno.ENOENT, path)
        if flags & os.O_DIRECTORY and isinstance(node, _File):
            raise _error(errno.ENOTDIR, path)
        if flags & os.O_TRUNC and isinstance(node, _File) and node.content:
            node.change(_Change(0, None))
        descriptor = next(self._next_descriptor)
        self._descriptors[descriptor] = _Descriptor(node, path, bool(flags & os.O_APPEND))
        return descriptor

    @_step
    def close(self, fd: int) -> None:
        self._descriptor(fd)
        del self._descriptors[fd]

    def write(self, fd: int, data: memoryview) -> int:
        return self._write(fd, bytes(data))

    @_step
    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        self._opened_file(fd).change(_Change(offset, data))
        return len(data)

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        with self._lock:
            return bytes(self._opened_file(fd).content[offset : offset + length])

    @_step
    def sync(self, fd: int) -> None:
        opened = self._descriptor(fd)
        if not self._lies(opened.path):
            opened.node.sync()

    def sync_data(self, fd: int) -> None:
        self.sync(fd)

    @_step
    def truncate(self, fd: int, size: int) -> None:
        self._opened_file(fd).change(_Change(size, None))

    @_step
    def replace(self, source: Path, target: Path) -> None:
        if source.parent != target.parent:
            raise _error(errno.EXDEV, source)
        parent, name = self._parent(source)
        parent.change({name: None, target.name: self._at(source)})

    @_step
    def link(self, source: Path, target: Path) -> None:
        parent, name = self._parent(target)
        if name in parent.entries:
            raise _error(errno.EEXIST, target)
        parent.change({name: self._at(source)})

    @_step
    def unlink(self, path: Path) -> None:
        if isinstance(self._at(path), _Directory):
            raise _error(errno.EISDIR, path)
        parent, name = self._parent(path)
        parent.change({name: None})

    @_step
    def mkdir(self, path: Path, mode: int = PRIVATE_DIR) -> None:
        directory = self._top
        for name in self._names(path):
            node = directory.entries.get(name)
            if node is None:
                node = self._directory()
                directory.change({name: node})
            if isinstance(node, _File):
                raise _error(errno.EEXIST, path)
            directory = node

    @_step
    def rmtree(self, path: Path) -> None:
        parent, name = self._parent(path)
        self._empty(self._directory_at(path))
        parent.change({name: None})

    def listdir(self, path: Path) -> list[str]:
        with self._lock:
            return list(self._directory_at(path).entries)

    def identity(self, path: Path) -> Identity:
        with self._lock:
            node = self._at(path)
            return Identity(self._device, node.number, len(node.content) if isinstance(node, _File) else 0)

    # How it is done.

    @_step
    def _write(self, fd: int, data: bytes) -> int:
        opened, file = self._descriptor(fd), self._opened_file(fd)
        at = len(file.content) if opened.appending else opened.position
        file.change(_Change(at, data))
        opened.position = at + len(data)
        return len(data)

    def _load(self, holds: DiskState) -> None:
        for path, content in sorted(holds, key=lambda entry: entry[0]):
            parent, name = self._parent(path)
            node: _Node = self._directory() if content is None else self._file()
            if content is not None and isinstance(node, _File):
                node.content.extend(content)
            parent.entries[name] = node
        for node in self._nodes:
            node.sync()

    def _file(self) -> _File:
        file = _File(next(self._next_number))
        self._nodes.append(file)
        return file

    def _directory(self) -> _Directory:
        directory = _Directory(next(self._next_number))
        self._nodes.append(directory)
        return directory

    def _empty(self, directory: _Directory) -> None:
        for name, node in list(directory.entries.items()):
            if isinstance(node, _Directory):
                self._empty(node)
            directory.change({name: None})

    def _names(self, path: Path) -> tuple[str, ...]:
        if not path.is_relative_to(self.mount):
            raise _error(errno.ENOENT, path)
        return path.parts[len(self.mount.parts) :]

    def _parent(self, path: Path) -> tuple[_Directory, str]:
        """The directory that a path stands in, and its name there: none for the mount itself."""
        names = self._names(path)
        return (self._directory_at(path.parent), path.name) if names else (self._top, "")

    def _at(self, path: Path) -> _Node:
        node: _Node | None = self._top
        for name in self._names(path):
            if isinstance(node, _File):
                raise _error(errno.ENOTDIR, path)
            node = None if node is None else node.entries.get(name)
        if node is None:
            raise _error(errno.ENOENT, path)
        return node

    def _directory_at(self, path: Path) -> _Directory:
        node = self._at(path)
        if isinstance(node, _File):
            raise _error(errno.ENOTDIR, path)
        return node

    def _descriptor(self, fd: int) -> _Descriptor:
        if fd not in self._descriptors:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._descriptors[fd]

    def _opened_file(self, fd: int) -> _File:
        opened = self._descriptor(fd)
        if isinstance(opened.node, _Directory):
            raise _error(errno.EISDIR, opened.path)
        return opened.node


def _rename(entries: dict[str, Any], names: dict[str, Any]) -> None:
    for name, node in names.items():
        if node is None:
            entries.pop(name, None)
        else:
            entries[name] = node


def _survivals(writes: _Survival, cuts: Sequence[int]) -> Iterator[_Survival]:
    """Yield which writes survive, whole or torn."""
    if len(writes) <= FEW:
        for kept in product((True, False), repeat=len(writes)):
            yield list(compress(writes, kept))
    else:
        yield writes
        yield []
        for index, write in enumerate(writes):
            yield [*writes[:index], *writes[index + 1 :]]
            yield [write]
    for cut, zeros in product((0, *cuts), (False, True)):
        torn = [(file, change.torn(cut, zeros=zeros)) for file, change in writes]
        yield torn
        for index, (file, _) in enumerate(writes):
            if file not in [later for later, _ in writes[index + 1 :]]:
                yield [*writes[:index], torn[index], *writes[index + 1 :]]


def _contents(survival: _Survival) -> dict[_File, bytes]:
    """The files' contents once the changes that survive are made to what was durable."""
    contents: dict[_File, bytearray] = {}
    for file, change in survival:
        change.apply(contents.setdefault(file, bytearray(file.durable)))
    return {file: bytes(content) for file, content in contents.items()}


def _walk(
    path: Path, directory: _Directory, names: dict[_Directory, dict[str, _Node]], content: dict[_File, bytes]
) -> Iterator[tuple[Path, bytes | None]]:
    for name, node in names[directory].items():
        if isinstance(node, _File):
            yield path / name, content.get(node, node.durable)
        else:
            yield path / name, None
            yield from _walk(path / name, node, names, content)


def _error(number: int, path: Path) -> OSError:
    return OSError(number, os.strerror(number), str(path))
