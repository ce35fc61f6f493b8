"""Whether cases say all that their text does: what is told of some must not be left to the rest."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import chain

from core.agent.offline.spans import read_span
from core.agent.offline.stated.amounts import amount
from core.agent.offline.stated.english_conditions import VERB, compared
from core.agent.offline.stated.korean_words import PRICED
from core.agent.offline.stated.statement import Case, Condition, NotARule
from core.agent.offline.text import is_korean

_SYLLABLE = re.compile(r'"(?![월화수목금토일남여녀])[가-힣]"')
# `오전만 받고 오후엔 거절`: an outcome that differs by when it is.
_WHEN = re.compile(
    r"(?:평일|주말|공휴일|[월화수목금토일]요일|오전|오후|새벽|아침|점심|저녁|밤|낮|성수기|비수기)"
    r"(?:에?만|엔|에는|은|는)(?=\s)"
)
_VALUES = re.compile(r'"([^"]*)"')
# What somebody is or has, taken for a quantity: `동의서 없는 만 14세`, `어르신이랑 유공자`.
_UNNAMED = re.compile(
    r"(?:이라|라도|이어|아니|(?<=\S) ?(?:없|있|또))(?: \([^)]*\))?$|(?:이랑|하고) "
    r"|인데|는데|^아니고|(?<![가-힣])(?!(?:하나|언제나|바나나) )[가-힣]{2,}나(?= )"
)
_BARE = re.compile(
    r"(?:no )?(?:can|could|may|might|will|would|must|should|do|does|is|are)(?: not|n't)?", re.I
)
_JOINED = re.compile(r"\b(?:except|unless|otherwise|or else|apart from|other than)\b", re.I)
_EXEMPT = re.compile(
    r"\bexempt\b|\b(?:does|do|doesn't|don't) (?:not )?apply\b"
    r"|적용(?:이|은|을)? ?(?:안|하지 않|되지 않)|제외|예외",
    re.I,
)
_EXCEPT = re.compile(r"\bexcept\b(?: (?:for|on|in|if|when|where|with|at|to))*(?P<of>[^,.;]*)", re.I)
_LIMITED = re.compile(
    r"\d\S* ?(?:이상|이하|미만|초과)(?:이고|이며|임|인|이면|[하했됐]|$)"
    r"|\d\S*?(?:만|을|를)? ?(?:넘[게어으는]|초과해야|이상이어야)|\d\S* ?이[전후] \S+(?:엔|은|는|$)"
)
# `음료는 무료고 손님은 안주만 시키면 돼요`: no two of a kind.
_ANYBODY = re.compile(r"(?:손님|고객|직원|방문객|이용객)들?")
_THING = re.compile(
    r"(?:주차|음료|커피|식사|조식|배송|포장|이용|대여|행사|이벤트|입장|환불|예약|교환|수리|상담)$"
)
_ONLY_THOSE = re.compile(
    r"(?<![\d가-힣])(?:분|사람|고객|손님|회원|직원)들?(?:한테|에게|께)?만(?=\s)"
)
_UNTIL = re.compile(r"\d\S* ?(?:까지|전에|이내에?|안에) [가-힣]+")
_SAYS_AMOUNT = re.compile(r"\d|무료|유료|불가|없|면제|당일|안 |못 |금지|[십백천만] ?원")
# Whom another clause is about: `등록증 있으신 분한테는 …`, `그 전까지 들어온 건 …`.
_OTHERS = re.compile(
    r"(?:분|사람|고객|손님|회원|직원)(?:들)?(?:한테|에게|께)는(?=\s)"
    r"|(?:^|[ ,])그 ?(?:전|뒤|후)(?:까지|에|부터)"
)
# Of a thousand, ten thousand and more won, and of minutes, hours, days, weeks and months.
_UNITS = (1, 100, 1_000, 10_000, 1_000_000, 10_000_000, 100_000_000, 60, 24, 12, 7, Fraction(1, 60))
_SCALED = re.compile(r"\d[\d,.]*억 ?\d[\d,]*[백천]?만?|\d[\d,.]*만 ?\d[\d,]*[백천]?(?=\s?원)")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# Two of them are all that there is, so that a third lies within one.
_HALVES = tuple(
    tuple(re.compile(half, re.I) for half in pair)
    for pair in (
        (r"국내", r"해외|국외"),
        (r"(?<!비)회원", r"비회원"),
        (r"\bdomestic", r"\b(?:international|foreign|abroad|overseas)"),
    )
)
_HELD = frozenset(['"해당"', '"yes"', '"no"', '"있음"', '"없음"'])
_THINGS = re.compile(r"[a-z-]+s", re.I)
# No name of anything: `Our scrap yard moved`, `airport pickups or`, `근데 골드 회원`.
_NO_VALUE = re.compile(
    r"(?:our|my|your|his|her|their|its|the|this|that|these|those|same|an?|we|they|it|us|i|you|one)"
    r"|왜|만|자꾸|또|다|꼭|그냥|좀|아까|어제|지금|오늘|그럼|근데"
    r"|(?:or|and|but|nor) .*|.* (?:or|and|but|nor)|(?:근데|그런데|하지만|다만|단|그리고) .*",
    re.I,
)
_HOLDS = re.compile(r"\b(?:holds?|has|have|had|owns?|been|does|did)\b", re.I)
# What was done, and a limit beside it: two conditions, of which a table of one has lost one.
_DONE_AND = re.compile(r"(?:\bha(?:s|ve|d)|'s) been \w+\b[^.;,]*\band\b", re.I)


def check_sound(cases: Sequence[Case], sentences: Sequence[str]) -> None:
    """Raise NotARule for cases that leave out or mix up what their text tells."""
    _check_words(cases)
    _check_outcomes(cases)
    _check_numbers(cases, sentences)
    _check_kinds(cases)
    _check_exceptions(cases, sentences)
    if not cases[-1:] or cases[-1].when:
        return
    if any(_falls(case, one, cases) for case in cases for one in case.when):
        raise NotARule("what is told of some, left to the rest")


def _check_words(cases: Sequence[Case]) -> None:
    """Raise NotARule for names and values that hold words of another clause."""
    when = [one for case in cases for one in case.when]
    if any("," in one.column or _UNNAMED.search(one.column) for one in when):
        raise NotARule("what somebody is, as the name of a quantity")
    values = [value for one in when for value in _VALUES.findall(one.test)]
    if any(map(_ANYBODY.fullmatch, values)) and any(map(_THING.search, values)):
        raise NotARule("a thing beside people")
    costs = [bool(PRICED.search(value)) for value in values]
    if any(costs) and not all(costs):
        raise NotARule("what amounts are of, beside whom they are for")
    if any(_is_cut(one.test, case.sentence) for case in cases for one in case.when):
        raise NotARule("a word cut in two")
    if any(map(_NO_VALUE.fullmatch, values)):
        raise NotARule("a value that names nothing")
    if any(one.is_ordered and _HOLDS.search(one.column) for one in when):
        raise NotARule("what somebody has, as the name of a quantity")
    if any(len(case.when) == 1 and _DONE_AND.search(case.sentence) for case in cases):
        raise NotARule("a condition that was lost beside another")
    told = [*(case.then for case in cases), *(f"{one.column} {one.test}" for one in when)]
    if any(map(_JOINED.search, told)):
        raise NotARule("an exception within a name or an outcome")


def _check_outcomes(cases: Sequence[Case]) -> None:
    """Raise NotARule for outcomes that hold words of another clause, or say nothing alone."""
    when = [one for case in cases for one in case.when]
    if any(_is_several(case.then) for case in cases) or (len(cases) > 2 and _is_elliptic(cases)):
        raise NotARule("an outcome that holds for some alone")
    if any(case.then.isdigit() for case in cases) and any(_is_of(case.then) for case in cases):
        raise NotARule("a number without what it is of")
    if len(cases) == 1 and _THINGS.fullmatch(cases[0].then):
        raise NotARule("a comparison of two things")
    if not any(one.is_ordered for one in when) and any(_compares(case.then) for case in cases):
        raise NotARule("an outcome that holds a condition")
    if len(cases) > 2 and not any(one.is_ordered for one in when) and _is_mixed(cases):
        raise NotARule("a limit for one, and other things for others")
    if len(cases) == 1 and _ONLY_THOSE.search(cases[0].then):
        raise NotARule("an outcome for some alone")
    if any(_OTHERS.search(case.then) for case in cases):
        raise NotARule("an outcome that holds another clause")


def _check_numbers(cases: Sequence[Case], sentences: Sequence[str]) -> None:
    """Raise NotARule for a number of the text of which no case tells, in any unit."""
    when = [f"{one.column} {one.test}" for case in cases for one in case.when]
    told = {*chain.from_iterable(map(_numbers, (*when, *(case.then for case in cases))))}
    for number in chain.from_iterable(map(_numbers, sentences)):
        if (
            number
            and not any(number * factor in told for factor in _UNITS)
            and number + 12 not in told
        ):
            raise NotARule("a number of which no case tells")


def _numbers(text: str) -> list[Fraction]:
    text = _SCALED.sub(lambda one: amount(one[0]), text)
    found = (one.replace(",", "") for one in _NUMBER.findall(text))
    return [Fraction(one) for one in found if one.count(".") < 2]


def _check_kinds(cases: Sequence[Case]) -> None:
    """Raise NotARule for a column of what is there and what something is, or of some exempted."""
    columns: dict[str, set[str]] = {}
    for one in (one for case in cases for one in case.when if one.kind == "string"):
        columns.setdefault(one.column, set()).add(one.test.removeprefix("not(").removesuffix(")"))
    if any(tests & _HELD and tests - _HELD for tests in columns.values()):
        raise NotARule("a column of what is there and what something is")
    if any(len(tests) > 2 and _has_halves(tests) for tests in columns.values()):
        raise NotARule("two that are all there is, and a third")
    last = cases[-1:] and cases[-1]
    if not last or not last.when or len(cases) == 1 or not _EXEMPT.search(last.then):
        return
    if last.sentence not in {case.sentence for case in cases[:-1]}:
        raise NotARule("some exempted, who may be some of the others")


def _has_halves(tests: Collection[str]) -> bool:
    return any(all(any(map(half.search, tests)) for half in pair) for pair in _HALVES)


def _check_exceptions(cases: Sequence[Case], sentences: Sequence[str]) -> None:
    """Raise NotARule for an exception of which no case tells."""
    told = " ".join(f"{one.column} {one.test}" for case in cases for one in case.when).casefold()
    for match in (one for text in sentences for one in _EXCEPT.finditer(text)):
        words = re.findall(r"\w{3,}|\d+", match["of"].casefold())
        if not any(word in told for word in words):
            raise NotARule("an exception of which no case tells")


def _is_cut(test: str, sentence: str) -> bool:
    """Whether one of several values is a syllable that stands alone nowhere: `바나나 나 …`."""
    if "," not in test or not _SYLLABLE.search(test):
        return False
    alone = re.findall(r"(?<![가-힣])[가-힣](?=(?:이?랑|과|와|하고|이나|은|는)?[ ,·])", sentence)
    return any(one[1] not in alone for one in _SYLLABLE.findall(test))


def _is_several(then: str) -> bool:
    """Whether an outcome names two times that it holds for."""
    return len(_WHEN.findall(f"{then} ")) > 1


def _is_mixed(cases: Sequence[Case]) -> bool:
    """Whether some outcomes say until when, and others no number at all."""
    told = [case.then for case in cases]
    return any(map(_UNTIL.search, told)) and any(not _SAYS_AMOUNT.search(one) for one in told)


def _is_elliptic(cases: Sequence[Case]) -> bool:
    """Whether an outcome says nothing without another, of which there may be several."""
    return any(_BARE.fullmatch(case.then.strip(" .")) for case in cases)


def _is_of(then: str) -> bool:
    """Whether an outcome is a number and what it is of: `12 pounds insurance`."""
    return re.fullmatch(r"\d+ [a-z]+ [a-z]+", then, re.I) is not None


def _compares(then: str) -> bool:
    """Whether a number is compared in it: `requests of more than 10 days need …`."""
    if is_korean(then):
        return _LIMITED.search(then) is not None
    return any(VERB.search(then[one.end :]) for one in compared(then))


def _falls(case: Case, but: Condition, cases: Sequence[Case]) -> bool:
    """Whether a case goes without some that others name, where none of those says what holds."""
    if not but.test.startswith("not("):
        return False
    named = [one for one in cases if but.negated in one.when]
    return bool(named) and not any(_meets(case, one, but.column) for one in named)


def _meets(case: Case, other: Case, column: str) -> bool:
    """Whether both can hold at once but for one column."""
    return not any(
        _apart(one.test, two.test)
        for one in case.when
        for two in other.when
        if one.column == two.column != column
    )


def _apart(one: str, other: str) -> bool:
    """Whether no number is within both limits."""
    mine, theirs = read_span(one), read_span(other)
    return mine is not None and theirs is not None and not mine.meets(theirs)
