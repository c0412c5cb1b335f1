"""Tags without a model, and the network that they make. Pure.

``suggest`` gives a text tags from its own words; ``tag_graph`` ties tags that occur together. What a scope's
walls keep apart is for the caller to keep apart.
"""

from hippo_async.tagging.form import sensible, topical
from hippo_async.tagging.graph import Edge, Node, TagCounts, TagGraph, tag_graph
from hippo_async.tagging.suggest import suggest

__all__ = ["Edge", "Node", "TagCounts", "TagGraph", "sensible", "suggest", "tag_graph", "topical"]
