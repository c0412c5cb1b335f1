"""Texts that break naive search: each is found by what a person would type, and none is an error."""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from hippo_async import Hippocampus, Settings
from hippo_async.errors import RecordRejected

PROMPT = Settings.from_mapping({"capture": {"flush_seconds": 0.01}})
WRITTEN_OTHERWISE = pytest.mark.xfail(strict=True, reason="what stands apart and what does not are two names")
ACCENTED = ("Grüße aus Zürich", "Йогурт и ещё ёжик", "서울에서 만나요", "がっこうへ いく")
OTHERS = (
    "The heron stood in the reeds until dusk.",
    "Мы весь день красили забор.",
    "今天下午一直在下雨。",
)
SYNTAX = (
    "AND",
    "OR",
    "NOT",
    "NEAR",
    "AND AND",
    "NOT lamp",
    "OR lamp",
    "lamp AND",
    "lamp OR NOT heron",
    "NEAR(lamp heron)",
    "NEAR(lamp heron, 5)",
    "lamp NEAR/3 heron",
    "lamp*",
    "*lamp",
    "*",
    "^lamp",
    "lamp ^ heron",
    "terms : lamp",
    "terms:lamp",
    "{terms context} : lamp",
    "- terms : lamp",
    "-lamp",
    "+lamp",
    "lamp + heron",
    '"lamp',
    'lamp"',
    '"',
    '""',
    '"lamp" "',
    "'lamp",
    "'",
    "''",
    "'; DROP TABLE words; --",
    "lamp); DELETE FROM records; --",
    "(lamp",
    "lamp)",
    "()",
    "((((((",
    "lamp % _ heron",
    "lamp\\",
    'lamp \\" heron',
    "$lamp ?1 :match @lamp",
    "rank MATCH 'lamp'",
    "[lamp]",
    "<lamp/>",
    "lamp\x00heron",
    "\x00",
    "\x1b[31m lamp",
    "lamp\r\nheron\t",
    "\ufefflamp",
    "\u202elamp",
    "\ud83d lamp",
)


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Hippocampus]:
    """A memory by words only that holds a few turns about nothing in particular."""
    store = Hippocampus(tmp_path / "store", embedder="none", settings=PROMPT, witness=None)
    async with store:
        await tell(store, *OTHERS)
        yield store


async def tell(memory: Hippocampus, *texts: str) -> None:
    for text in texts:
        memory.capture(text)
    await memory.flush()


async def ask(memory: Hippocampus, query: str) -> list[str]:
    return [str(hit.record.content) for hit in await memory.recall(query)]


async def finds(memory: Hippocampus, query: str, text: str) -> bool:
    """Whether a text, once told, is the best that a query finds."""
    await tell(memory, text)
    return (await ask(memory, query))[:1] == [text]


async def finds_among_others(memory: Hippocampus, text: str, query: str) -> bool:
    """The same in a scope of its own, beside the turns that every memory here holds."""
    scope = [f"{text} {query}"]
    for told in (*OTHERS, text):
        memory.capture(told, scope=scope)
    hits = (await memory.recall(query, scope=scope)).hits
    return [hit.record.content for hit in hits[:1]] == [text]


# ------------------------------------------------------------------------------------- letters and digits


CASE_AND_ACCENTS = (
    ("Frau Müller wohnt im dritten Stock", "Müller"),
    ("Frau Müller wohnt im dritten Stock", "MÜLLER"),
    ("Frau Müller wohnt im dritten Stock", "Muller"),
    ("Herr Muller rief an", "Müller"),
    ("Die Straße ist gesperrt", "strasse"),
    ("Mötley plays at the café on Sunday", "motley cafe"),
    ("Smørrebrød til frokost", "smørrebrød"),
    ("Wizyta w Łodzi", "łodzi"),
    ("Ещё раз позвони Петру", "Пётр"),
    ("Приходил Пётр", "Петр"),
    ("Ёлку поставим в субботу", "елка"),
)


