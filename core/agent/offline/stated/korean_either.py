"""Korean conditions of which each is enough: `임산부거나 65세 이상이면`, `둘 다 아니면` beside."""

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
_LONG = 6  # words of one condition
_HOLDS = '"해당"'


def either(text: str, outcome: Callable[[str], str]) -> Iterator[Reading]:
    """Yield two conditions of which each is enough, with their outcome if it is told."""
    for joint in _JOINT.finditer(text):
        is_list = joint["by"].strip(" ,") not in {"거나", "이거나", "또는", "혹은"}
        one = _alternative(text[: joint.start()], is_list)
        if one is None:
            continue
        for other, then in _last(text[joint.end() :]):
            known = [each.is_ordered or each.test != _HOLDS for each in (one, other)]
            is_past = all(each.column[-2:-1] in _PAST for each in (one, other))
            if (
                not (any(known) or is_past)
                or (is_list and all(known))
                or one.column == other.column
            ):
                continue
            plain = outcome(then) if then else ""
            yield Reading(((one,), (other,)), plain, 1, shape="either")


def _last(text: str) -> Iterator[tuple[Condition, str]]:
    """Yield the condition that a text begins with, and what follows it."""
    found = sorted(conditions_of(f"{text} "), key=lambda one: one.start)
    if len(found) == 1 and (one := _read(text, found[0])) is not None:
        yield one, text[found[0].end :].strip(" ,")
        return
    if len(found) > 1:
        return
    match = w.SOME.match(text)
    if match and not words.VERBAL.search(match["value"]) and not w.NO_VALUE.search(match["value"]):
        yield Condition(match["value"], _HOLDS, "string"), text[match.end() :]
    elif fact := w.FACT.match(text):
        stem = fact["stem"].removesuffix("으")
        if len(stem.split()) <= _LONG and not re.search(r"\d", stem):
            yield Condition(nominal(stem), _HOLDS, "string"), fact["then"] or ""


def _alternative(text: str, is_noun: bool) -> Condition | None:
    """Return what a stem or a noun says as a condition; None if that is not clear."""
    stem = text.strip()
    if "," in stem or not stem or len(stem.split()) > _LONG:
        return None
    is_past = stem[-1] in _PAST
    for end in _ENDS[2:] if is_past else _ENDS:
        found = conditions_of(f"{stem}{end} ")
        if len(found) == 1 and found[0].end >= len(stem):
            return _read(f"{stem}{end} ", found[0])
        if len(found) > 1:
            return None
    if re.search(r"\d", stem) or words.UNREAD.search(stem):
        return None
    is_done = is_past or not (is_noun or words.is_thing(stem.split()[-1]))
    return Condition(nominal(stem) if is_done else stem, _HOLDS, "string")


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
        return Condition(value[0], _HOLDS, "string") if is_plain else None
    clause = Clause(f"{said} {_OPEN}", 0, (found,))
    try:
        parts = Sentence(said, said, follows=False).numbered(clause, "")
    except NotARule:
        return None
    when = parts[0].when
    return when[0] if len(parts) == len(when) == 1 else None
