"""Which of the items that match a task matter for it, best first; none where nothing fits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from core.domain.models import Kind
from core.domain.models.context import TaskMatch
from core.knowledge.context.ownership import is_of_others
from core.knowledge.search.names import stands_out
from core.knowledge.search.tokens import stem, suffix_start

# All figures here were set by `python -m tests.evals context` over sets of three hands, and none of
# them is a peak: a third more or less of each changes what is found by two hundredths at most.
SHOWN = {Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL}  # kinds of packages have no place in a block
# What breaks the silence: words that are no chance (1.0) in an item about as near as any, fewer in
# one that is nearer: a task of few words shares few, one of many shares some by chance. A meaning
# that is very close does so alone.
ENOUGH = 1.0
_USUAL = 0.25  # how near an item is that no model was asked about, too
_NEARNESS_WORTH = 2.0
ENOUGH_MEANING = 0.6
_OF_OTHERS = 0.6  # as much less tells what is about others
# The order: words by what they weigh, up to one and a half times enough, and by BM25 against the
# best, and nearness in meaning. What is about others comes later.
_MOST_MATCHED = 1.5
_PART_MATCHED = 0.5
_NEARNESS_RANKS = 3.0
_OTHERS_RANK = 0.4
# Tables and skills go first, so many of them: they are few, and a memory or two long.
TABLES_AND_SKILLS = ((Kind.DMN_RULE, 4), (Kind.SKILL, 5))
_WORD = re.compile(r"[^\W_]+")


def select(task: str, found: Sequence[TaskMatch]) -> list[TaskMatch]:
    """Return what matters for a task, best first, in an order that depends on nothing else."""
    seen = _seen(task, [one for one in found if one.kind in SHOWN])
    named = [one.match for one in seen if is_named(task, one.match.kind, one.match.name)]
    if not named and not any(map(_tells, seen)):
        return []
    known = {(one.kind, one.id): one for one in [*named, *_in_order(seen)]}
    return [*known.values()]


class _Seen(NamedTuple):
    """A match as it is judged: how near it is, and whether it is about others."""

    match: TaskMatch
    near: float
    is_of_others: bool


def _seen(task: str, found: Sequence[TaskMatch]) -> list[_Seen]:
    """Judge what was found by words alone as far as the last of its kind found by meaning."""
    last: dict[Kind, float] = {}
    for one in found:
        if one.closeness is not None:
            last[one.kind] = min(one.closeness, last.get(one.kind, 1.0))
    return [
        _Seen(
            one,
            last.get(one.kind, _USUAL) if one.closeness is None else one.closeness,
            is_of_others(one, task),
        )
        for one in found
    ]


def _tells(one: _Seen) -> bool:
    """Whether an item alone shows that something is known of what a task is about."""
    if one.match.closeness is not None and one.match.closeness >= ENOUGH_MEANING:
        return True
    beside = _NEARNESS_WORTH * (one.near - _USUAL) - _OF_OTHERS * one.is_of_others
    return one.match.matched + beside >= ENOUGH


def is_named(task: str, kind: Kind, name: str) -> bool:
    """Whether a task names a table or a skill, or has all words of a name of several."""
    if kind is Kind.MEMORY:
        return False
    words = _WORD.findall(name)
    if len(words) > 1 and all(_has(task, word) for word in words):
        return True
    return stands_out(name, task)


def _has(task: str, word: str) -> bool:
    """Whether a word is in a task by its stem; a Korean one also inside another."""
    if word.isascii():
        return stem(word) in _stems(task)
    return word[: suffix_start(word)] in task


@lru_cache(maxsize=32)
def _stems(task: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _WORD.findall(task))


def _in_order(seen: Sequence[_Seen]) -> Iterator[TaskMatch]:
    """Yield tables and skills, then memories, the best of each first."""
    best: dict[Kind, float] = {}
    for one in seen:
        best[one.match.kind] = max(one.match.score, best.get(one.match.kind, 0.0))

    def rank(one: _Seen) -> tuple[float, Kind, str]:
        matched = min(one.match.matched, _MOST_MATCHED) / _MOST_MATCHED
        score = one.match.score / (best[one.match.kind] or 1.0)
        worded = _PART_MATCHED * matched + (1 - _PART_MATCHED) * score
        others = _OTHERS_RANK * one.is_of_others
        worth = worded + _NEARNESS_RANKS * one.near - others
        return -worth, one.match.kind, one.match.id

    told = [one for one in seen if one.match.matched > 0 or one.match.closeness is not None]
    ranked = [one.match for one in sorted(told, key=rank)]
    for kind, most in TABLES_AND_SKILLS:
        yield from [one for one in ranked if one.kind is kind][:most]
    yield from (one for one in ranked if one.kind is Kind.MEMORY)
