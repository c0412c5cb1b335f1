"""What a tag looks like. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hippo_async.language.plain import regular
from hippo_async.records import PINNED_TAG

LONGEST_TAG = 40
"""Characters. What is longer is a sentence or data."""

_STATUS = "status:"

_HAS_LETTERS = re.compile(r"[^\W\d_]{2}|[\u3400-\u9fff]")
_NO_TAG = re.compile(r"[\n\r<>{}\[\]|\\\ud800-\udfff]|://")


def sensible(proposed: Iterable[object], *, most: int) -> tuple[str, ...]:
    """Return what of a foreign proposal can be tags, regular, each once, the first ``most`` of them.

    What is no string, over 40 characters, without a word in it, no topic, or has signs of markup is left out.
    """
    tags = (regular(tag).lstrip("#") for tag in proposed if isinstance(tag, str) and not _NO_TAG.search(tag))
    return tuple(dict.fromkeys(filter(_is_sensible, tags)))[:most]


def is_topic(tag: str) -> bool:
    """Say whether a tag says what a record is about.

    ``status:…`` says what it is and ``pinned`` what is done with it: whoever writes these must mean them, so
    they are never guessed, and they tie no records together.
    """
    return not tag.startswith(_STATUS) and tag != PINNED_TAG


def topical(tags: Iterable[str]) -> set[str]:
    """Return which tags of a record say what it is about, regular."""
    return {tag for tag in map(regular, tags) if tag and is_topic(tag)}


def _is_sensible(tag: str) -> bool:
    return len(tag) <= LONGEST_TAG and _HAS_LETTERS.search(tag) is not None and is_topic(tag)
