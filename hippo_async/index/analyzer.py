"""Text into terms, for the index and for queries alike. Pure.

A term is made of letters, digits and marks of any script, with ``_ . @ ' -`` inside, or is a letter with
``++`` or ``#`` behind it, or one emoji. It has no space, no double quote, no other ASCII sign; the full-text
table keeps such terms whole (see ``schema``).
"""

from __future__ import annotations

import functools
import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator

import Stemmer

from hippo_async.language import stopwords
from hippo_async.language.irregular import BASES

VERSION = f"4 snowball {Stemmer.version()} unicode {unicodedata.unidata_version}"
"""Names all that decides which terms come out of a text. An index made under another one is rebuilt."""

LONGEST_TERM = 64

# Han, kana and Hangul, and the scripts of South-East Asia: written without spaces between words.
_UNSPACED = re.compile(
    "([\u2e80-\u2fdf\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u108f\u1780-\u17d3]+)"
)
# Two regional indicators make one flag; skin tones are left out.
_EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}"
    "|[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff]"
)
_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
_TERMINAL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")  # colours and moves, as in a pasted log
_JOINT = re.compile(r"'[^\W_]{1,2}(?![^\W_])|[._@'-]+")
_CAMEL_JOINT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# All accents, but on a Cyrillic letter only grave, acute and diaeresis (stress, ё): a breve makes it another
# letter (и, й).
_ACCENTS = re.compile("(?<![\u0400-\u052f])[\u0300-\u036f]|[\u0300\u0301\u0308]")
# Letters that Unicode takes for one, though they are typed without their stroke or tied to their neighbour.
_STROKES = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe"})
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_LATIN = re.compile("[a-z]")
_CYRILLIC = re.compile("[\u0400-\u052f]")


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, with repeats.

    Width, case, composition and accents do not matter; Latin and Cyrillic words are stemmed (English with its
    irregular forms, Russian); scripts without spaces become single characters and pairs; ``foo_bar``,
    ``getUser`` and ``a.b@c.org`` give the whole and the parts. A term is cut at 64 characters.
    """
    found: list[str] = []
    for index, piece in enumerate(_UNSPACED.split(_normalised(text))):
        found.extend(_grams(piece) if index % 2 else _spaced(piece))
    return found


def query_terms(text: str) -> list[str]:
    """Return the terms of a query: as indexed, without stop words, question words and phrases of them.

    Nothing but such words is taken as it is: then they are what is looked for.
    """
    asking = terms(_asking_phrases().sub(" ", text))
    return [term for term in asking if term not in _stop_terms()] or terms(text)


def substance(found: Iterable[str]) -> int:
    """Return how many different terms a text has that are no stop words: how much it may say.

    Of a script without spaces pairs count and single characters do not, so that it is about as many as words.
    """
    return sum(len(term) > 1 or not is_unspaced(term) for term in set(found) - _stop_terms())


def is_unspaced(text: str) -> bool:
    """Say whether a text holds a script that sets no spaces between words."""
    return _UNSPACED.search(text) is not None


def _normalised(text: str) -> str:
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", _TERMINAL.sub(" ", text)))
    return plain.replace("\u2019", "'")


def _grams(run: str) -> Iterator[str]:
    yield from run
    for start in range(len(run) - 1):
        yield run[start : start + 2]


def _spaced(text: str) -> Iterator[str]:
    for match in _tokens().finditer(text):
        if match["word"]:
            word = match["word"]
            yield from _word_terms(word) if len(word) <= LONGEST_TERM else _made_of(word)
        else:
            yield match["emoji"]


@functools.lru_cache(maxsize=16384)
def _word_terms(word: str) -> tuple[str, ...]:
    """Remember what words are made of: a language uses the same few thousand most of the time."""
    return tuple(_made_of(word))


def _made_of(word: str) -> Iterator[str]:
    if word.isalpha() and (word.islower() or word.istitle()):
        yield _stem(_folded(word))
        spelt_out = unicodedata.normalize("NFC", word.casefold()).translate(_UMLAUTS)
        if spelt_out.isascii() and not word.isascii() and spelt_out != _folded(word):
            yield _stem(spelt_out[:LONGEST_TERM])  # Müller is found as Mueller too, and the other way round
        return
    pieces = dict.fromkeys(_stem(_folded(piece)) for piece in _pieces(word))
    yield from filter(None, pieces)


def _pieces(word: str) -> Iterator[str]:
    """Yield the word itself, its parts between joints, and the humps of a camelCase part."""
    yield word.strip("_")
    for part in _JOINT.split(word):
        yield part
        if len(part) <= LONGEST_TERM:  # what is longer is data, not an identifier
            yield from _CAMEL_JOINT.split(part)


def _folded(word: str) -> str:
    folded = word.casefold()
    if not folded.isascii():
        plain = _ACCENTS.sub("", unicodedata.normalize("NFD", folded.translate(_STROKES)))
        folded = unicodedata.normalize("NFC", plain)
    return folded[:LONGEST_TERM]


def _stem(word: str) -> str:
    if _LATIN.search(word):
        return str(_stemmers.english.stemWord(BASES.get(word, word)))
    if _CYRILLIC.search(word):
        return str(_stemmers.russian.stemWord(word))
    return word


class _Stemmers(threading.local):
    """Snowball stemmers keep state, so each thread has its own. Without caches: ``_word_terms`` has one."""

    def __init__(self) -> None:
        self.english = Stemmer.Stemmer("english", maxCacheSize=0)
        self.russian = Stemmer.Stemmer("russian", maxCacheSize=0)


_stemmers = _Stemmers()


@functools.cache
def _tokens() -> re.Pattern[str]:
    """Compile what a word or an emoji is.

    ``\\w`` knows no combining marks, so they are added; rare scripts, past the first plane, as a whole: a
    class of a hundred single ranges made this seven times slower.
    """
    marks = "".join(
        chr(point) for point in range(0x300, 0x10000) if unicodedata.category(chr(point)) in ("Mn", "Mc")
    )
    letters = rf"[\w{marks}\U00010000-\U0001efff]+"
    signed = r"(?<!\w)[A-Za-z](?:\+\+|#)(?!\w)"  # C++, C#, F#
    return re.compile(rf"(?P<word>{signed}|{letters}(?:[.@'-]{letters})*)|(?P<emoji>{_EMOJI})")


@functools.cache
def _asking_phrases() -> re.Pattern[str]:
    phrases = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in stopwords.PHRASES)
    return re.compile(rf"\b(?:{phrases})\b", re.IGNORECASE)


@functools.cache
def _stop_terms() -> frozenset[str]:
    words = f"{stopwords.ENGLISH} {stopwords.RUSSIAN} {stopwords.CHINESE}"
    return frozenset(terms(words))
