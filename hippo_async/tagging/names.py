"""Names of people, places and things, by how they are written. Patterns only, no model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
    "|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
)
DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"

_CAPITALISED = r"(?!I['’])[A-ZÀ-ÖØ-ÞА-ЯЁ](?:[^\W\d_]|['’-](?=[^\W\d_]))+(?!-?\w)"
_NAME_RUN = re.compile(rf"\b{_CAPITALISED}(?:[ ]{_CAPITALISED})*")
_STARTS_SENTENCE = re.compile(r"(?:^|[.!?…:\n])[\s\"'“«(*-]*$")
_CHINESE_NAME = re.compile(
    r"(?:名叫|我叫|叫做|叫|名字是)([\u4e00-\u9fff]{2,4}?)(?=[，。！？、；的和是在]|$)"
    r"|(?:住在|搬到了?|来自|去了?|在)([\u4e00-\u9fff]{2,5}?)(?=[，。！？、；的和住工上见]|$)"
)
_NO_NAMES = frozenset(f"{MONTHS}|{DAYS}".split("|"))


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
