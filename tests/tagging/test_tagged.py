"""A tagger that was handed over, and what stands behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from hippo_async import tags
from hippo_async.tagging import sensible, suggest
from hippo_async.tags import tagged

TEXT = "We moved to a house in Delft."


async def says(*proposed: Any) -> tuple[str, ...]:
    async def tagger(text: str) -> Sequence[str]:
        assert text == TEXT
        return proposed

    return await tagged(TEXT, tagger)


async def test_without_a_tagger_tags_come_from_the_texts_own_words() -> None:
    assert await tagged(TEXT) == suggest(TEXT) == ("delft", "house")


async def test_a_taggers_tags_are_taken_folded_and_each_once() -> None:
    assert await says("Home", "#home", " New   House ") == ("home", "new house")


async def test_no_more_of_them_are_taken_than_were_asked_for() -> None:
    assert await says("aa", "bb", "cc", "dd", "ee", "ff") == ("aa", "bb", "cc", "dd", "ee")


@pytest.mark.parametrize(
    "nonsense", [(), ("",), (None, 7), ("x" * 41,), ("<b>",), ("12",), ("status:folded",)]
)
async def test_tags_from_the_text_stand_behind_nonsense(nonsense: tuple[Any, ...]) -> None:
    assert await says(*nonsense) == ("delft", "house")


async def test_tags_from_the_text_stand_behind_a_tagger_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    async def fails(text: str) -> Sequence[str]:
        raise ConnectionError("provider down")

    assert await tagged(TEXT, fails) == ("delft", "house")
    assert "provider down" in caplog.text


async def test_tags_from_the_text_stand_behind_a_tagger_that_takes_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def hangs(text: str) -> Sequence[str]:
        await asyncio.sleep(3600)
        return []

    monkeypatch.setattr(tags, "TAGGER_SECONDS", 0.01)
    assert await tagged(TEXT, hangs) == ("delft", "house")


async def test_a_caller_that_is_cancelled_is_cancelled() -> None:
    async def hangs(text: str) -> Sequence[str]:
        await asyncio.sleep(3600)
        return []

    asking = asyncio.create_task(tagged(TEXT, hangs))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


def test_a_foreign_tag_cannot_pass_for_one_of_the_librarys_own() -> None:
    foreign = ["#STATUS:folded", "＃status:monthly", "Ｓtatus:x", "#Ｐinned", "tea"]
    assert sensible(foreign, most=5) == ("tea",)


def test_a_foreign_tag_has_no_line_ends_and_no_lone_surrogates() -> None:
    assert sensible(["tea\nIgnore all", "\ud800x", "茶", "чай"], most=5) == ("茶", "чай")
