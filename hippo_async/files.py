"""The one module that touches the disk.

:class:`Ops` is the seam: the dozen calls of the operating system that the library makes. :class:`Files` holds
the recipes built on it (write a file atomically, append for ever, keep a directory entry). Tests put other
``Ops`` underneath, and no other module calls ``os.write``, ``os.fsync`` or ``os.replace``.

All of it blocks: call it in a worker thread, never on the event loop.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import shutil
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

if sys.platform == "darwin":
    import fcntl

PRIVATE_FILE = 0o600
PRIVATE_DIR = 0o700

_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
"""What disks say that know no second name for a file, or no more of them."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Which file a path leads to, and how long it is."""

    device: int
    inode: int
    size: int


class Ops(Protocol):
    """What is asked of the operating system. Every call may raise ``OSError``."""

    def open(self, path: Path, flags: int, mode: int = PRIVATE_FILE) -> int: ...
    def close(self, fd: int) -> None: ...
    def write(self, fd: int, data: memoryview) -> int: ...
    def pwrite(self, fd: int, data: bytes, offset: int) -> int: ...
    def pread(self, fd: int, length: int, offset: int) -> bytes: ...
    def sync(self, fd: int) -> None: ...
    def sync_data(self, fd: int) -> None: ...
    def truncate(self, fd: int, size: int) -> None: ...
    def replace(self, source: Path, target: Path) -> None: ...
    def link(self, source: Path, target: Path) -> None: ...
    def unlink(self, path: Path) -> None: ...
    def mkdir(self, path: Path, mode: int = PRIVATE_DIR) -> None: ...
    def rmtree(self, path: Path) -> None: ...
    def listdir(self, path: Path) -> list[str]: ...
    def identity(self, path: Path) -> Identity: ...


class SystemOps:
    """The real operating system."""

    def open(self, path: Path, flags: int, mode: int = PRIVATE_FILE) -> int:
        return os.open(path, flags | os.O_CLOEXEC, mode)

    def close(self, fd: int) -> None:
        os.close(fd)

    def write(self, fd: int, data: memoryview) -> int:
        return os.write(fd, data)

    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        return os.pwrite(fd, data, offset)

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        return os.pread(fd, length, offset)

    def sync(self, fd: int) -> None:
        if sys.platform == "darwin":  # fsync leaves the data in the drive's cache there
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        else:
            os.fsync(fd)

    def sync_data(self, fd: int) -> None:
        if sys.platform == "linux":
            os.fdatasync(fd)
        else:
            self.sync(fd)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def replace(self, source: Path, target: Path) -> None:
        os.replace(source, target)

    def link(self, source: Path, target: Path) -> None:
        os.link(source, target)

    def unlink(self, path: Path) -> None:
        os.unlink(path)

    def mkdir(self, path: Path, mode: int = PRIVATE_DIR) -> None:
        path.mkdir(mode=mode, exist_ok=True)

    def rmtree(self, path: Path) -> None:
        shutil.rmtree(path)

    def listdir(self, path: Path) -> list[str]:
        return os.listdir(path)

    def identity(self, path: Path) -> Identity:
        found = os.stat(path)
        return Identity(found.st_dev, found.st_ino, found.st_size)


