"""The agent's 32 secret bytes (J4): given, named by a file, or made once beside the store."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from hippo_async.errors import KeyFileError
from hippo_async.files import Files
from hippo_async.journal.seal import KEY_BYTES

_DIGITS = re.compile(r"[0-9A-Fa-f]{64}")


class Key:
    """A master key that shows itself in no ``repr``, log or traceback."""

    __slots__ = ("secret",)

    def __init__(self, secret: bytes) -> None:
        if len(secret) != KEY_BYTES:
            raise KeyFileError(f"a key of {len(secret)} bytes; it takes exactly {KEY_BYTES} random ones")
        if len(set(secret)) == 1:
            raise KeyFileError("a key that repeats one byte protects nothing; take 32 random ones")
        self.secret: bytes = secret

    def __repr__(self) -> str:
        return "Key(…)"

    def __reduce__(self) -> str:
        raise TypeError("a secret key is not pickled")


def read_key(files: Files, path: Path) -> Key:
    """Read a key file: 64 hex digits on one line.

    Raises :class:`KeyFileError` if it is missing, not of that form, or open to others (mode beyond 0600).
    """
    try:
        text = files.read(path).decode("ascii").strip()
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        raise KeyFileError(
            f"{path}: no such key file; without it the journal cannot be read or proved"
        ) from None
    except UnicodeDecodeError:
        raise KeyFileError(f"{path}: not a key file of 64 hex digits") from None
    if os.name == "posix" and mode & 0o077:
        raise KeyFileError(f"{path}: mode {mode:04o} lets others read the key; run: chmod 600 {path}")
    if not _DIGITS.fullmatch(text):
        raise KeyFileError(f"{path}: not a key file of 64 hex digits")
    return Key(bytes.fromhex(text))


def make_key(files: Files, path: Path) -> Key:
    """Make a new random key file with mode 0600 and return its key. Durable when it returns.

    Raises :class:`KeyFileError` if there is one already, also if another process makes it at this moment:
    without its key a journal is gone for good.
    """
    key = Key(secrets.token_bytes(KEY_BYTES))
    files.mkdir(path.parent)
    try:
        files.create(path, key.secret.hex().encode() + b"\n")
    except FileExistsError:
        raise KeyFileError(f"{path}: there is a key already; it is never overwritten") from None
    return key


class Keyring(Protocol):
    """The keys of an agent, one an epoch: each change of keys begins the next (J13, FORMAT.md §9)."""

    def key(self, epoch: int) -> Key:
        """Return the key of an epoch. Raises :class:`KeyFileError` if it is not there."""
        ...

    def provide(self, epoch: int) -> Key:
        """Return the key of an epoch that is about to begin, durable; make one where that is possible."""
        ...


class GivenKeys:
    """Keys that the caller holds, oldest first. None can be made."""

    def __init__(self, given: Sequence[bytes]) -> None:
        self._keys = [Key(secret) for secret in given]

    def key(self, epoch: int) -> Key:
        """Return the key of an epoch."""
        if epoch >= len(self._keys):
            raise KeyFileError(
                f"the journal of key epoch {epoch} needs its key, and only {len(self._keys)} were given; "
                "hand over the new one as key and those before it as retired_keys, oldest first"
            )
        return self._keys[epoch]

    def provide(self, epoch: int) -> Key:
        """Return the key of an epoch; the caller has to hand it over first."""
        return self.key(epoch)


class KeyFiles:
    """Key files: ``path`` for epoch 0, ``path.1`` for the next, and so on."""

    def __init__(self, files: Files, path: Path) -> None:
        self._files = files
        self._path = path

    def path(self, epoch: int) -> Path:
        """Where the key of an epoch lies."""
        return self._path.with_name(f"{self._path.name}.{epoch}") if epoch else self._path

    def key(self, epoch: int) -> Key:
        """Read the key of an epoch."""
        return read_key(self._files, self.path(epoch))

    def provide(self, epoch: int) -> Key:
        """Read the key of an epoch, or make it; one that an interrupted change of keys made is taken."""
        with suppress(KeyFileError):
            make_key(self._files, self.path(epoch))
        return self.key(epoch)
