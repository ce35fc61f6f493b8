"""Cells of each FEEL type, and values at and between all boundaries that they name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from pydantic import JsonValue

from core.decision_table import decide
from core.domain.models import DecisionRow, DecisionTable, HitPolicy, InputColumn, OutputColumn

CELLS: Mapping[str, Sequence[str]] = {
    "number": (
        "-", "< 2", "<= 2", "> 2", ">= 2", "[1..5]", "(1..5)", "]1..5]", "[1..2)", "2", "1, 5",
        "not(2)", "not(< 2, > 5)", "!= 2", "= 5", "null", "not(null)", "2, null", "[5..1]",
        "? > 1 and ? < 5", "? = 2 or ? > 5", "[1, 5]", "? in (1, > 2)", "? between 1 and 2",
        "not([1..2])", "0.5 + 1.5", "not(? > 2)", "? != null and 2 <= ?", "not([1, 2])", "1.0",
    ),
    "string": (
        "-", '"a"', '"b"', '"a", "b"', 'not("a")', 'not("a", "b")', '< "b"', '>= "b"',
        '["a".."b"]', '("a".."b")', "null", "not(null)", '? = "a" or ? = "c"', '!= "b"',
    ),
    "boolean": ("-", "true", "false", "not(true)", "null", "? = false", "?", "true, false"),
    "date": (
        "-", '< date("2024-02-29")', '<= @"2024-02-28"', '> @"2024-02-28"', '>= @"2024-02-29"',
        '[@"2024-02-28"..@"2024-03-01"]', '(@"2024-02-28"..@"2024-02-29")', "null",
        'not(@"2024-02-29")', '@"2024-02-29" + @"P1D"', '!= @"2024-02-28"',
    ),
    "time": (
        "-", '< time("09:00:00")', '>= @"09:00:00"', '[@"00:00:00"..@"09:00:00")',
        '(@"09:00:00"..@"18:00:00")', 'not(@"09:00:00")', '> @"23:59:59.999999"',
    ),
    "date and time": (
        "-", '< date and time("2024-03-01T00:00:00Z")', '>= @"2024-03-01T09:00:00+09:00"',
        '(@"2024-03-01T00:00:00Z"..@"2024-03-02T00:00:00Z")', '@"2024-03-01T00:00:00Z"',
    ),
    "days and time duration": (
        "-", '< duration("P1D")', '>= @"PT24H"', '(@"-P1D"..@"P1D"]', 'not(@"PT0S")',
    ),
    "years and months duration": (
        "-", '< duration("P1Y")', '> @"P11M"', '>= @"P13M"', '(@"P1Y"..@"P13M")', '@"P12M"',
    ),
    "Any": ("-", '"a"', "> 2", "true", "null", 'not("a")', '[2, "a"]', 'not([2, "a"])'),
}  # fmt: skip

VALUES: Mapping[str, Sequence[JsonValue]] = {
    "number": (0, 1, 1.5, 2, 3, 5, 6, None),
    "string": ("", "Z", "a", "a0", "b", "bb", "c", "d", None),
    "boolean": (True, False, None),
    "date": ("2024-01-01", "2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02", None),
    "time": (
        "00:00:00", "08:00:00", "09:00:00", "10:00:00", "18:00:00", "19:00:00",
        "23:59:59.999999", None,
    ),
    "date and time": (
        "2024-02-29T23:59:59Z", "2024-03-01T00:00:00Z", "2024-03-01T12:00:00Z",
        "2024-03-02T00:00:00Z", "2024-03-03T00:00:00Z", None,
    ),
    "days and time duration": ("-P2D", "-P1D", "-PT1H", "PT0S", "PT1H", "P1D", "P2D", None),
    "years and months duration": ("P0M", "P11M", "P1Y", "P13M", "P14M", None),
    "Any": ("a", "b", 2, 3, 1, True, False, None),
}  # fmt: skip

ALLOWED: Mapping[str, Sequence[str]] = {
    "number": ("", "> 1", "[1..5]", "1, 2, null", "[1..5], null"),
    "string": ("", '"a", "b"', 'not("a")', '"a", null'),
    "boolean": ("",),
    "date": ("", '>= @"2024-02-29"', '[@"2024-02-28"..@"2024-02-29"]'),
    "time": ("", '<= @"18:00:00"'),
    "date and time": ("",),
    "days and time duration": ("", '>= @"PT0S"'),
    "years and months duration": ("", '>= @"P1Y"'),
    "Any": ("",),
}  # fmt: skip


def table(
    columns: Sequence[InputColumn],
    rows: Sequence[Sequence[str]],
    *,
    policy: HitPolicy = HitPolicy.UNIQUE,
    outputs: Sequence[str] = (),
    output: OutputColumn | None = None,
) -> DecisionTable:
    """Return a table of one output; its rows are r1, r2, …, by default with their number."""
    given = outputs or [str(number) for number in range(1, len(rows) + 1)]
    return DecisionTable(
        name="표",
        hit_policy=policy,
        inputs=tuple(columns),
        outputs=(output or OutputColumn(name="out", type="number"),),
        rows=tuple(
            DecisionRow(id=f"r{number}", inputs=tuple(cells), outputs=(value,))
            for number, (cells, value) in enumerate(zip(rows, given, strict=True), 1)
        ),
    )


def matching(checked: DecisionTable, case: Mapping[str, JsonValue]) -> list[str]:
    """Return the rows that match a case, by the evaluator. Raises RuleInvalid."""
    collected = checked.model_copy(
        update={
            "hit_policy": HitPolicy.RULE_ORDER,
            "outputs": (OutputColumn(name="out", type="Any"),),
        }
    )
    return list(decide(collected, case).fired)


def cases(checked: DecisionTable) -> list[dict[str, JsonValue]]:
    """Return all cases of the sampled values of the columns' types.

    A column without a type has the values of the types that its cells name.
    """
    names = [column.name for column in checked.inputs]
    choices = [
        _named([row.inputs[index] for row in checked.rows])
        if column.type == "Any"
        else VALUES[column.type]
        for index, column in enumerate(checked.inputs)
    ]
    return [dict(zip(names, values, strict=True)) for values in product(*choices)]


def _named(cells: Sequence[str]) -> list[JsonValue]:
    text = " ".join(cells)
    named = {bool: "true" in text, int: "2" in text, str: '"a"' in text}
    kinds = [kind for kind, there in named.items() if there] or [str]
    return [value for value in VALUES["Any"] if value is None or type(value) in kinds]
