"""One input with all its cells: the segments of its values in which each cell holds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.decision_table.checks.finding import brief
from core.decision_table.checks.lines import LINES, Pick, lines_of
from core.decision_table.checks.reading import Opaque, Reader, Truth, Unreadable
from core.decision_table.checks.segments import (
    EVERYTHING,
    HIGHEST,
    LOWEST,
    Cut,
    Side,
    Spans,
    bits,
    of_runs,
    span,
)
from core.decision_table.evaluation.blind import blind, never_looks
from core.decision_table.evaluation.given import value_type
from core.decision_table.feel import Node, Scope, Value, holds, parse_tests
from core.decision_table.feel.values import NoValue
from core.domain.errors import RuleInvalid
from core.domain.messages import Message, said
from core.domain.models import InputColumn


@dataclass(frozen=True)
class Segment:
    """The values between two cuts of a line: `pick` is one of them, `single` if the only one."""

    pick: Pick
    single: bool = True


@dataclass(frozen=True)
class Domain:
    """The segments of an input in order; null, where allowed, is the last of them."""

    segments: tuple[Segment, ...]
    null: bool
    starts: tuple[tuple[str, tuple[Cut, ...], int], ...] = ()

    @property
    def size(self) -> int:
        """The number of segments."""
        return len(self.segments)

    @property
    def everything(self) -> Side:
        """All segments, including null."""
        return span(0, self.size)

    @property
    def ordinary(self) -> Side:
        """All segments but null."""
        return self.without_null(self.everything)

    def without_null(self, side: Side) -> Side:
        """Return a side without the segment of null."""
        return side & ~(1 << self.size - 1) if self.null else side

    def side(self, truth: Truth, *, null: bool) -> Side:
        """Return the segments in which a test holds; `null` says whether it holds for null."""
        runs = [
            (bisect_left(starts, low) + offset, bisect_left(starts, high) + offset)
            for line, starts, offset in self.starts
            for low, high in truth.yes.get(line, ())
        ]
        return self.picked(of_runs(runs), null=null)

    def picked(self, side: Side, *, null: bool) -> Side:
        """Return a side plus the segment of null, if `null` and null is allowed."""
        return side | 1 << self.size - 1 if null and self.null else side

    def best(self, side: Side) -> Pick:
        """Return the segment's most readable value; null only if there is no other."""
        picks = (self.segments[number].pick for number in bits(side))
        found = next(picks)
        for pick in picks:
            if found.rank == 0:
                return found
            found = min(found, pick, key=lambda each: each.rank)
        return found


NULL_RANK = 99


def build(
    lines: Sequence[str], truths: Sequence[Truth], allowed: Truth | None, *, null: bool
) -> Domain:
    """Cut the allowed values of some lines wherever one of the tests changes its result."""
    segments: list[Segment] = []
    starts: list[tuple[str, tuple[Cut, ...], int]] = []
    for line in lines:
        cuts = sorted({LOWEST, HIGHEST, *_cuts(line, [*truths, *([allowed] if allowed else [])])})
        within = EVERYTHING if allowed is None else allowed.yes.get(line, ())
        lows, offset = [], len(segments)
        for low, high in pairwise(cuts):
            pick = LINES[line].pick(low, high) if _holds(within, low) else None
            if pick:
                lows.append(low)
                segments.append(Segment(pick, LINES[line].single(low, high)))
        starts.append((line, tuple(lows), offset))
    if null:
        segments.append(Segment(Pick(None, NULL_RANK)))
    return Domain(tuple(segments), null, tuple(starts))


def lines_named(truths: Iterable[Truth]) -> set[str]:
    """Return the lines whose values the tests mention."""
    return {
        line
        for truth in truths
        for part in (truth.yes, truth.open)
        for line, spans in part.items()
        if spans not in ((), EVERYTHING)
    }


def _cuts(line: str, truths: Iterable[Truth]) -> Iterable[Cut]:
    for truth in truths:
        for part in (truth.yes, truth.open):
            for run in part.get(line, ()):
                yield from run


def _holds(spans: Spans, low: Cut) -> bool:
    """Whether the segment that begins at `low` lies in the set; cuts never split it."""
    index = bisect_left(spans, (low, HIGHEST))
    if index < len(spans) and spans[index][0] == low:
        return True
    return index > 0 and spans[index - 1][0] <= low < spans[index - 1][1]


_MOST_SINGLES = 1_000
# Of all cells of an input; 10,000 ranges with distinct ends take half of it.
_MOST_BITS = 400_000_000
_JSON_LINES = {"boolean", "number", "string"}


@dataclass(frozen=True)
class Cell:
    """Where a cell certainly holds, and where it may; `why` says what separates the two.

    A cell that is `wrong` says something that its column can never mean.
    """

    must: Side
    may: Side
    why: str = ""
    wrong: bool = False


