"""What a sentence carries: tasks, conclusions, dates, amounts. Patterns only, no model (L17).

English, Russian and Chinese words are known. The patterns are few on purpose: what they miss is still found
through the records that a fold points to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from hippo_async.tagging.names import DAYS, MONTHS

_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？；])|\n+")
_TASK = re.compile(
    r"\b(?:(?:needs?|have|has|got) to|must|should|please|to-?do|remind|remember|don['’]t forget|deadline)\b"
    r"|нужно|надо|пожалуйста|долж[а-я]+|необходимо|напомни|запомни|не забудь|срок"
    r"|需要|请|請|记得|記得|必须|必須|别忘|別忘|提醒|截止|务必",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(
    r"\b(?:decid\w+|decision|agree[ds]?|agreement|conclu\w+|so we|settled|chose|chosen|final(?:ly)?"
    r"|confirm\w*|in the end|turns? out|therefore)\b"
    r"|реши[а-я]+|решено|договорил[а-я]+|итог[а-я]*|вывод[а-я]*|подтвер[а-я]+|выбрал[а-я]*|значит"
    r"|决定|決定|结论|結論|商定|说好|最终|最終|最后|最後|确认|確認|选择了|因此|所以我们",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"\b(?:my name|allerg\w+|prefer\w*|favou?rite|birthday|never|always)\b"
    r"|меня зовут|аллерг[а-я]+|предпочита[а-я]+|люблю|никогда|всегда|过敏|過敏|喜欢|喜歡|讨厌|生日|从不|总是",
    re.IGNORECASE,
)

_RUSSIAN_MONTHS = "январ|феврал|март|апрел|ма[йя]|июн|июл|август|сентябр|октябр|ноябр|декабр"
_CHINESE_DIGITS = "一二三四五六七八九十"
_EXACT = re.compile(
    rf"""
    https?://[^\s<>"'，。）)]+ | [\w.+-]+@[\w-]+\.[\w.-]*\w
  | \d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)? | \d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}
  | (?:\d{{2,4}}年)?\d{{1,2}}月(?:\d{{1,2}}[日号號])?
  | [{_CHINESE_DIGITS}]{{1,3}}月[{_CHINESE_DIGITS}]{{1,3}}[日号號]?
  | \b\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?(?:{MONTHS})\b(?:\s\d{{4}})?
  | \b(?:{MONTHS})\s\d{{1,2}}\b(?:,?\s\d{{4}})?
  | \b\d{{1,2}}\s(?:{_RUSSIAN_MONTHS})\w*(?:\s\d{{4}})? | \b(?:{DAYS})\b
  | \b\d{{1,2}}:\d\d\b
  | [$€£¥₽]\s?\d[\d.,]*\d | [$€£¥₽]\d
  | \d[\d.,]*\s?(?:%|[$€£¥₽]|(?:euros?|dollars?|pounds?|EUR|USD|GBP|km|kg|GB|MB)\b)
  | \d[\d.,]*\s?(?:евро|руб\w*|долл\w*|欧元|美元|元|块|公里)
  | \b[A-Z][A-Z0-9]*-?\d[\w-]* | \#\d+ | \b[0-9a-f]{{8,}}\b
  | \d[\d.,]*\d | \d
    """,
    re.VERBOSE,
)

_LONG = 300


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a text, each on one line."""
    for part in _SENTENCE_END.split(text):
        if sentence := " ".join(part.split()):
            yield sentence


def is_task(sentence: str) -> bool:
    """Whether a sentence says what is to be done."""
    return _TASK.search(sentence) is not None


def is_conclusion(sentence: str) -> bool:
    """Whether a sentence says what was decided or found."""
    return _CONCLUSION.search(sentence) is not None


def exact_things(sentence: str) -> tuple[str, ...]:
    """Return dates, times, amounts, addresses, identifiers and numbers as they are written, in order."""
    return tuple(match[0].strip() for match in _EXACT.finditer(sentence))


def weight_of(sentence: str, names: Iterable[str]) -> float:
    """Return how much a sentence carries for its length; 0 for small talk."""
    carried = (
        3.0 * (_EXACT.search(sentence) is not None)
        + 2.5 * is_task(sentence)
        + 2.5 * is_conclusion(sentence)
        + 2.0 * (_PERSONAL.search(sentence) is not None)
        + 1.5 * any(name in sentence for name in names)
    )
    return carried / (1.0 + len(sentence) / _LONG)
