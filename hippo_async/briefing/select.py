"""Which memories may stand in a briefing, and how far back the recent ones go. Pure (J9, design §10)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from hippo_async.records import Record, Source

_OUTSIDE = frozenset({Source.TOOL, Source.EXTERNAL})

_ORDERS = re.compile(
    r"""
    \b(?:ignore|disregard|forget|override)\b .{0,40} \b(?:previous|prior|above|earlier|all|your|system)\b
        .{0,40} \b(?:instructions?|prompts?|rules|messages|guidelines)\b
  | \byou \s (?:must|are|will) \s now\b | \bfrom \s now \s on,? \s you\b
  | \byour \s (?:new|real|true) \s (?:task|role|instructions?)\b | \bnew \s instructions?\b \s* :
  | \bsystem \s (?:prompt|override)\b
  | \b(?:do \s not|don['’]t|never) \s (?:tell|inform|mention|reveal)\b .{0,20} \buser\b
  | < \s* /? \s* (?:system|assistant|instructions?) \s* > | <\|im_start\|> | \[/?INST\]

  | (?:игнорируй|забудь|отмени) .{0,60} (?:инструкц|указани|правил|сообщени|промпт)
  | системн\w+ \s (?:промпт|подсказк|инструкц) | \bты \s теперь\b | \bс \s этого \s момента \s ты\b

  | (?:忽略|无视|無視|忘记|忘記|不要理会) .{0,20} (?:指令|指示|提示|规则|規則|要求)
  | 系统提示 | 系統提示 | (?:从现在起|从现在开始|從現在起) [，,\s]* 你
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_UNBROKEN = re.compile(r"[A-Za-z0-9+/=_-]{256}")
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")
_STUFFED_WORDS = 80
_STUFFED_VARIETY = 0.1


def trusted(record: Record) -> bool:
    """Whether a record may stand in a briefing (design §10).

    What a tool returned or what came from outside stays out if it reads like an order to the model, or is
    stuffed: the same few words over and over, or hundreds of characters without a break. It is stored, and
    found by recall, all the same. The user's own words always pass, and so do the assistant's.
    """
    if record.source not in _OUTSIDE:
        return True
    text = _plain(record.text)
    return not (_ORDERS.search(text) or _UNBROKEN.search(text) or _is_repetitive(text))


def _plain(text: str) -> str:
    """Undo what hides words from a pattern: other forms of letters, and characters that are not seen."""
    seen = (character for character in text if unicodedata.category(character) != "Cf")
    return unicodedata.normalize("NFKC", "".join(seen))


def select_recent(rows: Iterable[tuple[int, int]], *, budget_chars: int) -> list[int]:
    """Choose the tail of a journal by the lengths of its contents (J9).

    ``rows`` are ``(seq, length in characters)``, the newest first. The walk stops in front of the first row
    with which the sum would exceed ``budget_chars``, which is B × chars_per_token, and reads no further.
    Returns the seqs in the order of time.
    """
    taken: list[int] = []
    total = 0
    for seq, length in rows:
        total += length
        if total > budget_chars:
            break
        taken.append(seq)
    return taken[::-1]


def _is_repetitive(text: str) -> bool:
    words = _WORDS.findall(text.casefold())
    return len(words) >= _STUFFED_WORDS and len(set(words)) < _STUFFED_VARIETY * len(words)
