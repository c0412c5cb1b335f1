"""On how many records a tag may be and still be a topic or a trend: not all is about it (L20). Pure."""

from __future__ import annotations

FEW = 40
"""On so few records each tag may be: in a small scope, a share of it says little."""

SHARE = 0.25
"""A tag on more than this share of all records is no topic and no trend: it is the weather."""

MANY = 1_000
"""A tag on more records than this is too wide a thing for one memory, however large the scope; and what is
read of a tag has an end."""


def most_carriers(records: int) -> int:
    """Return on how many of so many records a tag may be at most."""
    return max(FEW, min(MANY, int(SHARE * records)))
