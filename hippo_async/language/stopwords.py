"""Words that a question is made of and that say nothing about what it asks for.

Kept small on purpose: they are taken out of queries only, never out of what is indexed. ``may`` is missing on
purpose, it is a month.
"""

from __future__ import annotations

ENGLISH = """
a about again all also am an and any are as at be because been before being but by can could did do
does doing don't for from had has have having he her hers him his how i if in into is it its just me
more most my no nor not of off on once or our ours out over own she should so some such than that
the their theirs them then there these they this those to too under until up us very was we were
what when where which while who whom whose why will with would you your yours i'm i've i'd i'll it's
that's what's who's where's when's how's let's can't didn't doesn't isn't wasn't aren't weren't
won't wouldn't couldn't shouldn't haven't hasn't hadn't please tell know remember now nowadays
currently
"""

RUSSIAN = """
а без был была были было быть в вам вас ваш весь во вот все всё всего вы где да даже для до его ее
её если есть еще ещё же за зачем здесь и из или им их к как какая какие какой какого когда кого ком
кому которая которые который кто куда ли либо меня мне мной мог может мой моя мы на над нам нас наш
не него нее неё нет ни них но ну о об однако он она они оно от откуда очень по под потому почему при
про с сам свой себя сколько со так также такой там те тебе тебя тем то того тоже той только том тот
ты у уже чего чей чем через что чтобы чья эта эти это этого этой этом этот я скажи помнишь
пожалуйста теперь сейчас
"""

CHINESE = """
的 了 着 过 吗 呢 吧 啊 呀 是 在 有 和 与 及 或 也 都 就 还 又 很 把 被 让 给 对 从 到 于
以 而 但 我 你 您 他 她 它 我们 你们 他们 她们 它们 这 那 这个 那个 这些 那些 什么 什么时候 怎么
怎么样 怎样 为什么 哪 哪里 哪儿 哪个 哪些 谁 几 多少 如何 是否 是不是 有没有 请问 请 告诉
现在 目前
"""

PHRASES = (
    *("what time", "what day"),
    *("these days", "any more", "at the moment", "right now"),
    *("в какой день", "в какое время", "какого числа", "в последнее время"),
)
"""Phrases that only ask, of words that say something elsewhere: "what time" is not about time. Chinese ones
are words of the list above."""