async def test_case_and_accents_do_not_matter(memory: Hippocampus) -> None:
    assert [pair for pair in CASE_AND_ACCENTS if not await finds_among_others(memory, *pair)] == []


@pytest.mark.parametrize(
    ("told", "asked"),
    [("Frau Müller wohnt im dritten Stock", "Mueller"), ("Herr Mueller rief an", "Müller")],
)
async def test_an_umlaut_is_found_by_its_spelling_with_e(memory: Hippocampus, told: str, asked: str) -> None:
    assert await finds(memory, asked, told)


@pytest.mark.parametrize(
    ("told", "asked"), [("Smørrebrød til frokost", "smorrebrod"), ("Wizyta w Łodzi", "lodzi")]
)
async def test_a_struck_letter_is_found_by_its_plain_one(memory: Hippocampus, told: str, asked: str) -> None:
    assert await finds(memory, asked, told)


@pytest.mark.xfail(strict=True, reason="the stemmer takes Семен for сем and Семену for семен")
@pytest.mark.parametrize(("told", "asked"), [("Позвони Семёну", "Семён"), ("Приходил Семён", "Семёну")])
async def test_a_russian_name_is_found_in_every_case(memory: Hippocampus, told: str, asked: str) -> None:
    assert await finds(memory, asked, told)


@pytest.mark.parametrize("told", ["NFC", "NFD"])
async def test_composed_and_decomposed_find_each_other(memory: Hippocampus, told: str) -> None:
    for text in ACCENTED:
        kept = unicodedata.normalize(told, text)
        await tell(memory, kept)
        for form in ("NFC", "NFD", "NFKC", "NFKD"):
            assert (await ask(memory, unicodedata.normalize(form, text)))[:1] == [kept], (form, text)


WIDTH_AND_FORMS = (
    ("房间号是２０３", "203"),
    ("The room is 203", "２０３"),
    ("Ｈｅｌｌｏ from the terminal", "hello"),
    ("my order is ABC-1234", "ＡＢＣ－１２３４"),
    ("ﾄｳｷｮｳﾀﾜｰへ行きたい", "東京タワー トウキョウタワー"),
    ("ガラスを割った", "ｶﾞﾗｽ"),
    ("the ﬁle is oﬀline", "file offline"),
    ("the area is 25 m²", "m2"),
    ("chapter Ⅳ was the best", "chapter iv"),
)


async def test_width_and_other_forms_of_a_letter_do_not_matter(memory: Hippocampus) -> None:
    assert [pair for pair in WIDTH_AND_FORMS if not await finds_among_others(memory, *pair)] == []


# --------------------------------------------------------------------------- scripts that set no spaces


SCATTERED = ("林柏在楼下等我", "岳父没有母语课", "签到以后出示证件", "飞机停在场边", "礼堂里没有物品")
IN_A_RUN = "上个周末我岳母拿到签证以后从成都飞到柏林机场还带了一大箱礼物"


@pytest.mark.parametrize(
    "asked", ["柏林", "岳母", "签证", "机场", "周末", "礼物", "我岳母的签证", "柏林机场"]
)
async def test_a_chinese_word_is_found_inside_a_long_run(memory: Hippocampus, asked: str) -> None:
    assert await finds(memory, asked, IN_A_RUN)


@pytest.mark.parametrize("asked", ["柏林机场", "岳母的签证"])
async def test_the_more_of_a_run_the_better(memory: Hippocampus, asked: str) -> None:
    await tell(memory, *SCATTERED)
    assert await finds(memory, asked, IN_A_RUN)


@pytest.mark.xfail(strict=True, reason="a short turn with both characters apart comes before the word itself")
@pytest.mark.parametrize("asked", ["柏林", "岳母", "签证", "机场"])
async def test_a_chinese_word_comes_before_its_scattered_characters(memory: Hippocampus, asked: str) -> None:
    await tell(memory, *SCATTERED)
    assert await finds(memory, asked, IN_A_RUN)


