"""The values of one input cut into segments, within which no cell changes its verdict."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.decision_table.checks.lines import LINES, Pick
from core.decision_table.checks.segments import Side, bits, of_runs, span
from core.decision_table.checks.spans import EVERYTHING, HIGHEST, LOWEST, Cut, Spans
from core.decision_table.checks.truth import Truth


@dataclass(frozen=True)
class Segment:
    """Values between two cuts of one line: `pick` is one of them, `single` where it is all."""

    pick: Pick
    single: bool = True


@dataclass(frozen=True)
class Domain:
    """The segments of an input in order; null, where it is allowed, is the last of them."""

    segments: tuple[Segment, ...]
    null: bool
    starts: tuple[tuple[str, tuple[Cut, ...], int], ...] = ()

    @property
    def size(self) -> int:
        """How many segments there are."""
        return len(self.segments)

    @property
    def everything(self) -> Side:
        """All segments, null with them."""
        return span(0, self.size)

    @property
    def ordinary(self) -> Side:
        """All segments but null."""
        return self.without_null(self.everything)

    def without_null(self, side: Side) -> Side:
        """Take the segment of null out."""
        return side & ~(1 << self.size - 1) if self.null else side

    def side(self, truth: Truth, *, null: bool) -> Side:
        """Give the segments in which a test holds; `null` tells whether it does for null."""
        runs = [
            (bisect_left(starts, low) + offset, bisect_left(starts, high) + offset)
            for line, starts, offset in self.starts
            for low, high in truth.yes.get(line, ())
        ]
        return self.picked(of_runs(runs), null=null)

    def picked(self, side: Side, *, null: bool) -> Side:
        """Add the segment of null to a set where a test holds for it and it is allowed."""
        return side | 1 << self.size - 1 if null and self.null else side

    def best(self, side: Side) -> Pick:
        """Give the value of the segment that reads best; null only where there is no other."""
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
    """Cut the allowed values of some lines wherever one of the tests changes its verdict."""
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
    """Give the lines of which the tests name a value."""
    return {
        line
        for truth in truths
        for part in _parts(truth)
        for line, spans in part.items()
        if spans not in ((), EVERYTHING)
    }


def _parts(truth: Truth) -> Sequence[Mapping[str, Spans]]:
    return (truth.yes,) if truth.decided else (truth.yes, truth.open)


def _cuts(line: str, truths: Iterable[Truth]) -> Iterable[Cut]:
    for truth in truths:
        for part in _parts(truth):
            for run in part.get(line, ()):
                yield from run


def _holds(spans: Spans, low: Cut) -> bool:
    """Tell whether the segment that begins at `low` lies in the set; cuts never split it."""
    place = bisect_left(spans, (low, HIGHEST))
    if place < len(spans) and spans[place][0] == low:
        return True
    return place > 0 and spans[place - 1][0] <= low < spans[place - 1][1]
