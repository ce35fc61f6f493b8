"""The rules by which one item relies on what a change of another takes away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.domain.models import Kind
from core.knowledge.duplicates.quantities import Quantity
from core.knowledge.duplicates.words import words_of
from core.knowledge.interference import concepts
from core.knowledge.interference.delta import Delta, Replaced
from core.knowledge.interference.items import Item, Statement
from core.knowledge.interference.words import names, says, shared, terms, weigh


class Broken(StrEnum):
    """What a change did that another item does not go with."""

    PRECONDITION = "precondition"
    STEP_ADDED = "step_added"
    STEP_REMOVED = "step_removed"
    REORDERED = "reordered"
    VALUE_CHANGED = "value_changed"


@dataclass(frozen=True)
class Reliance:
    """An item that relies on what a change takes away; both places as quotes."""

    kind: Broken
    item: Item
    changed: Statement
    relies: Statement
    weight: float


_ACTS = frozenset(("delete", "revoke"))
_EFFECTS = (
    (concepts.SENDS, concepts.KEEPS_QUIET),
    (concepts.ALTERS, concepts.LEAVES_ALONE),
    (concepts.HOLDS_UP, concepts.DOES_NOT_WAIT),
)
_FOUND = 1.0  # a weight from which a reliance is told


class Judge:
    """One change against one other item."""

    def __init__(self, before: Item, after: Item, delta: Delta, other: Item) -> None:
        self._before, self._after, self._delta, self._other = before, after, delta, other
        self._rest = terms(_kept(before, after))
        self._link = link(before, other)

    def found(self) -> Reliance | None:
        """Return what weighs most of what the other relies on, None if nothing weighs enough."""
        every = [
            *(self._condition(one) for one in self._conditions()),
            *(self._added(one) for one in self._delta.added if one.part != "condition"),
            *(self._removed(one) for one in self._delta.removed),
            *(self._replaced(one) for one in self._delta.replaced),
            *(self._moved(one, passed) for one, passed in self._delta.moved),
        ]
        enough = [one for one in every if one is not None and one.weight >= _FOUND]
        return max(enough, key=lambda one: one.weight, default=None)

    def _conditions(self) -> Iterable[Statement]:
        yield from self._delta.conditions
        yield from (one for one in self._delta.added if one.part == "condition")
        for one in self._delta.replaced:
            if one.come and not one.gone and not one.new.is_table:
                yield Statement(one.new.place, " ".join(one.come), "condition")

    def _condition(self, new: Statement) -> Reliance | None:
        """A new condition: another that denies it, or that does not wait for what it waits for."""
        wanted = terms(new.text)
        best = self._nearest(wanted)
        weight = 0.0
        for said in self._other.statements:
            both = [t for t in shared(wanted, terms(said.text)) if t not in self._rest]
            if weigh(both) >= 1 and concepts.DENIES.search(said.text):
                return self._told(Broken.PRECONDITION, new, said, 1.5)
            if weigh(both) >= 1:  # the other sees to it by itself
                weight -= 1.0 if said.part == "code" else 0.5
        if self._link < 0.5 or not concepts.WAITS_FOR.search(new.text):
            return None
        for said in self._other.statements:
            if concepts.DOES_NOT_WAIT.search(said.text):
                return self._told(Broken.PRECONDITION, new, said, weight + 0.5 + self._link)
        return self._told(Broken.PRECONDITION, new, best, weight)

    def _added(self, new: Statement) -> Reliance | None:
        """A new step that destroys, sends, alters or holds up what another counts on."""
        text = new.text
        if (under := self._under(new)) and concepts.DESTROYS.search(text):
            return self._told(Broken.STEP_ADDED, new, under, 2.0)
        said, both = self._best(terms(text))
        weight = self._own(both)
        if weight < _FOUND and concepts.DESTROYS.search(text):
            things = [term for term in both if term not in _ACTS]
            weight = max(weight, weigh(things, self._rest) + self._link / 2 if things else 0.0)
        for does, minds in _EFFECTS:
            if weight < _FOUND and does.search(text) and (hit := self._saying(minds)):
                said, weight = hit, 0.5 + self._link
        return self._told(Broken.STEP_ADDED, new, said, weight)

    def _under(self, new: Statement) -> Statement | None:
        """Return what another reads under a path that a statement names."""
        for name in names(new.text):
            for said in self._other.statements:
                if any(found.startswith(name) or name in found for found in names(said.text)):
                    return said
        return None

    def _removed(self, old: Statement) -> Reliance | None:
        """A step or row that went: what it names or makes, and another still has."""
        if hit := self._named(old, self._gone_names(old)):
            return self._told(Broken.STEP_REMOVED, old, hit, 2.0)
        if old.part == "code":
            return None
        said, both = self._best(terms(old.text))
        return self._told(Broken.STEP_REMOVED, old, said, self._own(both))

    def _replaced(self, one: Replaced) -> Reliance | None:
        """A value or a name that became another one."""
        if not one.gone and not one.new.is_table:
            return None
        if hit := self._named(one.old, self._gone_names(one.old)):
            return self._told(Broken.VALUE_CHANGED, one.old, hit, 2.0)
        said, both = self._best(terms(one.old.text))
        if not one.new.is_table and (weight := self._own(both)) >= _FOUND:
            return self._told(Broken.VALUE_CHANGED, one.old, said, weight)
        return self._of_values(one)

    def _of_values(self, one: Replaced) -> Reliance | None:
        texts = (" ".join(one.gone), " ".join(one.come))
        old, new = map(_values, texts if one.new.is_table else (one.old.text, one.new.text))
        went = [q for q in old if not any(q.same(known) for known in new)]
        came = [q for q in new if not any(q.same(known) for known in old)]
        if not went:
            return None
        said, both = self._best(terms(" ".join(one.gone) if one.new.is_table else one.old.text))
        weight = min(1.0, weigh(both)) / 2 + self._link / 2
        for statement in self._other.statements:
            theirs = _values(statement.text)
            if any(q.same(known) for q in went for known in theirs):
                return self._told(Broken.VALUE_CHANGED, one.old, statement, weight + 0.5)
            if any(_is_crossed(q, came, known) for q in went for known in theirs):
                return self._told(Broken.VALUE_CHANGED, one.old, statement, weight + 0.25)
        is_time = concepts.OF_TIME.search(one.old.text) is not None
        if is_time and _is_far(went, came) and (hit := self._saying(concepts.OF_TIME)):
            return self._told(Broken.VALUE_CHANGED, one.old, hit, weight + 0.5)
        return None

    def _moved(self, one: Statement, passed: Sequence[Statement]) -> Reliance | None:
        """A step that stands elsewhere: another that names it, and the order or what it passed."""
        pairs = [(one, passed)]
        if len(passed) == 1:  # of two that change places either one moved
            pairs.append((passed[0], (one,)))
        return max((self._past(*pair) for pair in pairs), key=lambda found: found.weight)

    def _past(self, one: Statement, passed: Sequence[Statement]) -> Reliance:
        said, both = self._best(terms(one.text))
        past = max((weigh(self._best(terms(p.text))[1]) for p in passed), default=0.0)
        has_order = concepts.ORDER.search(said.text) is not None
        weight = weigh(both) / 2 + min(1.0, past) / 2 + (0.25 if has_order else 0.0)
        return self._told(Broken.REORDERED, one, said, weight if both else 0.0)

    def _own(self, both: Iterable[str]) -> float:
        """Return the weight of shared terms that the rest of the changed item does not have.

        One word alone is chance where nothing else ties the two items together.
        """
        found = list(both)
        weight = weigh(term for term in found if term not in self._rest)
        is_tied = self._link >= 0.25 or weigh(found, self._rest) >= 1.5
        return weight if is_tied else weight / 2

    def _gone_names(self, old: Statement) -> list[str]:
        """Return what a statement named and the item names no more."""
        if self._before.table is not None:
            cells = [piece.partition(": ")[2].strip('"') or piece for piece in old.text.split(", ")]
            here = self._after.text
            columns = [c for c in cells if c and not says(c, here) and c not in self._after.about]
            return [c for c in columns if not re.fullmatch(r"[-<>=\[\]().\d\s]+|true|false", c)]
        return [name for name in names(old.text) if not says(name, self._after.text)]

    def _named(self, old: Statement, gone: Sequence[str]) -> Statement | None:
        """Return where the other names something that is gone."""
        for name in sorted(gone, key=len, reverse=True):
            for said in self._other.statements:
                if says(name, said.text) and (self._link >= 0.5 or name in names(said.text)):
                    return said
        return None

    def _nearest(self, wanted: dict[str, str]) -> Statement:
        return self._best(wanted)[0]

    def _best(self, wanted: dict[str, str]) -> tuple[Statement, list[str]]:
        """Return the statement of the other with most of these terms, and all that it has."""
        said = max(
            self._other.statements,
            key=lambda one: weigh(shared(wanted, terms(one.text))),
            default=Statement("", ""),
        )
        return said, shared(wanted, terms(self._other.text))

    def _saying(self, pattern: re.Pattern[str]) -> Statement | None:
        return next((s for s in self._other.statements if pattern.search(s.text)), None)

    def _told(self, kind: Broken, changed: Statement, said: Statement, weight: float) -> Reliance:
        return Reliance(kind, self._other, changed, said, weight)


def link(item: Item, other: Item) -> float:
    """Return how far another item speaks of this one: 1 where it names it, 0 where it does not."""
    name = item.name if item.kind is not Kind.MEMORY else item.id
    if name and (says(name, other.text) or says(item.id, other.text)):
        return 1.0
    subject = terms(f"{name.replace('-', ' ')} {item.about} {_heading(item)}")
    both = shared(subject, terms(f"{other.name.replace('-', ' ')} {other.about} {other.text}"))
    return min(1.0, weigh(both) / 2)


def _heading(item: Item) -> str:
    return " ".join(one.text for one in item.statements if one.part == "heading")


def _kept(before: Item, after: Item) -> str:
    kept = {one.text for one in after.statements}
    return "\n".join(one.text for one in before.statements if one.text in kept)


def _values(text: str) -> Sequence[Quantity]:
    return words_of(text).quantities


def _is_crossed(old: Quantity, came: Sequence[Quantity], known: Quantity) -> bool:
    """Whether a value of another lies between what a limit was and what it is now."""
    fits = known.what == old.what or "" in {known.what, old.what}
    return fits and any(
        min(old.value, new.value) <= known.value <= max(old.value, new.value)
        for new in came
        if new.what == old.what
    )


def _is_far(went: Sequence[Quantity], came: Sequence[Quantity]) -> bool:
    """Whether a value became half or twice what it was, or is not a value any more."""
    if not came:
        return True
    one, other = went[0].value, came[0].value
    return not one or not other or max(one / other, other / one) >= 2
