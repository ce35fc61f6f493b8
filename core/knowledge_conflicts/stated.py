"""Whether a decision table decides all that another one says, and decides it so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.decision_table.checks.boxes import Box, Space
from core.decision_table.checks.segments import bits
from core.decision_table.feel import Node, parse_expression
from core.errors import RuleInvalid
from core.models import DecisionTable, HitPolicy, InputColumn, OutputColumn
from core.snapshots import name_key

# Rows that meet and say the same are one answer.
_ONE_ANSWER = {HitPolicy.ANY, HitPolicy.FIRST, HitPolicy.PRIORITY}
_UNORDERED = {HitPolicy.UNIQUE, HitPolicy.ANY, HitPolicy.COLLECT}


def same_conditions(one: Box, other: Box) -> bool:
    """Tell whether two rows of a space match the same cases."""
    if one.row.inputs == other.row.inputs:
        return True
    return one.clear and other.clear and bool(all(one.must)) and one.must == other.must


def same_cell(one: str, other: str) -> bool:
    """Tell whether two output cells are the same but for how they are written."""
    return one == other or (bool(one and other) and _tree(one) == _tree(other))


def states(space: Space, table: DecisionTable, known: DecisionTable) -> bool:
    """Tell whether `known` gives what `table` gives wherever a row of `table` matches.

    `space` holds the rows of `table`, then those of `known`, in the columns of the latter. What
    cannot be told counts as a difference.
    """
    if not _same_frame(table, known):
        return False
    count = len(table.rows)
    homes = [_home(box, space.boxes[count:]) for box in space.boxes[:count]]
    places = {number: count + home for number, home in enumerate(homes) if home is not None}
    if len(places) < count:
        return False
    taken = set(places.values())
    if known.hit_policy not in _ONE_ANSWER and len(taken) < count:
        return False  # a row that is said twice counts twice
    answers_always = known.aggregation is not None or any(c.default for c in known.outputs)
    if answers_always and len(taken) < len(known.rows):
        return False  # what no row of `table` matches has an answer too
    others = sum(1 << number for number in range(count, len(space.boxes)) if number not in taken)
    return not any(
        _interferes(space, known.hit_policy, number, home, other)
        for number, home in places.items()
        for other in bits(space.perhaps_meeting[number] & others)
    ) and (known.hit_policy in _UNORDERED or not _turned(space, places))


def _same_frame(table: DecisionTable, known: DecisionTable) -> bool:
    """Tell whether columns, hit policy and aggregation are the same."""
    policies = (table.hit_policy, table.aggregation), (known.hit_policy, known.aggregation)
    return (
        policies[0] == policies[1]
        and _columns(table.inputs) == _columns(known.inputs)
        and _columns(table.outputs) == _columns(known.outputs)
    )


def _columns(
    columns: Sequence[InputColumn | OutputColumn],
) -> dict[str, tuple[str, str, str]]:
    return {
        name_key(column.name): (column.type, column.allowed, getattr(column, "default", ""))
        for column in columns
    }


def _home(box: Box, known: Sequence[Box]) -> int | None:
    """Give the place of the known row that says the same."""
    return next(
        (n for n, other in enumerate(known) if same_conditions(box, other) and _same(box, other)),
        None,
    )


def _interferes(space: Space, policy: HitPolicy, number: int, home: int, other: int) -> bool:
    """Tell whether a known row that `table` does not have changes what one of its rows gives."""
    if policy not in _ONE_ANSWER:
        return True
    comes_later = policy is HitPolicy.FIRST and other > home
    return not comes_later and not _same(space.boxes[number], space.boxes[other])


def _turned(space: Space, places: Mapping[int, int]) -> bool:
    """Tell whether two rows that meet and give other things stand the other way round."""
    return any(
        places[number] > places[other] and not _same(space.boxes[number], space.boxes[other])
        for number in places
        for other in bits(space.perhaps_meeting[number])
        if number < other < len(places)
    )


def _same(one: Box, other: Box) -> bool:
    return all(map(same_cell, one.row.outputs, other.row.outputs))


def _tree(cell: str) -> tuple[object, ...]:
    try:
        return _shape(parse_expression(cell))
    except RuleInvalid:
        return ("text", cell)


def _shape(node: Node) -> tuple[object, ...]:
    """Give a tree without the places of its tokens."""
    return (node.op, node.value, *(_shape(part) for part in node.parts))
