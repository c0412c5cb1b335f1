"""What in a text says that it will be wanted again, in English, Russian and Chinese.

Word lists, and the patterns made of them. Latin and Cyrillic cues match whole words (``*`` lets a word end in
any way), Chinese ones anywhere; but a Chinese courtesy has to stand alone, since its characters are parts of
other words too. Case does not matter.
"""

from __future__ import annotations

import re
from typing import Final

COURTESIES: Final = """
hi|hello|hey|thanks|thank you|thx|ok|okay|yes|yeah|yep|no|nope|sure|great|cool|nice|wow|lol|haha*
bye|goodbye|good morning|good night|good evening|see you|no problem|you're welcome|got it
sounds good|awesome|please|welcome|so much|very much|a lot|perfect|right|exactly|of course|take care
how are you|i see|understood|done|happy to help|glad to help|is there anything else
if you need anything else|let me know|feel free to
привет*|здравствуй*|спасибо|пожалуйста|ок|да|нет|ага|угу|хорошо|понятно|ясно|пока|до свидания
доброе утро|отлично|добрый день|добрый вечер|спокойной ночи|круто|супер|большое|конечно|как дела
ладно|точно
你好|您好|大家好|谢谢|多谢|好的|好|嗯|哦|啊|是的|不客气|再见|早上好|早安|晚安|哈
收到|明白了|知道了|可以|行|没问题|对|不是|是
"""

TASKS: Final = """
need to|needs to|have to|has to|must|should|todo|to do|remind*|deadline*|due by|due on|don't forget
plan to|planning to|task*|promise*|follow up|by tomorrow
надо|нужно|необходимо|должен|должна|должны|следует|напомн*|не забудь*|план|планы|планиру*|срок*
дедлайн*|задач*|обеща*|собира*
需要|必须|应该|得去|提醒|别忘|不要忘|打算|计划|截止|任务|待办|答应
"""

DECISIONS: Final = """
decide*|decision*|chose*|choose|agree*|conclu*|settled on|instead of|switch* to|approved|rejected
we'll use
реши*|решен*|выбра*|договор*|соглас*|вывод*|вместо|утверд*|отказ*
决定|选择|选了|同意|确定|结论|改用|采用|放弃|批准
"""

PREFERENCES: Final = """
i like|i love|i enjoy|i hate|i dislike|prefer*|favorite*|favourite*|i always|i never|allergic
allergy|can't stand|my goal|i want|i wish|rather not|passionate|interested in|dream*
люблю|нравит*|предпочита*|ненавижу|любим*|всегда|никогда|аллерг*|хочу|мечта*|цель
喜欢|讨厌|偏好|更愿意|最爱|总是|从不|过敏|习惯|我想|梦想|目标
"""

FACTS: Final = """
my name|call me|i live|i work|i moved|i was born|born in|birthday*|married|divorced|pregnant|my wife
my husband|my son|my daughter|my kids|my mother|my mom|my father|my dad|my job|my boss|my dog|my cat
hired|fired|diagnos*|password*|address|phone number|email|lost my|bought|adopted|joined|started|won
signed up|graduat*
меня зовут|живу|работа*|переехал*|родил*|день рождения|женат|замужем|развел*|муж|жена|сын*|доч*|мама
маме|маму|папа|адрес|пароль*|телефон*|купил*|уволил*|поступил*|начал*|выиграл*|собак*|кошк*
我叫|名字|我住|住在|我在|搬到|出生|生日|结婚|离婚|怀孕|妻子|老公|丈夫|老婆|儿子|女儿
妈妈|爸爸|工作|公司|地址|密码|电话|买了|开始
"""

DATES: Final = """
january|february|march|april|june|july|august|september|october|november|december|monday|tuesday
wednesday|thursday|friday|saturday|sunday|today|tomorrow|yesterday|tonight|last week|next week
last month|next month|last year|next year|last night|this week|this weekend|last weekend|weeks ago
days ago|years ago|months ago
январ*|феврал*|март|марта|апрел*|мая|май|июн*|июл*|август*|сентябр*|октябр*|ноябр*|декабр*
понедельник*|вторник*|среда|среду|четверг*|пятниц*|суббот*|воскресень*|сегодня|завтра|вчера
послезавтра|на прошлой|на следующей|в прошлом|назад
今天|明天|昨天|后天|前天|上周|下周|这周|上个月|下个月|去年|明年|今年|星期|周末|周一
周二|周三|周四|周五|周六|周日
"""

_CJK = "\u3041-\u30fa\u3400-\u9fff\uac00-\ud7a3"


def _phrases(words: str, *, chinese_alone: bool = False) -> re.Pattern[str]:
    listed = [phrase for line in words.split("\n") for phrase in line.split("|") if phrase]
    chinese = sorted((phrase for phrase in listed if re.search(f"[{_CJK}]", phrase)), key=len, reverse=True)
    spaced = [re.escape(phrase).replace(r"\*", r"\w*") for phrase in listed if phrase not in chinese]
    anywhere = "|".join(chinese)
    alone = rf"(?<![{_CJK}])(?:{anywhere})+(?![{_CJK}])"
    return re.compile(rf"\b(?:{'|'.join(spaced)})\b|{alone if chinese_alone else anywhere}", re.IGNORECASE)


COURTESY = _phrases(COURTESIES, chinese_alone=True)
TASK = _phrases(TASKS)
DECISION = _phrases(DECISIONS)
PREFERENCE = _phrases(PREFERENCES)
FACT = _phrases(FACTS)
DATE = _phrases(DATES)
NUMBER = re.compile(r"\d|[一二三四五六七八九十百千万两]+(?=[年月日号点元块岁个次天周人])")
NAME = re.compile(r"(?<=[a-zà-ÿа-яё,;:] )[A-ZÀ-ÞА-ЯЁ][a-zà-ÿа-яё]+|《[^》]+》")
EXACT = re.compile(r"https?://|\w@[\w-]+\.\w|`[^`]{1,99}`|[\"“«「][^\"”»」]{3,99}[\"”»」]|\b\w+[_/]\w+")
WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:['’]\w+)*")
CJK = re.compile(f"[{_CJK}]")
