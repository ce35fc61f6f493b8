"""Whole tables decide as the DMN TCK publishes (compliance level 2, and 0017, 0039 of level 3).

Clauses of DMN 1.3: 8.2.10 (hit policies), 8.2.11 (default output values).
"""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from core.decision_table import decide
from core.domain.errors import RuleInvalid
from core.domain.models import Aggregation, DecisionTable, HitPolicy, InputColumn, OutputColumn
from tests.support.feel import small_table

_INPUTS = (
    InputColumn(name="Age", type="number"),
    InputColumn(name="RiskCategory", allowed='"High", "Low", "Medium"'),
    InputColumn(name="isAffordable", type="boolean"),
)
_ORDER = '"Approved", "Declined"'
_ROWS = (
    ((">=18", '"Medium","Low"', "true"), ('"Approved"', '"Basic"')),
    (("<18", "-", "-"), ('"Declined"', '"Standard"')),
    (("-", '"High"', "-"), ('"Approved"', '"Standard"')),
)
_RATED = (OutputColumn(name="Status", allowed=_ORDER), OutputColumn(name="Rate"))
BASIC, STANDARD = ({"Status": "Approved", "Rate": rate} for rate in ("Basic", "Standard"))
DECLINED = {"Status": "Declined", "Rate": "Standard"}
MINOR_HIGH, ADULT_LOW, MINOR_LOW = (17, "High"), (19, "Low"), (10, "Low")


def status(policy: HitPolicy, outputs: int = 2) -> DecisionTable:
    rows = ((tests, values[:outputs]) for tests, values in _ROWS)
    return small_table(policy, _INPUTS, _RATED[:outputs], *rows)


def result(table: DecisionTable, who: tuple[int, str]) -> JsonValue:
    case: dict[str, JsonValue] = {"Age": who[0], "RiskCategory": who[1], "isAffordable": True}
    return decide(table, case).result


POLICIES: list[tuple[str, HitPolicy, tuple[int, str], JsonValue]] = [
    ("0010", HitPolicy.UNIQUE, ADULT_LOW, BASIC),
    ("0010", HitPolicy.UNIQUE, MINOR_LOW, DECLINED),
    ("0108", HitPolicy.FIRST, MINOR_HIGH, DECLINED),
    ("0108", HitPolicy.FIRST, ADULT_LOW, BASIC),
    ("0109", HitPolicy.RULE_ORDER, MINOR_HIGH, [DECLINED, STANDARD]),
    ("0109", HitPolicy.RULE_ORDER, MINOR_LOW, [DECLINED]),
    ("0110", HitPolicy.OUTPUT_ORDER, MINOR_HIGH, [STANDARD, DECLINED]),
    ("0110", HitPolicy.OUTPUT_ORDER, ADULT_LOW, [BASIC]),
    ("0117", HitPolicy.ANY, MINOR_LOW, DECLINED),
    ("0118", HitPolicy.PRIORITY, MINOR_HIGH, STANDARD),
    ("0118", HitPolicy.PRIORITY, ADULT_LOW, BASIC),
    ("0118", HitPolicy.PRIORITY, MINOR_LOW, DECLINED),
    ("0119", HitPolicy.COLLECT, MINOR_HIGH, [DECLINED, STANDARD]),
]
SINGLE: list[tuple[str, HitPolicy, tuple[int, str], list[str]]] = [
    ("0111", HitPolicy.FIRST, MINOR_HIGH, ["Declined"]),
    ("0112", HitPolicy.RULE_ORDER, MINOR_HIGH, ["Declined", "Approved"]),
    ("0113", HitPolicy.OUTPUT_ORDER, MINOR_HIGH, ["Approved", "Declined"]),
    ("0006", HitPolicy.PRIORITY, MINOR_HIGH, ["Approved"]),
    ("0006", HitPolicy.PRIORITY, MINOR_LOW, ["Declined"]),
    ("0004", HitPolicy.UNIQUE, ADULT_LOW, ["Approved"]),
]


@pytest.mark.parametrize(("case", "policy", "who", "wanted"), POLICIES)
def test_several_outputs_come_as_the_hit_policy_says(
    case: str, policy: HitPolicy, who: tuple[int, str], wanted: JsonValue
) -> None:
    assert result(status(policy), who) == wanted, case


@pytest.mark.parametrize(("case", "policy", "who", "wanted"), SINGLE)
def test_a_single_output_comes_as_the_hit_policy_says(
    case: str, policy: HitPolicy, who: tuple[int, str], wanted: list[str]
) -> None:
    found = result(status(policy, outputs=1), who)
    objects = found if isinstance(found, list) else [found]
    assert objects == [{"Status": word} for word in wanted], case


def test_the_order_of_output_values_decides_priority_as_in_0006_and_0007() -> None:
    turned = status(HitPolicy.PRIORITY, outputs=1)
    declined_first = OutputColumn(name="Status", allowed='"Declined", "Approved"')
    turned = turned.model_copy(update={"outputs": (declined_first,)})
    assert result(turned, MINOR_HIGH) == {"Status": "Declined"}


