"""How long and for whom, as the offline model understands it: plain phrases in both languages.

`valid_until` is counted from when it was said. What is said as a span without an end that can be
told ("당분간", "축제까지"), or of one of several sentences, has none, and the reason says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime

from pydantic import JsonValue

from core.knowledge.how_long import holds_for_all, is_open, span_in, without_open, without_span

_FIRST = r"(?:저|나|제|내)"
_NOT_MINE = (
    r"(?:생각|의견|경험|기억|느낌|판단|팀|부서|회사|고객|거래처|동료|상사|말|잘못|실수|관점|입장)"
)
_FOR_USER = re.compile(
    rf"(?<![가-힣]){_FIRST}(?:한테|에게|게)(?:는|만)?(?:\s|$|,)"
    rf"|(?:^|[.,!?]\s*|\s)(?:제|내)\s(?!{_NOT_MINE})(?:[가-힣]+\s)?[가-힣]+(?:은|는|엔|에는|에서는)\s"
    r"|(?:^|[.,!?]\s*)(?:저는|나는|전|난|저도|나도|제가|내가)\s[^.!?]*"
    r"(?:싶(?:어|습|다|네|은데)|좋(?:아|겠|습)|선호|원(?:해|합|한다)|편(?:해|합|하)|싫|익숙)"
    r"|\b(?:for|to|show|send|give|call|write|email|text|notify|remind|address)\s+me\b"
    r"|\bI(?:'d| would)? (?:prefer|rather|like|love|hate)\b|\bI (?:do not|don't) (?:like|want)\b"
    r"|(?:^|[.,;:!?]\s*)I (?:want|need) (?!(?:all|every|each|everyone|everybody|you|the team|us)\b)"
    r"|(?:^|[.,;!?]\s*|\b(?:for|in|on) )my (?:\w+ )?(?:reports?|drafts?|summar(?:y|ies)|notes?"
    r"|e-?mails?|mails?|messages?|letters?|documents?|quotes?|replies|answers?|digests?|slides?"
    r"|briefings?|meetings?|calendar|dashboards?|tables?|lists?|invoices?|orders?)\b",
    re.IGNORECASE,
)
_ALL = r"(?:직원|팀원|부서|팀|구성원|담당자|사원|임직원)"
_FOR_ALL = re.compile(
    r"(?:모든|전체|전)\s?에이전트|에이전트\s?(?:모두|전부|전체)|(?:우리\s?)?팀\s?(?:모두|전체|전원)"
    r"|전사\b|전사적|회사\s?전체|사내\s?(?:모두|전체)"
    rf"|(?<![가-힣])(?:모든|전)\s?{_ALL}(?:들)?(?:은|는|이|가|\s?모두|\s?전원)(?=\s)"
    rf"|{_ALL}(?:들)?\s?(?:모두|전원)(?:가|는|은|이)?(?=\s)|(?<![가-힣])(?:우리\s?)?모두(?:가|들)\s"
    r"|(?<![가-힣])우리\s?모두\s"
    r"|\b(?:all|every) (?:of our |the )?agents?\b|\bcompany-?wide\b"
    r"|\b(?:whole|entire) (?:team|company)\b"
    r"|\b(?:everyone|everybody) (?:on (?:the|our) team|in (?:the|our) (?:company|team|office))\b"
    r"|(?:^|[.:;!?]\s*)(?:everyone|everybody|all (?:of us|(?:team )?members|staff|employees|teams"
    r"|departments)) (?:should|must|has to|have to|needs? to|is to|are to|please)\b"
    r"|\b(?:meant|this is|applies|holds) (?:for|to) (?:everyone|everybody|all (?:staff|employees))"
    r"\b",
    re.IGNORECASE,
)
_FROM_ALL = re.compile(
    r"전사(?:적|에서|에 걸쳐|\s)|모두에게|모든 (?:팀|부서|직원|사람)|전 (?:직원|사원|부서)|전체에서"
    r"|\b(?:organi[sz]ation|tenant)[- ]?wide\b|\bacross the (?:company|organi[sz]ation)\b"
    r"|\b(?:for|from) (?:everyone|everybody|all teams)\b",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"(?:아무도|누구도)[^.!?]{0,30}(?:않|안 |못|말)"
    r"|\b(?:nobody|no one)\b[^.!?]{0,30}\b(?:may|must|should|is to|uses?|needs?|does)\b",
    re.IGNORECASE,
)
_SPAN_ALONE = re.compile(
    r"(?:아|그거|그건|그게|그|이건|단|다만|네|아니)?[,\s]*%만?(?:\s?(?:이에요|예요|요|입니다|이야|야"
    r"|해\s?주세요|적용(?:돼요|됩니다|해\s?주세요)?|유효(?:해요|합니다)?|그래요|그렇습니다))?[.!\s]*"
)
_WORDS_ALONE = re.compile(
    r"(?:(?:but|and|only|just|that's|that is|it's|it|this|valid|holds?|applies|mind|though|please"
    r"|ok|okay|oh)[\s,.!]*|%[\s,.!]*)+",
    re.IGNORECASE,
)


def end_in(text: str, said: datetime | None) -> date | datetime | None:
    """Return the last day or moment for which all that a text says holds; None if it names none."""
    span = span_in(text)
    return span.last(said) if span and said and holds_for_all(text) else None


def is_timed(text: str, said: datetime | None) -> bool:
    """Whether a text holds for a time only, of which "for now" says nothing."""
    if end_in(text, said) is not None:
        return True
    return holds_for_all(text) and is_open(without_open(text))


def timeless(text: str, said: datetime | None) -> str:
    """Return a text without the span that is its `valid_until`."""
    return without_span(text) if end_in(text, said) else text


def is_end_alone(text: str) -> bool:
    """Whether a text says how long something holds, and nothing else."""
    span = span_in(text)
    if span is None:
        return False
    rest = f"{text[: span.start]}%{text[span.end :]}".strip()
    return bool(_SPAN_ALONE.fullmatch(rest) or _WORDS_ALONE.fullmatch(rest))


def reach_in(text: str, said: datetime | None, author: str | None) -> dict[str, JsonValue]:
    """Return the arguments `valid_until` and `scope` of a memory, where a text states them."""
    end = end_in(text, said)
    stated: dict[str, JsonValue] = {"valid_until": end.isoformat()} if end else {}
    if _FOR_ALL.search(text):
        stated["scope"] = "tenant"
    elif author and _FOR_USER.search(text):
        stated["scope"] = "user"
    return stated


def left_open(text: str, stated: dict[str, JsonValue], *, is_new: bool) -> Iterator[str]:
    """Yield what a reason has to say of what is left open: of how long, and for whom it is new."""
    if is_open(text) and not stated.get("valid_until"):
        yield "open_end"
    if is_new and not stated.get("scope"):
        yield "open_user" if _FOR_USER.search(text) else "open_scope"


def goes_for_all(text: str, asking: Iterable[str]) -> bool:
    """Whether a text withdraws something for everybody; `asking` are its clauses that withdraw."""
    is_said = any(_FOR_ALL.search(clause) or _FROM_ALL.search(clause) for clause in asking)
    return is_said or _NOBODY.search(text) is not None
