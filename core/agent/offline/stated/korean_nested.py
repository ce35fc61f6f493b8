"""Readings of Korean pieces put in two columns: who or what it is, and a limit within that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from core.agent.offline.stated import korean_piece_words as w
from core.agent.offline.stated import korean_words as words
from core.agent.offline.stated.pieces import Reading
from core.agent.offline.stated.statement import BEYOND, ELSE, Condition

Way = Sequence[tuple[Reading, str]]
OTHERS = "〈others〉"  # the topic of limits for all that were not named
_GROUP = "구분"
_PAID = re.compile(
    r"\d ?[백천만]* ?원|\d ?%|[십백천만]+ ?원|무료|공짜|(?:안|못) 받|받지 않|면제|반값|절반|할인"
)
_PER = re.compile(r"(?<![가-힣])(?:월|연|매월|매달|매년)(?= )|[가-힣]+당(?= )")
_ENDING = re.compile(r"(?:이에요|예요|입니다|이야|야|이다|임|으로|로|이요|요)$")
_PERSON = re.compile(
    r"(?:손님|고객|회원|분|사람|학생|직원|자녀|어르신|주민|환자|가족|객|장애인|유공자|군인|아이"
    r"|어린이|임산부|노인|시민|구민|도민|군민|교사|임직원|입주민|세입자|수급자)(?:들|님|분)?(?:만)?$"
)


def arranged(way: Way) -> Way:
    """Return readings with what holds for some put beside the limits of others, if it is told so.

    `입주민은 무료예요. 방문객은 2시간까지 무료, 넘으면 5천원`
    """
    for arrange in (_both_ways, _exception, _among, _siblings, _over):
        if (found := arrange(way)) is not None:
            return _said_alike(found)
    return _said_alike(way)


def _said_alike(way: Way) -> Way:
    """Return readings with the same outcome in the same words: `룸으로`, `룸이고`."""
    said: dict[str, str] = {}
    for one, _ in way:
        said.setdefault(_core(one.then), one.then)
    return [(replace(one, then=said[_core(one.then)]), told) for one, told in way]


def _core(then: str) -> str:
    """Return an outcome without its ending, and without what an amount is of."""
    first, _, rest = then.partition(" ")
    return _ENDING.sub("", rest if rest and words.PRICED.search(first) else then)


def _flat(one: Reading) -> str:
    """Return the value of a reading that says of one value alone what holds for it."""
    if len(one.any_of) != 1 or len(one.any_of[0]) != 1 or not one.then:
        return ""
    condition = one.any_of[0][0]
    is_plain = condition.kind == "string" and condition.column == ""
    value = re.fullmatch(r'"([^"]+)"', condition.test) if is_plain else None
    return value[1] if value else ""


def _is_rest(one: Reading) -> bool:
    return any(each.kind == ELSE for when in one.any_of for each in when)


def _is_tier(one: Reading) -> bool:
    whens = one.any_of
    return len(whens) == 1 and len(whens[0]) == 1 and (
        whens[0][0].is_ordered or whens[0][0].kind == BEYOND
    )  # fmt: skip


def _both_ways(way: Way) -> Way | None:
    """Arrange what is so and is not, of which one side is told whatever else holds."""
    columns = [one.any_of[0][0].column for one, _ in way if one.any_of and one.any_of[0]]
    found = [
        (replace(one, trumps=False), said)
        if one.trumps and columns.count(one.any_of[0][0].column) > 1 and one.any_of[0][0].column
        else (one, said)
        for one, said in way
    ]
    return None if found == list(way) else found


def _siblings(way: Way) -> Way | None:
    """Arrange some of whom one thing holds, and then others within limits: `해외는 …, 국내는 …`."""
    readings = [one for one, _ in way]
    at = next((at for at, one in enumerate(readings) if one.topic), 0)
    flat, tiers = readings[:at], readings[at:]
    names = [_flat(one) for one in flat]
    if not flat or not all(names) or len(tiers) < 2 or any(one.topic for one in tiers[1:]):
        return None
    topic = tiers[0].topic
    is_whole = all(map(_is_tier, tiers)) or (
        _is_tier(tiers[0]) and len(tiers) == 2 and _is_rest(tiers[1])
    )
    named = [*names, topic]
    if not is_whole or any(map(words.PRICED.search, named)):
        return None
    is_certain = topic == OTHERS or any(one.shape == "over" for one in flat)
    if not is_certain and not _are_alike(readings):
        return None
    some = ", ".join(f'"{name}"' for name in names)
    group = Condition(_GROUP, f"not({some})" if topic == OTHERS else f'"{topic}"', "string")
    made: list[tuple[Reading, str]] = []
    for one, name, (_, sentence) in zip(flat, names, way, strict=False):
        when = (Condition(_GROUP, f'"{name}"', "string"),)
        made.append((replace(one, any_of=(when,), trumps=False, shape=""), sentence))
    for one, (_, sentence) in zip(tiers, way[at:], strict=True):
        limit = tiers[0].any_of[0][0].negated if _is_rest(one) else one.any_of[0][0]
        told = replace(one, any_of=((group, limit),), topic="", shape="", is_only=False)
        made.append((told, sentence))
    return made


def _are_alike(readings: Sequence[Reading]) -> bool:
    """Whether outcomes are all amounts, or share their words."""
    thens = [one.then for one in readings]
    if all(w.AMOUNT.search(then) for then in thens):
        return True
    told = [set(re.findall(r"[가-힣A-Za-z]{2,}", then)) for then in thens]
    pairs = [{word[:2] for word in each} for each in told]
    return all(any(mine & other for other in pairs if other is not mine) for mine in pairs)


def _over(way: Way) -> Way | None:
    """Arrange what holds for some in spite of the one limit that was told."""
    *others, (last, sentence) = way
    value = _flat(last)
    if last.shape != "over" or not value or len(others) != 1 or not _is_tier(others[0][0]):
        return None
    ((limit, told),) = others
    some = Condition("대상", f'"{value}"', "string")
    general = replace(limit, any_of=((some.negated, *limit.any_of[0]),))
    special = replace(last, any_of=((some,),), trumps=False, shape="")
    return [(general, told), (special, sentence)]


def _exception(way: Way) -> Way | None:
    """Arrange what all pay, and what some do: `배송비는 3천원인데 VIP 회원은 무료`."""
    if len(way) != 2:
        return None
    (general, first), (special, second) = way
    what, who = _flat(general), _flat(special)
    if not what or not who or general.trumps or _PERSON.search(what) or w.CONTRAST.search(what):
        return None
    if (
        not _PERSON.search(who)
        or who.removesuffix("들") in words.ANYBODY
        or words.PRICED.search(special.then.split()[0])
    ):
        return None
    if not set(_PER.findall(special.then)) <= set(_PER.findall(general.then)):
        return None
    is_one = _PAID.search(general.then) and _PAID.search(special.then)
    inner = w.GAP.match(general.then)
    if (
        not is_one
        or (inner and not w.NO_VALUE.search(inner["value"]))
        or len(general.then.split()) > 4
    ):
        return None
    when = (Condition("대상", f'"{who.removesuffix("만")}"', "string"),)
    rest = Condition("", "-", ELSE)
    return [
        (replace(special, any_of=(when,), trumps=False, shape=""), second),
        (replace(general, any_of=((rest,),), shape="rest"), first),
    ]


def _among(way: Way) -> Way | None:
    """Arrange what holds for some of those of whom another thing was told."""
    if len(way) != 2 or way[1][0].shape != "among" or len(way[0][0].any_of) != 1:
        return None
    (general, first), (special, second) = way
    ((some,),) = special.any_of
    when = general.any_of[0]
    return [
        (replace(general, any_of=((*when, some.negated),)), first),
        (replace(special, any_of=((*when, some),), topic="", shape="", trumps=False), second),
    ]
