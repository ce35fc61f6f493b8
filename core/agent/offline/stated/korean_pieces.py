"""Korean rules read piece by piece: each a condition, an outcome, or both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from core.agent.offline.stated import korean_piece_words as w
from core.agent.offline.stated import korean_words as words
from core.agent.offline.stated.days import days_of, is_moment
from core.agent.offline.stated.found import Found
from core.agent.offline.stated.korean import Clause, Sentence, nominal
from core.agent.offline.stated.korean import outcome_of as clean
from core.agent.offline.stated.korean_conditions import conditions_of, value_of
from core.agent.offline.stated.korean_nested import OTHERS
from core.agent.offline.stated.korean_several import both, either
from core.agent.offline.stated.pieces import Piece, Reading, tried
from core.agent.offline.stated.statement import BEYOND, ELSE, Condition, NotARule, Part

_MOST_WORDS = 5
_OPEN = "〇"  # stands for the outcome that a condition waits for
_JOINT = re.compile(r"\s*[:→=]\s+|\s+(?:-|–|—|/|→|->)\s+")


def cut(sentence: str) -> list[Piece]:
    """Return the pieces between the joints of a sentence; numbers compared stay whole."""
    text = words.REPEATED.sub("", words.JAMO.sub("", sentence).rstrip(" .!~;:?"))
    text = words.POLITE.sub("", text)
    begin = lead.end() if (lead := w.LEAD.match(text)) else 0
    found = sorted({*_breaks(text), *((m.start(), m.end(), m[0]) for m in _JOINT.finditer(text))})
    pieces, joint = [], ""
    for end, after, how in found:
        if end <= begin:
            continue
        pieces.append(Piece(begin, end, joint))
        begin, joint = after, how
    return [*pieces, Piece(begin, len(text), joint)] if begin < len(text) else pieces


def _breaks(text: str) -> Iterator[tuple[int, int, str]]:
    for match in words.BREAK.finditer(text):
        if w.WHATEVER.search(text[: match.end()]):
            continue
        ends = match[0].strip(" ,")
        how = "고" if ends[-1:] in {"고", "며"} else ends or "고,"
        yield match.start() + (len(ends) if match[0][0] != " " else 0), match.end(), how
    for match in w.BARE_CUT.finditer(text):
        yield match.start(), match.end(), "고,"


def read(text: str) -> list[Reading]:
    """Return what a stretch of text may state."""
    plain = w.LEAD.sub("", text).strip(" .,;:!?~")
    but = w.BUT.match(plain)
    if but:
        plain = plain[but.end() :]
    if not re.search(r"\w", plain):
        return []
    if w.TIER_BUT.search(plain) and any(one.one.is_ordered for one in _limits(plain)):
        return tried(_conditional, w.TIER_BUT.sub("", plain))
    against = w.AMOUNT_BUT.search(plain)
    if against:
        return [
            replace(one, shape="but")
            for one in (
                *tried(_cost, plain[: against.start()]),
                *tried(_some, plain[: against.start()]),
            )
            if one.shape in {"amount", "text", "cost"}
        ]
    found = (
        tried(_between, plain)
        or tried(_rest, plain)
        or tried(_among, plain)
        or tried(_over, plain)
        or [
            one
            for reader in (
                _turned,
                _either,
                _both,
                _conditional,
                _fact,
                _cost,
                _some,
                _gapped,
                _bare,
            )
            for one in tried(reader, plain)
        ]
    )
    return [replace(one, trumps=True) if but and one.any_of else one for one in found]


def _limits(text: str) -> list[Found]:
    """Return the conditions of a text; none where they cannot be told."""
    try:
        return conditions_of(f"{text} ")
    except NotARule:
        return []


def _outcome(text: str, *, hours: bool = False) -> str:
    """Return a text as an outcome that has no clause beside it."""
    plain = text.strip(" .,;:/")
    if not hours and w.CALENDAR.search(plain):
        raise NotARule("an outcome that may hold for some alone")
    if w.STRAY.search(plain) or len(plain.split()) > 9 or re.search(r",(?!\d{3})", plain):
        raise NotARule("an outcome with another clause")
    return clean(plain)


def _between(text: str) -> Iterator[Reading]:
    """Yield what lies between what was told."""
    if found := w.BETWEEN.match(f"{text} "):
        then = text[found.end() :].strip(" ,:")
        yield Reading(((Condition("", "between", BEYOND),),), _outcome(then) if then else "")


def _rest(text: str) -> Iterator[Reading]:
    """Yield what holds for all that is left."""
    found = w.REST.match(f"{text} ")
    if found is None:
        return
    then = text[found.end() :].strip(" ,:")
    if then and conditions_of(f"{then} "):
        yield from (replace(one, topic=OTHERS) for one in _conditional(then) if not one.topic)
        return
    yield Reading(((Condition("", "-", ELSE),),), _outcome(then) if then else "", shape="rest")


def _either(text: str) -> Iterator[Reading]:
    yield from either(text, _outcome)


def _both(text: str) -> Iterator[Reading]:
    yield from both(text, _outcome)


def _among(text: str) -> Iterator[Reading]:
    """Yield what holds for some of those that were told."""
    if (found := w.AMONG.fullmatch(text)) and not re.search(r"\d", found["who"]):
        yield Reading(((value_of("", found["who"]),),), _outcome(found["then"]), shape="among")


def _over(text: str) -> Iterator[Reading]:
    """Yield what holds for some, whatever else is told: `신규는 실적과 관계없이 전수검사`."""
    found = w.OVER.fullmatch(text)
    if found is None or any(
        one.one.is_ordered or one.one.test in {'"있음"', '"없음"'} for one in _limits(text)
    ):
        return
    who = found["who"]
    if re.search(r"\d|(?:면|지만|는데|[아어해]서|니까|고|며)$", who) or len(who) > 20:
        return
    is_clause = found["by"].endswith("면") and not words.is_thing(who)
    value = value_of("", nominal(who.removesuffix("으")) if is_clause else who)
    yield Reading(((value,),), _outcome(found["then"]), 0, True, "over")


def _conditional(text: str) -> Iterator[Reading]:
    """Yield conditions with their outcome, or those that wait for it."""
    whole = f"{text}이면" if w.LIMIT_END.search(text) else text
    found = sorted(conditions_of(f"{whole} "), key=lambda one: one.start)
    if not found:
        return
    tail = whole[found[-1].end :].strip(" ,.;:/")
    if tail and (conditions_of(f"{tail} ") or words.UNREAD.search(words.IDIOMS.sub("", tail))):
        return
    if (
        re.search(r",|[면고며]서? ", whole[: found[0].start])
        or len(whole[: found[0].start].split()) > 4
    ):
        raise NotARule("a story before a condition")
    for one, after in pairwise(found):
        gap = whole[one.end : after.start].strip()
        if "," in gap or (gap and one.link not in {"and", "or", "even"}):
            raise NotARule("an outcome between conditions")
    is_alone = len(found) == 1 and found[0].one.is_ordered and w.ASIDE.match(tail)
    tail = tail[is_alone.end() :] if is_alone else tail
    trumps = bool(is_alone or w.TRUMPS.match(tail))
    said = f"{whole[: found[-1].end]} {w.TRUMPS.sub('', tail) if tail else _OPEN}"
    parts = _numbered(said, found)
    if len(parts) > 1:  # each of several conditions is enough
        if trumps:
            raise NotARule("several that hold whatever else is told")
        then = "" if parts[0].then == _OPEN else _outcome(parts[0].then)
        yield Reading(tuple(one.when for one in parts), then, topic=parts[0].topic)
        return
    for part in parts:
        held = part.when[0].is_ordered or part.when[0].test in ('"있음"', '"없음"')
        if held and (within := w.GAP.match(part.then)) and _is_value(within["value"]):
            inner = _valued(within["value"], part.then[within.end() :], 0)
            when = (*part.when, *inner.any_of[0])
            yield Reading((when,), inner.then, 2, topic=part.topic, shape="nested")
        then = "" if part.then == _OPEN else _outcome(part.then)
        yield Reading(
            (part.when,),
            then,
            trumps=trumps and not part.when[0].is_ordered,
            topic=part.topic,
            is_only=part.is_only,
            shape="alone" if is_alone else "",
        )


def _turned(text: str) -> Iterator[Reading]:
    """Yield an outcome before the limit up to which it holds: `무료 주차는 2시간까지`."""
    found = w.TURNED.fullmatch(text)
    if found is None:
        return
    till = "까지" if "까지" in text[found.end("when") :] else ""
    whole = f"{found['when']}{till}이면 "
    limits = conditions_of(whole)
    lead = whole[: limits[0].start].strip() if limits else ""
    if len(limits) != 1 or not limits[0].one.is_ordered or re.search(r"\d|[은는이가] ", f"{lead} "):
        return
    if whole[limits[0].end :].strip():
        return
    yield Reading(((limits[0].one,),), _outcome(found["then"], hours=True))


def _numbered(text: str, found: Sequence[Found]) -> list[Part]:
    return Sentence(text, text, follows=False).numbered(Clause(text, 0, tuple(found)), "")


def _fact(text: str) -> Iterator[Reading]:
    """Yield a clause that holds or not, as a value: `제출했으면` is `제출했음`."""
    found = w.FACT.match(text)
    if found is None or conditions_of(f"{text} ") or re.search(r"\d", found["stem"]):
        return
    stem = found["stem"].removesuffix("으")
    if len(stem.split()) > 4 or w.STRAY.search(stem):
        return
    value = value_of("", nominal(stem))
    then = found["then"] or ""
    trumps = bool(w.TRUMPS.search(then))
    plain = w.TRUMPS.sub("", then)
    shape = "over" if trumps else "fact"
    yield Reading(((value,),), _outcome(plain) if plain else "", 1, trumps, shape)


def _some(text: str) -> Iterator[Reading]:
    """Yield what holds for some of several: `제주는 3천원`, `조조 9천원`."""
    match = w.SOME.match(text)
    if match and _is_value(match["value"]):
        then = text[match.end() :]
        inner = w.SOME.match(then)
        if inner and _is_value(inner["value"]):
            yield _valued(inner["value"], then[inner.end() :], 0, match["value"])
        else:
            gapped = (gap := w.GAP.match(then)) and _is_value(gap["value"])
            yield _valued(match["value"], then, 2 if gapped else 0)
    if (several := w.SEVERAL.match(text)) and all(map(_is_value, several["value"].split(", "))):
        yield _valued(several["value"], text[several.end() :], 0)


def _cost(text: str) -> Iterator[Reading]:
    """Yield what something costs, of which some may be excepted: `수강료는 20만원`."""
    match = w.SOME.match(text)
    if match is None or not words.PRICED.search(match["value"]):
        return
    inner = w.GAP.match(text[match.end() :])
    if inner is None or not _is_value(inner["value"]):
        then = _outcome(text[match.end() :])
        yield Reading(((value_of("", match["value"]),),), then, 1, shape="cost")


def _gapped(text: str) -> Iterator[Reading]:
    """Yield a value with its outcome and no word between them: `조조 9천원`, `제주 무료`."""
    match = w.SOME.match(text)
    topic = match["value"] if match else ""
    rest = text[match.end() :] if match else text
    if not w.GAP.match(rest) and len(rest.split()) > 3:
        topic, rest = rest.split()[0], rest.partition(" ")[2]
    if (gap := w.GAP.match(rest)) and _is_value(gap["value"]) and "," not in topic:
        one = _valued(gap["value"], rest[gap.end() :], 1, topic)
        yield replace(one, shape="gap")
    if len(text.split()) <= 3 and _is_value(text):
        yield Reading(((value_of("", text),),), cost=2, shape="label")


def _valued(value: str, then: str, cost: int, topic: str = "") -> Reading:
    trumps = bool(w.TRUMPS.search(then))
    plain = _outcome(w.TRUMPS.sub("", then), hours=bool(days_of(value)))
    shape = "amount" if w.AMOUNT.search(plain) else "text"
    named = w.TOO.sub("", value)
    return Reading(((value_of("", named),),), plain, cost, trumps, shape, topic)


def _is_value(value: str) -> bool:
    last = value.split()[-1]
    if re.search(r"\d", value) and not all(
        w.CODED.match(one) for one in value.split() if re.search(r"\d", one)
    ):
        return False
    value = w.TOO.sub("", value)
    return (
        len(value.split()) <= 3
        and not w.NO_VALUE.search(value)
        and (not words.VERBAL.search(last) or w.NOUN.search(last) is not None)
    )


def _bare(text: str) -> Iterator[Reading]:
    """Yield an outcome alone."""
    if conditions_of(f"{text} "):
        return
    some = w.SOME.match(text)
    if not (some and _is_value(some["value"])):
        yield Reading(then=_outcome(text), shape="bare")


def fits(found: Sequence[tuple[Reading, str]]) -> bool:
    """Whether what holds for some of several is said of all of them in one manner."""
    told = [one.shape for one, _ in found]
    names = [name for one, _ in found for name in _names(one)]
    if told.count("rest") > 1 or "cost" in told:
        return False
    if "but" in told and not _are_of_one_kind(names):
        return False
    if "nested" in told:
        after = [
            told[at + 1 : at + 2] == ["gap"] for at, shape in enumerate(told) if shape == "nested"
        ]
        return all(after) and not any(one.topic for one, _ in found if one.shape == "gap")
    facts = [one for one, _ in found if one.shape == "fact"]
    if facts:
        return len(found) == 2 and _opposed(found)
    return _are_values(found)


def _are_values(found: Sequence[tuple[Reading, str]]) -> bool:
    """Whether values are all told in one manner."""
    values = [one for one, _ in found if one.shape in {"amount", "text", "label", "gap"}]
    if not values:
        return True
    if any(map(_is_of_what_it_costs, values)):
        return False
    if len(values) < len([one for one, _ in found if one.shape != "rest"]):
        return True
    shapes = {one.shape for one in values}
    if "gap" in shapes:
        is_first = not any(one.shape == "gap" and one.topic for one, _ in found[1:])
        return is_first and _are_bare(values, shapes)
    most = 5 if shapes != {"text"} or any(one.shape == "rest" for one, _ in found) else 2
    is_one_verb = len({one.then.split()[-1][0] for one in values}) == 1
    return len(shapes) == 1 and (
        all(len(one.then.split()) <= most for one in values)
        or (is_one_verb and all(len(one.then.split()) <= _MOST_WORDS for one in values))
    )


def _are_bare(values: Sequence[Reading], shapes: set[str]) -> bool:
    """Whether values told bare, and others told by name, are of one kind."""
    inner = [gap for one in values if one.shape == "amount" and (gap := w.GAP.match(one.then))]
    topics = [bool(one.topic) for one in values if one.shape == "gap"]
    if any(_is_value(gap["value"]) for gap in inner) or any(topics[1:]):
        return False
    if topics[0]:
        return shapes == {"gap"} or _is_akin(values)
    return shapes <= {"gap", "amount"}


def _is_of_what_it_costs(one: Reading) -> bool:
    """Whether a value is what all amounts are of: `수당은 간호사 5만원` says who gets it."""
    inner = w.GAP.match(one.then) if any(map(words.PRICED.search, _names(one))) else None
    return inner is not None and _is_value(inner["value"])


def _is_akin(values: Sequence[Reading]) -> bool:
    """Whether what is told by name is of the kind of what is told bare, as the words show.

    `간식은 소형견 1개, 대형견은 2개`: no sibling of `간식`, as abroad is of home.
    """
    bare = [_names(one) for one in values if one.shape == "gap"]
    named = [_names(one) for one in values if one.shape == "amount"]
    topic = next(one.topic for one in values if one.topic)
    known = [name for names in bare for name in names]
    costs = [words.PRICED.search(name) for names in named for name in names]
    if words.PRICED.search(topic) and not any(costs):
        return True
    told = [*known, *(name for names in named for name in names)]
    if is_moment(topic) or topic[-1:] == told[0][-1:] or w.CONTRAST.search(topic):
        return False
    return _are_of_one_kind(told)


def _are_of_one_kind(names: Sequence[str]) -> bool:
    return all(map(is_moment, names)) or len({name[-1:] for name in names}) == 1


def _names(one: Reading) -> list[str]:
    return [each for when in one.any_of for c in when for each in re.findall(r'"([^"]+)"', c.test)]


def _opposed(found: Sequence[tuple[Reading, str]]) -> bool:
    """Whether the second of two says what holds where the first does not."""
    one, other = (reading for reading, _ in found)
    if other.shape == "rest":
        return True
    a, b = (each.any_of[0][0].test for each in (one, other))
    no = [bool(w.NEGATED.search(each.strip('"'))) for each in (a, b)]
    roots = [
        {each[at : at + 2] for at in range(len(each) - 1) if each[at : at + 2].isalpha()}
        for each in (a, b)
    ]
    return no[0] is not no[1] and bool(roots[0] & roots[1])


def limits(then: str) -> list[str]:
    """Return the units of what an outcome compares."""
    return [one.one.unit for one in conditions_of(f"{then} ") if one.one.is_ordered]


def topical(sentences: Sequence[str]) -> list[str]:
    """Return sentences without what the first says that all are about."""
    first, *others = sentences
    if not others and not re.search(r"[,:]", first):
        return list(sentences)
    found = words.LABEL.match(first)
    if found and not any(": " in one for one in others) and ": " not in first[found.end() :]:
        return [first[found.end() :], *others]
    label = re.match(
        r"(?P<about>[^,.\d]{1,16}?)(?:은|는|이?요|얘긴데요?|얘기인데요?|말인데요?|말이에요|관련해서|관련해서요),\s+",
        first,
    )
    if (asked := w.ASKED.match(first)) and not w.CONTRAST.search(asked[0]):
        return topical([first[asked.end() :], *others])
    if (those := w.THOSE.match(first)) and not w.CONTRAST.search(those[0]):
        return topical([first[those.end() :], *others])
    if (priced := w.PRICED_LIST.match(first)) and not w.CONTRAST.search(priced[0]):
        return [first[priced.end() :], *others]
    if label and not w.CONTRAST.search(label["about"]):
        return [first[label.end() :], *others]
    if others and w.SPEAKER.fullmatch(first.strip(" .!")):
        return topical(others)
    if (
        others
        and len(first.split()) <= 3
        and not re.search(r"\d|[다요해줘]$", first.rstrip(" .!~"))
        and not w.SOME.match(first)
        and not words.VERBAL.search(first.rstrip(" .!~"))
    ):
        return others
    return list(sentences)
