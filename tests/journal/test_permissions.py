"""Where nothing may be written: a reader reads, a writer is told by the system's own error (F45)."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from hippo_async.files import PRIVATE_DIR, PRIVATE_FILE, SystemOps

if TYPE_CHECKING:
    from conftest import Store

NOBODY = 65534


class ReadOnlyDisk(SystemOps):
    """A file system that was mounted read-only. The lock alone does not go through here."""

    def open(self, path: Path, flags: int, mode: int = PRIVATE_FILE) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            self._refuse(path)
        return super().open(path, flags, mode)

    def mkdir(self, path: Path, mode: int = PRIVATE_DIR) -> None:
        if not path.exists():
            self._refuse(path)

    def replace(self, source: Path, target: Path) -> None:
        self._refuse(target)

    def unlink(self, path: Path) -> None:
        self._refuse(path)

    def rmtree(self, path: Path) -> None:
        self._refuse(path)

    def _refuse(self, path: Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))


@pytest.mark.parametrize("torn", [b"", b'{"header":'], ids=["closed", "torn"])
def test_a_read_only_disk_is_read_and_a_writer_is_told(twenty: Store, torn: bytes) -> None:
    """A torn tail is read past, not cut. The refused writer leaves the lock free."""
    written = twenty.read()
    twenty.live.write_bytes(twenty.live.read_bytes() + torn)
    before = twenty.fingerprint()
    with twenty.opened(ops=ReadOnlyDisk(), read_only=True) as reader:
        assert [record for record, _ in reader.scan()] == written
        assert reader.verify_chain().intact
    with pytest.raises(OSError, match="Read-only file system"):
        twenty.journal(ops=ReadOnlyDisk()).open()
    assert twenty.fingerprint() == before
    assert twenty.write(["once it can be written again"])[0].seq == 20


def test_a_journal_is_not_begun_on_a_read_only_disk(store: Store) -> None:
    store.base.mkdir()
    with pytest.raises(OSError, match="Read-only file system"):
        store.journal(ops=ReadOnlyDisk()).open()
    assert list(store.base.iterdir()) == []


@contextmanager
def bound_by_permissions() -> Iterator[None]:
    """Be somebody whom permissions bind: root becomes nobody for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def untouchable(twenty: Store) -> Iterator[Store]:
    """A journal that whoever opens it owns and may read, and not write; in reach of nobody too."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        store = twenty.copy_to(Path(folder) / "store")
        everything = [store.base, *store.base.rglob("*")]
        for path in everything:
            if os.geteuid() == 0:
                os.chown(path, NOBODY, NOBODY)
            path.chmod(0o500 if path.is_dir() else 0o400)
        yield store
        for path in everything:
            path.chmod(0o700)


def test_a_store_without_permission_to_write_is_read_and_a_writer_is_told(
    twenty: Store, untouchable: Store
) -> None:
    written = twenty.read()
    before = untouchable.fingerprint()
    with bound_by_permissions():
        assert untouchable.read() == written
        with pytest.raises(PermissionError):
            untouchable.journal().open()
        with pytest.raises(PermissionError):
            replace(untouchable, base=untouchable.base / "new").journal().open()
    assert untouchable.fingerprint() == before


def test_a_journal_that_may_not_be_read_is_no_absent_one(twenty: Store, untouchable: Store) -> None:
    """Else a writer would begin a new one in its place."""
    untouchable.live.parent.chmod(0)
    with bound_by_permissions():
        for read_only in (True, False):
            with pytest.raises(PermissionError):
                untouchable.journal(read_only=read_only).open()
