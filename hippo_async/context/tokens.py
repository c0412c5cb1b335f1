"""How many tokens a text takes, estimated so that the answer is never too small.

Budgets are promises, so the estimate is an upper bound under cl100k_base and o200k_base, the two vocabularies
whose files are public, for any text in any script. It rests on what byte-pair encoding cannot do:

- a token holds at least one byte, so bytes bound tokens;
- two neighbours whose join is in the vocabulary never stay apart. Where every pair of letters is in it, no
  two single letters stand side by side, so three letters cost two tokens at most;
- the tokens in front of a cut are the encoding of the text in front of it. A word that begins with a known
  one costs at most what a beginning of the known word can cost, and the rest by letters;
- a known word between two ASCII characters that are no letters is one token.

A word at either end of a text is charged by its letters, since what it will be joined to may make another
word of it. So ``estimate_tokens(a) + estimate_tokens(b)`` bounds the tokens of ``a + b`` as well.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise, product
from string import ascii_letters, ascii_lowercase, ascii_uppercase
from unicodedata import category

from hippo_async.context.vocabulary import (
    CYRILLIC_AFTER_SPACE,
    CYRILLIC_CAPITALS,
    CYRILLIC_PAIRS,
    ONE_TOKEN,
    PUNCTUATION,
    RARE_PAIRS,
    TWO_TOKEN_BLOCKS,
)
from hippo_async.context.words import SPACED_WORDS, WORDS

_EDGE = "\ue000"  # stands before and after a text: not ASCII, so that nothing at the ends passes for whole
_MARKS = r"!-/:-@\[-`{-~"
_NO_LETTER = r"\x00-@\[-`{-\x7f"
_PIECES = re.compile(
    rf"""
    (?: [ ] | (?<=[{_NO_LETTER}]) (?<![^ {_MARKS}]') )                # a whole word, but not the t of don't
    [A-Za-z]++ (?=[{_NO_LETTER}])
  | [ ]? [A-Za-z]*+ [^\x00-\x7f] [A-Za-z\x80-\U0010ffff]*+            # what is joined to other scripts
  | [A-Za-z]
  | [0-9]{{1,3}}
  | (?: [ ] | (?<=[A-Za-z0-9\s]) ) [{_MARKS}]++ (?=[A-Za-z0-9 \n])    # a whole run of punctuation
  | -{{3,16}} | ={{3,16}} | [ ]? [{_MARKS}]
  | \n{{1,2}} | \r\n
  | [ ]{{1,16}} (?=[ ]) | \t{{1,16}} (?=\t)
  | [\x00-\x7f]
    """,
    re.VERBOSE | re.DOTALL,
)
_WORD = re.compile(f" ?(?:[A-Za-z]+|[а-яё]+|(?<![а-яё{_EDGE}])[{CYRILLIC_CAPITALS}]+[а-яё]*)")
_RUNS = re.compile(f"{_WORD.pattern}|.", re.DOTALL)
_RULES = re.compile("-{3,16}|={3,16}")  # no two tokens of up to 16 dashes stand side by side
_PAIRS = frozenset(
    {a + b for case in (ascii_lowercase, ascii_uppercase) for a, b in product(case, case)} - RARE_PAIRS
    | {" " + letter for letter in ascii_letters + CYRILLIC_AFTER_SPACE}
    | CYRILLIC_PAIRS
)
_STEM = 3  # tokens that a beginning of a known word may take


def estimate_tokens(text: str) -> int:
    """Return a number of tokens that ``text`` does not exceed under cl100k_base or o200k_base.

    Never raises, whatever the characters; linear in the length of the text; a
    :data:`hippo_async.protocols.TokenCounter`. The sum over parts bounds the whole (see the module).
    """
    pieces = Counter(_PIECES.findall(f"{_EDGE}{text}{_EDGE}"))
    return sum(count * _piece(piece) for piece, count in pieces.items()) - 2 * _character(_EDGE)


def message_tokens(text: str, *, overhead: int = 4) -> int:
    """Return the estimate for one message of a chat: its text plus ``overhead`` for role and delimiters."""
    return estimate_tokens(text) + overhead


def _piece(piece: str) -> int:
    """Charge one match of ``_PIECES``."""
    if _WORD.fullmatch(piece):
        return _word(piece)
    if not piece.isascii():
        return sum(map(_run, _RUNS.findall(piece)))
    bare = piece.removeprefix(" ")
    return 1 if piece.isspace() or piece.isdigit() or bare in PUNCTUATION else len(_RULES.sub("--", bare))


def _word(word: str) -> int:
    """Charge a whole word, with the space in front of it if there is one."""
    if _is_known(word) or len(word) == 1 or word in _PAIRS:
        return 1
    if not word.isascii():
        return _letters(word)
    cost = (2 * len(word) + 1) // 3 if all(a + b in _PAIRS for a, b in pairwise(word)) else _letters(word)
    return min(cost, _by_stem(word))


def _by_stem(word: str) -> int:
    """Charge a word by the longest known word that it starts with, and the letters after that."""
    for end in range(len(word) - 1, 3, -1):
        if _is_known(word[:end]):
            return _STEM + _letters(word[end:])
    return len(word)


def _is_known(word: str) -> bool:
    bare = word.removeprefix(" ")
    if word != bare and bare in SPACED_WORDS:
        return True
    return bare in WORDS or (bare[1:].islower() and bare.lower() in WORDS)


def _run(run: str) -> int:
    """Charge letters of one alphabet, or one character, beside characters that may join them."""
    if run == " ":
        return 2  # the first byte of what follows may leave its character and join the space
    return _letters(run) if len(run) > 1 or run.isascii() else _character(run)


def _letters(run: str) -> int:
    """Charge letters by what their pairs allow, in whatever surroundings: two for three, else one for one."""
    cost = position = 0
    while position + 2 < len(run):
        chained = run[position : position + 2] in _PAIRS and run[position + 1 : position + 3] in _PAIRS
        cost += 2 if chained else 1
        position += 3 if chained else 1
    return cost + len(run) - position


@lru_cache(maxsize=8192)
def _character(character: str) -> int:
    """Charge a character outside ASCII by itself: its bytes at most, and one more for a digit.

    A digit of another script shifts the groups of three in which the digits around it are cut. One that this
    Python does not know yet may be such a digit.
    """
    point = ord(character)
    if category(character)[0] == "N" or category(character) == "Cn":
        return len(character.encode()) + 1
    if character in ONE_TOKEN:
        return 1
    if point < 0x800 or (point < 0x10000 and TWO_TOKEN_BLOCKS >> (point >> 6) & 1):
        return 2
    return 3 if point < 0x10000 or 0x1F000 <= point < 0x20000 else 4
