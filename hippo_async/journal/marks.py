"""Keyed hashes that stand for what was erased: enough to know it again, and only with the agent's key."""

from __future__ import annotations

import hmac

from hippo_async.journal.keys import Key
from hippo_async.journal.seal import hkdf_sha256

_INFO = b"hippo_async.forgotten.v1"


class Marker:
    """Makes marks under a key of their own, derived from the agent's first one.

    A plain hash of a short text is found by guessing; this one is not, without the key. It stays the same
    when keys are changed. Shows the key in neither ``repr`` nor pickles.
    """

    __slots__ = ("_key",)

    def __init__(self, key: Key, *, journal_id: str) -> None:
        self._key = hkdf_sha256(key.secret, salt=bytes.fromhex(journal_id), info=_INFO, length=32)

    def mark(self, kind: str, text: str) -> str:
        """Return 64 hex digits for a text of some kind; the same text of another kind has another mark."""
        message = f"{kind}\0{text}".encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, message, "sha256").hex()

    def __reduce__(self) -> str:
        raise TypeError("a marker holds a secret key and is not pickled")