@pytest.mark.parametrize(
    ("told", "asked"), [("我养了一只猫", "猫"), ("お茶を飲む", "茶"), ("새 집을 샀다", "집")]
)
async def test_one_character_is_enough(memory: Hippocampus, told: str, asked: str) -> None:
    assert await finds(memory, asked, told)


async def test_chinese_and_latin_may_touch(memory: Hippocampus) -> None:
    told = "明天把iPhone15寄到A座3楼"
    for asked in ("iphone15", "A座", "3楼", "寄到"):
        assert await finds(memory, asked, told)


@pytest.mark.xfail(strict=True, reason="traditional characters are not mapped to simplified ones")
@pytest.mark.parametrize(("told", "asked"), [("我的頭髮太長", "头发"), ("飞机晚点了", "飛機")])
async def test_traditional_and_simplified_find_each_other(memory: Hippocampus, told: str, asked: str) -> None:
    assert await finds(memory, asked, told)


async def test_characters_that_both_scripts_share_are_found(memory: Hippocampus) -> None:
    assert await finds(memory, "成都的房子", "我在成都買了房子")
    assert await finds(memory, "护照", "護照在抽屜裡")


# ------------------------------------------------------------------------------------------------- emoji


EMOJI = (
    ("🎂 on Saturday", "🎂"),
    ("so tired😴today", "😴"),
    ("thumbs up 👍🏽 from Ruben", "👍"),
    ("thumbs up 👍 from Ruben", "👍🏿"),
    ("I ❤️ this place", "❤"),
    ("I ❤ this place", "❤️"),
    ("the 👨‍👩‍👧 next door", "👨‍👩‍👧"),
    ("a trip to 🇨🇳 in May", "🇨🇳"),
    ("🇩🇪🇨🇳🇷🇺", "🇨🇳"),
    ("press 1️⃣ to go on", "1️⃣"),
    ("今天好开心😀", "😀"),
)


async def test_an_emoji_is_a_word(memory: Hippocampus) -> None:
    assert [pair for pair in EMOJI if not await finds_among_others(memory, *pair)] == []


async def test_flags_of_other_countries_are_other_words(memory: Hippocampus) -> None:
    await tell(memory, "🇷🇺 🇺🇸", "🇺🇦")
    assert await ask(memory, "🇺🇸") == ["🇷🇺 🇺🇸"]
    assert await ask(memory, "🇸🇷") == []


async def test_a_family_comes_before_one_of_its_members(memory: Hippocampus) -> None:
    await tell(memory, "the 👨‍👩‍👧 next door", "the 👩 next door")
    assert (await ask(memory, "👨‍👩‍👧"))[0] == "the 👨‍👩‍👧 next door"


# ------------------------------------------------------------------------------------- code and addresses


