"""English words of time. A table, see ``signs``."""

from __future__ import annotations

from hippo_async.recall.dates.signs import Sign, Table, numbered, phrases, same

WORDS: Table = {
    **numbered("M", "january february", 1),
    **numbered("M", "july august september october november december", 7),
    # Names of people, short forms: words that are months only in company.
    **numbered("m", "jan feb mar,march apr,april may jun,june jul aug sep,sept oct nov dec", 1),
    **numbered("W", "monday tuesday wednesday thursday friday saturday sunday"),
    **numbered("c", "one two three four five six seven eight nine ten eleven twelve", 1),
    **same("c", "fifteen", 15) | same("c", "twenty", 20) | same("c", "thirty", 30),
    **numbered("h", "first second third fourth fifth", 1),
    **numbered("s", "spring summer autumn,fall winter"),
    **numbered("Q", "q1 q2 q3 q4"),
    **numbered("H", "morning afternoon evening night"),
    **same("U", "day", unit="day") | same("p", "days", unit="day"),
    **same("U", "week", unit="week") | same("p", "weeks", unit="week"),
    **same("U", "weekend", unit="weekend") | same("p", "weekends", unit="weekend"),
    **same("U", "month", unit="month") | same("p", "months", unit="month"),
    **same("U", "quarter", unit="quarter") | same("p", "quarters", unit="quarter"),
    **same("u", "year", unit="year") | same("p", "years", unit="year"),
    **same("R", "today") | same("R", "yesterday", -1) | same("R", "tomorrow", 1),
    **same("L", "last previous", -1) | same("L", "next", 1) | same("l", "this"),
    **same("Z", "past"),
    **same("V", "couple", 2, high=3) | same("V", "few", 2, high=5) | same("V", "several", 3, high=7),
    **same("A", "ago back") | same("B", "before prior~to preceding") | same("E", "after following"),
    **same("F", "recently lately", 28),
    **same("P", "early", 0) | same("P", "mid", 1) | same("P", "late", 2),
    **same("g", "beginning start", 0) | same("g", "middle", 1) | same("g", "end", 2),
    **same("i", "in during throughout by until till for over around") | same("a", "on at"),
    **same("o", "of") | same("e", "since") | same("f", "from") | same("t", "to through"),
    **same("b", "between") | same("&", "and"),
    **same("!", "every each every~other every~single"),
    **same(
        "#", "version v ver room page model port chapter build release route highway flight pin code id zip"
    ),
    **same("%", "km kilometers kilometres m meters metres miles feet ft kg lb lbs pounds steps words pages"),
    **same(
        "%", "calories dollars bucks euros people men women users times points copies items hours minutes"
    ),
    **same("%", "seconds degrees mg ml mb gb rpm votes followers subscribers students members"),
    **same("X", "christmas christmas~day xmas", 1225) | same("X", "christmas~eve", 1224),
    **same("X", "new~year,new~year's,new~years,new~year's~day", 101),
    **same("X", "new~year's~eve,new~years~eve", 1231) | same("X", "halloween", 1031),
    **same("X", "valentine's~day,valentines~day", 214),
    **phrases(
        {
            "day before yesterday": Sign("R", -2),
            "day after tomorrow": Sign("R", 2),
            "week before last": Sign("J", -2, "week"),
            "weekend before last": Sign("J", -2, "weekend"),
            "month before last": Sign("J", -2, "month"),
            "year before last": Sign("j", -2, "year"),
            "last night": Sign("N", -1, high=3),
            "tonight": Sign("N", 0, high=3),
            "other day": Sign("F", 7),
            "other week": Sign("F", 28),
        }
    ),
    "half a year": (Sign("c", 6), Sign("p", unit="month")),
}

CASED: Table = {
    # Written otherwise "sat" and "wed" are verbs and "sun" a star; "march" and "may" are months.
    **numbered("w", "Mon Tue,Tues Wed Thu,Thur,Thurs Fri Sat Sun"),
    **numbered("v", "march,mar", 3) | same("v", "may", 5),
}
"""Words that mean this only in this case."""

SKIPPED = frozenset({"the", "a", "an", "about", "approximately", "roughly", "exactly", "very"})
"""Words that change nothing between others."""
