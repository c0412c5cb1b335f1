"""Memory is data, never instruction: what may be briefed, and how it is made harmless. Pure (design §10)."""

from __future__ import annotations

import re
import unicodedata

from hippo_async.records import Record, Source

TAG = "hippo-memory"

_OUTSIDE = frozenset({Source.TOOL, Source.EXTERNAL})
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:previous|prior|above|earlier|all)\b"
    r".{0,40}\b(?:instruction|prompt|rule|message)"
    r"|\byou (?:must|are) now\b|\bsystem prompt\b|\bnew instructions?\b\s*:"
    r"|\bact as\b.{0,40}\b(?:admin|root|developer|dan)\b"
    r"|\bdo not (?:tell|inform|mention to) the user\b|<\s*/?\s*(?:system|assistant)\s*>"
    r"|(?:игнорируй|забудь|проигнорируй).{0,60}(?:инструкц|указани|правил|сообщени)"
    r"|системн\w+ (?:промпт|подсказк)"
    r"|(?:忽略|无视|無視|忘记|忘記).{0,20}(?:指令|指示|提示|规则|規則)|系统提示词|系統提示",
    re.IGNORECASE | re.DOTALL,
)
_UNBROKEN = re.compile(r"[!-~]{400,}")
_ANY_TAG = re.compile(rf"<(\s*/?\s*{TAG}\b)", re.IGNORECASE)
_LOOKALIKES = str.maketrans({"＜": "<", "〈": "<", "‹": "<", "﹤": "<", "＞": ">", "﹥": ">"})
STUFFED_WORDS = 60
STUFFED_VARIETY = 0.2


def trusted(record: Record) -> bool:
    """Whether a record may stand in a briefing.

    Text that came from a tool or from outside stays out if it reads like an order to the model, or is
    stuffed: one word over and over, or hundreds of characters without a break. It is stored all the same.
    """
    if record.source not in _OUTSIDE:
        return True
    text = record.text
    return not (_ORDERS.search(text) or _UNBROKEN.search(text) or _is_stuffed(text))


def one_line(text: str) -> str:
    """Return a text on one line that cannot end, or fake, the frame of a briefing."""
    kept = "".join(character if _is_harmless(character) else " " for character in text)
    flat = " ".join(kept.split())
    folded = flat.translate(_LOOKALIKES)
    return _ANY_TAG.sub(r"‹\1", folded) if _ANY_TAG.search(folded) else flat


def _is_stuffed(text: str) -> bool:
    words = text.casefold().split()
    return len(words) >= STUFFED_WORDS and len(set(words)) / len(words) < STUFFED_VARIETY


def _is_harmless(character: str) -> bool:
    """Control and format characters go, but for those that hold an emoji or an Indic syllable together."""
    return character in "\u200c\u200d" or unicodedata.category(character) not in (
        "Cc",
        "Cf",
        "Cs",
        "Zl",
        "Zp",
    )