@dataclass
class Column:
    """An input with the meaning of its cells, by their text.

    `unclear` says why its values as a whole cannot be determined; `wrong` what is wrong with them.
    `names` are those that its cells use.
    """

    name: str
    domain: Domain
    cells: Mapping[str, Cell]
    allowed: str = ""
    outside: frozenset[str] = frozenset()
    unclear: str = ""
    wrong: str = ""
    names: frozenset[str] = frozenset()


def read_column(column: InputColumn, texts: Sequence[str], names: Sequence[str]) -> Column:
    """Read an input and the distinct texts of its cells; `names` are those of all inputs."""
    return _Columns(column, tuple(dict.fromkeys(texts)), names).read()


class _Columns:
    def __init__(self, column: InputColumn, texts: Sequence[str], names: Sequence[str]) -> None:
        self._column = column
        self._texts = texts
        self._names = names
        self._trees: dict[str, Node] = {}
        self._truths: dict[str, Truth] = {}
        self._opaque: dict[str, Opaque] = {}
        self._wrong: dict[str, str] = {}

    def read(self) -> Column:
        """Return the column, whatever is wrong with it."""
        try:
            kind = value_type(self._column.type)
        except NoValue as reason:
            return self._unclear(said(reason))
        lines = tuple(LINES) if kind == "Any" else lines_of(kind)
        reader = Reader(kind, lines)
        self._read_cells(reader)
        allowed: Truth | None = None
        null = True
        if self._column.allowed:
            try:
                tree = parse_tests(self._column.allowed)
                allowed = reader.read(tree)
            except (RuleInvalid, Unreadable) as error:
                return self._unclear("", wrong=Message("table.allowed_wrong", error=error))
            except Opaque as reason:
                return self._unclear(Message("table.allowed_untold", reason=reason))
            null = holds(tree, Scope()) is True
        return self._cut(kind, lines, allowed, null=null)

    def _read_cells(self, reader: Reader) -> None:
        for text in self._texts:
            try:
                self._trees[text] = parse_tests(text, self._names)
                if never_looks(self._trees[text], self._column.type):
                    self._wrong[text] = blind(brief(text))
                    continue
                self._truths[text] = reader.read(self._trees[text])
            except (RuleInvalid, Unreadable) as error:
                self._wrong[text] = said(error)
            except Opaque as reason:
                self._opaque[text] = reason

    def _cut(
        self, kind: str, lines: tuple[str, ...], allowed: Truth | None, *, null: bool
    ) -> Column:
        truths = list(self._truths.values())
        named = lines_named([*truths, *([allowed] if allowed else [])])
        if kind == "Any" and not named <= _JSON_LINES:
            return self._unclear(Message("table.no_type"))
        if len(named & set(lines_of(kind))) > 1:
            return self._unclear(Message("table.mixed_zones"))
        used = [line for line in lines if line in named]
        used = used or ["string" if kind == "Any" else lines[0]]
        domain = build(used, truths, allowed, null=null)
        if domain.size * len(self._texts) > _MOST_BITS:
            return self._unclear(Message("table.too_many_values"))
        return Column(
            self._column.name,
            domain,
            {text: self._cell(text, domain) for text in self._texts},
            allowed=self._column.allowed,
            outside=self._outside(used) if allowed else frozenset(),
            names=self._names_used(),
        )

    def _names_used(self) -> frozenset[str]:
        nodes = (node for tree in self._trees.values() for node in tree.walk())
        return frozenset(str(node.value) for node in nodes if node.op == "name")

    def _outside(self, lines: Sequence[str]) -> frozenset[str]:
        """Return the texts that hold for some value, allowed or not."""
        whole = build(lines, list(self._truths.values()), None, null=True)
        return frozenset(
            text
            for text, truth in self._truths.items()
            if whole.side(truth, null=self._holds(text, None))
        )

    def _cell(self, text: str, domain: Domain) -> Cell:
        if text in self._wrong:
            return Cell(0, domain.everything, self._wrong[text], wrong=True)
        null = domain.null and self._holds(text, None)
        if text in self._truths:
            side = domain.side(self._truths[text], null=null)
            return Cell(side, side)
        why = self._opaque[text]
        if why.pointwise and _all_single(domain):
            values = enumerate(segment.pick.value for segment in domain.segments)
            fitting = (n for n, value in values if value is not None and self._holds(text, value))
            side = domain.picked(sum(1 << number for number in fitting), null=null)
            return Cell(side, side)
        return Cell(0, domain.everything, said(why))

    def _holds(self, text: str, value: Value) -> bool:
        scope = Scope({self._column.name: value}, value)
        return holds(self._trees[text], scope) is True

    def _unclear(self, why: str, *, wrong: str = "") -> Column:
        """Return a column of one segment, in which only `-` is known to hold."""
        domain = Domain((Segment(Pick(None)),), null=False)
        whole = domain.everything
        cells = {
            text: Cell(whole, whole) if text == "-" else Cell(0, whole, why or wrong)
            for text in self._texts
        }
        return Column(self._column.name, domain, cells, unclear=why, wrong=wrong)


def _all_single(domain: Domain) -> bool:
    return domain.size <= _MOST_SINGLES and all(segment.single for segment in domain.segments)