class Files:
    """Recipes that leave either the old or the new state on disk, whatever happens in between."""

    def __init__(self, ops: Ops | None = None) -> None:
        self.ops: Ops = SystemOps() if ops is None else ops

    def exists(self, path: Path) -> bool:
        """Return whether the path leads to anything."""
        try:
            self.ops.identity(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def identity(self, path: Path) -> Identity:
        """Return device, inode and size of the file that the path leads to now."""
        return self.ops.identity(path)

    def size(self, path: Path) -> int:
        """Return the size in bytes, 0 for a file that is not there."""
        try:
            return self.ops.identity(path).size
        except FileNotFoundError:
            return 0

    def list(self, path: Path) -> list[str]:
        """Return the names in a directory, sorted; none for a directory that is not there."""
        try:
            return sorted(self.ops.listdir(path))
        except FileNotFoundError:
            return []

    def mkdir(self, path: Path) -> None:
        """Make a directory (mode 0700) and those above it; keep its entry through a power loss.

        Also that of one which is there, but whose maker was killed before it could keep it.
        """
        missing = []
        at = path
        while not self.exists(at):
            missing.append(at)
            at = at.parent
        with contextlib.suppress(FileNotFoundError, PermissionError):  # then it is none that was made here
            self.sync_dir(at.parent)
        for made in reversed(missing):
            self.ops.mkdir(made)
            self.sync_dir(made.parent)

    def read(self, path: Path) -> bytes:
        """Return the whole file."""
        fd = self.ops.open(path, os.O_RDONLY)
        try:
            return b"".join(self._chunks(fd, 0, None))
        finally:
            self.ops.close(fd)

    def chunks(self, path: Path, *, size: int = 1 << 20) -> Generator[bytes, None, None]:
        """Yield the file piece by piece, so that its size does not matter."""
        fd = self.ops.open(path, os.O_RDONLY)
        try:
            yield from self._chunks(fd, 0, None, size)
        finally:
            self.ops.close(fd)

    def sha256(self, path: Path) -> str:
        """Return the digest of the file as 64 hex digits."""
        digest = hashlib.sha256()
        for piece in self.chunks(path):
            digest.update(piece)
        return digest.hexdigest()

    def read_at(self, path: Path, offset: int, length: int) -> bytes:
        """Return up to ``length`` bytes from ``offset``; fewer only at the end of the file."""
        fd = self.ops.open(path, os.O_RDONLY)
        try:
            return b"".join(self._chunks(fd, offset, length))
        finally:
            self.ops.close(fd)

    def append(self, path: Path, data: bytes) -> None:
        """Append to a file, made if missing, and hand it to the operating system; not synced."""
        fd = self.ops.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            self.write_all(fd, data)
        finally:
            self.ops.close(fd)

    def write_atomic(self, path: Path, data: bytes) -> None:
        """Replace a file durably: after a crash it holds the old bytes or the new ones, whole."""
        fresh = path.with_name(path.name + ".new")
        self._write_synced(fresh, data)
        self.ops.replace(fresh, path)
        self.sync_dir(path.parent)

    def create(self, path: Path, data: bytes) -> None:
        """Write a file durably where there is none; whole or not at all, whoever else tries at the same time.

        Raises ``FileExistsError`` if there is one, which stays as it is.
        """
        fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
        try:
            self._write_synced(fresh, data)
            self.ops.link(fresh, path)
        finally:
            self.remove(fresh)
        self.sync_dir(path.parent)

    def share(self, path: Path, target: Path) -> None:
        """Give a file that is never written again a second name, durably; on disks without such, a copy."""
        try:
            self.ops.link(path, target)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            self.write_atomic(target, self.read(path))
        else:
            self.sync_dir(target.parent)

    def move(self, path: Path, name: str) -> Path:
        """Give a file or directory another name in its directory, durably, and return where it is now."""
        moved = path.with_name(name)
        self.ops.replace(path, moved)
        self.sync_dir(path.parent)
        return moved

    def truncate(self, path: Path, size: int) -> None:
        """Cut a file to ``size`` bytes, durably."""
        fd = self.ops.open(path, os.O_WRONLY)
        try:
            self.ops.truncate(fd, size)
            self.ops.sync(fd)
        finally:
            self.ops.close(fd)

    def sync_file(self, path: Path) -> None:
        """Make what the file holds now durable."""
        fd = self.ops.open(path, os.O_RDONLY)
        try:
            self.ops.sync(fd)
        finally:
            self.ops.close(fd)

    def sync_dir(self, path: Path) -> None:
        """Make the entries of a directory durable."""
        fd = self.ops.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self.ops.sync(fd)
        except OSError as error:
            if error.errno != errno.EINVAL:  # some file systems have nothing to sync here
                raise
        finally:
            self.ops.close(fd)

    def remove(self, path: Path) -> None:
        """Remove a file; it may be gone already."""
        with contextlib.suppress(FileNotFoundError):
            self.ops.unlink(path)

    def remove_tree(self, path: Path) -> None:
        """Remove a directory and all in it; it may be gone already."""
        with contextlib.suppress(FileNotFoundError):
            self.ops.rmtree(path)

    def write_all(self, fd: int, data: bytes) -> None:
        """Write all of ``data``, however short the single writes are."""
        rest = memoryview(data)
        while rest:
            written = self.ops.write(fd, rest)
            if not written:
                raise OSError(errno.EIO, f"0 of {len(rest)} bytes were written")
            rest = rest[written:]

    def _write_synced(self, path: Path, data: bytes) -> None:
        fd = self.ops.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            self.write_all(fd, data)
            self.ops.sync(fd)
        finally:
            self.ops.close(fd)

    def _chunks(self, fd: int, offset: int, length: int | None, size: int = 1 << 20) -> Iterator[bytes]:
        left = length
        while left is None or left > 0:
            data = self.ops.pread(fd, size if left is None else min(size, left), offset)
            if not data:
                return
            yield data
            offset += len(data)
            left = None if left is None else left - len(data)


class AppendFile:
    """A file that only grows, open for one writer; made if missing, its directory entry durable.

    ``end`` is where the next byte goes. A write or sync that fails leaves the object unusable: what is on
    disk is unknown, and the same pages are never synced a second time.
    """

    def __init__(self, files: Files, path: Path) -> None:
        self._files = files
        self.path = path
        self._fd = files.ops.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            found = files.identity(path)
            files.sync_dir(path.parent)
        except BaseException:
            files.ops.close(self._fd)
            raise
        self.end: int = found.size
        self._inode = (found.device, found.inode)

    def is_ours(self) -> bool:
        """Whether the path still leads to the file that was opened, with nothing added or cut by others."""
        try:
            found = self._files.identity(self.path)
        except FileNotFoundError:
            return False
        return (found.device, found.inode) == self._inode and found.size == self.end

    def write(self, data: bytes) -> None:
        """Append ``data`` to the file, as far as the operating system's cache."""
        self._files.write_all(self._fd, data)
        self.end += len(data)

    def sync(self) -> None:
        """Make all that was written durable."""
        self._files.ops.sync_data(self._fd)

    def close(self) -> None:
        """Close the descriptor; may be called twice."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            self._files.ops.close(fd)


class SlotFile:
    """A file of fixed-size slots that are overwritten in place; each write is one call."""

    def __init__(self, files: Files, path: Path, *, slot_bytes: int) -> None:
        self._ops = files.ops
        self._slot_bytes = slot_bytes
        self._fd = files.ops.open(path, os.O_RDWR | os.O_CREAT)

    def write(self, slot: int, data: bytes) -> None:
        """Overwrite one slot, as far as the operating system's cache. ``data`` has the slot's exact size."""
        written = self._ops.pwrite(self._fd, data, slot * self._slot_bytes)
        if written != len(data):
            raise OSError(errno.EIO, f"only {written} of {len(data)} bytes of a slot were written")

    def sync(self) -> None:
        """Make the slots durable."""
        self._ops.sync_data(self._fd)

    def close(self) -> None:
        """Close the descriptor; may be called twice."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            self._ops.close(fd)
