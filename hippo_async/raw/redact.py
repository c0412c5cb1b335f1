"""Takes secrets out of text that leaves the black box (L5). Pure."""

from __future__ import annotations

import re

REDACTED = "[redacted]"

_CHARACTER = r"[A-Za-z0-9._~+/=-]"
_HEADER = re.compile(rf"(?i)\b(authorization\W{{1,4}}bearer\s+){_CHARACTER}+")
_BEARER = re.compile(rf"(?i)\b(bearer[\s:=]+)(?={_CHARACTER}*\d|{_CHARACTER}{{16}}){_CHARACTER}{{8,}}")
_KEY = re.compile(r"(?i)(?<![a-z0-9])sk[-_](?=[a-z_-]*\d|[a-z0-9_-]{20})[a-z0-9_-]{8,}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{40,}={0,2}")
_SEPARATORS = re.compile(r"[/_-]")
_WORD = re.compile(r"[A-Z]?[a-z]*(?:[A-Z][a-z]+)*\d{0,4}|[A-Z]+\d{0,4}|\d{1,8}")
_LONGEST_WORD = 24


def redact(text: str) -> str:
    """Return the text with what looks like a secret as ``[redacted]``.

    Taken out: what follows "bearer" in an authorization header, and elsewhere if it is no plain word; keys
    that begin with ``sk-`` or ``sk_``; and runs of 40 or more base64 characters, of the usual alphabet or
    the one for URLs. 40 characters hold 30 bytes: shorter secrets are rare (AWS secret keys have just 40),
    shorter identifiers are not (a UUID has 36). Long hexadecimal digests go too, since keys look the same.
    Paths and identifiers of plain words stay, however long. Doing it twice changes nothing more.
    """
    text = _HEADER.sub(rf"\g<1>{REDACTED}", text)
    text = _BEARER.sub(rf"\g<1>{REDACTED}", text)
    text = _KEY.sub(REDACTED, text)
    return _BASE64.sub(_unless_words, text)


def _unless_words(run: re.Match[str]) -> str:
    return run[0] if all(map(_is_word, _SEPARATORS.split(run[0]))) else REDACTED


def _is_word(piece: str) -> bool:
    return len(piece) <= _LONGEST_WORD and _WORD.fullmatch(piece) is not None