COPIED = (
    ("rename user_account_id before the release", "user_account_id"),
    ("rename user_account_id before the release", "account id"),
    ("call getUserName() twice", "getUserName"),
    ("call getUserName() twice", "getusername"),
    ("call getUserName() twice", "user name"),
    ("an HTTPServerError came up", "server error"),
    ("__init__ is empty there", "__init__"),
    ("MAX_RETRIES=5 in the env", "max_retries"),
    ("import os.path.join from there", "os.path.join"),
    ("patch app.services.billing first", "billing"),
    ("it failed with MEM_E_NOT_FOUND again", "MEM_E_NOT_FOUND"),
    ("it failed with MEM_E_NOT_FOUND again", "mem_e_not_found"),
    ("it failed with MEM_E_NOT_FOUND again", "why MEM_E_NOT_FOUND?"),
    ("std::vector<int> leaks", "std::vector"),
    ("use `kubectl get pods`", "kubectl"),
    ("the --no-verify flag is banned", "--no-verify"),
    ("ticket ABC-1234 is open", "abc-1234"),
    ("ticket ABC-1234 is open", "1234"),
    ("error 0x80070005 on start", "0x80070005"),
    ("commit 9f8e7d6c broke it", "9F8E7D6C"),
    ("see /etc/nginx/nginx.conf", "nginx.conf"),
    (r"see C:\Users\Tim\notes.txt", "notes.txt"),
    ("ring +31 6 1234 5678 after six", "+31 6 1234 5678"),
    ("ring +31 6 1234 5678 after six", "(6) 1234-5678"),
    ("ring 020-555-0199 after six", "020-555-0199"),
    ("read https://example.org/docs/page?id=7#top", "https://example.org/docs/page?id=7#top"),
    ("read https://example.org/docs/page?id=7#top", "example.org"),
    ("read https://www.example.org/docs", "www.example.org"),
    ("write to anna.k+home@example.org", "anna.k+home@example.org"),
    ("write to anna.k@example.org", "ANNA.K@example.org"),
    ("write to anna.k@example.org", "example.org"),
    ("write to anna.k@example.org.", "anna.k@example.org"),
    ("we are on v2.10.3-rc1 now", "v2.10.3-rc1"),
    ("we are on v2.10.3 now", "v2.10.3"),
    ("we run Python 3.11 there", "3.11"),
    ("the server is 192.168.0.17", "192.168.0.17"),
    ("it costs €1,299.00 there", "1,299.00"),
    ("due on 2025-03-14 at noon", "2025-03-14"),
    ("see #general for it", "#general"),
    ("ask @bas_dev about it", "@bas_dev"),
)


async def test_what_is_copied_from_a_terminal_or_an_address_book_is_found(memory: Hippocampus) -> None:
    assert [pair for pair in COPIED if not await finds_among_others(memory, *pair)] == []


async def test_of_two_versions_the_one_asked_for_comes_first(memory: Hippocampus) -> None:
    versions = [
        "it runs v2.10.3 there",
        "it runs v2.10.4 there",
        "it runs v2.1.3 there",
        "it runs v3.10.2 there",
    ]
    await tell(memory, *versions)
    for text in versions:
        assert (await ask(memory, text.split()[2]))[0] == text


async def test_of_two_error_codes_the_one_asked_for_comes_first(memory: Hippocampus) -> None:
    codes = [
        "it says MEM_E_NOT_FOUND",
        "it says MEM_E_FOUND",
        "it says NET_E_NOT_FOUND",
        "it says MEM_NOT_FOUND",
    ]
    await tell(memory, *codes)
    for text in codes:
        assert (await ask(memory, text.split()[2]))[0] == text


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("call get_user_name there", "getUserName"),
        ("we are on version 2.10.3 now", "v2.10.3"),
        pytest.param("ring +31612345678 after six", "+31 6 1234 5678", marks=WRITTEN_OTHERWISE),
        pytest.param("fix the wifi at home", "wi-fi", marks=WRITTEN_OTHERWISE),
    ],
)
async def test_another_way_to_write_a_name_comes_first(memory: Hippocampus, told: str, asked: str) -> None:
    await tell(memory, "call 6 of 31 users", "username 1234 by name, 5678 by user", "v1 is a wi fi")
    assert await finds(memory, asked, told)


async def test_a_coloured_line_of_a_terminal_is_found_by_its_words(memory: Hippocampus) -> None:
    assert await finds(memory, "segfault", "\x1b[31msegfault\x1b[0m in the worker")


@pytest.mark.parametrize("asked", ["C++", "C#", "F#"])
async def test_a_language_with_a_sign_in_its_name_is_told_from_others(
    memory: Hippocampus, asked: str
) -> None:
    await tell(memory, f"he writes {asked} at work", "he writes C and F at work")
    assert await ask(memory, asked) == [f"he writes {asked} at work"]


# ------------------------------------------------------------------------------------ syntax as plain text


async def test_the_syntax_of_the_full_text_table_is_plain_text(memory: Hippocampus) -> None:
    """No error, nothing left out, and the word beside it is found as if it stood alone."""
    lamp, heron = "The lamp is broken.", OTHERS[0]
    await tell(memory, lamp)
    for query in SYNTAX:
        found = await ask(memory, query)
        assert (lamp in found, heron in found) == ("lamp" in query, "heron" in query), query


