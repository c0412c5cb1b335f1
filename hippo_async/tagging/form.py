"""What a tag looks like. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hippo_async.language.plain import regular

LONGEST_TAG = 40
"""Characters. What is longer is a sentence or data."""

RESERVED = "status:"
"""Begins the tags that say what a record is, such as ``status:folded``: nobody's topic, and never guessed."""

_HAS_LETTERS = re.compile(r"[^\W\d_]{2}|[\u3400-\u9fff]")
_NO_TAG = re.compile(r"[\n\r<>{}\[\]|\\\ud800-\udfff]|://")


def sensible(proposed: Iterable[object], *, most: int) -> tuple[str, ...]:
    """Return what of a foreign proposal can be tags, regular, each once, the first ``most`` of them.

    What is no string, over 40 characters, without a word in it, has signs of markup, or would pass for a tag
    of the library's own (``status:…``) is left out.
    """
    tags = (regular(tag).lstrip("#") for tag in proposed if isinstance(tag, str) and not _NO_TAG.search(tag))
    return tuple(dict.fromkeys(filter(_is_sensible, tags)))[:most]


def topical(tags: Iterable[str]) -> set[str]:
    """Return which tags of a record say what it is about, regular; ``status:…`` says what it is."""
    return {tag for tag in map(regular, tags) if tag and not tag.startswith(RESERVED)}


def _is_sensible(tag: str) -> bool:
    return len(tag) <= LONGEST_TAG and _HAS_LETTERS.search(tag) is not None and not tag.startswith(RESERVED)
