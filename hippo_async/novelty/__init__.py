"""How new and how weighty a record is. Two questions: what surprises is not what matters.

:mod:`vectors` and :mod:`words` decide how new (J7, J8), :mod:`salience` how much a text carries. Nothing here
does I/O, and none of it is safe to use from two threads at once.
"""

from __future__ import annotations

from hippo_async.novelty.salience import salience
from hippo_async.novelty.vectors import MeaningNovelty
from hippo_async.novelty.words import WordNovelty

__all__ = ["MeaningNovelty", "WordNovelty", "salience"]
