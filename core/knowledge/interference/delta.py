"""What a change does to the statements of an item: added, removed, replaced, moved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import NamedTuple

from core.domain.models import DecisionTable
from core.knowledge.interference.items import Item, Statement

_LEAST_LIKE = 0.45  # below this two lines are one that went and one that came
_MOST_PAIRS = 2_500  # of lines compared with each other; a rewrite beyond has no line in common
MAX_CHANGED = 60  # statements of each kind that are looked at; what a rewrite has more is not


@dataclass(frozen=True)
class Replaced:
    """A statement in other words: `gone` and `come` are the words of one side alone."""

    old: Statement
    new: Statement
    gone: tuple[str, ...]
    come: tuple[str, ...]


@dataclass
class Delta:
    """What a change did to an item; `passed` are the statements a moved one went past."""

    removed: list[Statement] = field(default_factory=list)
    added: list[Statement] = field(default_factory=list)
    replaced: list[Replaced] = field(default_factory=list)
    moved: list[tuple[Statement, tuple[Statement, ...]]] = field(default_factory=list)
    conditions: list[Statement] = field(default_factory=list)

    def cut(self) -> Delta:
        """Return the delta with as much of each kind as is looked at."""
        parts = (self.removed, self.added, self.replaced, self.moved, self.conditions)
        removed, added, replaced, moved, conditions = (part[:MAX_CHANGED] for part in parts)
        return Delta(removed, added, replaced, moved, conditions)  # type: ignore[arg-type]

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        return not (self.removed or self.added or self.replaced or self.moved or self.conditions)

    @property
    def steps_added(self) -> Sequence[Statement]:
        """What was added and is no condition."""
        return [one for one in self.added if not one.is_condition]

    @property
    def all_conditions(self) -> Sequence[Statement]:
        """The new conditions: columns, lines, and what was added to a line."""
        grown = [
            one for one in self.replaced if one.come and not one.gone and one.new.part != "row"
        ]
        return [
            *self.conditions,
            *(one for one in self.added if one.is_condition),
            *(Statement(one.new.place, " ".join(one.come), "condition") for one in grown),
        ]


def compare(before: Item, after: Item) -> Delta:
    """Return what changed from one state of an item to the next."""
    if before.table is not None and after.table is not None:
        return _of_tables(before, after, before.table, after.table).cut()
    old, new = before.statements, after.statements
    delta = Delta()
    for olds, news in _blocks(old, new):
        _pair(olds, news, delta)
    _find_moved(old, new, delta)
    return delta.cut()


def _blocks(
    old: Sequence[Statement], new: Sequence[Statement]
) -> Iterator[tuple[list[Statement], list[Statement]]]:
    """Yield the stretches that differ, as they stand before and after."""
    one, other = [_key(s) for s in old], [_key(s) for s in new]
    for tag, i, j, k, m in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag != "equal":
            yield list(old[i:j]), list(new[k:m])


def _key(statement: Statement) -> tuple[str, str]:
    return statement.place, " ".join(statement.text.split())


def _pair(olds: list[Statement], news: list[Statement], delta: Delta) -> None:
    """Put together the lines that are one line in other words; the rest went or came."""
    free = list(news)
    if len(olds) * len(news) > _MOST_PAIRS:
        delta.removed += olds
        delta.added += news
        return
    for old in olds:
        best = max(free, key=lambda new: _like(old.text, new.text), default=None)
        if best is not None and _like(old.text, best.text) >= _LEAST_LIKE:
            free.remove(best)
            gone, come = _words_apart(old.text, best.text)
            delta.replaced.append(Replaced(old, best, gone, come))
        else:
            delta.removed.append(old)
    delta.added += free


_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[A-Za-z가-힣_]+|[^\sA-Za-z가-힣_\d]")


def _like(one: str, other: str) -> float:
    return SequenceMatcher(None, _TOKEN.findall(one), _TOKEN.findall(other), False).ratio()


def _words_apart(one: str, other: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the stretches of words that only one of two lines has."""
    a, b = one.split(), other.split()
    gone: list[str] = []
    come: list[str] = []
    mine, theirs = ([word.strip(".,;:!?") for word in side] for side in (a, b))
    for tag, i, j, k, m in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if tag != "equal":
            gone += [" ".join(a[i:j])] if j > i else []
            come += [" ".join(b[k:m])] if m > k else []
    return tuple(gone), tuple(come)


