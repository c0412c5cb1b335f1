"""The form under which texts are the same to people."""

from __future__ import annotations

import unicodedata


def regular(text: str) -> str:
    """Return what of a text is compared: without case, width and the kind and number of white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
