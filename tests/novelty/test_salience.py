"""Salience tells what carries something from what only keeps a conversation going."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.config import RawSettings
from hippo_async.novelty.salience import COURTESY_ONLY, salience
from hippo_async.records import Novelty

KEPT_FROM = RawSettings().min_salience


@pytest.mark.parametrize(
    "text",
    [
        "My birthday is March 5",
        "I'm allergic to peanuts",
        "We decided to use PostgreSQL instead of MySQL.",
        "Remind me to call the dentist tomorrow at 15:00",
        "We live in Lisbon and my daughter goes to the German school there",
        "У меня аллергия на арахис",
        "Мы решили перейти на PostgreSQL вместо MySQL",
        "Напомни мне завтра позвонить маме в 15:00",
        "我对花生过敏",
        "我们决定改用PostgreSQL",
        "我女儿的生日是三月五日",
        "请提醒我明天下午三点给妈妈打电话",
    ],
)
def test_what_a_user_tells_is_kept_by_default(text: str):
    assert salience(text, novelty=Novelty.NOVEL, role="user") >= KEPT_FROM


@pytest.mark.parametrize(
    "text",
    [
        "Hi!",
        "ok",
        "Thanks so much, that's great!",
        "What's the weather like?",
        "👍👍",
        "...",
        "",
        "Sure! Let me know if you need anything else.",
        "Спасибо большое!",
        "Привет, как дела?",
        "Хорошо, понятно",
        "你好！",
        "好的，谢谢！",
        "哈哈哈哈",
    ],
)
@pytest.mark.parametrize("novelty", list(Novelty))
def test_greetings_and_thanks_are_left_out_however_new(text: str, novelty: Novelty):
    assert salience(text, novelty=novelty, role="user") < 0.3


def test_nothing_but_courtesy_has_a_fixed_low_value():
    assert salience("Hello, thanks!", novelty=Novelty.PREDICTION_ERROR, role="user") == COURTESY_ONLY


@pytest.mark.parametrize("text", ["", "ok", "Traceback: boom"])
def test_an_error_is_always_worth_keeping(text: str):
    assert salience(text, novelty=Novelty.ROUTINE, role="tool", error=True) == 1.0


@given(
    st.text(max_size=300), st.sampled_from(list(Novelty)), st.sampled_from(["user", "assistant", "tool", ""])
)
def test_it_lies_between_0_and_1(text: str, novelty: Novelty, role: str):
    assert 0.0 <= salience(text, novelty=novelty, role=role) <= 1.0


def test_surprise_adds_and_never_takes_away():
    text = "the lamp in the corridor flickers"
    values = [
        salience(text, novelty=novelty, role="user")
        for novelty in (Novelty.ROUTINE, Novelty.NOVEL, Novelty.PREDICTION_ERROR)
    ]
    assert values == sorted(set(values))


def test_longer_texts_carry_more():
    words = [
        "lamp",
        "corridor",
        "flickers",
        "slowly",
        "while",
        "people",
        "walk",
        "past",
        "quietly",
        "without",
    ]
    values = [
        salience(" ".join(words[:n]), novelty=Novelty.ROUTINE, role="user") for n in range(1, len(words))
    ]
    assert values == sorted(set(values))


@pytest.mark.parametrize(
    "sign", ["tomorrow", "42", "a@b.org", "must", "decided", "prefer", "birthday", ", Lisbon"]
)
def test_each_sign_adds(sign: str):
    text, length = "the lamp in the corridor flickers {}", "qwerty"
    plain = salience(text.format(length), novelty=Novelty.ROUTINE, role="user")
    assert salience(text.format(sign), novelty=Novelty.ROUTINE, role="user") > plain + 0.1


def test_an_assistant_counts_a_little_less_than_a_user():
    text = "The meeting is on Monday at noon in Lisbon"
    user, assistant = (salience(text, novelty=Novelty.NOVEL, role=role) for role in ("user", "assistant"))
    assert assistant == pytest.approx(0.9 * user)


@pytest.mark.parametrize(
    "text", ["`x" * 500_000, "“a" * 500_000, "@a." * 400_000, "A a " * 300_000, "a_" * 500_000]
)
def test_only_the_beginning_of_a_huge_text_is_looked_at(text: str):
    assert salience(text, novelty=Novelty.NOVEL, role="user") == salience(
        text[:8192] + "different", novelty=Novelty.NOVEL, role="user"
    )
