"""The bare loops: the least work that gives the same thing, with none of the promises.

A line of the floor is filler, then the hexadecimal HMAC of the filler, then a newline: as long as the line of
the journal it stands for, so that the same number of bytes is hashed and written.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

KEY = bytes(range(32))
_TAG = 64  # hexadecimal digits of SHA-256
_END = _TAG + 1  # with the newline


def line_lengths(files: Iterable[Path]) -> list[int]:
    """Return the length in bytes of every line of the files, newline included."""
    return [len(line) for file in files for line in file.read_bytes().splitlines(keepends=True)]


def fillers(lengths: Sequence[int]) -> list[bytes]:
    """Return what the lines of these lengths say before their tag; no two neighbours are equal."""
    return [_filler(index, length - _END) for index, length in enumerate(lengths)]


def sealed(filler: bytes) -> bytes:
    """Return one line: filler, tag, newline."""
    return filler + hmac.digest(KEY, filler, "sha256").hex().encode() + b"\n"


def append_durably(file: Path, groups: Iterable[Sequence[bytes]]) -> None:
    """Seal and append each group of fillers with one write and one fdatasync."""
    descriptor = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    try:
        for group in groups:
            os.write(descriptor, b"".join(sealed(filler) for filler in group))
            os.fdatasync(descriptor)
    finally:
        os.close(descriptor)


def verify(file: Path) -> int:
    """Return how many lines carry the tag of their filler."""
    valid = 0
    for line in file.read_bytes().split(b"\n")[:-1]:
        tag = hmac.digest(KEY, line[:-_TAG], "sha256").hex().encode()
        valid += hmac.compare_digest(tag, line[-_TAG:])
    return valid


def digest(files: Iterable[Path]) -> bytes:
    """Return the SHA-256 over the bytes of the files, read in large blocks."""
    state = hashlib.sha256()
    for file in files:
        with file.open("rb", buffering=0) as stream:
            while block := stream.read(1 << 20):
                state.update(block)
    return state.digest()


def _filler(index: int, length: int) -> bytes:
    return f"{index:016d}".encode().ljust(length, b"x")[:length]