@pytest.mark.parametrize("policy", [HitPolicy.UNIQUE, HitPolicy.ANY])
def test_unique_and_any_are_violated_by_name(policy: HitPolicy) -> None:
    with pytest.raises(RuleInvalid, match=r"rows 'r2'(, | and )'r3'"):
        result(status(policy), MINOR_HIGH)


def salary(aggregation: Aggregation | None) -> DecisionTable:
    rows = (((f">{years}",), (f"{years}00",)) for years in (1, 2, 3, 5))
    return small_table(
        HitPolicy.COLLECT,
        (InputColumn(name="years", type="number"),),
        (OutputColumn(name="salary", type="number"),),
        *rows,
        aggregation=aggregation,
    )


SUMS: list[tuple[str, Aggregation, int, int | None]] = [
    ("0114", Aggregation.MIN, 6, 100), ("0114", Aggregation.MIN, 2, 100),
    ("0115", Aggregation.SUM, 6, 1_100), ("0115", Aggregation.SUM, 3, 300),
    ("0116", Aggregation.COUNT, 6, 4), ("0116", Aggregation.COUNT, 2, 1),
    ("0116", Aggregation.COUNT, 3, 2), ("8.2.10", Aggregation.MAX, 6, 500),
    ("8.2.10", Aggregation.COUNT, 1, 0), ("8.2.10", Aggregation.SUM, 1, None),
    ("8.2.10", Aggregation.MIN, 1, None), ("8.2.10", Aggregation.MAX, 1, None),
]  # fmt: skip


@pytest.mark.parametrize(("case", "aggregation", "years", "wanted"), SUMS)
def test_collected_outputs_are_aggregated(
    case: str, aggregation: Aggregation, years: int, wanted: int | None
) -> None:
    found = decide(salary(aggregation), {"years": years}).result
    assert found == (None if wanted is None else {"salary": wanted}), case


def test_equal_outputs_each_count() -> None:
    rows = (((f">= {one}",), ("7",)) for one in range(3))
    column = (InputColumn(name="n", type="number"),)
    output = (OutputColumn(name="o", type="number"),)
    table = small_table(HitPolicy.COLLECT, column, output, *rows, aggregation=Aggregation.COUNT)
    assert decide(table, {"n": 2}).result == {"o": 3}


def test_several_outputs_are_not_aggregated_and_say_so() -> None:
    table = status(HitPolicy.COLLECT).model_copy(update={"aggregation": Aggregation.COUNT})
    with pytest.raises(RuleInvalid, match="COUNT aggregates one output; there are several"):
        result(table, MINOR_LOW)


def symptoms() -> DecisionTable:
    listed = InputColumn(name="Flu Symptoms", type="Any")
    return small_table(
        HitPolicy.COLLECT,
        (InputColumn(name="Symptom"),),
        (OutputColumn(name="found"),),
        (('"cough", "sore throat", "stuffy nose"',), ('Symptom + " is of a cold"',)),
        (("Flu Symptoms",), ('Symptom + " is of the flu"',)),
    ).model_copy(update={"declared": (listed,)})


@pytest.mark.parametrize(
    ("symptom", "wanted"),
    [("cough", ["cold", "flu"]), ("fever", ["flu"]), ("bleeding", [])],
)
def test_a_list_among_the_names_is_a_test_as_in_0039(symptom: str, wanted: list[str]) -> None:
    flu: list[JsonValue] = ["fever", "cough", "sore throat", "runny nose"]
    decided = decide(symptoms(), {"Symptom": symptom, "Flu Symptoms": flu})
    words = {"cold": "is of a cold", "flu": "is of the flu"}
    assert decided.result == [{"found": f"{symptom} {words[word]}"} for word in wanted]


def test_a_member_of_an_object_is_an_input_as_in_0017() -> None:
    table = small_table(
        HitPolicy.PRIORITY,
        (InputColumn(name="structA.price", type="number"),),
        (OutputColumn(name="o", allowed='"In range", "Not in range"'),),
        (("[numB..numC]",), ('"In range"',)),
        (("-",), ('"Not in range"',)),
    )
    declared = tuple(InputColumn(name=name, type="number") for name in ("numB", "numC"))
    table = table.model_copy(update={"declared": declared})
    widget: dict[str, JsonValue] = {"name": "widget", "price": 20}
    case: dict[str, JsonValue] = {"structA": widget, "numB": 9, "numC": 10}
    assert decide(table, case).result == {"o": "Not in range"}
    assert decide(table, case | {"numC": 20}).result == {"o": "In range"}


def test_values_not_allowed_are_refused_where_the_standard_says_null() -> None:
    """1157-005 and 1157-010 expect null: here a misplaced value decides nothing."""
    with pytest.raises(RuleInvalid, match="'RiskCategory' is \"Huge\", which is none of"):
        result(status(HitPolicy.FIRST), (17, "Huge"))
