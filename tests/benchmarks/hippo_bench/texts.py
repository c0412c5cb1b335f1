"""Messages of 146 characters, about what people type, with words as unevenly spread as in speech.

A word's frequency falls with its rank (Zipf's law): the first ranks are English function words, half of what
is said; behind them stand made-up words, most of them rare. Ten words in a frame would test no index.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate, product
from random import Random

LENGTH = 146
VOCABULARY = 5_000
FREQUENT = (
    "the to and I of a you it in for is on that with was my have be at not this we are but so can do me as "
    "if from or will they just what your about like there when by one time would get an out all up know now "
    "then how going want need see"
)
ONSETS = ("b", "br", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "st", "t", "v", "tr")
RHYMES = ("a", "an", "e", "el", "i", "in", "o", "or", "u", "us")


def message(number: int) -> str:
    """Return the message of this number: always the same, 146 characters, unlike any other."""
    words, weights = _vocabulary()
    spoken = Random(number).choices(words, cum_weights=weights, k=LENGTH // 3)
    return f"{number}: {' '.join(spoken)}"[:LENGTH].ljust(LENGTH, ".")


@cache
def _vocabulary() -> tuple[list[str], list[float]]:
    syllables = ["".join(pair) for pair in product(ONSETS, RHYMES)]
    rare = ["".join(pair) for pair in product(syllables, repeat=2)]
    Random(0).shuffle(rare)
    words = (FREQUENT.split() + rare)[:VOCABULARY]
    return words, list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
