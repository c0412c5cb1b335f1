"""What all questions have in common for a model, and an answer has not.

A question and its answer are about the same, but one asks and the other tells; a part of a question's vector
says only that. Turns that happen to lie that way, often chatter, then come up for every question. So most of
it is taken out of questions. On facts asked for across English, Russian and Chinese (102 facts among 406
turns) this found .768 among the first five where it had been .757, on LoCoMo it changed nothing; to the
English model on PyTorch it did harm (recall@10 .849 instead of .857).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hippo_async.embedding.texts import is_question
from hippo_async.protocols import Vectors

TAKEN_OUT = 0.75
"""How much of it. All of it does no better across languages, and costs on LoCoMo."""

ENGLISH = (
    "What is it called?",
    "Who is it?",
    "When does it start?",
    "Where is it?",
    "How much does it cost?",
    "Why did that happen?",
    "How many are there?",
    "What did he say?",
    "What should I do?",
    "When is the appointment?",
    "Who told me about it?",
    "Where did we go?",
    "Which one did I choose?",
    "What is her name?",
    "How long does it take?",
    "Where did I put it?",
    "What is his phone number?",
    "Who gave it to me?",
    "What do they like?",
    "When did we meet?",
    "How often does it happen?",
    "What was the problem?",
    "Which day is it?",
    "Do I have any plans?",
    "What happened last week?",
    "What kind of music do I listen to?",
    "Who works there?",
    "What can't I eat?",
    "What's the address?",
    "How did it end?",
    "What am I working on?",
    "What did I buy?",
)

RUSSIAN = (
    "Как это называется?",
    "Кто это?",
    "Когда это начинается?",
    "Где это находится?",
    "Сколько это стоит?",
    "Почему так случилось?",
    "Сколько их?",
    "Что он сказал?",
    "Что мне делать?",
    "Когда приём?",
    "Кто мне об этом рассказал?",
    "Куда мы ездили?",
    "Какой я выбрал?",
    "Как её зовут?",
    "Сколько это занимает времени?",
    "Куда я это положил?",
    "Какой у него телефон?",
    "Кто мне это подарил?",
    "Что они любят?",
    "Когда мы познакомились?",
    "Как часто это бывает?",
    "В чём была проблема?",
    "В какой день?",
    "Есть ли у меня планы?",
    "Что было на прошлой неделе?",
    "Какую музыку я слушаю?",
    "Кто там работает?",
    "Что мне нельзя есть?",
    "Какой адрес?",
    "Чем это закончилось?",
    "Над чем я работаю?",
    "Что я купил?",
)

CHINESE = (
    "这叫什么？",
    "他是谁？",
    "什么时候开始？",
    "在哪里？",
    "要多少钱？",
    "为什么会这样？",
    "一共有几个？",
    "他说了什么？",
    "我该怎么办？",
    "约在什么时候？",
    "这件事是谁告诉我的？",
    "我们去了哪里？",
    "我选了哪一个？",
    "她叫什么名字？",
    "要花多长时间？",
    "我把它放在哪儿了？",
    "他的电话是多少？",
    "这是谁送给我的？",
    "他们喜欢什么？",
    "我们是什么时候认识的？",
    "多久一次？",
    "出了什么问题？",
    "是星期几？",
    "我有什么安排？",
    "上个星期发生了什么？",
    "我平时听什么音乐？",
    "谁在那里工作？",
    "我不能吃什么？",
    "地址是什么？",
    "最后怎么样了？",
    "我在做什么工作？",
    "我买了什么？",
)

QUESTIONS = (*ENGLISH, *RUSSIAN, *CHINESE)
"""Questions about nothing in particular. Their mean vector is what questions have in common."""


def about(texts: Sequence[str], rows: Vectors, common: NDArray[np.float32]) -> Vectors:
    """Return the rows of texts, those of questions without most of what is ``common`` to all; normalised."""
    asks = np.fromiter(map(is_question, texts), dtype=bool, count=len(texts))
    apart = rows - TAKEN_OUT * np.outer(asks, common).astype(np.float32)
    lengths = np.linalg.norm(apart, axis=1, keepdims=True)
    normalised: Vectors = apart / np.maximum(lengths, np.finfo(np.float32).tiny)
    return normalised
