"""English words whose forms no stemmer brings together, each with the form they are found under.

It holds common verbs, nouns and comparisons. Applied before stemming, to what is indexed and to what is asked
alike, so that "went" is found by "go" and "children" by "child".
"""

from __future__ import annotations

_FORMS = """
be am are been is was were | become became | begin began begun | bend bent | bet | bind bound | bite bit
bitten | bleed bled | blow blew blown | break broke broken | breed bred | bring brought | build built | burn
burnt | buy bought | catch caught | choose chose chosen | cling clung | come came | creep crept | deal dealt
| dig dug | do did does done | draw drew drawn | dream dreamt | drink drank drunk | drive drove driven | eat
ate eaten | fall fell fallen | feed fed | feel felt | fight fought | find found | flee fled | fly flew flown
| forbid forbade forbidden | forget forgot forgotten | forgive forgave forgiven | freeze froze frozen | get
got gotten | give gave given | go goes gone went | grow grew grown | hang hung | have had has | hear heard |
hide hid hidden | hold held | keep kept | kneel knelt | know knew known | lay laid | lead led | lean leant |
leap leapt | learn learnt | leave left | lend lent | lie lain | light lit | lose lost | make made | mean
meant | meet met | pay paid | ride ridden rode | ring rang rung | rise risen rose | run ran | say said | see
saw seen | seek sought | sell sold | send sent | sew sewn | shake shaken shook | shine shone | shoot shot |
show shown | shrink shrank shrunk | sing sang sung | sink sank sunk | sit sat | sleep slept | slide slid |
speak spoke spoken | spell spelt | spend spent | spin spun | spoil spoilt | spring sprang sprung | stand
stood | steal stole stolen | stick stuck | sting stung | strike struck | strive strove | swear swore sworn |
sweep swept | swim swam swum | swing swung | take taken took | teach taught | tear tore torn | tell told |
think thought | throw threw thrown | understand understood | wake woke woken | wear wore worn | weave wove
woven | weep wept | win won | wind wound | write written wrote | child children | foot feet | goose geese |
knife knives | leaf leaves | life lives | man men | mouse mice | person people | shelf shelves | thief
thieves | tooth teeth | wife wives | wolf wolves | woman women | bad worse worst | good better best | far
farther farthest further furthest
"""


def _by_form() -> dict[str, str]:
    bases: dict[str, str] = {}
    for entry in _FORMS.split("|"):
        base, *forms = entry.split()
        bases.update(dict.fromkeys(forms, base))
    return bases


BASES: dict[str, str] = _by_form()
"""The form under which each irregular one is found."""
