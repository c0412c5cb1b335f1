"""How strongly a memory is there, without anybody asking: the active set are the strongest (L14). Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta


def strength(*, times: int, touched: datetime, now: datetime, half_life: timedelta) -> Mapping[str, float]:
    """Return what adds up to the strength of a memory: ``fresh``, and ``confirmed`` if it was told again.

    ``times`` is how often it was remembered and confirmed, ``touched`` when that was last. What was told once
    begins at 1; each doubling of ``times`` adds as much again; half of it is gone after ``half_life``.
    """
    fresh = math.exp2(-max(0.0, (now - touched) / half_life))
    return {"fresh": fresh, "confirmed": fresh * math.log2(times)} if times > 1 else {"fresh": fresh}
