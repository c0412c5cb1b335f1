"""Characters, pairs of letters and runs of punctuation as cl100k_base and o200k_base see them.

Every entry is a claim about both vocabularies, and a test checks each one against the real files. What is not
listed is charged its worst case by :mod:`hippo_async.context.tokens`, so a missing entry makes an estimate
larger, never too small.
"""

from __future__ import annotations

# Runs of punctuation that are one token, with and without a space in front, whatever line ends follow.
_PUNCTUATION = r'''
    ": """ ", -> ): [" (" ], () ** "] ") __ =" }, == ]] ), // `` [] )) :: ). .. __( ]) ); {" ." {} += "\ *,
    ', "{ ". ': && (): === ]. `. "" (), ()) != "), ){ (** (). || ={ => [[ ([ (_ =' (__ (' ... [_ [' "", !==
    (( }) (); >", }; "` */ "_ >= ")) =[ {}) ]; "/ ``` =( <= }. "} "); "$ [: (* _, }\ {}, (! '. >>> ("\ "< }:
    "). }); ][ ," ') ({ "; {' '{ )[ := </ [- [], "[ }} []) _: ..., _) -- '[ :] \\ _$ :", ++ :" '" ++) "," _.
    "' (< (- ';
'''
PUNCTUATION = frozenset(_PUNCTUATION.split())

# Pairs of letters of one case that are not one token; every other such pair of ASCII letters is.
_RARE_PAIRS = """
    bq fj fz gj gk gq hj jg jv jw jx jy jz kq kx kz lq mz nq oq qf qg qj qk qo qv qy qz rj tj tq uq vq vz wq
    wv wz xg xh xj xk xq xu xv xw yf yj yq yv zg zj zq zr zv BQ BZ CJ CQ CZ DQ DZ EJ EY FJ FQ FV FZ GJ GK GQ
    GZ HJ IY JF JG JH JL JN JQ JU JW JX JY JZ KJ KQ KU KX KZ LH LJ LQ LW LX LZ MZ NQ OJ OQ OY OZ PQ PZ QD QF
    QG QH QI QJ QK QO QV QW QX QY QZ RJ RQ RZ TJ TQ UH UJ UO UQ UW UZ VH VJ VQ VU VW VX VY VZ WJ WQ WU WV WY
    WZ XG XH XJ XK XN XO XQ XU XV XW XZ YB YD YF YH YI YJ YK YQ YR YU YV YX ZB ZC ZD ZG ZI ZJ ZK ZL ZM ZP ZQ
    ZS ZT ZU ZV
"""
RARE_PAIRS = frozenset(_RARE_PAIRS.split())

# Cyrillic capitals that are one token each; all small letters of the Russian alphabet are.
CYRILLIC_CAPITALS = "АБВГДЕЗИКЛМНОПРСТУФЦЧЭЯ"

# Pairs of Cyrillic letters that are one token.
_CYRILLIC_PAIRS = """
    аб ав аг ад аж аз ай ак ал ам ан ап ар ас ат ач аш ая ва го да де др еб ев ег ед ее еж ез ей ек ел ем ен
    еп ер ес ет ех еч еш ещ же ив иг ид ие из ии ий ик ил им ин ип ир ис ит иф их ич ия ка ке ки ко ку ла ли
    ло ль лю ля ма ми на не ни но ны ня об ов ог од ое ож оз ой ок ол ом он оп ор ос от оч ощ оя ра ри ру ры
    ск сл сп ст сы ся та те ти то ту ты ть уб уг уд уж уй ук ум ун уп ур ус ут уч ущ ую ца ци ше ши ыв ые ый
    ых ью ют ющ яд яз ят
"""
CYRILLIC_PAIRS = frozenset(_CYRILLIC_PAIRS.split())

# Cyrillic letters that are one token together with a space in front.
CYRILLIC_AFTER_SPACE = "абвгдежзиклмнопрстуфхцчшэяАБВГДЕЗИКМНОПРСТУФЭ"

