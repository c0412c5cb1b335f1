"""What a sentence carries: names, tasks, conclusions, dates, amounts. Patterns only, no model (L17).

English, Russian and Chinese words are known. The patterns are few on purpose: what they miss is still found
through the records that a fold points to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

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

_MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
    "|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
)
_RUSSIAN_MONTHS = "январ|феврал|март|апрел|ма[йя]|июн|июл|август|сентябр|октябр|ноябр|декабр"
_DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
_CHINESE_DIGITS = "一二三四五六七八九十"
_EXACT = re.compile(
    rf"""
    https?://[^\s<>"'，。）)]+ | [\w.+-]+@[\w-]+\.[\w.-]*\w
  | \d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)? | \d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}
  | (?:\d{{2,4}}年)?\d{{1,2}}月(?:\d{{1,2}}[日号號])?
  | [{_CHINESE_DIGITS}]{{1,3}}月[{_CHINESE_DIGITS}]{{1,3}}[日号號]?
  | \b\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?(?:{_MONTHS})\b(?:\s\d{{4}})?
  | \b(?:{_MONTHS})\s\d{{1,2}}\b(?:,?\s\d{{4}})?
  | \b\d{{1,2}}\s(?:{_RUSSIAN_MONTHS})\w*(?:\s\d{{4}})? | \b(?:{_DAYS})\b
  | \b\d{{1,2}}:\d\d\b
  | [$€£¥₽]\s?\d[\d.,]*\d | [$€£¥₽]\d
  | \d[\d.,]*\s?(?:%|[$€£¥₽]|(?:euros?|dollars?|pounds?|EUR|USD|GBP|km|kg|GB|MB)\b)
  | \d[\d.,]*\s?(?:евро|руб\w*|долл\w*|欧元|美元|元|块|公里)
  | \b[A-Z][A-Z0-9]*-?\d[\w-]* | \#\d+ | \b[0-9a-f]{{8,}}\b
  | \d[\d.,]*\d | \d
    """,
    re.VERBOSE,
)

_CAPITALISED = r"(?!I['’])[A-ZÀ-ÖØ-ÞА-ЯЁ](?:[^\W\d_]|['’-](?=[^\W\d_]))+(?!-?\w)"
_NAME_RUN = re.compile(rf"\b{_CAPITALISED}(?:[ ]{_CAPITALISED})*")
_STARTS_SENTENCE = re.compile(r"(?:^|[.!?…:\n])[\s\"'“«(*-]*$")
_CHINESE_NAME = re.compile(
    r"(?:名叫|我叫|叫做|叫|名字是)([\u4e00-\u9fff]{2,4}?)(?=[，。！？、；的和是在]|$)"
    r"|(?:住在|搬到了?|来自|去了?|在)([\u4e00-\u9fff]{2,5}?)(?=[，。！？、；的和住工上见]|$)"
)
_NO_NAMES = frozenset(f"{_MONTHS}|{_DAYS}".split("|"))

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


def names_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names of people, places and things, the most frequent first, then in order of appearance.

    A capitalised word is a name where it does not begin a sentence, or if it is one elsewhere in the texts;
    in Chinese, what follows words such as 叫 and 住在 is.
    """
    within: list[str] = []
    opening: list[str] = []
    for text in texts:
        for match in _NAME_RUN.finditer(text):
            starts = _STARTS_SENTENCE.search(text, max(0, match.start() - 8), match.start())
            (opening if starts else within).append(match[0])
        within += [first or second for first, second in _CHINESE_NAME.findall(text)]
    known = Counter(name for name in within if name not in _NO_NAMES)
    for run in opening:
        name = run if run in known or run.partition(" ")[0] in known else run.partition(" ")[2]
        if name and name not in _NO_NAMES:
            known[name] += 1
    return tuple(name for name, _ in known.most_common())


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
