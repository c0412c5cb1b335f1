"""Chinese words of time, in simplified characters. Tables, see ``signs``.

A text is written in simplified characters first, one for one, so that its places stay the same. Words that
hold a number (三天, 5月8日, 上周二) are patterns, in ``FORMS``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from hippo_async.recall.dates.signs import Sign, Table, Unit, numbered, phrases, same

SIMPLIFIED = str.maketrans(
    "後週禮這個號幾兩過聖國節慶勞與從來裡時間數樓線機級齡紀餅頁萬條編",
    "后周礼这个号几两过圣国节庆劳与从来里时间数楼线机级龄纪饼页万条编",
)

WORDS: Table = {
    **same("R", "今天 今日")
    | same("R", "昨天 昨日", -1)
    | same("R", "前天 前日", -2)
    | same("R", "大前天", -3),
    **same("R", "明天 明日", 1) | same("R", "后天", 2),
    **same("j", "去年 上一年", -1, unit="year") | same("j", "前年", -2, unit="year"),
    **same("j", "大前年", -3, unit="year") | same("j", "今年 本年", unit="year"),
    **same("j", "明年", 1, unit="year"),
    **same("J", "上+周,星期,个星期,礼拜,个礼拜,一周", -1, unit="week"),
    **same("J", "上上+周,星期,个星期,礼拜,个礼拜", -2, unit="week"),
    **same("J", "这周 这+星期,个星期,礼拜,个礼拜 本周", unit="week"),
    **same("J", "下+周,星期,个星期,礼拜,个礼拜", 1, unit="week"),
    **same("J", "上+月,个月", -1, unit="month") | same("J", "上上+月,个月", -2, unit="month"),
    **same("J", "这个月 这月 本月 当月", unit="month") | same("J", "下+月,个月", 1, unit="month"),
    **same("J", "上+周末,个周末", -1, unit="weekend") | same("J", "这+周末,个周末 本周末", unit="weekend"),
    **same("J", "下+周末,个周末", 1, unit="weekend"),
    **same("J", "上+季度,个季度", -1, unit="quarter") | same("J", "这个季度 本季度", unit="quarter"),
    **same("r", "那+周,一周,个星期", unit="week") | same("r", "那+周末,个周末", unit="weekend"),
    **same("F", "最近 近来 近期 这+阵子,段时间 前+阵子,段时间 不久前", 28),
    **same("F", "近日 前+几天,些天,两天 这+几天,两天,些天 日前", 7),
    **same("Z", "过去 近 过去的 最近的"),
    **same("A", "前 之前 以前") | same("E", "后 之后 以后") | same("k", "以来"),
    **numbered("S", "春天,春季 夏天,夏季 秋天,秋季 冬天,冬季"),
    **numbered("H", "早上,上午,早晨,清晨 下午,中午 傍晚 晚上,夜里,半夜,深夜"),
    **same("P", "初 年初 上旬 初期", 0) | same("P", "中旬 年中", 1) | same("P", "底 末 年底 年末 下旬", 2),
    **same("i", "在 于") | same("o", "的") | same("f", "从 自 自从 由") | same("t", "到 至"),
    **same("&", "和 与") | same("z", "之间"),
    **same("!", "每 每天 每周 每月 每年 每个 每个月 每个星期 每逢 每到 每次"),
    **same("#", "第 版本 版 房间 型号 编号"),
    **same("%", "元 块 人 公里 米 次 个 名 步 字 页 万 斤 号 多 件 本 条"),
    **same("X", "圣诞节 圣诞", 1225) | same("X", "平安夜", 1224) | same("X", "元旦 新年", 101),
    **same("X", "跨年", 1231) | same("X", "国庆节 国庆", 1001) | same("X", "劳动节", 501),
    **phrases(
        {
            "昨晚|昨夜|昨天晚上": Sign("N", -1, high=3),
            "昨早": Sign("N", -1, high=0),
            "今晚|今夜": Sign("N", 0, high=3),
            "今早|今晨": Sign("N", 0, high=0),
        }
    ),
    "周末": (Sign("a"), Sign("U", unit="weekend")),  # needs no "on" before it
    "半年": (Sign("c", 6), Sign("p", unit="month")),
    "半个月": (Sign("c", 15), Sign("p", unit="day")),
}

_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_UNITS: dict[str, Unit] = {"天": "day", "周": "week", "月": "month", "年": "year"}
_WEEKS = {"": None, "上上": -2, "上": -1, "这": 0, "本": 0, "下": 1}


def value(written: str) -> int:
    """Return what a number says, in figures or in characters: 23, 二十三, 二〇二三."""
    if written.isdecimal():
        return int(written)
    if "十" not in written:
        return int("".join(str(_DIGITS[digit]) for digit in written))
    tens, _, ones = written.partition("十")
    return 10 * _DIGITS.get(tens, 1) + _DIGITS.get(ones, 0)


def _year(match: re.Match[str]) -> tuple[Sign, ...]:
    number = value(match[1])
    if 1900 <= number <= 2100:
        return (Sign("Y", number),)
    return Sign("n", number), Sign("p", unit="year")


def _month(match: re.Match[str]) -> tuple[Sign, ...]:
    number = value(match[1])
    return (Sign("M", number) if 1 <= number <= 12 else Sign("_"),)


def _day(match: re.Match[str]) -> tuple[Sign, ...]:
    return (Sign("D", value(match[1])),)


def _count(match: re.Match[str]) -> tuple[Sign, ...]:
    vague = match[1] in ("几", "好几", "数")
    count = Sign("V", 2, high=6) if vague else Sign("c", value(match[1]))
    unit: Unit = "weekend" if "周末" in match[2] else _UNITS.get(match[2][-1], "week")
    return count, Sign("p", unit=unit)


def _weekday(match: re.Match[str]) -> tuple[Sign, ...]:
    week, weekday = _WEEKS[match[1].removesuffix("个")], _WEEKDAYS[match[2]]
    return (Sign("W", weekday) if week is None else Sign("G", weekday, high=week),)


def _quarter(match: re.Match[str]) -> tuple[Sign, ...]:
    return (Sign("Q", value(match[1]) - 1),)


_SMALL = "[0-9]{1,3}|[一二三四五六七八九]?十[一二三四五六七八九]?|[一二三四五六七八九两]"

FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], tuple[Sign, ...]]], ...] = (
    (re.compile("([0-9]{4}|[〇零一二三四五六七八九]{4}) ?年(?![级纪龄])"), _year),
    (re.compile(f"({_SMALL}) ?月份?(?![天饼亮球])"), _month),  # 五月天 is a band
    (re.compile(f"({_SMALL}) ?[日号](?![线楼店房机])"), _day),
    (re.compile(f"({_SMALL}|好几|几|数) ?(天|周末|周|个?星期|个?礼拜|个月|年)"), _count),
    (re.compile("(上上|上个?|这个?|本|下个?|)(?:周|星期|礼拜)([一二三四五六日天])"), _weekday),
    (re.compile("第?([一二三四1-4])季度"), _quarter),
)
"""Words with a number in them, tried in this order, each with what makes signs of it."""

STARTS = frozenset("〇零一二三四五六七八九十两几数好上这本下周星礼第")
"""The characters, figures aside, with which such words begin."""
