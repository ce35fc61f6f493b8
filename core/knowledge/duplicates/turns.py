"""Markers that turn the sense of a text: denials, scope, limits, duties, order (data)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Literal

Turn = Literal["negation", "scope", "limit", "duty", "order"]
# What each marker says, as alternative patterns, a group a line.
_NEGATION = {
    "not": r"""
        \b(?:not|no|never|none|nobody|nothing|nowhere|without|neither|nor|cannot|hardly|unless)\b
        \b(?:\w+n['’]t|forbid(?:den)?|prohibit(?:ed)?|instead of|rather than)\b
        않\w*|지\s?(?:마|말)\w*|없\w*|(?<=[가-힣])\s?말고
        (?<![가-힣])(?:금지|불가(?!피)|아니|아닌|아닙|아님|아녜|아녀|아냐|대신)\w*
        (?<=[이가])\s?(?:아니|아닌|아닙|아님)\w*
        (?<![가-힣])(?:안|못)(?=\s[가-힣]|[되돼된될됩됨하해한할합함했])
        (?<![가-힣])(?:말[고아라것]|마세요)
    """,
}
_SCOPE = {
    "except": r"""
        제외\w*|(?<![가-힣])(?:빼(?![가-힣]?앗)|뺀|뺍|뺄)\w*|예외\w*|외에는?|이외|면제\w*
        \b(?:except\w*|exclud\w*|apart from|other than|aside from|exempt\w*|but not|unless)\b
    """,
    "with": r"""
        포함\w*|\binclud\w*
    """,
    "only": r"""
        (?<=[가-힣A-Za-z])(?<![지미일이삼사오육칠팔구십백천])만(?=[\s,.!?요]|$|이|은|을|의|입니다|으로)
        (?<=[\d일이삼사오육칠팔구십백천])만(?!\s?(?:원|명|건|개|달러))(?=[\s,.!?요]|$|은|을|의|입니다|으로)
        뿐|오직|오로지|한해서?|\b(?:only|solely|exclusively|just)\b
    """,
    "also": r"""
        (?<=[가-힣][가-힣])도(?=[\s,.!?]|$)|또한|\b(?:also|too|as well|even)\b
    """,
    # How often something is done, in whatever words, is no matter of whom it is for.
    "": r"""
        (?:\d+\s?(?:일|주|시간|분|개월|달|년)|요일|주말|평일|날|해|달|주|분기|반기|아침|저녁|시간)마다
        (?:일|주|월|년|달|간|날|하루)에\s?(?:한\s?번|1\s?[번회])씩?
        \bonce (?:a|per|every|each)\b
        \b(?:every|each) (?:\w+ )?(?:day|week|month|year|quarter|hour|morning|evening)s?\b
        \b(?:every|each) (?:mon|tues|wednes|thurs|fri|satur|sun)days?\b
    """,
    "all": r"""
        모든|모두|전부|전체|전국|(?<![가-힣])(?:전|다|각)(?=\s)|누구나|누구든지?|항상|언제나|계속
        마다|매번|\b(?:all|every\w*|each|always|whole|any\w*|both|entire)\b
    """,
    "some": r"""
        일부|몇몇|대부분|가끔|종종|\b(?:some\w*|several|certain|(?<!at )most|often|usually|partly)\b
    """,
    "once": r"""
        (?<![가-힣])이번|당분간|잠시|일단|\bthis (?:one|once|time)\b|\bfor now\b
    """,
    "ever": r"""
        앞으로|이제부터|\bfrom now on\b
    """,
}
_LIMIT = {
    "at least": r"""
        이상|최소\w*|적어도|\b(?:at least|no less than|no fewer than|minimum|or more)\b
    """,
    "at most": r"""
        이하|이내|최대\w*|(?<=[일주월년간달분초내루틀흘름])\s?안(?:에|으로|에서)?(?=[\s,.!?]|$)
        (?<=[\d만천백]원)까지|(?<=만\s원)까지|(?<=\d[장개명회번건%])까지
        \b(?:at most|no more than|no later than|up to|within|maximum)\b
        \bor (?:less|fewer)\b
    """,
    "over": r"""
        초과\w*|넘[는을어으기은고]\w*|보다\s?(?:많|크|큰|높|길|비싸|늦)\w*
        \b(?:more than|over|above|exceed\w*)\b
        \b(?:greater|longer|older|higher) than\b
    """,
    "under": r"""
        미만|보다\s?(?:적|작|낮|짧|싸|싼)\w*
        \b(?:less than|fewer than|under|below)\b|\b(?:shorter|younger|lower) than\b
    """,
}
_DUTY = {
    "might": r"""
        수도\s?있\w*|지도\s?모\w*|아마|\b(?:might|maybe|perhaps|possibly)\b
    """,
    "should": r"""
        권장\w*|권고\w*|가급적|되도록|웬만하면
        \b(?:should|encouraged|recommend\w*|ought|preferabl\w*|ideally)\b
    """,
    "may": r"""
        [가-힣]도\s?(?:되|돼|된|될|됩|됨|좋)\w*|수\s?있\w*|가능\w*|허용\w*|선택\w*
        \b(?:may|can|could|allowed|permitted|optional\w*)\b
    """,
    "need": r"""
        필요\w*|\bneed\w*(?:['’]t)?\b
    """,
    "must": r"""
        [가-힣]야\s?(?:하|합|한|해|할|함|만|된|될|됩|되|돼|됨)\w*|필수\w*|반드시|(?<![가-힣])꼭|의무\w*
        \bmust(?:n['’]t)?\b|\bha(?:ve|s|d) to\b
        \b(?:required?|mandatory|compulsory|obliged|shall)\b
    """,
}
_ORDER = {
    "before": r"""
        (?<![가-힣])(?:전|전에|전까지|전부터)(?![가-힣])|하기\s?전|앞서|먼저|우선|미리
        \b(?:before|prior to|first|ahead)\b
    """,
    "after": r"""
        (?<![가-힣])(?:후|후에|뒤|뒤에|다음|다음에|이후|이후에)(?![가-힣])|고\s?나서|나중\w*|마지막\w*
        \b(?:after\w*|then|once(?!\s(?:a|per|every|each|in)\b)|later|last|second)\b
    """,
}


Script = Literal["english", "korean", "both"]
_LETTERS = re.compile(r"[A-Za-z]")
# English markers begin with a word boundary, others do not.
_ENGLISH = re.compile(r"\|(?=\\b)")


def _pattern(senses: Mapping[str, str], script: Script) -> re.Pattern[str]:
    groups = []
    for at, patterns in enumerate(senses.values()):
        lines = (line.strip() for line in patterns.strip().splitlines())
        parts = [part for line in lines for part in _ENGLISH.split(line) if _is_of(part, script)]
        groups += [f"(?P<g{at}>{'|'.join(parts)})"] if parts else []
    return re.compile("|".join(groups), re.IGNORECASE)


def _is_of(part: str, script: Script) -> bool:
    return script == "both" or part.startswith(r"\b") == (script == "english")


def _script(text: str) -> Script:
    """Return whose markers a text may have: looking for fewer takes half the time."""
    if text.isascii():
        return "english"
    return "both" if _LETTERS.search(text) else "korean"


_SENSES: Mapping[Turn, Mapping[str, str]] = {
    "negation": _NEGATION,
    "scope": _SCOPE,
    "limit": _LIMIT,
    "duty": _DUTY,
    "order": _ORDER,
}


TURNS: tuple[Turn, ...] = ("scope", "limit", "duty", "order")


@cache  # when first asked: most commands compare no texts
def _patterns(script: Script) -> Mapping[Turn, re.Pattern[str]]:
    return {turn: _pattern(senses, script) for turn, senses in _SENSES.items()}


# Prefixes that deny the word they stand before. They count only where the other text has that
# word without one: `불고기` and `미국` deny nothing.
_DENYING = "un in im il ir dis non non- a mis 불 부 비 미 무 몰 반 비- 무-"
DENYING = tuple(_DENYING.split())
# Beginnings that say the opposite of each other before the same rest: `유료`, `무료`.
OPPOSED = (("유", "무"), ("기", "미"), ("en", "dis"), ("in", "ex"), ("찬", "반"))


def denials(text: str) -> tuple[str, ...]:
    """Return the denials in a text as written."""
    return tuple(match[0] for match in _patterns(_script(text))["negation"].finditer(text))


@lru_cache(maxsize=2_048)
def turns(text: str, turn: Turn) -> Mapping[str, str]:
    """Return what turns a text in one way: each sense with its first marker as written."""
    senses, found = tuple(_SENSES[turn]), dict[str, str]()
    for match in _patterns(_script(text))[turn].finditer(text):
        found.setdefault(senses[int((match.lastgroup or "g0")[1:])], match[0].strip())
    found.pop("", None)
    return found
