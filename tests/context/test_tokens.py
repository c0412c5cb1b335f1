"""The estimate against the two public vocabularies: never too small, and not much too large."""

from __future__ import annotations

import base64
import json
import random
import string
import uuid
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippo_async.context import estimate_tokens, message_tokens
from hippo_async.context import vocabulary as known
from hippo_async.context.words import SPACED_WORDS, WORDS

tiktoken = pytest.importorskip("tiktoken", reason="the extra `test` brings it")
if find_spec("llama_index") is None:
    pytest.skip("llama-index-core, of the extra `test`, brings the vocabularies", allow_module_level=True)

ENGLISH = """
Hi, I'm Anna. I moved to Lisbon last March with my husband and our two kids, and we are still getting used to
the hills. Could you help me plan a weekend trip for the four of us? We like museums, but the children get
bored quickly, so something outdoors would be better. My budget is about 400 euros, including the train
tickets. Also, please remember that Tom is allergic to peanuts, and that we never eat dinner before eight.

"Sure! For a family weekend I would suggest Sintra on Saturday and the beach at Cascais on Sunday," she said;
the train takes forty minutes. We decided to take the apartment near the station, which costs 120 euros for
two nights. Let's meet the owner on 14 May at 10:30. I need to send her a copy of our passports before that.
"""
RUSSIAN = """
Привет! Меня зовут Анна, в марте прошлого года я переехала в Лиссабон вместе с мужем и двумя детьми. Не мог бы
ты помочь спланировать поездку на выходные для четверых? Нам нравятся музеи, но дети быстро устают, поэтому
лучше что-нибудь на свежем воздухе. Бюджет около 400 евро, включая билеты на поезд. И ещё запомни, пожалуйста:
у Тома аллергия на арахис, и мы никогда не ужинаем раньше восьми. Мы решили снять квартиру у станции: она
стоит 120 евро за две ночи. Встречаемся с хозяйкой 14 мая в 10:30, до этого нужно отправить ей паспорта.
"""
CHINESE = """
你好！我叫安娜，去年三月和丈夫还有两个孩子一起搬到了里斯本，到现在还没有习惯这里的山坡。你能帮我们四个人安排一次
周末旅行吗？我们喜欢博物馆，但是孩子们很快就会觉得无聊，所以最好是户外活动。预算大约是400欧元，包括火车票。另外请记
得，汤姆对花生过敏，我们从来不在八点之前吃晚饭。五月十四日上午十点半和房东见面，在那之前需要把护照的复印件发给她。
"""
CODE = '''
def select_recent(rows, *, budget_chars):
    """Walk from the tail while the lengths fit."""
    taken: list[int] = []
    for seq, length in rows:
        if length > budget_chars or seq in self._shown:
            break
        budget_chars -= length
        taken.append(seq)  # newest first
    return {"taken": taken[::-1], "left": budget_chars, "error": None}


if __name__ == "__main__":
    print(json.dumps(select_recent([(1, 10), (2, 20)], budget_chars=25), indent=2))
'''
DATA = json.dumps(
    [
        {
            "id": number,
            "name": "Anna Smith",
            "email": f"user{number}@example.com",
            "active": number % 2 == 0,
            "balance": round(number * 7.31, 2),
            "created_at": f"2026-03-{10 + number}T10:30:00Z",
            "tags": ["premium", "beta"],
            "address": {"city": "Lisbon", "zip": f"1100-{number:03d}"},
        }
        for number in range(9)
    ],
    indent=2,
)
OTHERS = {
    "ukrainian": "Їжак під'їв яблуко, і ми їдемо до Києва. ЯКЩО ТИ НЕ ПРОТИ, ЗУСТРІНЬМОСЯ ЗАВТРА О ДЕВ'ЯТІЙ.",
    "capitals": "СРОЧНО: ОТПРАВЬ ПАСПОРТ ДО ПЯТНИЦЫ! URGENT: SEND THE PASSPORT BEFORE FRIDAY.",
    "french": "Où étiez-vous hier soir ? L'été dernier, nous avons déjà mangé à Besançon, près de la forêt.",
    "german": "Die Straßenbahn fährt übermorgen früher; Köpenick ist größer, als man glaubt.",
    "vietnamese": "Tôi đã chuyển đến Lisboa cùng chồng và hai con, chúng tôi rất thích những ngọn đồi ở đây.",
    "turkish": "İstanbul'da yağmur yağıyor, şemsiyeni unutma; görüşürüz öğleden sonra.",
    "polish": "Zażółć gęślą jaźń, źdźbło trawy, a łódź płynie.",
    "japanese": "こんにちは、アンナです。去年の三月にリスボンへ引っ越しました。予算は400ユーロです。",
    "korean": "안녕하세요, 저는 안나이고 작년 3월에 리스본으로 이사했습니다. 톰은 땅콩 알레르기가 있어요.",
    "hindi": "नमस्ते, मेरा नाम अन्ना है और मैं पिछले साल मार्च में अपने पति के साथ लिस्बन आई थी। बजट ४०० यूरो है।",
    "thai": "สวัสดีค่ะ ฉันชื่อแอนนา ปีที่แล้วฉันย้ายมาอยู่ลิสบอนกับสามีและลูกสองคน งบประมาณ 400 ยูโร",
    "arabic": "مرحبا، اسمي آنا وقد انتقلت إلى لشبونة في مارس الماضي مع زوجي وطفلينا. الميزانية ٤٠٠ يورو.",
    "hebrew": "שלום, קוראים לי אנה ועברתי לליסבון במרץ עם בעלי ושני ילדינו.",
    "greek": "Γεια σας, με λένε Άννα και μετακόμισα στη Λισαβόνα τον περασμένο Μάρτιο.",
    "georgian": "გამარჯობა, მე მქვია ანა და შარშან მარტში გადმოვედი ლისაბონში.",
    "tamil": "வணக்கம், என் பெயர் அன்னா, நான் கடந்த மார்ச் மாதம் லிஸ்பனுக்கு வந்தேன்.",
    "khmer": "សួស្តី ខ្ញុំឈ្មោះអាណា ខ្ញុំបានផ្លាស់ទៅរស់នៅលីសបោន។",
    "amharic": "ሰላም፣ ስሜ አና ነው፤ ባለፈው መጋቢት ወደ ሊዝበን ተዛወርኩ።",
    "emoji": "👨‍👩‍👧‍👦 🇵🇹🇷🇺🇨🇳 👍🏽👍🏿 🎉🎉 🏳️‍🌈 ❤️‍🔥 🧑🏾‍🚀 ☀️🌧️ 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🤷🏻‍♀️",
    "numerals": "12²34 ①②③45 Ⅷ9 １２３45 ½3/4 ٣٤٥67 \U00010d47425047 1,234,567.89 +351 210 000 000",
    "mixed": "用Python写了函数get_name(ID)，返回{\"имя\": \"Анна\"}。don't, O'Brien’s—“quoted”…",
    "rules": "+-----+----+\n| a | b |\n+=====+====+\n" + "-" * 100 + "=" * 33 + "\n***\n~~~~~~",
    "space": "a  b\t\td \n\n\n e\r\n\r\nf \r g\u3000h\u00a0i" + " " * 100 + "k" + "\n" * 50 + "\t" * 60,
    "comments": "x = 1;\n/* a */\n// b\n/** c */\r\n#!/bin/sh\n<!-- d -->\n",
    "special": "<|endoftext|><|im_start|>system\nyou are<|im_end|>",
}  # fmt: skip
TEXTS = {"english": ENGLISH, "russian": RUSSIAN, "chinese": CHINESE, "code": CODE, "json": DATA, **OTHERS}


