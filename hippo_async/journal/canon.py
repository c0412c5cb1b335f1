"""Canonical JSON (RFC 8785) for the values that a journal may hold. Pure.

With no floats and ASCII keys, as in nearly every record, the fast serialiser `orjson` writes RFC 8785 byte
for byte; the `rfc8785` package does the rest. What has no canonical form is refused at the door, with the
path of the value at fault.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

import orjson
import rfc8785

from hippo_async.errors import RecordRejected

MAX_DEPTH = 64
MAX_INTEGER = 2**53 - 1
FIRST_EXPONENT = 1e21

Path = tuple["Path | str", str] | str
"""Where a value stands: its parent's place and its own step. Written out only for an error."""


def canonical(value: Any, *, at: str = "$") -> bytes:
    """Return the RFC 8785 form of ``value`` in UTF-8.

    Takes exactly ``None``, ``bool``, ``int``, ``float``, ``str``, ``list`` and ``dict`` with ``str`` keys.
    Raises :class:`RecordRejected` for anything else: other types, integers beyond 2^53 - 1 (also as floats),
    NaN and infinities, lone surrogates, nesting deeper than 64. ``at`` names the value in that error.
    """
    return write(value, plain=is_plain(value, at, 0))


def write(value: Any, *, plain: bool) -> bytes:
    """Return the form of a value of which :func:`is_plain` said this."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS) if plain else rfc8785.dumps(value)


def is_plain(value: Any, at: Path, depth: int) -> bool:
    """Check a value inside ``depth`` others; return whether the fast serialiser writes its canonical form.

    Raises :class:`RecordRejected` as :func:`canonical` does.
    """
    kind = type(value)
    if kind is str:
        return value.isascii() or _is_unicode(value, at)
    if kind is dict or kind is list:
        if depth >= MAX_DEPTH:
            raise _refused(at, f"nested deeper than {MAX_DEPTH} levels")
        return _is_plain_object(value, at, depth) if kind is dict else _is_plain_array(value, at, depth)
    if value is None or kind is bool:
        return True
    if kind is int:
        if -MAX_INTEGER <= value <= MAX_INTEGER:
            return True
        raise _refused(at, "integers past 2^53 - 1 are not exact in JSON; make it a string")
    if kind is float:
        return _is_plain_float(value, at)
    raise _refused(at, f"{kind.__name__} is not a JSON value; use null, booleans, numbers, str, list or dict")


def _is_plain_array(array: list[Any], at: Path, depth: int) -> bool:
    plain = True
    for index, item in enumerate(array):  # to the end: one that is not plain says nothing about the next
        plain &= is_plain(item, (at, f"[{index}]"), depth + 1)
    return plain


def _is_plain_object(fields: dict[Any, Any], at: Path, depth: int) -> bool:
    plain = True
    for key, item in fields.items():
        if not (type(key) is type(item) is str and key.isascii() and item.isascii()):  # most are just this
            plain &= _is_plain_key(key, at) & is_plain(item, (at, f".{key}"), depth + 1)
    return plain


def _is_plain_key(key: Any, at: Path) -> bool:
    if type(key) is not str:
        raise _refused(at, f"a key of type {type(key).__name__}; keys are strings")
    return key.isascii() or not _is_unicode(key, (at, " (a key)"))


def _is_plain_float(value: float, at: Path) -> bool:
    if not math.isfinite(value):
        raise _refused(at, "NaN and infinities have no form in JSON")
    if MAX_INTEGER < abs(value) < FIRST_EXPONENT:
        raise _refused(at, "a float past 2^53 - 1 is written as an inexact integer; make it a string")
    return False


def _is_unicode(text: str, at: Path) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _refused(at, f"a lone surrogate at character {error.start} is no Unicode text") from None
    return True


def _refused(at: Path, reason: str) -> RecordRejected:
    steps: list[str] = []
    while not isinstance(at, str):
        at, step = at
        steps.append(step)
    return RecordRejected(at + "".join(reversed(steps)), reason)


def parse_json(data: bytes) -> Any:
    """Parse JSON that nobody vouches for: UTF-8 without a byte order mark, no key twice, no NaN.

    Raises ``ValueError`` for anything else, ``RecursionError`` for what is nested too deep.
    """
    return json.loads(data.decode(), object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key stands twice")
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
