"""What is told of rows and outputs together: which are named, in which order, with what case."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest

from core.decision_table.checks.check import check_table, witness
from core.decision_table.checks.outputs import Outputs
from core.decision_table.checks.spoken import read_as_test
from core.domain.errors import RuleInvalid
from core.domain.models import (
    Aggregation,
    DecisionRow,
    DecisionTable,
    Defect,
    DefectKind,
    HitPolicy,
    InputColumn,
    OutputColumn,
    Severity,
)
from tests.support.table_cells import table

NUMBER = InputColumn(name="n", type="number")
OVERLAP, SUBSUMED, UNCHECKED = (
    DefectKind.OVERLAP,
    DefectKind.SUBSUMED_ROW,
    DefectKind.NOT_CHECKED,
)


def found(made: DecisionTable, *kinds: DefectKind) -> list[Defect]:
    return [each for each in check_table(made) if not kinds or each.kind in kinds]


def of_outputs(
    policy: HitPolicy, rows: Sequence[tuple[str, str]], output: OutputColumn | None = None
) -> DecisionTable:
    tests, outputs = zip(*rows, strict=True)
    return table(
        [NUMBER], [[test] for test in tests], policy=policy, outputs=outputs, output=output
    )


def test_each_row_that_overlaps_is_named_before_all_pairs_are() -> None:
    rows = [["<= 1"]] * 33 + [[">= 5"]] * 2
    made = table([NUMBER], rows)
    overlaps = found(made, OVERLAP)
    assert len(overlaps) == 500  # of 528 pairs and one
    assert ("r34", "r35") in [each.rows for each in overlaps]
    assert len({each.rows for each in overlaps}) == 500
    (more,) = found(made, UNCHECKED)
    assert "500" in more.message
    few = table([NUMBER], [["<= 1"]] * 32)
    assert len(found(few, OVERLAP)) == 496
    assert found(few, UNCHECKED) == []


def test_under_any_a_contradiction_has_its_column_and_its_case() -> None:
    made = of_outputs(HitPolicy.ANY, [("> 100", "1"), ("> 50", "2"), ("<= 50", "3")])
    (clash,) = check_table(made)
    assert (clash.kind, clash.severity) == (DefectKind.CONTRADICTION, Severity.ERROR)
    assert (clash.rows, clash.columns, clash.example) == (("r1", "r2"), ("out",), {"n": 101})
    maybe = of_outputs(HitPolicy.ANY, [("> 100", "n"), ("> 50", "n + 0"), ("<= 50", "3")])
    (unsure,) = check_table(maybe)
    assert (unsure.kind, unsure.severity) == (UNCHECKED, Severity.WARNING)
    assert (unsure.rows, unsure.columns, unsure.example) == (("r1", "r2"), ("out",), {"n": 101})
    surely = of_outputs(HitPolicy.ANY, [("> 100", "n"), ("> 50", "n + 1"), ("<= 50", "3")])
    assert [each.kind for each in check_table(surely)] == [DefectKind.CONTRADICTION]


def test_the_row_that_covers_all_but_null_is_named_alone() -> None:
    points = [([str(number)]) for number in range(13)]
    made = table([NUMBER], [*points, ["not(null)"], ["-"]], policy=HitPolicy.FIRST)
    (only_null,) = found(made, SUBSUMED)
    assert (only_null.rows, only_null.severity) == (("r15", "r14"), Severity.WARNING)
    assert only_null.example == {"n": None}
    single = table([NUMBER], [["< 5"], ["-"], ["> 7"]], policy=HitPolicy.FIRST)
    (never,) = found(single, SUBSUMED)
    assert (never.rows, never.example) == (("r3", "r2"), {"n": 8})
    some = table([NUMBER], [["< 5"], ["< 9"], [">= 4"], ["[1..20]"]], policy=HitPolicy.FIRST)
    (among,) = found(some, SUBSUMED)
    assert among.rows == ("r4", "r2", "r3")  # not the first, which is not needed


def test_under_priority_the_better_output_wins_wherever_its_row_stands() -> None:
    ranked = OutputColumn(name="out", type="string", allowed='"high", "low"')
    rows = [("> 5", '"low"'), ("-", '"high"'), ("> 7", '"low"')]
    made = of_outputs(HitPolicy.PRIORITY, rows, ranked)
    assert [each.rows for each in found(made, SUBSUMED)] == [("r1", "r2"), ("r3", "r1")]
    last = of_outputs(HitPolicy.PRIORITY, [("> 7", '"high"'), ("-", '"low"')], ranked)
    assert found(last, SUBSUMED) == []
    computed = of_outputs(HitPolicy.PRIORITY, [("> 7", '"low"'), ("-", "string(n)")], ranked)
    assert found(computed, SUBSUMED) == []  # its rank is not known
    unordered = of_outputs(
        HitPolicy.PRIORITY, [("-", '"low"')], ranked.model_copy(update={"allowed": ""})
    )
    (needs,) = check_table(unordered)
    assert (needs.kind, needs.columns, needs.rows) == (DefectKind.NOT_ALLOWED, ("out",), ())


def test_findings_come_errors_first_then_by_row_and_column() -> None:
    columns = [NUMBER, InputColumn(name="m", type="number")]
    rows = [["-", "-"], ["5", '"x"'], ["[5..1]", "null"], ['"y"', "[5..1]"]]
    made = table(columns, rows, policy=HitPolicy.FIRST, outputs=["1", "2", '"z"', "4"])
    text = InputColumn(name="s", type="string")
    spoken = table([text], [['"over 5"'], ['["b".."a"]']])
    assert [(each.severity, each.rows) for each in check_table(spoken)] == [
        (Severity.ERROR, ("r2",)),
        (Severity.WARNING, ("r1",)),
        (Severity.WARNING, ()),
    ]
    told = [(each.severity, each.rows, each.columns) for each in check_table(made)]
    assert told == [
        (Severity.ERROR, ("r2",), ("m",)),
        (Severity.ERROR, ("r2", "r1"), ()),
        (Severity.ERROR, ("r3",), ("n",)),
        (Severity.ERROR, ("r3",), ("out",)),
        (Severity.ERROR, ("r4",), ("n",)),
        (Severity.ERROR, ("r4",), ("m",)),
    ]


def test_a_table_whose_outputs_all_have_a_default_has_no_gap() -> None:
    one = OutputColumn(name="out", type="number", default="0")
    assert found(of_outputs(HitPolicy.UNIQUE, [("> 5", "1")], one)) == []
    (gap,) = found(of_outputs(HitPolicy.UNIQUE, [("> 5", "1")]))
    assert (gap.kind, gap.example, gap.rows) == (DefectKind.GAP, {"n": 5}, ())


def test_an_example_has_the_other_names_that_cells_use() -> None:
    other = InputColumn(name="rate", type="number")
    made = of_outputs(HitPolicy.UNIQUE, [("> 5", "rate * 2"), ("> 7", "rate")])
    made = made.model_copy(update={"declared": (other,)})
    overlap, gap = found(made, OVERLAP, DefectKind.GAP)
    assert (overlap.example, gap.example) == ({"n": 8, "rate": None}, {"n": 5, "rate": None})


@pytest.mark.parametrize(
    ("output", "column", "kind", "severity"),
    [
        ("1", {"type": "number"}, None, None),
        ("null", {"type": "number"}, None, None),
        ('"a"', {"type": "number"}, DefectKind.UNREADABLE, Severity.ERROR),
        ('"a"', {"type": "Any"}, None, None),
        ('"a"', {"type": "tGrade"}, None, None),
        ("1 +", {"type": "number"}, DefectKind.UNREADABLE, Severity.ERROR),
        ("1 / 0", {"type": "number"}, DefectKind.UNREADABLE, Severity.ERROR),
        ("1", {"type": "number", "allowed": "1, 2"}, None, None),
        ("null", {"type": "number", "allowed": "1, 2"}, None, None),
        ("3", {"type": "number", "allowed": "1, 2"}, DefectKind.NOT_ALLOWED, Severity.ERROR),
        ("abs(-3)", {"type": "number", "allowed": "1, 2"}, DefectKind.NOT_ALLOWED, Severity.ERROR),
        ("n", {"type": "number", "allowed": "1, 2"}, UNCHECKED, Severity.WARNING),
        ("n", {"type": "number"}, None, None),
        ("today()", {"type": "date", "allowed": "null"}, UNCHECKED, Severity.WARNING),
        ("", {"type": "number", "allowed": "1, 2"}, None, None),
    ],
)
def test_an_output_is_what_its_column_admits(
    output: str, column: dict[str, str], kind: DefectKind | None, severity: Severity | None
) -> None:
    made = of_outputs(
        HitPolicy.UNIQUE,
        [("-", output)],
        OutputColumn.model_validate({"name": "out", **column}),
    )
    told = [(each.kind, each.severity, each.rows, each.columns) for each in check_table(made)]
    assert told == ([(kind, severity, ("r1",), ("out",))] if kind else [])


def test_a_default_and_allowed_values_are_checked_as_outputs_are() -> None:
    def told(**column: str) -> list[tuple[DefectKind, tuple[str, ...], tuple[str, ...]]]:
        output = OutputColumn.model_validate({"name": "out", "type": "number", **column})
        made = of_outputs(HitPolicy.UNIQUE, [("-", "1")], output)
        return [(each.kind, each.rows, each.columns) for each in check_table(made)]

    assert told(default="2", allowed="1, 2") == []
    assert told(default="3", allowed="1, 2") == [(DefectKind.NOT_ALLOWED, (), ("out",))]
    assert told(default='"a"') == [(DefectKind.UNREADABLE, (), ("out",))]
    assert told(allowed="1 +") == [(DefectKind.UNREADABLE, (), ("out",))]


@pytest.mark.parametrize(
    ("output", "sums"), [("1", True), ('"a"', False), ("true", False), ("[1]", False), ("n", True)]
)
def test_what_is_summed_is_a_number_or_a_duration(output: str, sums: bool) -> None:
    made = of_outputs(HitPolicy.COLLECT, [("-", output)], OutputColumn(name="out", type="Any"))
    summed = made.model_copy(update={"aggregation": Aggregation.SUM})
    counted = made.model_copy(update={"aggregation": Aggregation.COUNT})
    assert [each.kind for each in check_table(summed)] == ([] if sums else [DefectKind.UNREADABLE])
    assert check_table(counted) == ()


def test_of_several_outputs_nothing_is_aggregated() -> None:
    made = of_outputs(HitPolicy.COLLECT, [("-", "1")])
    row = made.rows[0].model_copy(update={"outputs": ("1", "2")})
    two = made.model_copy(
        update={
            "outputs": (*made.outputs, OutputColumn(name="two", type="number")),
            "rows": (row,),
            "aggregation": Aggregation.MIN,
        }
    )
    (several,) = check_table(two)
    assert (several.kind, several.columns) == (DefectKind.NOT_ALLOWED, ("out", "two"))
    assert check_table(two.model_copy(update={"aggregation": None})) == ()


def test_two_rows_differ_first_where_they_surely_do() -> None:
    outputs = tuple(OutputColumn(name=name) for name in ("a", "b"))
    cells = {"r1": ("n", "1"), "r2": ("n + 0", "2"), "r3": ("n * 1", "1"), "r4": ("n", "1")}
    rows = tuple(DecisionRow(id=row, inputs=("-",), outputs=each) for row, each in cells.items())
    made = Outputs(DecisionTable(name="t", inputs=(NUMBER,), outputs=outputs, rows=rows))
    case = {"n": Decimal(5)}
    assert made.differ("r1", "r2", case) == ("b", True)
    assert made.differ("r1", "r3", case) == ("a", False)
    assert made.differ("r1", "r4", case) is None
    assert made.rank("r1") is None
    assert made.names == {"n"}
    assert not made.complete


def test_a_row_that_can_never_match_has_no_case() -> None:
    made = table([NUMBER], [["[5..1]"], ["> 5"], ['"a"'], ["modulo(?, 2) = 1.5"], ["> rate"]])
    made = made.model_copy(update={"declared": (InputColumn(name="rate", type="number"),)})
    cases = [witness(made, row.id) for row in made.rows]
    assert cases == [None, {"n": 6}, None, None, None]
    with pytest.raises(RuleInvalid, match="r9"):
        witness(made, "r9")
    unclear = table([InputColumn(name="n", type="list<number>")], [["null"]])
    assert witness(unclear, "r1") is None


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("19세 미만", "< 19"),
        ("100만원 이상", ">= 1000000"),
        ("1.5만 초과", "> 15000"),
        ("3천 이하", "<= 3000"),
        ("10k or more", ">= 10000"),
        ("over 1,000 EUR", "> 1000"),
        ("at most 5", "<= 5"),
        ("under $20", "< 20"),
        ("≥ 5", ">= 5"),
        ("=< 5", "<= 5"),
        ("!= 5kg", "!= 5"),
        ("10~20", "[10..20]"),
        ("between 1 and 5", "[1..5]"),
        ("[1..5)", "[1..5)"),
        ("not(5)", "not(5)"),
        ("over" + " " * 90 + "5", "> 5"),
        ("over 5 and more", None),
        ("gold", None),
        ("19세", None),
        (f"over {'1' * 75}", f"> {'1' * 75}"),
        (f"over {'1' * 76}", None),
    ],
)
def test_a_text_that_reads_like_a_test_is_read_as_it(text: str, test: str | None) -> None:
    assert read_as_test(text) == test


@pytest.mark.parametrize(
    ("column", "cell", "told"),
    [
        ({"type": "string"}, '"over 5"', 1),
        ({"type": "Any"}, '"over 5"', 1),
        ({"type": "number"}, '"over 5"', 0),
        ({"type": "string", "allowed": '"over 5", "x"'}, '"over 5"', 0),
        ({"type": "string", "allowed": '"x"'}, '"over 5"', 1),
        ({"type": "string"}, 'not("over 5", "x")', 1),
        ({"type": "string"}, '["over 5", "x", "under 3"]', 2),
        ({"type": "string"}, '"over 5', 0),
        ({"type": "string"}, '"gold"', 0),
        ({"type": "list<string>"}, '"over 5"', 0),
    ],
)
def test_a_text_in_a_cell_that_reads_like_a_test_is_told(
    column: dict[str, str], cell: str, told: int
) -> None:
    made = table([InputColumn.model_validate({"name": "x", **column})], [[cell]])
    spoken = found(made, DefectKind.SPOKEN_TEST)
    assert [(each.rows, each.columns, each.severity) for each in spoken] == [
        (("r1",), ("x",), Severity.WARNING)
    ] * told
