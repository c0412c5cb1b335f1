"""The network of tags that occur together: what stands near what, in one scope (L18, L20). Pure.

A projection: it is made anew from the tags of all records at any time, or goes on with each new one, and
comes out equal.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, combinations, islice, zip_longest
from typing import Any

from hippo_async.language.plain import regular
from hippo_async.tagging.form import topical

MOST_TAGS = 32
"""Tags of one record that are looked at: their pairs grow with the square."""


@dataclass(frozen=True, slots=True)
class Node:
    """A tag, and how many records bear it."""

    tag: str
    count: int


@dataclass(frozen=True, slots=True)
class Edge:
    """Two tags, ``one`` before ``other`` in order of letters, that ``together`` records bear both.

    ``weight`` is over 0 and under 1: how much more often that is than chance would have it, less where it
    rests on few records. A tag that is on everything is near to nothing.
    """

    one: str
    other: str
    together: int
    weight: float


@dataclass(frozen=True, slots=True)
class TagGraph:
    """Tags by how many bear them, and edges by their weight, the largest first, then in order of letters."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    _around: Mapping[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        around: dict[str, list[str]] = defaultdict(list)
        for edge in self.edges:
            around[edge.one].append(edge.other)
            around[edge.other].append(edge.one)
        object.__setattr__(self, "_around", {tag: tuple(others) for tag, others in around.items()})

    def neighbours(self, tag: str, most: int = 3) -> tuple[str, ...]:
        """Return the tags most strongly tied to one, the strongest first; none for a tag that is unknown."""
        return self._around.get(regular(tag), ())[: max(most, 0)]

    def as_dict(self) -> dict[str, Any]:
        """Return the graph as plain JSON values."""
        return {
            "nodes": [asdict(node) for node in self.nodes],
            "edges": [asdict(edge) for edge in self.edges],
        }


class TagCounts:
    """Counts which tags occur, and which together. Not safe to be used by two threads at once."""

    def __init__(self) -> None:
        self._records = 0
        self._tags: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()

    def add(self, tags: Iterable[str]) -> None:
        """Count the tags of one record. What is no topic takes no part, and of more than 32 tags the rest."""
        named = sorted(topical(tags))[:MOST_TAGS]
        if named:
            self._records += 1
            self._tags.update(named)
            self._pairs.update(combinations(named, 2))

    def graph(self, *, max_edges: int | None = None) -> TagGraph:
        """Return the network so far, with every tag and at most ``max_edges`` edges; ``None`` for all.

        As far as there is room each tag keeps its strongest edge, then its second, and so on, the most common
        tags first.
        """
        nodes = sorted((Node(*each) for each in self._tags.items()), key=lambda node: (-node.count, node.tag))
        weighed = (self._edge(*pair) for pair in self._pairs)
        edges = sorted((edge for edge in weighed if edge.weight > 0), key=_strongest_first)
        if max_edges is not None and len(edges) > max_edges:
            edges = sorted(islice(_in_turn(nodes, edges), max(max_edges, 0)), key=_strongest_first)
        return TagGraph(tuple(nodes), tuple(edges))

    def _edge(self, one: str, other: str) -> Edge:
        together = self._pairs[one, other]
        weight = tie(together, self._tags[one], self._tags[other], among=self._records)
        return Edge(one, other, together, weight)


def tie(together: int, one: int, other: int, *, among: int) -> float:
    """Weigh how close two tags are that ``together`` of ``among`` records bear, ``one`` and ``other`` in all.

    By normalised pointwise mutual information, less where tags are rare (Pantel and Lin, 2002): over 0 for
    what stands together more often than by chance. Counted as though one more record bore no tag at all: two
    tags that are on all records are a little nearer than chance, and the logarithms stay finite.
    """
    among += 1
    information = math.log(together * among / (one * other)) / math.log(among / together)
    rarer = min(one, other)
    trust = together / (together + 1) * rarer / (rarer + 1)
    return round(information * trust, 6)


def tag_graph(tag_lists: Iterable[Iterable[str]], *, max_edges: int | None = None) -> TagGraph:
    """Return the network of the tags of records, one list a record, all of one scope.

    The order of the lists makes no difference. See :meth:`TagCounts.graph`.
    """
    counts = TagCounts()
    for tags in tag_lists:
        counts.add(tags)
    return counts.graph(max_edges=max_edges)


def _strongest_first(edge: Edge) -> tuple[float, int, str, str]:
    return (-edge.weight, -edge.together, edge.one, edge.other)


def _in_turn(nodes: Sequence[Node], edges: Sequence[Edge]) -> Iterator[Edge]:
    """Yield each edge once: the strongest of every node, then the second of every node, and so on."""
    around: dict[str, list[Edge]] = {node.tag: [] for node in nodes}
    for edge in edges:
        around[edge.one].append(edge)
        around[edge.other].append(edge)
    rounds = chain.from_iterable(zip_longest(*around.values()))
    return iter(dict.fromkeys(edge for edge in rounds if edge is not None))