@cache
def encodings():
    """Load both vocabularies from the files that llama-index-core ships, without importing it."""
    package = find_spec("llama_index")
    assert package is not None and package.submodule_search_locations is not None
    folder = Path(package.submodule_search_locations[0], "core", "_static", "tiktoken_cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        return [tiktoken.get_encoding(name) for name in ("cl100k_base", "o200k_base")]


@cache
def vocabulary():
    """Every token of both vocabularies as text, without the bytes that are no whole character."""
    tokens = {token.decode(errors="ignore") for each in encodings() for token in each.token_byte_values()}
    return sorted(tokens - {""})


def tokens_of(text):
    return max(len(each.encode_ordinary(text)) for each in encodings())


def one_token(text):
    return tokens_of(text) == 1


def assert_bounded(text, cuts):
    """The whole, and the sum of two parts at each cut, are at least the tokens of the whole."""
    real = tokens_of(text)
    assert estimate_tokens(text) >= real
    for cut in cuts:
        assert estimate_tokens(text[:cut]) + estimate_tokens(text[cut:]) >= real, (text[:cut], text[cut:])


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_is_under_counted_whole_or_cut_anywhere(name):
    text = TEXTS[name].strip()
    assert_bounded(text, range(len(text) + 1))


@pytest.mark.parametrize("name", TEXTS)
def test_no_beginning_of_a_text_is_under_counted(name):
    text = TEXTS[name].strip()
    for end in range(len(text)):
        assert estimate_tokens(text[:end]) >= tokens_of(text[:end]), text[:end][-30:]


@pytest.mark.parametrize(
    ("name", "most"), [("english", 1.5), ("russian", 1.6), ("chinese", 1.6), ("code", 1.6), ("json", 1.6)]
)
def test_ordinary_text_is_over_counted_by_a_bounded_part(name, most):
    real = len(encodings()[0].encode_ordinary(TEXTS[name]))
    assert estimate_tokens(TEXTS[name]) <= most * real


HARD = {
    "a character that loses its first byte to the space": [" 산", " 值", " 女", "x 가"],
    "a beginning of a word that is three tokens": [". resourcet .", ". highesteaw .", ". campaigntve ."],
    "a digit of another script among ASCII digits": ["٣345", "①345", "٣٣12٣", "\U00010d47345①12"],
    "a contraction that takes the first letter of a word": [
        ". x'thread .",
        ". he'style .",
        ". don'sharing .",
    ],
    "a capital that loses its first byte to the letter before": [". ютоИа .", ". ютеКа .", ". ютаКву ."],
    "a letter that loses its first byte to two letters before": ["ши ф-араки", "наш враки."],
    "a comment after a line end that ends the mark before": ["(\n/*Index co ", ";\n/** x"],
    "characters that merge across their border": ["¤크", "값ា", "高认", "两태"],
}


@pytest.mark.parametrize("why", HARD)
def test_no_text_made_to_be_under_counted_is(why):
    for text in HARD[why]:
        assert_bounded(text, range(len(text) + 1))


def random_texts():
    """Name and text of what no language model has seen, the same in every run."""
    source = random.Random(20261130)
    alphabets = {
        "lower case": string.ascii_lowercase,
        "upper case": string.ascii_uppercase,
        "letters": string.ascii_letters,
        "letters and spaces": string.ascii_letters + " " * 8,
        "alphanumeric": string.ascii_letters + string.digits,
        "printable": string.printable,
        "punctuation": string.punctuation,
        "punctuation and blanks": string.punctuation + " \n/",
        "digits": string.digits,
        "white space": " \t\n\r\x0b\x0c\u3000",
        "control": "".join(map(chr, range(32))),
        "russian": "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
        "russian words": "абвгдежзийклмнопрстуфхцчшщъыьэюяё АОЕ ",
        "latin supplement": "".join(map(chr, range(0xC0, 0x250))) + "aeiou",
        "han": "".join(map(chr, range(0x4E00, 0x9FFF))),
        "hangul": "".join(map(chr, range(0xAC00, 0xD7A4))),
        "emoji": "".join(map(chr, range(0x1F300, 0x1FAFF))) + "\u200d\ufe0f",
        "plane 1": "".join(map(chr, range(0x10000, 0x10FFF))),
        "plane 2": "".join(map(chr, range(0x20000, 0x20FFF))),
        "private": "".join(map(chr, range(0xE000, 0xF8FF))),
        "surrogates": "".join(map(chr, range(0xD800, 0xE000))) + "ab ",
    }
    for name, alphabet in alphabets.items():
        yield name, "".join(source.choices(alphabet, k=600))
    yield "base64", base64.b64encode(source.randbytes(900)).decode()
    yield "hex", source.randbytes(400).hex()
    yield "uuids", " ".join(str(uuid.UUID(int=source.getrandbits(128))) for _ in range(20))
    yield "one letter", "a" * 500
    yield "zeros", "0" * 1000


RANDOM = dict(random_texts())


@pytest.mark.parametrize("name", RANDOM)
def test_no_random_text_is_under_counted(name):
    assert_bounded(RANDOM[name], range(0, len(RANDOM[name]), 7))


@settings(deadline=None, max_examples=300)
@given(st.text(st.characters(), max_size=60), st.integers(0, 60))
def test_no_unicode_text_is_under_counted(text, cut):
    assert_bounded(text, [cut])


def forms(words):
    return st.sampled_from(sorted(words)).flatmap(
        lambda word: st.sampled_from([word, word.title(), word.upper()])
    )


PIECES = st.one_of(
    st.deferred(lambda: st.sampled_from(vocabulary())),
    forms(WORDS),
    forms(WORDS | SPACED_WORDS).map(" ".__add__),
    st.sampled_from(sorted(known.PUNCTUATION)),
    st.sampled_from(["'s", "'t", "'re", "'LL", " ", "\n", "\r\n", "/", "²", "оИ", "ра"]),
)


@settings(deadline=None, max_examples=400)
@given(st.lists(PIECES, min_size=1, max_size=8).map("".join), st.integers(0, 60))
def test_no_string_of_tokens_is_under_counted(text, cut):
    """The vocabularies' own tokens, joined at random: the hardest text there is for a bound on them."""
    assert_bounded(text, [cut])


def test_text_that_is_no_text_is_counted_all_the_same():
    assert estimate_tokens("") == 0
    assert estimate_tokens("\ud83d") >= 1
    assert estimate_tokens("\ud83d\ude00") >= tokens_of("😀")


def test_a_message_costs_its_overhead_more():
    assert message_tokens("Hello, world.") == estimate_tokens("Hello, world.") + 4
    assert message_tokens("", overhead=7) == 7


def test_words_are_one_token_in_each_form():
    wrong = [
        form
        for word in WORDS
        for form in (word, word.capitalize(), f" {word}", f" {word.capitalize()}")
        if not one_token(form)
    ]
    assert wrong == []


def test_spaced_words_are_one_token_after_a_space():
    assert [word for word in SPACED_WORDS if not one_token(f" {word}")] == []


def test_known_words_stay_whole_after_any_mark_and_before_any_contraction():
    marks = [mark for mark in map(chr, range(128)) if not mark.isalnum() and mark not in "\r\n'"]
    words = sorted(WORDS)[::7]
    assert [
        mark + word for word in words for mark in marks if tokens_of(mark + word) > 2 - (mark == " ")
    ] == []
    endings = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"]
    assert [
        word + end for word in words for end in endings if tokens_of(f" {word}{end}") > 1 + len(end)
    ] == []


def test_no_beginning_of_a_known_word_takes_more_than_three_tokens():
    forms = [
        form for word in WORDS for form in (word, word.capitalize(), f" {word}", f" {word.capitalize()}")
    ]
    forms += [f" {word}" for word in SPACED_WORDS]
    assert [form for form in forms for end in range(5, len(form)) if tokens_of(form[:end]) > 3] == []


def test_listed_punctuation_is_one_token_whatever_line_ends_follow():
    wrong = [
        (run, ends, slashes)
        for run in known.PUNCTUATION
        for form in (run, f" {run}")
        for ends, slashes in product(range(7), range(3))
        if tokens_of(form + "\n" * ends + "/" * (slashes if ends else 0)) > 1 + (ends + 1) // 2 + slashes
    ]
    assert wrong == []


def test_pairs_of_letters_are_one_token_unless_they_are_rare():
    for case in (string.ascii_lowercase, string.ascii_uppercase):
        pairs = {a + b for a, b in product(case, case)}
        assert {pair for pair in pairs if not one_token(pair)} == known.RARE_PAIRS & pairs
    assert all(one_token(f" {letter}") for letter in string.ascii_letters + known.CYRILLIC_AFTER_SPACE)
    assert all(one_token(pair) for pair in known.CYRILLIC_PAIRS)
    assert all(one_token(letter) for letter in known.CYRILLIC_CAPITALS + "абвгдежзийклмнопрстуфхцчшщъыьэюяё")


def test_characters_take_what_the_tables_say_beside_any_other():
    listed = sorted(known.ONE_TOKEN)
    assert [one for one in listed if tokens_of(one) > 1] == []
    neighbours = listed[::9] + list("크태ก认之가")
    assert [a + b for a in listed for b in neighbours if tokens_of(a + b) > estimate_tokens(a + b)] == []


def test_blocks_of_two_token_characters_are_that():
    points = (
        64 * block + low for block in range(1024) if known.TWO_TOKEN_BLOCKS >> block & 1 for low in range(64)
    )
    assert [point for point in points if tokens_of(chr(point)) > 2] == []
