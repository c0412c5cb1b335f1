"""Topics of English text. No part of speech is known, so what stands around a word decides. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from hippo_async.language import stopwords
from hippo_async.language.irregular import BASES
from hippo_async.tagging.generic import ENGLISH

HEAD, PLAIN, UNLIKELY = 1.3, 1.0, 0.5
"""How likely a word is a topic: one that ends a phrase, as the noun in "a tiny town hall in Delft" does;
any other; one that ends a phrase, but may be a verb: "we went camping"."""

_LETTERS = "[A-Za-zÀ-ÖØ-öø-ɏ]+"
_TOKEN = re.compile(rf"(?<![\w@/.'’-])({_LETTERS}(?:['’-]{_LETTERS})*)(?![\w@/]|-\w)|[^\w\s]+|\w+")
_STOP_WORDS = frozenset(stopwords.ENGLISH.split())
_SUBJECTS_AND_MODALS = """
    i you he she we they who i'd i'll i've you'd you'll he'd he'll she'd she'll we'd we'll they'd they'll
    will would can could should must might don't didn't doesn't won't can't couldn't let's never
"""
_BEFORE_VERB = frozenset(_SUBJECTS_AND_MODALS.split())
_NO_NOUN = re.compile(r"\w\w\w(?:ly|ful|ous|able|ible|less|ish|ed|ive)$")
_GERUND = re.compile(r"\w\w\wing$")
_EXCEPTIONS = """
    ability anomaly archive assembly bible butterfly detective family handful jelly monopoly motive native
    olive parish polish radish reply supply vegetable
"""
_NOUNS_AFTER_ALL = frozenset(_EXCEPTIONS.split())
_NO_WORD = re.compile(r"'(?:ve|re|ll|d|m|t)$|(.)\1\1")  # contractions, and "sooo"
_NO_PLURALS = """
    alias analysis athletics atlas bias bus canvas christmas economics ethics focus gas gymnastics lens
    mathematics news physics politics pyjamas series species
"""
_SINGULAR_ALREADY = frozenset(_NO_PLURALS.split())
_WITH_E = """
    ache auntie avalanche birdie brownie cache calorie canoe cookie doggie foodie genie headache hoodie indie
    movie newbie niche prairie rookie selfie smoothie sortie toothache veggie zombie
"""
_ONLY_AN_S_MORE = frozenset(_WITH_E.split())
_IRREGULAR = "child foot goose knife leaf man mouse shelf thief tooth wife wolf woman"
_IRREGULAR_NOUNS = frozenset(_IRREGULAR.split())
_WORDS_FOR_A_STOP_WORD = 6
_SHORTEST = 3


def topics(text: str) -> Iterator[tuple[str, float]]:
    """Yield what the text is about, in order, each with how likely it is a topic.

    Nothing for a text of Latin letters that is not English: its function words could not be told from topics.
    """
    matches = list(_TOKEN.finditer(text))
    tokens = [match[0].replace("’", "'").lower() for match in matches]
    if not _is_english([token for token, match in zip(tokens, matches, strict=True) if match[1]]):
        return
    around = zip(["", *tokens], matches, tokens, [*tokens[1:], "."], strict=False)
    for before, match, word, after in around:
        if match[1] and before not in _BEFORE_VERB and (topic := base(word)):
            ends_phrase = after in _STOP_WORDS or not after[0].isalpha()
            if likelihood := _likelihood(word, ends_phrase=ends_phrase):
                yield topic, likelihood


@functools.lru_cache(maxsize=8192)
def base(word: str) -> str:
    """Return a noun in lower case and singular; the empty string for a word that names no topic."""
    plain = word.lower().removesuffix("'s")
    single = BASES.get(plain) or _singular(plain)
    if plain in BASES and single not in _IRREGULAR_NOUNS:  # a form of a verb
        return ""
    if (
        len(single) < _SHORTEST
        or _NO_WORD.search(plain)
        or not ENGLISH.isdisjoint((plain, single, *_verbs_of(plain)))
    ):
        return ""
    return single


def _is_english(words: list[str]) -> bool:
    """Ask for a stop word in six; a note of five words, such as "dentist appointment", may have none."""
    return sum(word in _STOP_WORDS for word in words) >= len(words) // _WORDS_FOR_A_STOP_WORD


def _likelihood(word: str, *, ends_phrase: bool) -> float:
    if word not in _NOUNS_AFTER_ALL and _NO_NOUN.search(word):
        return 0.0
    if _GERUND.search(word):
        return UNLIKELY if ends_phrase else 0.0
    return HEAD if ends_phrase else PLAIN


def _singular(word: str) -> str:
    without = word.removesuffix("s")
    if len(word) <= _SHORTEST or word in _SINGULAR_ALREADY or word.endswith(("ss", "us", "is", "'s")):
        return word
    if without in _ONLY_AN_S_MORE or (len(without) <= _SHORTEST + 1 and without.endswith(("ie", "oe"))):
        return without
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "oes", "xes", "zzes")) else without


def _verbs_of(word: str) -> Iterator[str]:
    """Yield the verbs that a form may be of: loved, hoping, stopped, tried."""
    for ending in ("ing", "ed"):
        if word.endswith(ending):
            stem = word.removesuffix(ending)
            yield from (stem, stem + "e", stem[:-1], stem[:-1] + "y")
