"""What of a text a model gets to see."""

from __future__ import annotations

from collections.abc import Sequence

MAX_CHARS = 8192
"""Characters of a text that are embedded. A vector says what a text is about, and its beginning says that; a
megabyte pasted into a chat must not cost seconds and gigabytes."""


QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u037e")


def is_question(text: str) -> bool:
    """Say whether a text ends as a question does, in any of the scripts that have a mark for it."""
    return text.rstrip().endswith(QUESTION_MARKS)


def embeddable(texts: Sequence[str]) -> list[str]:
    """Return the texts cut to :data:`MAX_CHARS`, with lone surrogates, which no tokenizer takes, as ``?``."""
    return [text[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8") for text in texts]