def _find_moved(old: Sequence[Statement], new: Sequence[Statement], delta: Delta) -> None:
    """Take what only stands elsewhere out of what went and came."""
    came = {_key(s): s for s in delta.added}
    places = {_key(s): at for at, s in enumerate(new)}
    for gone in [s for s in delta.removed if _key(s) in came]:
        delta.removed.remove(gone)
        delta.added.remove(came[_key(gone)])
        was, now = [_key(s) for s in old].index(_key(gone)), places[_key(gone)]
        passed = tuple(
            one
            for at, one in enumerate(old)
            if _key(one) in places and (at - was) * (places[_key(one)] - now) < 0
        )[:MAX_CHANGED]
        delta.moved.append((gone, passed))


class _Row(NamedTuple):
    """A row by its cells in the columns that both states have, then its outcome."""

    cells: tuple[str, ...]
    outputs: tuple[str, ...]
    said: Statement


def _of_tables(before: Item, after: Item, old: DecisionTable, new: DecisionTable) -> Delta:
    delta = Delta()
    old_inputs, new_inputs = ([column.name for column in table.inputs] for table in (old, new))
    for at, name in enumerate(new_inputs):
        asked = {row.inputs[at] for row in new.rows} - {"-", ""}
        if name not in old_inputs and asked:
            delta.conditions.append(Statement(name, f"{name}: {', '.join(sorted(asked))}", "row"))
    both = [name for name in old_inputs if name in new_inputs]
    names = (*both, *(column.name for column in old.outputs))
    left = _rows(new, both, after)
    for row in _rows(old, both, before):
        same = next((one for one in left if one[:2] == row[:2]), None)
        if same is not None:
            left.remove(same)
        else:
            _pair_row(names, row, left, delta)
    delta.added += [row.said for row in left]
    _find_columns_gone(old, new, delta)
    return delta


def _rows(table: DecisionTable, names: Sequence[str], item: Item) -> list[_Row]:
    inputs = [column.name for column in table.inputs]
    places = [inputs.index(name) for name in names]
    return [
        _Row(tuple(row.inputs[at] for at in places), row.outputs, said)
        for row, said in zip(table.rows, item.statements, strict=True)
    ]


def _pair_row(names: Sequence[str], row: _Row, left: list[_Row], delta: Delta) -> None:
    """Find the row that this one became: the same conditions, or the same outcome."""
    found = next((one for one in left if one.cells == row.cells), None)
    found = found or next((one for one in left if one.outputs == row.outputs), None)
    if found is None:
        delta.removed.append(row.said)
        return
    left.remove(found)
    pairs = zip(names, (*row.cells, *row.outputs), (*found.cells, *found.outputs), strict=False)
    apart = [(name, mine, theirs) for name, mine, theirs in pairs if mine != theirs]
    gone = tuple(f"{name}: {mine}" for name, mine, _ in apart)
    come = tuple(f"{name}: {theirs}" for name, _, theirs in apart)
    delta.replaced.append(Replaced(row.said, found.said, gone, come))


def _find_columns_gone(old: DecisionTable, new: DecisionTable, delta: Delta) -> None:
    inputs = ([c.name for c in old.inputs], [c.name for c in new.inputs])
    outputs = ([c.name for c in old.outputs], [c.name for c in new.outputs])
    for olds, news in (inputs, outputs):
        delta.removed += [Statement(name, name, "row") for name in olds if name not in news]
