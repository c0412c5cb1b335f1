"""The agent's 32 secret bytes (J4): given, named by a file, or made once beside the store."""

from __future__ import annotations

import os
import re
import secrets
import stat
from pathlib import Path

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

    Raises :class:`KeyFileError` if there is one already: without its key a journal is gone for good.
    """
    if files.exists(path):
        raise KeyFileError(f"{path}: there is a key already; it is never overwritten")
    key = Key(secrets.token_bytes(KEY_BYTES))
    files.mkdir(path.parent)
    files.write_atomic(path, key.secret.hex().encode() + b"\n")
    return key
