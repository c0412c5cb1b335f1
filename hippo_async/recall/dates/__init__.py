"""The times that a text names, in English, Chinese and Russian, and how close a moment is to them. Pure."""

from hippo_async.recall.dates.closeness import near
from hippo_async.recall.dates.periods import Kind
from hippo_async.recall.dates.reading import Span, time_spans

__all__ = ["Kind", "Span", "near", "time_spans"]
