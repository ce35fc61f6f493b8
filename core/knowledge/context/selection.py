"""Which of the items that match a task matter for it, best first; none where nothing fits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from core.domain.models import Kind
from core.domain.models.context import TaskMatch
from core.knowledge.search.names import stands_out
from core.knowledge.search.tokens import stem, suffix_start

# What breaks the silence: words that are no chance, or a meaning this close. All figures here were
# set by `python -m tests.evals context`, on its tuning half.
SHOWN = {Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL}  # kinds of packages have no place in a block
ENOUGH_WORDS = 1.0
ENOUGH_MEANING = 0.6
# Words that nearly suffice do, in an item that is near in meaning too: a task of few words shares
# few. What is closer than this counts this many times.
NEAR = 0.4
_NEARNESS_WORTH = 3.0
# Tables and skills go first: the best by words, and the nearest in meaning of their own kind. They
# are few, and a memory or two long.
TABLES_AND_SKILLS = ((Kind.DMN_RULE, 2, 2), (Kind.SKILL, 3, 3))
# Then memories: by words what scores this part of the best, by meaning what is this part as close
# as the nearest. The model puts all texts of one field close together, so that every fourth place
# alone is its own.
PART_OF_WORDS = 0.2
PART_OF_MEANING = 0.7
_BY_WORDS, _BY_MEANING = 3, 1
_WORD = re.compile(r"[^\W_]+")


def select(task: str, found: Sequence[TaskMatch]) -> list[TaskMatch]:
    """Return what matters for a task, best first, in an order that depends on nothing else."""
    found = [one for one in found if one.kind in SHOWN]
    named = [one for one in found if is_named(task, one.kind, one.name)]
    if not named and not any(map(_tells, found)):
        return []
    known = {(one.kind, one.id): one for one in found}
    order = dict.fromkeys((one.kind, one.id) for one in [*named, *_in_order(found)])
    return [known[key] for key in order]


def _tells(one: TaskMatch) -> bool:
    """Whether an item alone shows that something is known of what a task is about."""
    near = one.closeness or 0.0
    beside = _NEARNESS_WORTH * max(0.0, near - NEAR) if one.matched else 0.0
    return one.matched + beside >= ENOUGH_WORDS or near >= ENOUGH_MEANING


def is_named(task: str, kind: Kind, name: str) -> bool:
    """Whether a task names a table or a skill, or has all words of a name of several."""
    if kind is Kind.MEMORY:
        return False
    words = _WORD.findall(name)
    if len(words) > 1 and all(map(_stems_of(task).has, words)):
        return True
    return stands_out(name, task)


class _Stems:
    """The words of a task by their stems."""

    def __init__(self, task: str) -> None:
        self._task = task
        self._stems = {stem(word) for word in _WORD.findall(task)}

    def has(self, word: str) -> bool:
        """Whether a word is in the task; a Korean one also inside another."""
        if word.isascii():
            return stem(word) in self._stems
        return word[: suffix_start(word)] in self._task


_stems_of = lru_cache(maxsize=16)(_Stems)  # one task is compared with the names of a hundred items


def _in_order(found: Sequence[TaskMatch]) -> Iterator[TaskMatch]:
    """Yield tables and skills, then memories by words and by meaning by turns."""
    words, near = _by_words(found), _by_meaning(found)
    for kind, most, nearest in TABLES_AND_SKILLS:
        yield from _of(kind, words)[:most]
        yield from _of(kind, near)[:nearest]
    least = PART_OF_MEANING * (near[0].closeness or 0.0) if near else 0.0
    close = [one for one in near if (one.closeness or 0.0) >= least]
    worded, meant = iter(_of(Kind.MEMORY, words)), iter(_of(Kind.MEMORY, close))
    while turn := [*islice(worded, _BY_WORDS), *islice(meant, _BY_MEANING)]:
        yield from turn


def _of(kind: Kind, ranked: Sequence[TaskMatch]) -> list[TaskMatch]:
    return [one for one in ranked if one.kind is kind]


def _by_words(found: Sequence[TaskMatch]) -> list[TaskMatch]:
    least = PART_OF_WORDS * max(one.score for one in found)
    worded = [one for one in found if one.score >= least and one.matched > 0]
    return sorted(worded, key=lambda one: (-one.score, one.kind, one.id))


def _by_meaning(found: Sequence[TaskMatch]) -> list[TaskMatch]:
    near = [one for one in found if one.closeness is not None]
    return sorted(near, key=lambda one: (-(one.closeness or 0.0), one.kind, one.id))
