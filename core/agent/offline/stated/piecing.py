"""The cases of a text of which every piece is read as a condition, an outcome, or both."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from types import ModuleType

from core.agent.offline.spans import read_span
from core.agent.offline.stated import english_piece_words as w
from core.agent.offline.stated import (
    english_pieces,
    english_words,
    korean_nested,
    korean_pieces,
    korean_words,
)
from core.agent.offline.stated import korean_piece_words as kw
from core.agent.offline.stated.joining import joined
from core.agent.offline.stated.limits import meet
from core.agent.offline.stated.pieces import Reading, parts_from, ways
from core.agent.offline.stated.sound import check_sound
from core.agent.offline.stated.statement import (
    BEYOND,
    Case,
    Condition,
    NotARule,
    Part,
    is_convertible,
)
from core.agent.offline.text import is_korean

_STRAINED = 6  # what a reading may cost at most
_TRIED = 6  # ways to read a text, of which the first that makes a table counts


def pieced(sentences: Sequence[str]) -> list[Case]:
    """Return the cases of sentences. Raises NotARule if no reading covers all of them."""
    if not sentences:
        raise NotARule("no sentence")
    sentences = [one for one in sentences if not kw.IRRELEVANT.fullmatch(one.strip(" .!~"))]
    if not sentences:
        raise NotARule("no sentence")
    korean = any(map(is_korean, sentences))
    vague, story = (korean_words.VAGUE, kw.STORY) if korean else (english_words.VAGUE, w.STORY)
    for one in sentences:
        if vague.search(one) or story.search(one) or w.SEQUENCE.search(one):
            raise NotARule("a judgement or a story")
    grammar = korean_pieces if korean else english_pieces
    found = ways(grammar.topical(sentences), grammar.cut, grammar.read)
    least, made = _STRAINED, list[list[Case]]()
    for way in sorted(islice(found, _TRIED), key=_strain):
        if (strain := _strain(way)) > least:
            break
        cases = _cases(way, grammar)
        if cases is not None and not (korean and _is_unsound(cases, sentences)):
            least, made = strain, [*made, cases]
    if not made or any(_told(one) != _told(made[0]) for one in made):
        raise NotARule("pieces that make no table, or several")
    return made[0]


def _cases(way: Sequence[tuple[Reading, str]], grammar: ModuleType) -> list[Case] | None:
    """Return the cases that one way to read a text makes; None if they are no table."""
    if _bounds(way, grammar.limits):
        return None
    way = korean_nested.arranged(way) if grammar is korean_pieces else way
    topics = {one.topic for one, _ in way if one.topic}
    if len(topics) > 1 and any(one.trumps for one, _ in way):
        return None
    if not grammar.fits(way) or (len(topics) == 1 and kw.CONTRAST.search("".join(topics))):
        return None
    try:
        cases = joined(over_all(one_quantity(parts_from(way))), listed=_is_list(way))
    except NotARule:
        return None
    is_both = len(way) == 1 and way[0][0].shape in {"both", "alone"}
    return (
        cases if (len(cases) > 1 or is_both) and _is_told(cases) and _steps_alike(cases) else None
    )


def _is_unsound(cases: Sequence[Case], sentences: Sequence[str]) -> bool:
    try:
        check_sound(cases, sentences)
    except NotARule:
        return True
    return False


def _told(cases: Sequence[Case]) -> list[tuple[tuple[Condition, ...], str]]:
    return [(one.when, one.then) for one in cases]


def _steps_alike(cases: Sequence[Case]) -> bool:
    """Whether tiers that lie within each other all say an amount, so that the inner one counts."""
    spans = [read_span(case.when[0].test) for case in cases if len(case.when) == 1]
    known = [one for one in spans if one is not None]
    inside = any(a is not b and a.within(b) for a in known for b in known)
    return not inside or all(
        w.STATES.search(one.then) or kw.AMOUNT.search(one.then) or len(one.then.split()) < 3
        for one in cases
    )


def _is_told(cases: Sequence[Case]) -> bool:
    """Whether each thing that is so or not is told both ways, or the rest is told."""
    if not cases[-1].when or len({one.then for one in cases}) == 1:
        return True
    columns = [one.column for case in cases for one in case.when if not one.is_ordered]
    return all(columns.count(column) > 1 for column in columns)


def _strain(way: Sequence[tuple[Reading, str]]) -> int:
    """Return how far a reading is from one that compares one quantity, or tells values alone."""
    ordered = [any(c.is_ordered for when in one.any_of for c in when) for one, _ in way]
    named = [
        one.shape != "rest" and not is_one for (one, _), is_one in zip(way, ordered, strict=True)
    ]
    return sum(one.cost for one, _ in way) + (3 * sum(named) if any(ordered) else 0)


def _is_list(way: Sequence[tuple[Reading, str]]) -> bool:
    """Whether each outcome is an amount."""
    return all(w.STATES.search(one.then) or kw.AMOUNT.search(one.then) for one, _ in way)


def _bounds(way: Sequence[tuple[Reading, str]], limits: Callable[[str], list[str]]) -> bool:
    """Whether an outcome compares what a condition may be on."""
    units = [c.unit for one, _ in way for when in one.any_of for c in when if c.is_ordered]
    said = [unit for one, _ in way for unit in limits(one.then)] if units else []
    return any(not a or not b or is_convertible(a, b) for a in units for b in said)


def one_quantity(parts: Sequence[Part]) -> list[Part]:
    """Return parts whose limits meet as those of one quantity, however each names it."""
    tiers = [[one for one in part.when if one.is_ordered] for part in parts]
    only = [found[0] for found in tiers if len(found) == 1]
    if len(only) < 2 or any(len(found) > 1 for found in tiers) or not meet(only):
        return list(parts)
    name = next((one.column for one in only if one.column), "")
    return [
        replace(part, when=tuple(replace(c, column=name) if c.is_ordered else c for c in part.when))
        for part in parts
    ]


def over_all(parts: Sequence[Part]) -> list[Part]:
    """Return parts with the one for some, whatever else is told, behind the others.

    `Under $50 is $5. $50 or more is free. Members pay nothing.`
    """
    tiers = [
        one for one in parts if any(each.is_ordered or each.kind == BEYOND for each in one.when)
    ]
    over = [one for one in parts if one.trumps] or [
        one
        for one in parts
        if one not in tiers
        and not one.is_rest
        and not any(c.column and c.column == one.when[0].column for t in tiers for c in t.when)
        and not any(other.then == one.then and other.sentence == one.sentence for other in tiers)
    ]
    rest = [one for one in parts if one not in over]
    apart = bool(tiers) or (len(over) == 1 and over[0].trumps)
    if len(over) != 1 or len(over[0].when) != 1 or len(rest) < 2 or not apart:
        if any(one.trumps for one in parts):
            raise NotARule("nothing that it holds in spite of")
        return list(parts)
    if over[0].when[0].test.lower().startswith('"non-'):
        raise NotARule("some who are none of others, whatever else is told")
    if kw.MOMENT.search(over[0].when[0].test.strip('"')):
        raise NotARule("a moment beside amounts of time")
    if not over[0].trumps and is_korean(over[0].sentence):
        raise NotARule("some beside limits, and nobody says which counts")
    if not (over[0].trumps or _is_alike(over[0].then, [one.then for one in rest])):
        raise NotARule("what may come on top of the others")
    if w.MORE.search(over[0].then) or kw.MORE.search(over[0].then):
        raise NotARule("what comes on top of the others")
    return [*rest, replace(over[0], trumps=True)]


def _is_alike(then: str, others: Sequence[str]) -> bool:
    """Whether an outcome is of the kind of others: by a word, or as an amount."""
    told = [set(re.findall(r"[a-z]{4,}|[가-힣]{2,}", one.casefold())) for one in (then, *others)]
    has = [bool(w.STATES.search(one) or kw.AMOUNT.search(one)) for one in (then, *others)]
    return all(has) or (not any(has) and any(told[0] & other for other in told[1:]))
