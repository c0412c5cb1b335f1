"""Which topics want a summary, because enough was told of them since the last one (L20). Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

ENOUGH = 8
"""Records of which a first summary is made, and by how many at least a topic must have grown for the next."""

GROWTH = 1.5
"""And by how much: so the number of summaries of a topic grows with the logarithm of what is told of it."""

ALIKE = 0.7
"""Two tags that share this part of their records are one topic; the one with more stands for both."""

MOST_AT_ONCE = 10
"""Topics of one scope that are summarized in one round of maintenance: the rest wait for the next."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A tag, and what was told with it: how much each record says, by its seq."""

    tag: str
    told: Mapping[int, int]

    def most_telling(self, most: int) -> list[int]:
        """Return the seqs of what says most, in their order."""
        return sorted(sorted(self.told, key=lambda seq: (-self.told[seq], seq))[:most])


def wanting(
    topics: Sequence[Topic], *, seen: Mapping[str, int], unwanted: Collection[str] = ()
) -> list[Topic]:
    """Return which topics to summarize now, those with the most new first.

    ``seen`` says of how many records the last summary of a tag was made. ``unwanted`` are tags of which
    nobody wants a summary, nor of another tag that is one topic with them.
    """
    wanted = [topic for topic in topics if topic.tag not in unwanted]
    grown = [topic for topic in wanted if _has_grown(topic, seen.get(topic.tag, 0))]
    grown.sort(key=lambda topic: (seen.get(topic.tag, 0) - len(topic.told), topic.tag))
    known = [topic for topic in topics if topic.tag in seen or topic.tag in unwanted]
    taken: list[Topic] = []
    for topic in grown:
        if topic.tag in seen or not any(_alike(topic, other) for other in (*known, *taken)):
            taken.append(topic)
    return taken[:MOST_AT_ONCE]


def _has_grown(topic: Topic, seen: int) -> bool:
    return len(topic.told) >= max(seen + ENOUGH, GROWTH * seen)


def _alike(one: Topic, other: Topic) -> bool:
    return len(one.told.keys() & other.told.keys()) >= ALIKE * min(len(one.told), len(other.told))