async def test_a_turn_that_is_syntax_is_found_by_its_word_and_word_for_word(memory: Hippocampus) -> None:
    for number, text in enumerate(query for query in SYNTAX if "lamp" in query and "\ud83d" not in query):
        scope = [f"s{number}"]
        kept = await memory.record(text, scope=scope)
        for query in ("lamp", text):
            hits = await memory.recall(query, scope=scope)
            assert [hit.record.record_id for hit in hits] == [kept.record_id], (query, text)


async def test_half_an_emoji_is_no_text_to_keep_but_may_be_asked(memory: Hippocampus) -> None:
    with pytest.raises(RecordRejected):
        await memory.record("\ud83d lamp")
    assert await ask(memory, "\ud83d") == []


@pytest.mark.parametrize("text", ["AND", "OR", "NOT", "NEAR", "AND OR NOT NEAR"])
async def test_an_operator_is_a_word_that_can_be_looked_for(memory: Hippocampus, text: str) -> None:
    assert await finds(memory, text, f"the gate has an {text} in it")


async def test_a_word_is_no_prefix_of_another(memory: Hippocampus) -> None:
    await tell(memory, "the lampshade is torn")
    assert await ask(memory, "lamp*") == []


async def test_a_name_of_a_column_is_no_filter(memory: Hippocampus) -> None:
    await tell(memory, "these are the terms of the lease", "the context was lost")
    assert await ask(memory, "terms:lease") == ["these are the terms of the lease"]
    assert await ask(memory, "context:lost") == ["the context was lost"]


# ------------------------------------------------------------------------------------------ much and little


async def test_a_query_without_words_finds_nothing(memory: Hippocampus) -> None:
    for query in ("", " ", "\n\t ", "\u3000", "\u200b\ufeff", "?!…—", "。，！？", "***", "\x00", "\ud800"):
        assert await ask(memory, query) == [], query


async def test_a_query_of_nothing_but_question_words_is_no_error(memory: Hippocampus) -> None:
    text = "what is it, кто это и где, 这是什么, where"
    await tell(memory, text)
    for query in ("what is it?", "кто это", "什么", "where", "и где"):
        assert text in await ask(memory, query), query


@pytest.mark.parametrize("filler", ["the", "reeds", "дождь", "雨水"])
async def test_a_query_of_ten_thousand_words_is_answered(memory: Hippocampus, filler: str) -> None:
    await tell(memory, "The saxophone is under the bed.")
    found = await ask(memory, f"{filler} " * 9_999 + "saxophone")
    assert "The saxophone is under the bed." in found


async def test_a_query_of_ten_thousand_different_words_is_answered(memory: Hippocampus) -> None:
    await tell(memory, "The saxophone is under the bed.")
    asked = "saxophone " + " ".join(f"w{number}" for number in range(9_999))
    assert await ask(memory, asked) == ["The saxophone is under the bed."]


@pytest.mark.parametrize("letter", ["a", "ж", "猫", "😀", "é", "e\u0301", "_", "-", '"', "("])
async def test_a_very_long_word_is_taken_and_found(memory: Hippocampus, letter: str) -> None:
    text = f"lamp {letter * 20_000} end"
    await tell(memory, text)
    assert await ask(memory, "lamp") == [text]
    assert (await ask(memory, text))[0] == text
    assert isinstance(await ask(memory, letter * 20_000), list)


async def test_two_long_words_that_begin_alike_are_both_found(memory: Hippocampus) -> None:
    words: Sequence[str] = ["k" * 64 + "one", "k" * 64 + "two"]
    await tell(memory, *words)
    assert set(await ask(memory, words[0])) == set(words)


async def test_a_text_is_kept_as_it_was_told(memory: Hippocampus) -> None:
    odd = "e\u0301 ２０３ \x00 👨‍👩‍👧 \u202eabc\u202c ﬁ ①\r\n end"
    await memory.record(odd)
    assert await ask(memory, "203") == [odd]
