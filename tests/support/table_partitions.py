"""Tables without a defect, by construction: the space of all cases, split again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from random import Random
from typing import TypeAlias

from core.domain.models import DecisionTable, HitPolicy, InputColumn, OutputColumn
from tests.support.table_cells import table

KINDS = ("number", "string", "date", "boolean")
WORDS = ("VIP", "일반", "gold", "신규")
# A range of whole numbers, or some of the words and whether all others belong to it.
Ends: TypeAlias = tuple[int | None, int | None]
Side: TypeAlias = Ends | frozenset[str | bool | None]


@dataclass(frozen=True)
class Cut:
    """A clean table, with the boxes that its rows were written from."""

    table: DecisionTable
    boxes: Sequence[Sequence[Side]]


def clean_table(seed: int, rows: int, columns: int, policy: HitPolicy = HitPolicy.UNIQUE) -> Cut:
    """Split the space of `columns` inputs of mixed types into `rows` boxes that just touch."""
    random = Random(seed)
    kinds = [random.choice(KINDS) for _ in range(columns)]
    kinds[random.randrange(columns)] = "number"  # numbers can always be split further
    boxes = [[_whole(kind) for kind in kinds]]
    while len(boxes) < rows:
        box = random.choice(boxes)
        index = random.randrange(columns)
        halves = _halves(random, kinds[index], box[index])
        if halves:
            boxes.remove(box)
            boxes += [[*box[:index], half, *box[index + 1 :]] for half in halves]
    random.shuffle(boxes)
    inputs = [InputColumn(name=f"입력 {n}", type=kind) for n, kind in enumerate(kinds)]
    cells = [[cell(kind, side) for kind, side in zip(kinds, box, strict=True)] for box in boxes]
    output = OutputColumn(name="out", type="number", allowed=f"[0..{rows}]")
    if policy is HitPolicy.PRIORITY:
        output = output.model_copy(update={"allowed": ", ".join(map(str, range(rows + 1)))})
    return Cut(table(inputs, cells, policy=policy, output=output), boxes)


def cell(kind: str, side: Side) -> str:
    """Return a side of a box as FEEL."""
    if isinstance(side, frozenset):
        return _named(kind, side)
    low, high = (None if end is None else _end(kind, end) for end in side)
    if low is None and high is None:
        return "-"
    if low is None:
        return f"< {high}"
    return f">= {low}" if high is None else f"[{low}..{high})"


def _whole(kind: str) -> Side:
    if kind == "boolean":
        return frozenset((True, False))
    return frozenset((*WORDS, None)) if kind == "string" else (None, None)


def _halves(random: Random, kind: str, side: Side) -> tuple[Side, Side] | None:
    if isinstance(side, frozenset):
        parts = sorted(side, key=str)
        if len(parts) < 2:
            return None
        random.shuffle(parts)
        at = random.randrange(1, len(parts))
        return frozenset(parts[:at]), frozenset(parts[at:])
    first, last = (date(2000, 1, 1).toordinal(), 9999) if kind == "date" else (-9999, 9999)
    last = first + last if kind == "date" else last
    low, high = side
    start, end = first if low is None else low, last if high is None else high
    if end - start < 2:
        return None
    at = random.randrange(start + 1, end)
    return (low, at), (at, high)


def _end(kind: str, end: int) -> str:
    return f'@"{date.fromordinal(end)}"' if kind == "date" else str(end)


def _named(kind: str, side: frozenset[str | bool | None]) -> str:
    if kind == "boolean":
        return "-" if len(side) == 2 else str(True in side).lower()
    words = [f'"{word}"' for word in WORDS if (word in side) is (None not in side)]
    if None not in side:
        return ", ".join(words)
    return f"not({', '.join(words)})" if words else "-"
