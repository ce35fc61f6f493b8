"""Two Korean conditions: either, `유아거나 65세 이상이면`, or both, `회원인데 5만원 넘으면`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from core.agent.offline.stated import korean_piece_words as w
from core.agent.offline.stated import korean_words as words
from core.agent.offline.stated.found import Found
from core.agent.offline.stated.korean import Clause, Sentence, nominal
from core.agent.offline.stated.korean_conditions import conditions_of
from core.agent.offline.stated.pieces import Reading
from core.agent.offline.stated.statement import Condition, NotARule

_JOINT = re.compile(r"(?P<by>이?거나|(?: |, ?)?(?:또는|혹은)|이나|나|이?랑|과|와)(?P<gap>,? )")
_ENDS = ("이면", "면", "으면")
_PAST = "".join(chr(at) for at in range(0xAC00 + 20, 0xD7A4, 28))  # closed by ㅆ
_OPEN = "〇"
# What ends a condition beside which another is asked for.
_BESIDE = re.compile(
    r"(?P<noun>이?면서|인데요?|이고|(?<=[가-힣A-Z]{2})(?<!냉동)(?<!냉장)(?<!창)고),? "
    r"|(?<=이상|이하|미만|초과)(?:이고|인데|에|이) "
    rf"|(?<=[{_PAST}])(?:고|는데),? |(?<=[있없])(?:고|는데),? |(?P<lacks>\s없는) "
)
_SUBJECT = re.compile(r"(?P<who>[^\s,\d]+(?: [^\s,\d]+)?)(?:이|가) (?!아니|안 |못 )(?=[^,]*\d)")
_KIND = re.compile(
    r"(?:(?:신규|기존|단골|우수|일반|법인|개인|외국인|비|정|준|VIP) ?)?"
    r"(?:회원|고객|손님|환자|업체|직원)"
)
_NOBODY = re.compile(r"저희|우리|여기|이거|그거|오늘|지금|원래|(?:손님|고객|분|사람)들?(?:이|$)")
_FEW = 3  # words of what somebody lacks
_LONG = 6  # words of one condition
_HOLDS = '"해당"'
_THERE = ('"있음"', '"없음"')


def either(text: str, outcome: Callable[[str], str]) -> Iterator[Reading]:
    """Yield two conditions of which each is enough, with their outcome if it is told."""
    for joint in _JOINT.finditer(text):
        is_list = joint["by"].strip(" ,") not in {"거나", "이거나", "또는", "혹은"}
        one = _alternative(text[: joint.start()], is_list)
        if one is None:
            continue
        for other, then in _last(text[joint.end() :]):
            known = [each.is_ordered or each.test in _THERE for each in (one, other)]
            is_past = all(each.column[-2:-1] in _PAST for each in (one, other))
            if (
                not (any(known) or is_past)
                or (is_list and all(known))
                or one.column == other.column
            ):
                continue
            plain = outcome(then) if then else ""
            yield Reading(((one,), (other,)), plain, 1, shape="either")


def both(text: str, outcome: Callable[[str], str]) -> Iterator[Reading]:
    """Yield two conditions that hold at once, with their outcome."""
    for one, rest in _first(text):
        for other, then in _last(rest, of_all=True):
            known = any(each.is_ordered or each.test == _THERE[1] for each in (one, other))
            if known and one.column != other.column and then:
                yield Reading(((one, other),), outcome(then), 2, shape="both")


def _first(text: str) -> Iterator[tuple[Condition, str]]:
    """Yield a condition beside which another stands, and what follows it."""
    subject = _SUBJECT.match(text)
    if subject and _KIND.fullmatch(subject["who"]) and not _NOBODY.search(subject["who"]):
        yield _named(subject["who"]), text[subject.end() :]
    for joint in _BESIDE.finditer(text):
        said = text[: joint.start()]
        if _NOBODY.search(f"{said} ") or len(said.split()) >= _LONG:
            continue
        if joint["lacks"]:
            if (
                not re.search(r"[\d,]|[은는] |(?:에|에서|고|중)$", said)
                and len(said.split()) <= _FEW
            ):
                yield Condition(said, '"없음"', "string"), text[joint.end() :]
            continue
        if joint["noun"] == "고" and (
            not words.is_thing(said.split()[-1]) or re.search(r"[을를이가] ", said)
        ):
            continue
        one = _alternative(said, bool(joint["noun"]))
        if one is not None and (one.is_ordered or not re.search(r"[은는] ", said)):
            yield one, text[joint.end() :]


def _last(text: str, *, of_all: bool = False) -> Iterator[tuple[Condition, str]]:
    """Yield the condition that a text begins with, and what follows it."""
    found = sorted(conditions_of(f"{text} "), key=lambda one: one.start)
    if of_all and any(
        one.head.strip() and one.head.split()[-1] not in words.ANYBODY for one in found
    ):
        return  # what several are of is a third condition
    if len(found) == 1 and (one := _read(text, found[0])) is not None:
        yield one, text[found[0].end :].strip(" ,")
        return
    if len(found) > 1:
        return
    match = w.SOME.match(text)
    if match and re.match(r"(?:건|것|거|분|사람)\s", text[match.end() :]):
        return
    if match and not words.VERBAL.search(match["value"]) and not w.NO_VALUE.search(match["value"]):
        yield _named(match["value"]), text[match.end() :]
    elif fact := w.FACT.match(text):
        stem = fact["stem"].removesuffix("으")
        if lacking := re.match(r"(?P<what>[^\s]+(?: [^\s]+)?) 없이 [가-힣]+$", stem):
            yield Condition(lacking["what"], '"없음"', "string"), fact["then"] or ""
            return
        if w.NEGATED.search(stem) or re.match(r"(?:그|이) ?(?:밑|아래|위)", stem):
            return
        if len(stem.split()) <= _LONG and not re.search(r"\d", stem):
            yield Condition(nominal(stem), _HOLDS, "string"), fact["then"] or ""


def _named(value: str) -> Condition:
    return Condition("구분", f'"{value}"', "string")


def _alternative(text: str, is_noun: bool) -> Condition | None:
    """Return what a stem or a noun says as a condition; None if that is not clear."""
    stem = text.strip()
    if "," in stem or not stem or len(stem.split()) > _LONG:
        return None
    is_past = stem[-1] in _PAST
    for end in _ENDS[2:] if is_past else _ENDS:
        found = conditions_of(f"{stem}{end} ")
        if len(found) == 1 and found[0].end >= len(stem):
            if re.search(r"[은는] ", stem[found[0].start :]):
                return None
            return _read(f"{stem}{end} ", found[0])
        if len(found) > 1:
            return None
    if re.search(r"\d", stem) or words.UNREAD.search(stem):
        return None
    if w.NEGATED.search(stem):
        return None
    is_done = is_past or not (is_noun or words.is_thing(stem.split()[-1]))
    return Condition(nominal(stem), _HOLDS, "string") if is_done else _named(stem)


def _read(text: str, found: Found) -> Condition | None:
    """Return a condition where it stands, with the column that the words around it name."""
    said = text[: found.end]
    one = found.one
    if one.kind not in {"number", "date", "time", "string"} or found.link in {"and", "or", "even"}:
        return None
    going_on = re.search(r"(?P<stem>\S+(?: \S+)*[가-힣]고) (?:있|계시)", said)
    if going_on and one.test == '"있음"':
        return Condition(f"{going_on['stem']} 있음", _HOLDS, "string")
    if one.kind == "string" and one.test not in {'"있음"', '"없음"'}:
        value = re.findall(r'"([^"]+)"', one.test)
        is_plain = len(value) == 1 and not one.test.startswith("not(") and found.start == 0
        return _named(value[0]) if is_plain else None
    clause = Clause(f"{said} {_OPEN}", 0, (found,))
    try:
        parts = Sentence(said, said, follows=False).numbered(clause, "")
    except NotARule:
        return None
    when = parts[0].when
    return when[0] if len(parts) == len(when) == 1 else None
