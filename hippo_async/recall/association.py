"""What stands near what a question is about, where what it is about is not enough (L18)."""

from __future__ import annotations

from collections.abc import Collection

from hippo_async.index import Index
from hippo_async.index.company import carrying, company
from hippo_async.recall.rank import Ranked
from hippo_async.records import Filters
from hippo_async.tagging import suggest
from hippo_async.tagging.form import is_topic
from hippo_async.tagging.graph import tie

PENALTY = 0.5
NEIGHBOURS = 3
EVENTS = 10
"""So many of the newest records of each neighbour are taken."""


def associated(
    index: Index, text: str, *, filters: Filters, known: Collection[int], limit: int
) -> list[tuple[Ranked, str]]:
    """Return up to ``limit`` records that carry a tag beside one that the question names, and that tag.

    The tags of a question are those that its words suggest. Of the tags that occur together with one more
    often than chance would have it, the three closest lead to their newest records. The score is half of
    how close the tag is; those ``known`` already are left out. Nothing gets past the filters.
    """
    found: dict[int, tuple[Ranked, str]] = {}
    for closeness, neighbour in _neighbours(index, text, filters):
        for seq in index.about(carrying, neighbour, filters=filters, limit=EVENTS):
            if seq not in known and seq not in found:
                score = PENALTY * closeness
                found[seq] = (Ranked(seq, score, {"association": score}), neighbour)
    return sorted(found.values(), key=lambda each: (-each[0].score, -each[0].seq))[:limit]


def _neighbours(index: Index, text: str, filters: Filters) -> list[tuple[float, str]]:
    """The closest first; each once, by the tag that it is closest to."""
    closest: dict[str, float] = {}
    among = len(index.matching(Filters(scope=filters.scope)))
    for tag in suggest(text):
        beside = index.about(company, tag, filters.scope or ())
        ties = {
            other: tie(together, beside.carriers, count, among=among)
            for other, (together, count) in beside.others.items()
            if is_topic(other)
        }
        for other in sorted(ties, key=lambda name: (-ties[name], name))[:NEIGHBOURS]:
            if ties[other] > 0:
                closest[other] = max(closest.get(other, 0.0), ties[other])
    return sorted(((closeness, other) for other, closeness in closest.items()), reverse=True)