# Characters outside ASCII that are one token, and stay one beside any other character.
ONE_TOKEN = frozenset(
    "¡¢£¤¥¦§¨©ª«¬®¯°±´µ¶·º»¿ÁÂÃÄÇÉÍÎÐÑÓÖ×ÚÜßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýāăąćčĐđē"
    "ęěğīİıłńōőœřśşšţťūůűźżžơưșțəɵάέήίαβγδεηθικλμνοπρςστυφχωόЂабвгдежзийклмнопрст"
    "уфхцчшщъыьэюяёіאבדהוחילמנערשת،أإابةتثجحخدذرزسشصضطظعغفقكلمنهوىيپکگیकतनपमरलसहন"
    "রกขคงจชณดตถทนบปผพมยรลวสหอะาำเแใไạảấầẩậắặếềểệỉịọỏốồổỗộớờởợụủứửữự‐‑–—―‘’‚“”„†•"
    "…‰′″›※€™←↑→↓−━│═║╗╝█░■►●★☆☴♥♪✔、。《》「」『』【】〜あいうえおかがきくけこごさざしじすせそただちっつてでとどなにのはばまみ"
    "めもやよらりるれろわをんアィイウェエオカキクグコサシジスズセタチッテデトドナニバパビピフブプペポマムメャュョラリルレロン・ー万三上下不与专业东两个中串为"
    "主么义之也书了事二于五些交产享京人亿今介从他付代以们件价任份企优会传但位体何余作你使例供価保信修倍值停像元先入全公共关其具内円册再写出击分列则初利别到制"
    "前力功加务动動包化北区十午华单南即历原去县参及友反发取变口只可台右号司合同名后向否含听启告员周命和品哈商問器四回因国图土在地场型城基報場填增声处备复外多"
    "大天失头女好如始子字存学安宋完定实审客家容密对导将小少尔就展山岁州工左已市布常平年并广序库应店度建异式引张当录形影径待後得微心必志态思性总息您情意感成我"
    "或户手打找投报拉持指按换据排接推提播支收改放政效数整文料断新方族无日时明易星是時景更月有服期木未本机权束条来板构析果查标样核格案模次款止正此步歳段每比民"
    "気水求江汽没治法注活流海消清游源火点無然片版物特率环现球理生用由电男画界番登的监目直相省看県真知码确示社票私种科秒称移程稍税稿空立站章端笑符第等签算管箱"
    "米类系素索约级线组经结给络统编网置美老考者而联能自至色节英藏行表装西要見见规视角解計記話読计议记论设证评试话询该详语误说请读调象责败账货购费资起超路身车"
    "转软载辑输达过运近还这进连述送选通速造連道邮部都配释里重量金钟钮链错键长開間関门闭问间队阳陆限院除雅集雷非面音页项预频题额首验高黑간값개거게결경고공과구"
    "그기나내는능니다당도동되된드든들디라래러력로록료류른를름리만메면명목문미버번보복분비사산상색생서성세션소수스습시식신아야어에여열오요용우운원위으을음의이"
    "인일임입자작장재적전정제져조주진째체출치터턴트튼하한할함해호화환！（），－．／：；＞？＾～･￥�"
    "\u0092\u00a0\u00ad\u0301\u064e\u064f\u0650\u0651\u0652\u0902\u093e\u093f\u0940\u0941\u0947\u094b\u094d"
    "\u09be\u09bf\u09c7\u09cd\u0bbf\u0bc1\u0bcd\u0d4d\u0e31\u0e34\u0e35\u0e37\u0e38\u0e39\u0e47\u0e48\u0e49"
    "\u0e4c\u200b\u200c\u200e\u3000\ufe0f\ufeff"
)

# Bit n is set when none of the 64 characters from code point 64 n on takes more than two tokens.
TWO_TOKEN_BLOCKS = int(
    "f10000000000000400000000000000000000000000000000024500d17fe00c7c014d86ebc019ac3403af000000000000"
    "4800024f3ffc108fe0ffe7ce0201bf8f7c36fff63e31c3121ffff02bfff6ff1bff87e0bfb87bffebff00000000000000"
    "000000000000002f0000000073f203770c000000c000000937ffcff000000000",
    16,
)
