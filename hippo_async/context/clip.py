"""Cutting a text so that it fits a budget of tokens, without cutting a character in two."""

from __future__ import annotations

import unicodedata

from hippo_async.protocols import TokenCounter

ELLIPSIS = "…"
_JOINER = "\u200d"
_VIRAMA = 9  # the combining class of the signs that join the consonants of Indic scripts
_FIRST_PROBE = 256


def clip(text: str, limit: int, count: TokenCounter) -> str:
    """Return ``text`` if it takes at most ``limit`` tokens, else its longest beginning that does, and "…".

    What is returned never takes more than ``limit`` tokens; it is empty when not even "…" fits. A cut leaves
    accents, emoji sequences, flags and surrogate pairs whole. Found by bisection, which for a counter that is
    not monotonic may stop short of the longest; looks at little more of a long text than it returns.
    """
    if (end := _too_long(text, limit, count)) is None:
        return text
    low, high = 0, end
    while high - low > 1:
        middle = (low + high) // 2
        if count(_cut(text, middle)) <= limit:
            low = middle
        else:
            high = middle
    kept = _cut(text, low)
    return kept if count(kept) <= limit else ""


def fits(text: str, limit: int, count: TokenCounter) -> bool:
    """Whether a text takes at most ``limit`` tokens; reads little more of a long one than would fit."""
    return _too_long(text, limit, count) is None


def _too_long(text: str, limit: int, count: TokenCounter) -> int | None:
    """Return a length, found by doubling, at which the text does not fit; ``None`` if all of it does."""
    length = _FIRST_PROBE
    while length < len(text):
        if count(_cut(text, length)) > limit:
            return length
        length *= 2
    return len(text) if count(text) > limit else None


def _cut(text: str, length: int) -> str:
    while length and _joins(text, length):
        length -= 1
    return text[:length].rstrip() + ELLIPSIS


def _joins(text: str, at: int) -> bool:
    """Whether the characters on both sides of a position belong together."""
    if at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if _is_flag_letter(before) and _is_flag_letter(after):
        return _flag_letters_before(text, at) % 2 == 1
    return (
        _JOINER in (before, after)
        or unicodedata.category(after).startswith("M")
        or unicodedata.combining(before) == _VIRAMA
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # a skin tone
        or "\U000e0020" <= after <= "\U000e007f"  # the letters of a sub-national flag
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")
    )


def _flag_letters_before(text: str, at: int) -> int:
    start = at
    while start and _is_flag_letter(text[start - 1]):
        start -= 1
    return at - start


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
