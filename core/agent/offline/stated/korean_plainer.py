"""Korean sentences as they are written out: what speech draws together or tells another way."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_CLOSED_BY_N = "".join(chr(code) for code in range(ord("가"), ord("힣") + 1)
                       if (code - ord("가")) % 28 == 4)  # fmt: skip
_PEOPLE = {"혼자": 1, "둘": 2, "셋": 3, "넷": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8}
_WHO = "|".join(_PEOPLE)
_COMPARED = "이상|이하|미만|초과|이내"
_SPAN = r"(?:시간|분|일|주|달|개월|년|월|회|번|건|개|명)"
_DAYS = r"(?:\d+ ?일|하루|이틀|사흘|나흘)"
# A word that goes on with a condition: the stem of a verb that does not deny.
_VERB = r"(?!(?:안|못|않|없|아니)[^가-힣]|아니|않|없|못)[가-힣]{1,5}"
_IF = (
    rf"(?:(?:으)?면|[{_CLOSED_BY_N}] (?:건|것|거|분|사람|손님|고객|경우|때)(?:들)?"
    r"(?:은|는|에는|엔)?)"
)

Written = str | Callable[[re.Match[str]], str]


def _decade(match: re.Match[str]) -> str:
    """Return `80점대` as it is counted: from 80 to below 90."""
    number, scale, unit = match["number"], match["scale"] or "", match["unit"]
    zeros = len(number) - len(number.rstrip("0"))
    return f"{number}{scale}{unit} 이상 {int(number) + 10**zeros}{scale}{unit} 미만"


_WRITTEN: tuple[tuple[re.Pattern[str], Written], ...] = tuple(
    (re.compile(pattern), written)
    for pattern, written in (
        (r"(?<![가-힣])1?일주일(?![가-힣]*치)", "7일"),
        (r"(?<![가-힣])반년(?=\s|[이도])", "6개월"),
        (r"(?<![가-힣])하루 ?이틀(?=[은이])", "하루나 이틀"),
        (r"(?P<number>[1-9]\d*)(?P<scale>[천만]?)(?P<unit>점|세|살|원|도|%|kg|킬로|명)대"
         r"(?=는|면|이면|엔|에는|의?\s)", _decade),
        (rf"(?<![가-힣])(?P<who>{_WHO})(?:이서?|서|은|만)?"
         rf" ?(?=(?:{_COMPARED}|부터|까지)(?:[가-힣]{{0,3}} |[가-힣]*면))",
         lambda one: f"{_PEOPLE[one['who']]}명 "),
        (rf"(?<![가-힣])(?P<who>{_WHO})(?:이서?|서|만)?"
         r"(?: (?:같이 |함께 )?(?!넘|안|못|되|있|없)[가-힣]{1,4}면|이면|이라면)(?=[ ,])",
         lambda one: f"{_PEOPLE[one['who']]}명이면"),
        # `두 달치 이상 밀리면`
        (rf"(?P<of>{_SPAN})치(?=\s?(?:{_COMPARED}|넘)| {_VERB}{_IF})", r"\g<of>"),
        # `2개월 연속 미납이면`
        (rf"(?P<of>(?:\d|[한두세네] ?){_SPAN}) ?(?:연속(?:으로)?|연달아|내리|잇달아)"
         rf" (?={_VERB})", r"\g<of> "),
        # `30분 넘고 1시간까지는`
        (r"(?<=[가-힣\d%])\s?(?:을 |를 |이 )?(?:넘고|넘어서?|초과하고|지나고|지나서)"
         r" (?=\d|[한두세네] )",
         " 초과 "),
        # `수령하고 7일 이내면`
        (r"^(?P<lead>(?:[^\d,]{0,14}[은는] )?)(?P<done>[가-힣]{2,4})"
         r"(?:하고|한 지|하고 나서|한 뒤|한 날부터) (?=(?:\d+ ?|[한두세] )?"
         r"(?:일|주|달|개월|년|시간|분) ?(?:이내|안|넘|지나|지난|초과|이상|미만|까지))",
         r"\g<lead>\g<done> 후 "),
        # `등록증 있으신 분한테는`, `두 돌 안 된`
        (r"(?<![에고중도] )(?<!에서 )(?P<has>있|없)(?:으신|다는|다고 (?:한|하신|말씀하신))"
         r" (?:분|사람|고객|손님)(?:들|님)?"
         r"(?:한테는|께는|에게는|은|는)(?=\s)", r"\g<has>으면"),
        (r"(?<![가-힣])(?P<age>[한두세]) 돌(?=\s)",
         lambda one: f"{'한두세'.index(one['age']) + 1}세"),
        # `금요일 토요일은`, `화, 목은`
        (r"(?<=[월화수목금토일]요일),? (?=[월화수목금토일]요일[가-힣 ])", "이랑 "),
        (r"(?<![가-힣])([월화수목금토일]), (?=[월화수목금토일](?:은|에|이면|엔) )", r"\1랑 "),
        # `주말하고 공휴일은`
        (r"(?P<lead>^|, )(?P<a>[가-힣A-Za-z]{2,6})하고 (?P<b>[가-힣A-Za-z]{2,6})(?=[은는] |이?면 )",
         r"\g<lead>\g<a>랑 \g<b>"),
        # `10분 넘게 늦으면`, `오후 6시 넘어서 들어온 건`
        (r"\s?(?:을 |를 |이 )?(?:넘게|넘어서(?:까지)?|넘도록|초과해서?) (?=[가-힣])", " 초과 "),
        # `800kg 초과로 실리면`, `5박스 이하까지 갔으면`
        (rf"(?P<by>{_COMPARED})(?:으로|로|까지|만큼|씩)"
         rf" (?={_VERB}(?:{_IF}|는데|거나|고)(?:,|\s|$))", r"\g<by> "),
        # `한 번도 안 들었으면`
        (rf"(?<![가-힣])(?:한|하나의) ?(?P<of>번|건|개|명|회|권|장|잔|과목)도"
         rf" (?:안|못) (?!되|돼|남)[가-힣]{{1,6}}?{_IF}", r"0\g<of>이면"),
        (r"(?<![가-힣])(?:하나도|전혀) (?:안|못) (?!되|돼|남)[가-힣]{1,6}?(?:으)?면", "0회이면"),
        # `1, 2학년은`
        (r"(?<!\d)(?P<low>\d), ?(?P<high>\d)(?P<of>학년|등급|단계|급|층)",
         lambda one: f"{one['low']}{one['of']}에서 {one['high']}{one['of']}"
         if int(one["high"]) == int(one["low"]) + 1 else one[0]),
    )
)  # fmt: skip
# `취소 문의가 또 왔는데요`: why it is told.
_ASKED_OF = re.compile(
    r"^[^,.\d]{0,24}(?:문의|전화|연락|민원|질문|요청)(?:가|이|는|도)? "
    r"(?:(?:또|자꾸|계속|많이|방금) )?(?:왔|오|들어왔|들어오|많)(?:는데|은데)요?[ㅠㅜㅎㅋ~!.]*,?\s+"
)
_SECOND_ON = re.compile(r"(?:두 ?번째|둘째|2번째|2회|두 번)부터")
_FIRST = re.compile(r"(?<![가-힣])(?:첫 ?번째|첫 ?회|처음|첫째)(?:은|는|에는|엔|이면)(?=\s)")
_DEGREES = re.compile(r"\d도(?! (?:안|못))|온도|기온|체온|영하")
_NOT_EVEN = re.compile(r"(?<=\d)도 (?=(?:안|못) )")
# Until something is due, its day is none before it.
_AHEAD = re.compile(rf"{_DAYS} 전(?!에)")
_LEFT = re.compile(rf"{_DAYS} (?:이하로 |이내로 |미만으로 )?남")
_DONE = "취소|변경|예약|신청|접수|반납|연락|통보|요청|해약|해지|환불|방문|구매|교환|노쇼|불참"
_DUE_BEFORE = re.compile(
    rf"(?<![가-힣])(?:당일|그날)(?=(?:이면|면|은|엔|에는)\s|에? {_VERB}면\s"
    rf"|에? (?:{_DONE})(?:은|는|엔)\s)"
)
_DUE_AND_BEFORE = re.compile(
    rf"(?P<ahead>{_DAYS} 전)(?:이나|이랑|과|하고|,) ?당일(?P<by>은|에는|이면|엔)(?=\s)"
)
_DUE_LEFT = re.compile(
    r"(?<![가-힣])(?:당일|오늘)(?:까지)?(?:이면|인 (?:건|것|거)(?:은|는)?"
    r"| (?:건|거는|것은)|은|엔)(?=\s)"
)


def written_out(sentences: Sequence[str]) -> list[str]:
    """Return sentences with numbers and limits as they are written."""
    told = " ".join(sentences)
    return [_written(one, told) for one in sentences]


def _written(sentence: str, told: str) -> str:
    text = _ASKED_OF.sub("", sentence)
    for pattern, written in _WRITTEN:
        text = pattern.sub(written, text)
    if _SECOND_ON.search(told):
        text = _FIRST.sub("1회이면", text)
    if not _DEGREES.search(told):
        text = _NOT_EVEN.sub(" ", text)
    if _AHEAD.search(told):
        text = _DUE_AND_BEFORE.sub(r"\g<ahead>부터 0일 전까지\g<by>", text)
        text = _DUE_BEFORE.sub("0일 전", text)
    elif _LEFT.search(told):
        text = _DUE_LEFT.sub("0일 남은 건", text)
    return text
