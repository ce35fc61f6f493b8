"""The rules by which one item relies on what a change of another takes away."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from core.domain.models import Kind
from core.knowledge.duplicates.quantities import Quantity
from core.knowledge.interference import concepts
from core.knowledge.interference.delta import Delta, Replaced
from core.knowledge.interference.items import Item, Statement
from core.knowledge.interference.words import Terms, names, says, shared, terms, values, weigh


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
    both: frozenset[str] = frozenset()


_FOUND = 1.0  # a weight from which a reliance is told
_SURE = 2.0  # of a name, a path or a value that the other has and the item has no more
_LINKED = 0.5  # a link from which two items are of one matter
_NAMED = 0.75  # a link from which one of them speaks of the other, by its name or two of its words
_CELL = 3  # characters of a cell that is a name and no yes, no or unit
_ACTS = frozenset(("delete", "revoke"))
# What a new step does, and what another says that does not go with it.
_EFFECTS = (
    (concepts.SENDS, concepts.KEEPS_QUIET),
    (concepts.ALTERS, concepts.LEAVES_ALONE),
    (concepts.DESTROYS, concepts.LEAVES_ALONE),
    (concepts.HOLDS_UP, concepts.DOES_NOT_WAIT),
)
_TAKES = (concepts.DESTROYS, concepts.SENDS, concepts.ALTERS, concepts.HOLDS_UP)
_TO_FIND = Statement("", "")
_CLAUSES = re.compile(r"[,;:.](?=\s)|(?<=[가-힣][고며])\s|(?<=[아어해]서)\s")
_NO_NAME = re.compile(r"[-<>=\[\]().\d\s]+|true|false")


@dataclass(frozen=True)
class Changed:
    """A change as the rules see it.

    `rest` are the terms of what stays and of `common`, those that too many items have.
    """

    before: Item
    after: Item
    delta: Delta
    rest: frozenset[str]
    common: frozenset[str]
    _gone: dict[Statement, list[str]] = field(default_factory=dict)

    def gone_names(self, old: Statement) -> list[str]:
        """Return what a statement named and the item names no more."""
        if old not in self._gone:
            self._gone[old] = self._names_gone(old)
        return self._gone[old]

    def _names_gone(self, old: Statement) -> list[str]:
        after = self.after
        if after.table is None:
            return [name for name in names(old.text) if not says(name, after.text)]
        cells = [piece.partition(": ")[2].strip('"') or piece for piece in old.text.split(", ")]
        gone = [cell for cell in cells if cell and not _NO_NAME.fullmatch(cell)]
        return [cell for cell in gone if not says(cell, after.text) and cell not in after.about]


class Judge:
    """One change against one other item."""

    def __init__(self, changed: Changed, other: Item) -> None:
        self._changed, self._other = changed, other
        self._link = link(changed.before, other, changed.common)
        both = (changed.before.terms | changed.after.terms) - changed.common
        # One shared word is chance where nothing else ties the two items together.
        self._is_tied = self._link >= 0.25 or weigh(shared(both, other.terms)) >= 2
        self._says: dict[re.Pattern[str], Statement | None] = {}

    def found(self) -> Reliance | None:
        """Return what weighs most of what the other relies on, None if nothing weighs enough."""
        enough = [one for one in self._every() if one is not None and one.weight >= _FOUND]
        best = max(enough, key=lambda one: one.weight, default=None)
        # The statement is looked for at the end: for each line of a rewrite it took 20 s.
        if best is not None and best.relies is _TO_FIND:
            return replace(best, relies=self._nearest(best.both))
        return best

    def _every(self) -> Iterator[Reliance | None]:
        delta = self._changed.delta
        yield from map(self._condition, delta.all_conditions)
        yield from map(self._added, delta.steps_added)
        yield from map(self._removed, delta.removed)
        yield from map(self._replaced, delta.replaced)
        yield from (self._moved(one, passed) for one, passed in delta.moved)

    def _condition(self, new: Statement) -> Reliance | None:
        """A new condition: another that denies it, or that does not wait for what it waits for."""
        wanted = terms(new.text) - self._changed.rest
        is_met = 0.0
        for said in self._other.statements if shared(wanted, self._other.terms) else ():
            weight = weigh(shared(wanted, terms(said.text)))
            if weight < _FOUND:
                continue
            if (self._is_tied or weight >= _SURE) and _denies(wanted, said):
                return self._told(Broken.PRECONDITION, new, said, _SURE)
            is_met += 1.0 if said.part == "code" else 0.5  # the other sees to it by itself
        hit = self._saying(concepts.DOES_NOT_WAIT)
        if hit is None or self._link < _NAMED or not concepts.WAITS_FOR.search(new.text):
            return None
        return self._told(Broken.PRECONDITION, new, hit, 0.5 + self._link - is_met)

    def _added(self, new: Statement) -> Reliance | None:
        """A new step that destroys, sends, alters or holds up what another counts on."""
        destroys = concepts.DESTROYS.search(new.text) is not None
        if destroys and (under := self._under(new)):
            return self._told(Broken.STEP_ADDED, new, under, _SURE)
        # A step that counts, notes or shows takes nothing away.
        if not any(does.search(new.text) for does in _TAKES):
            return None
        said, both = _TO_FIND, self._shared(terms(new.text))
        weight = self._own(both)
        if weight < _FOUND and destroys and (things := both - _ACTS):
            ties = self._link / 2 if self._is_tied else -0.5
            weight = max(weight, weigh(things, self._changed.rest) + ties)
        for does, minds in _EFFECTS:
            is_near = weight < _FOUND and self._link >= _NAMED
            if is_near and does.search(new.text) and (hit := self._saying(minds)):
                said, weight = hit, 0.5 + self._link
        return self._told(Broken.STEP_ADDED, new, said, weight, both)

    def _under(self, new: Statement) -> Statement | None:
        """Return what another reads at or under a path that a statement names."""
        named = names(new.text)
        for said, theirs in self._other.named if named else ():
            if any(found.startswith(name) or name in found for name in named for found in theirs):
                return said
        return None

    def _removed(self, old: Statement) -> Reliance | None:
        """A step or row that went: what it names or makes, and another still has."""
        if hit := self._named(self._changed.gone_names(old)):
            return self._told(Broken.STEP_REMOVED, old, hit, _SURE)
        if old.part == "code":
            return None
        both = self._shared(terms(old.text))
        return self._told(Broken.STEP_REMOVED, old, _TO_FIND, self._own(both), both)

    def _replaced(self, one: Replaced) -> Reliance | None:
        """A value or a name that became another one."""
        if not one.gone:
            return None
        if hit := self._named(self._changed.gone_names(one.old)):
            return self._told(Broken.VALUE_CHANGED, one.old, hit, _SURE)
        is_row = one.new.part == "row"
        both = self._shared(terms(" ".join(one.gone) if is_row else one.old.text))
        if not is_row and (weight := self._own(both)) >= _FOUND:
            return self._told(Broken.VALUE_CHANGED, one.old, _TO_FIND, weight, both)
        return self._of_values(one, min(1.0, weigh(both)) / 2 + self._link / 2)

    def _of_values(self, one: Replaced, weight: float) -> Reliance | None:
        """A value that another has too, or one that a limit went past."""
        is_row = one.new.part == "row"
        texts = (" ".join(one.gone), " ".join(one.come))
        old, new = map(values, texts if is_row else (one.old.text, one.new.text))
        went = [q for q in old if not any(q.same(known) for known in new)]
        came = [q for q in new if not any(q.same(known) for known in old)]
        told = [q for q in went if _tells(q)]
        for said, theirs in self._other.valued if went else ():
            if any(q.same(known) for q in told for known in theirs):
                return self._told(Broken.VALUE_CHANGED, one.old, said, weight + 0.5)
            if any(_is_crossed(q, came, known) for q in went for known in theirs):
                return self._told(Broken.VALUE_CHANGED, one.old, said, weight + 0.25)
        return None

    def _moved(self, one: Statement, passed: Sequence[Statement]) -> Reliance:
        """A step that stands elsewhere: another that names it, and the order or what it passed."""
        pairs = [(one, passed)]
        if len(passed) == 1:  # of two that change places either one moved
            pairs.append((passed[0], (one,)))
        return max((self._past(*pair) for pair in pairs), key=lambda found: found.weight)

    def _past(self, one: Statement, passed: Sequence[Statement]) -> Reliance:
        both = self._shared(terms(one.text))
        past = max((weigh(self._shared(terms(other.text))) for other in passed), default=0.0)
        weight = weigh(both) / 2 + min(1.0, past) / 2
        if both and 0.75 <= weight < _FOUND and concepts.ORDER.search(self._nearest(both).text):
            weight += 0.25
        return self._told(Broken.REORDERED, one, _TO_FIND, weight if both else 0.0, both)

    def _own(self, both: frozenset[str]) -> float:
        """Return the weight of shared terms that the rest of the changed item does not have."""
        return weigh(both - self._changed.rest) / (1 if self._is_tied else 2)

    def _named(self, gone: Sequence[str]) -> Statement | None:
        """Return where the other names something that is gone."""
        for name in sorted(gone, key=len, reverse=True):
            if not says(name, self._other.text):
                continue
            for said in self._other.statements:
                if not says(name, said.text):
                    continue
                # A cell of a table stands there without quotes.
                is_cell = self._other.kind is Kind.DMN_RULE and len(name) >= _CELL
                if self._link >= _LINKED or is_cell or name in names(said.text):
                    return said
        return None

    def _shared(self, wanted: Terms) -> frozenset[str]:
        return shared(wanted, self._other.terms)

    def _nearest(self, both: frozenset[str]) -> Statement:
        """Return the statement of the other with most of these terms."""
        said = self._other.statements
        return max(said, key=lambda one: weigh(shared(both, terms(one.text))), default=_TO_FIND)

    def _saying(self, pattern: re.Pattern[str]) -> Statement | None:
        if pattern not in self._says:
            said = (one for one in self._other.statements if pattern.search(one.text))
            self._says[pattern] = next(said, None)
        return self._says[pattern]

    def _told(
        self,
        kind: Broken,
        changed: Statement,
        said: Statement,
        weight: float,
        both: frozenset[str] = frozenset(),
    ) -> Reliance:
        return Reliance(kind, self._other, changed, said, weight, both)


def _denies(wanted: Collection[str], said: Statement) -> bool:
    """Whether a statement denies what a condition wants, in one clause; what it does where that is
    missing is no denial: `if the date of birth is missing, ring the patient`.
    """
    for clause in _CLAUSES.split(said.text):
        is_denied = concepts.DENIES.search(clause) and not concepts.SEES_TO_IT.search(clause)
        if is_denied and shared(wanted, terms(clause)):
            return True
    return False


def link(item: Item, other: Item, common: frozenset[str]) -> float:
    """Return how far another item speaks of this one: 1 where it names it, 0 where it does not."""
    if item.kind is not Kind.MEMORY and says(item.name, other.text):
        return 1.0
    if says(item.id, other.text):
        return 1.0
    return min(1.0, weigh(shared(item.subject - common, other.spoken_of)) / 2)


def _is_crossed(old: Quantity, came: Sequence[Quantity], known: Quantity) -> bool:
    """Whether a value of another lies between what a limit was and what it is now."""
    fits = known.what == old.what or "" in {known.what, old.what}
    return fits and any(
        min(old.value, new.value) <= known.value <= max(old.value, new.value)
        for new in came
        if new.what == old.what
    )


def _tells(value: Quantity) -> bool:
    """Whether a value that two have is more than chance: a small bare number is none."""
    return bool(value.what) or abs(value.value) >= 10
