"""Words that name no topic: what stop words leave over of small talk, time, amounts and everyday verbs.

In base form. Longer than the stop words of a query on purpose: a tag is to be worth a look, while a question
may well ask for one of these. Russian needs nouns only, the rest goes by its part of speech.
"""

from __future__ import annotations

from hippo_async.language import stopwords

_ENGLISH = """
ability able absolutely accept across actual actually add admire after afternoon against ago agree ah ahead
alone along already alright although always amazing among amount another anymore anyone anything anyway
anywhere appreciate apr april area around arrive ask aspect attend aug august available aw awake away
awesome aww back bad basically beautiful become begin behind believe beside best bet better beyond big
bigger biggest billion bit black blame blast blow blue bond boost both bother boy brand bring bro brown btw
buddy build bunch busy buy call calm cannot care carry case catch cause celebrate center centre certain
certainly chance change chat check cheer chill choose clear clearly close closer cold colder combine come
common complete completely congrats congratulation consider constant continue cool count couple course crazy
create curious current cute daily dang day days dead dealing dear dec december decide deep definitely degree
deserve detail die difference different difficult discover dollar down downstair dozen dr drown dude during
each early easier easily easy eight eighteen eighty eleven else emotional encourage encouraging end enhance
enjoy enough entire especially euro even evening ever every everybody everyday everyone everything
everywhere exactly example excellent except excite excited exciting expect experience explain explore extra
face fact fall fam fan fantastic far fast fave favorite favourite feb february feel feeling few fifteen
fifth fifty fill final finally find fine finish first five fix folk follow forever forget forty forward four
fourteen fourth free fresh friday fun funny furry future gain general gentleman get girl give glad go gonna
good goodbye goodness gosh gotta grab grateful gray great green grey grow guess guy haha half halfway hand
handle hang happen happiness happy hard harder hardly hate he's hear heck hello help helpful here here's
herself hey hi high higher himself hit hm hmm hold homeless hope hopefully hot hour hug huge huh hundred
idea imagine impact important impress impressive improve incredible indeed inspire inspiring instead
interest interested interesting issue itself jan january job join journey joy jul july jun june keep kick
kid kind kinda lady large larger largest last late lately later latter lay learn least leave left less let
level lie life like likely line little live local lol long longer longest look lose lot lots love lovely low
lower luck lucky lying ma'am made magical main make man manage many mar march mate matter may maybe mean
meaning meet mem memory mention million mind minute miss moment monday month morning motivate motivation
move mr mrs ms much must myself name nasty near nearby nearly need negotiate neither never new newer newest
next nice night nine nineteen ninety nobody none noon nope normal note nothing notice nov november nowhere
number obviously occasion oct october offer often oh ok okay old older oldest omg one oneself only onto ooh
open opinion opportunity option orange order other otherwise ourself ourselve ourselves outside overall
overnight pal part particular pass past path pay peaceful people per percent percentage perfect perhaps
period person photo pic pick picture piece pink place plan play plenty pls plz pm point poor positive
possible possibly pound power prefer prepare present pretty previous probably problem process proper proud
provide purple purpose push put quarter question quick quickly quiet quite rather reach read ready real
really reason recent recently recommend red refresh regret regular regularly relate remind renew request
resilient rest result return right role round run sad safely same saturday save say second see seem seize
self sell send sense sep separate sept september serious seriously set seven seventeen seventy several share
she's short shortly show shut side sign similar simple simply since single sir sit situation six sixteen
sixty small smaller smallest somebody someday someone something sometime sometimes somewhere soon sooner
sorry sort sound spare speak special specific spend spirit spot spread stand start state stay steal step
stick still stoke stop story strategic strength strong stuff stunning suck suggest sunday super support
suppose sure surely surprise sweet switch take talk teach ten term terrible thank thankful thanks themself
themselves there's therefore thing think third thirteen thirty though thought thousand three through
throughout thursday thx tie tight time tiny tip today together tomorrow tonight top total totally touch
tough toward towards track tried true truly trust truth try tuesday turn twelve twenty twice two type uh uhm
um understand understanding unfortunately unique unless update upon upstair use useful usual usually value
various via view visit voice wait wake walk wanna want warm warmer watch way wear wednesday week weekday
weekend welcome well whatever whenever whether white whoever whole wish within without woman wonder
wonderful word work world worry worth wow write wrong yeah year yellow yep yes yesterday yet young younger
yourself yup
"""

_RUSSIAN = """
август ага апрель весна вечер вещь вид возможность вопрос воскресение воскресенье время вторник вчера год
декабрь дело день десяток другой жизнь завтра здравствуйте зима идея июль июнь километр количество конец
лето люди май март место месяц миллион минута мир момент начало неделя ночь ноябрь образ ого октябрь осень
ответ очередь пара пока полгода половина половинка польза понедельник пора правда привет причина проблема
процент пятница раз результат самый сегодня секунда сентябрь середина ситуация слово случай смысл сотня
спасибо способ среда сторона суббота тема тысяча ура утро февраль час часть человек четверг число штука
январь
"""

_CHINESE = """
一下 一个 一些 一定 一家 一样 一次 一点 一直 一起 上午 上来 上面 下午 下去 下来 下面 不了
不会 不到 不客气 不想 不是 不用 不能 不行 不要 不过 东西 中午 也是 事情 人家 今天 今年 以前
以后 但是 你好 使用 便宜 全部 关系 其实 再见 决定 准备 凑合着 出去 出来 分钟 刚刚 刚才 别人
前天 前面 办法 卡住 原来 去年 发现 受不 受不了 变成 只是 可以 可能 右边 名字 后天 后面 听到
听说 听起来 周末 喜欢 回去 回来 回答 因为 地方 外面 大家 大概 如果 家里 小时 就是 左边 差不多
已经 希望 帮忙 干脆 平时 年初 年底 应该 开始 当然 得点 必须 忘记 总算 情况 想要 意思 感觉
成为 所以 所有 才能 打算 拿出 提前 新建 方面 旁边 早上 时候 时间 明天 明年 星期 昨天 晚上
最近 月底 有事 有些 有人 有点 样子 正在 每天 比较 没关系 没有 然后 特别 看到 看见 看起来 真心
真的 知道 礼拜 突然 红火 终于 结果 继续 而且 自动 自己 至少 虽然 觉得 认为 记得 说好 说话
谢谢 起来 起码 过去 过来 还是 还有 还要 这边 进去 进来 进行 送到 那边 都是 里面 问题 附近
需要 非常 马上
"""

ENGLISH = frozenset(f"{_ENGLISH} {stopwords.ENGLISH}".split())
RUSSIAN = frozenset(f"{_RUSSIAN} {stopwords.RUSSIAN}".split())
CHINESE = frozenset(f"{_CHINESE} {stopwords.CHINESE}".split())
