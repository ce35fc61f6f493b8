"""Readings of the pieces of a text, put together so that all of it is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from core.agent.offline.stated.statement import Condition, NotARule, Part

MOST = 4  # pieces that one reading may span
_KEPT = 8  # ways to read what stands before a piece
_TELLS = re.compile(r"[:=]|->| [-–—] ")  # between a name and what holds for it
_CLOSES = re.compile(r"(?:no|nothing|just|not) [a-z]+(?: [a-z]+)?", re.I)  # `fine, no action`
# `… and a third party is involved`: a clause with a subject of its own goes on with a condition.
_CLAUSE = re.compile(r"(?:there|(?:an?|the) [\w-]+(?: [\w-]+)?) (?:is|are|has|have|\w+ed)\b", re.I)
_MANY = 24  # pieces of a text


@dataclass(frozen=True)
class Reading:
    """What a stretch of text may state; `any_of` are conditions of which each is enough.

    Without an outcome it waits for one; without conditions it is one.
    """

    any_of: tuple[tuple[Condition, ...], ...] = ()
    then: str = ""
    cost: int = 0
    trumps: bool = False
    shape: str = ""
    topic: str = ""
    is_only: bool = False


def tried(reader: Callable[[str], Iterator[Reading]], text: str) -> list[Reading]:
    """Return what a reader makes of a text before it finds that it cannot read it."""
    found: list[Reading] = []
    with suppress(NotARule):
        found.extend(reader(text))
    return found


@dataclass(frozen=True)
class Piece:
    """A stretch of a sentence between two joints; `joint` stands before it."""

    start: int
    end: int
    joint: str


@dataclass(frozen=True)
class _Way:
    """One way to read a text up to some piece."""

    cost: int = 0
    done: tuple[tuple[Reading, str], ...] = ()
    waiting: Reading | None = None


def ways(
    sentences: Sequence[str],
    cut: Callable[[str], list[Piece]],
    read: Callable[[str], list[Reading]],
) -> Iterator[list[tuple[Reading, str]]]:
    """Yield readings that cover all sentences, the least strained first, with their sentences."""
    found = [_Way()]
    for sentence in sentences:
        pieces = cut(sentence)
        if len(pieces) > _MANY:
            raise NotARule("too many pieces")
        found = _extended(found, sentence, pieces, read)
        if not found:
            raise NotARule("a stretch that states no rule")
    whole = [way for way in found if way.waiting is None]
    if not whole:
        raise NotARule("a condition without an outcome")
    for way in sorted(whole, key=lambda one: one.cost):
        yield list(way.done)


def _extended(
    begun: list[_Way],
    sentence: str,
    pieces: Sequence[Piece],
    read: Callable[[str], list[Reading]],
) -> list[_Way]:
    """Return the ways begun, each led on over one more sentence."""
    at: list[list[_Way]] = [[] for _ in range(len(pieces) + 1)]
    at[0] = begun
    for start in range(len(pieces)):
        if not at[start]:
            continue
        for end in range(start + 1, min(len(pieces), start + MOST) + 1):
            text = sentence[pieces[start].start : pieces[end - 1].end]
            joint = pieces[start].joint
            led = [
                after
                for reading in read(text)
                for way in at[start]
                if (after := _led(way, reading, joint, sentence)) is not None
            ]
            at[end] = _best([*at[end], *led])
    asks = sentence.rstrip().endswith(("?", ":"))
    return [way for way in at[-1] if way.waiting is None or asks]


def _best(found: list[_Way]) -> list[_Way]:
    return sorted(dict.fromkeys(found), key=lambda one: one.cost)[:_KEPT]


def _led(way: _Way, reading: Reading, joint: str, sentence: str) -> _Way | None:
    """Return a way led on by one reading; None if they do not go together."""
    if way.waiting is not None and way.waiting.shape == "label" and not _TELLS.search(joint):
        return None
    cost = way.cost + reading.cost
    if reading.shape == "except" or (way.waiting is not None and way.waiting.shape == "except"):
        return _excepted(way, reading, sentence)
    if reading.any_of and reading.then:
        if way.waiting is not None:
            return _narrowed(way, reading, joint, sentence)
        return replace(way, cost=cost + 1, done=(*way.done, (reading, sentence)))
    if reading.any_of:
        if way.waiting is None:
            return replace(way, cost=cost, waiting=reading)
        merged = _both(way.waiting, reading, joint)
        return None if merged is None else replace(way, cost=cost + 1, waiting=merged)
    if way.waiting is None and way.done and way.done[-1][0].shape == "unless":
        return _opposite(way, reading, sentence)
    if way.waiting is not None:
        shape = (
            way.waiting.shape
            if way.waiting.shape in {"label", "fact", "over", "rest"}
            else reading.shape
        )
        made = replace(way.waiting, then=reading.then, shape=shape)
        return _Way(cost + 1, (*way.done, (made, sentence)))
    return _added(way, reading, joint, sentence)


def _opposite(way: _Way, reading: Reading, sentence: str) -> _Way:
    """Return a way with what holds where `unless` says: `… unless it is over $500; those …`."""
    last, _ = way.done[-1]
    ((one,),) = last.any_of
    made = Reading(((one.negated,),), reading.then)
    return _Way(way.cost + reading.cost + 1, (*way.done, (made, sentence)))


def _excepted(way: _Way, reading: Reading, sentence: str) -> _Way | None:
    """Return a way with an exception to what was told last, and its own outcome."""
    if way.waiting is None:
        can = bool(way.done) and len(reading.any_of) == 1 and not reading.then
        return replace(way, cost=way.cost + reading.cost, waiting=reading) if can else None
    if reading.any_of or not way.done:
        return None
    last, of = way.done[-1]
    if re.search(r"\d", reading.then) and not re.search(r"\d", last.then):
        return None  # `that one stops at 30` sets another limit
    ((but,),) = way.waiting.any_of
    general = tuple((*when, but.negated) for when in last.any_of)
    special = tuple((*when, but) for when in last.any_of)
    told = (
        (replace(last, any_of=general), of),
        (replace(last, any_of=special, then=reading.then), sentence),
    )
    return _Way(way.cost + reading.cost + 1, (*way.done[:-1], *told))


def _narrowed(way: _Way, reading: Reading, joint: str, sentence: str) -> _Way | None:
    """Return a way whose open condition and the next stand before one outcome."""
    if way.waiting is None:
        return None
    merged = _both(way.waiting, reading, joint)
    if merged is None:
        return None
    made = replace(merged, then=reading.then, shape=reading.shape)
    cost = 2 if any(one.is_ordered for when in reading.any_of for one in when) else 4
    return _Way(way.cost + reading.cost + cost, (*way.done, (made, sentence)))


def _both(one: Reading, other: Reading, joint: str) -> Reading | None:
    if len(other.any_of) != 1 and len(one.any_of) != 1:
        return None
    if re.search(r"\bor\b|거나|또는", joint):
        return replace(one, any_of=(*one.any_of, *other.any_of), cost=0)
    if one.shape != "rest" and not re.search(r"\band\b|고", joint):
        return None
    return replace(one, any_of=tuple((*a, *b) for a in one.any_of for b in other.any_of))


def _added(way: _Way, reading: Reading, joint: str, sentence: str) -> _Way | None:
    """Return a way whose last outcome goes on: `… stop the line and call the foreman`."""
    if not way.done or way.done[-1][1] != sentence or re.search(r"\d", reading.then):
        return None
    if _CLAUSE.match(reading.then):
        return None
    last, of = way.done[-1]
    closes = joint.strip() == "," and _CLOSES.fullmatch(reading.then)
    if (joint.strip() not in {"and", "고", "며"} and not closes) or last.trumps:
        return None
    more = replace(last, then=f"{last.then}{joint if joint.isascii() else ', '}{reading.then}")
    return _Way(way.cost + reading.cost + 3, (*way.done[:-1], (more, of)))


def parts_from(found: Sequence[tuple[Reading, str]]) -> list[Part]:
    """Return what was read as parts, several where one of several conditions is enough."""
    return [
        Part(
            tuple(when),
            reading.then,
            sentence,
            topic=reading.topic,
            is_only=reading.is_only,
            trumps=reading.trumps,
        )
        for reading, sentence in found
        for when in reading.any_of
    ]
