"""Folding evicted turns without a model: pick what carries something, keep the words. Pure (L17)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hippo_async.context.tokens import estimate_tokens
from hippo_async.protocols import TokenCounter
from hippo_async.records import Turn

LIMIT_TOKENS = 400
NAMES_LISTED = 12

_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？；])|\n+")
_TASK = re.compile(
    r"\b(?:need(?:s|ed)? to|have to|has to|must|should|please|todo|to do|remind|don't forget|remember to|"
    r"deadline|by (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|"
    r"нужно|надо|пожалуйста|должн|напомни|не забудь|срок|"
    r"需要|请|記得|记得|必须|必須|要在|别忘|截止|提醒",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(
    r"\b(?:decided?|decision|agreed?|agreement|conclu\w+|so we|we(?:'ll| will| are going to)|settled|"
    r"chose|chosen|instead|in the end|final(?:ly)?|confirmed)\b|решил|решено|договорились|итог|вывод|подтвер|"
    r"决定|決定|结论|結論|说好|商定|最终|最後|最后|确认|確認|改成",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"\b(?:prefer\w*|favou?rite|allerg\w+|hate|love|like|never|always|"
    r"my (?:name|wife|husband|sister|brother|mother|father|address|phone|birthday))\b|"
    r"люблю|предпоч|аллерг|меня зовут|мой адрес|喜欢|喜歡|过敏|過敏|讨厌|我叫|住在",
    re.IGNORECASE,
)
_EXACT = re.compile(r"\d|https?://|[\w.]+@[\w.]+|[A-Z]{2,}-\w+|[£$€¥]|«|“|「|《")
_NAME = re.compile(
    r"(?<![.!?…] )(?<!^)(?<![\w'])"
    r"(?:[A-Z][a-zà-öø-ÿ]+(?:[ -][A-Z][a-zà-öø-ÿ]+)*|[А-ЯЁ][а-яё]+(?:[ -][А-ЯЁ][а-яё]+)*)"
)
_WEIGHTS = ((_EXACT, 3.0), (_TASK, 2.5), (_CONCLUSION, 2.5), (_PREFERENCE, 2.0), (_NAME, 1.5))


@dataclass(frozen=True, slots=True)
class Fold:
    """A summary in the turns' own words. ``text`` begins with a line that says what was folded."""

    text: str
    names: tuple[str, ...]
    tasks: tuple[str, ...]
    conclusions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    order: int
    speaker: str
    text: str
    weight: float


def fold_text(
    turns: Sequence[Turn], *, limit_tokens: int = LIMIT_TOKENS, count: TokenCounter = estimate_tokens
) -> Fold:
    """Fold turns into at most ``limit_tokens``: names, then the sentences that carry most, in their order.

    A sentence counts for exact things (numbers, dates, addresses, quotations), tasks, conclusions,
    preferences and names; English, Russian and Chinese are known. Short turns survive word for word where
    they fit. What does not fit is not lost: the record of the fold points to the originals. Deterministic.
    """
    sentences = list(_sentences(turns))
    names = _names(turns)
    head = _head(turns, names)
    chosen = _fit(sentences, limit_tokens - count(head), count)
    lines = [head, *(_line(sentence) for sentence in chosen)]
    return Fold(
        text="\n".join(lines) if count(head) <= limit_tokens else "",
        names=names,
        tasks=tuple(sentence.text for sentence in sentences if _TASK.search(sentence.text)),
        conclusions=tuple(sentence.text for sentence in sentences if _CONCLUSION.search(sentence.text)),
    )


def _head(turns: Sequence[Turn], names: Sequence[str]) -> str:
    about = f" ({', '.join(names[:NAMES_LISTED])})" if names else ""
    return f"Folded from {len(turns)} turns{about}:"


def _sentences(turns: Sequence[Turn]) -> Iterator[_Sentence]:
    order = 0
    for turn in turns:
        for part in _SENTENCE_END.split(turn.content):
            text = " ".join(part.split())
            if text:
                yield _Sentence(order, turn.name or turn.role, text, _weight(text, turn.role))
                order += 1


def _weight(text: str, role: str) -> float:
    found = sum(weight for pattern, weight in _WEIGHTS if pattern.search(text))
    length = min(len(text), 200) / 200
    return (found + length) * (1.0 if role == "user" else 0.8)


def _fit(sentences: Sequence[_Sentence], room: int, count: TokenCounter) -> list[_Sentence]:
    """Take the weightiest sentences that fit, each whole, and give them back in their order."""
    chosen = []
    for sentence in sorted(sentences, key=lambda each: (-each.weight, each.order)):
        cost = count("\n" + _line(sentence))
        if cost <= room:
            chosen.append(sentence)
            room -= cost
    return sorted(chosen, key=lambda each: each.order)


def _line(sentence: _Sentence) -> str:
    return f"- {sentence.speaker}: {sentence.text}"


def _names(turns: Sequence[Turn]) -> tuple[str, ...]:
    """Capitalised words that do not begin a sentence, the most frequent first."""
    found: dict[str, int] = {}
    for turn in turns:
        for match in _NAME.finditer(turn.content):
            found[match[0]] = found.get(match[0], 0) + 1
    return tuple(sorted(found, key=lambda name: (-found[name], list(found).index(name))))
