"""Canonical JSON (RFC 8785) for the values that a journal may hold. Pure.

With no floats and ASCII keys the standard serialiser already writes RFC 8785, byte for byte; the `rfc8785`
package does the rest. What has no canonical form is refused at the door, with the path of the value at fault.
"""

from __future__ import annotations

import json
import math
from typing import Any

import rfc8785

from hippo_async.errors import RecordRejected

MAX_DEPTH = 64
MAX_INTEGER = 2**53 - 1
FIRST_EXPONENT = 1e21

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def canonical(value: Any, *, at: str = "$") -> bytes:
    """Return the RFC 8785 form of ``value`` in UTF-8.

    Takes exactly ``None``, ``bool``, ``int``, ``float``, ``str``, ``list`` and ``dict`` with ``str`` keys.
    Raises :class:`RecordRejected` for anything else: other types, integers beyond 2^53 - 1, NaN and
    infinities, lone surrogates, nesting deeper than 64. ``at`` names the value in that error.
    """
    if _is_plain(value, at, 0):
        return _encode(value).encode()
    return rfc8785.dumps(value)


def _is_plain(value: Any, at: str, depth: int) -> bool:
    """Check a value; return whether the standard serialiser writes its canonical form."""
    kind = type(value)
    if kind is str:
        _check_text(value, at)
        return True
    if value is None or kind is bool:
        return True
    if kind is int:
        if abs(value) > MAX_INTEGER:
            raise RecordRejected(at, "integers past 2^53 - 1 are not exact in JSON; make it a string")
        return True
    if kind is float:
        if not math.isfinite(value):
            raise RecordRejected(at, "NaN and infinities have no form in JSON")
        if MAX_INTEGER < abs(value) < FIRST_EXPONENT:
            raise RecordRejected(
                at, "a float past 2^53 - 1 is written as an inexact integer; make it a string"
            )
        return False
    if depth >= MAX_DEPTH:
        raise RecordRejected(at, f"nested deeper than {MAX_DEPTH} levels")
    if kind is list:
        plain = [_is_plain(item, f"{at}[{index}]", depth + 1) for index, item in enumerate(value)]
        return all(plain)
    if kind is dict:
        plain = [_is_plain_item(key, item, at, depth) for key, item in value.items()]
        return all(plain)
    raise RecordRejected(
        at, f"{kind.__name__} is not a JSON value; use null, booleans, numbers, str, list or dict"
    )


def _is_plain_item(key: Any, item: Any, at: str, depth: int) -> bool:
    if type(key) is not str:
        raise RecordRejected(at, f"a key of type {type(key).__name__}; keys are strings")
    _check_text(key, f"{at} (a key)")
    return _is_plain(item, f"{at}.{key}", depth + 1) and key.isascii()


def _check_text(text: str, at: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise RecordRejected(
                at, f"a lone surrogate at character {error.start} is no Unicode text"
            ) from None
