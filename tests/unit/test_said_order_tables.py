"""Of a decision table, the cells and rows set later stand; the others are learnt."""

from __future__ import annotations

import pytest

from core.changes.said_order.tables import LaterRows, settled_table, stated
from core.decision_table import parse_xml, to_xml
from core.domain.errors import RuleInvalid
from core.domain.models import (
    DecisionRow,
    DecisionTable,
    HitPolicy,
    InputColumn,
    Operation,
    OutputColumn,
    RuleDraft,
    RuleRequest,
)

Rows = dict[str, tuple[str, str, str]]
BASE: Rows = {
    "r1": ("> 100", '"lead"', "3"),
    "r2": ("<= 100", '"clerk"', "1"),
}


def table(
    rows: Rows, name: str = "approval", policy: HitPolicy = HitPolicy.UNIQUE, more: str = ""
) -> str:
    outputs = [OutputColumn(name="who"), OutputColumn(name="days", type="number")]
    return to_xml(
        DecisionTable(
            name=name,
            hit_policy=policy,
            inputs=(InputColumn(name="amount", type="number"),),
            outputs=(*outputs, OutputColumn(name=more)) if more else tuple(outputs),
            rows=tuple(
                DecisionRow(
                    id=row_id,
                    inputs=(cells[0],),
                    outputs=(*cells[1:], '"x"') if more else cells[1:],
                    annotation=f"about {row_id}",
                )
                for row_id, cells in rows.items()
            ),
        ),
        decision_id="d",
    )


def rows_of(xml: str) -> Rows:
    return {row.id: (row.inputs[0], row.outputs[0], row.outputs[1]) for row in parse_xml(xml).rows}


def later(*states: Rows) -> LaterRows:
    found = LaterRows()
    for before, after in zip((BASE, *states), states, strict=False):
        found.follow(table(before), table(after))
    return found


def settled(now: Rows, wanted: Rows, *states: Rows) -> tuple[Rows, list[str]]:
    made, left = settled_table(table(now), table(wanted), later(*states))
    return rows_of(made), left


def test_another_cell_of_the_same_row_is_learnt() -> None:
    now = {**BASE, "r1": ("> 100", '"director"', "3")}
    made, left = settled(now, {**BASE, "r1": ("> 100", '"boss"', "9")}, now)
    assert made["r1"] == ("> 100", '"director"', "9")
    assert left == ["about r1"]


def test_a_row_added_later_keeps_every_cell() -> None:
    now = {**BASE, "r3": ("> 900", '"board"', "30")}
    wanted = {**BASE, "r3": ("> 900", '"boss"', "1"), "r2": ("<= 100", '"nobody"', "1")}
    made, left = settled(now, wanted, now)
    assert made == {**now, "r2": ("<= 100", '"nobody"', "1")}
    assert left == ["about r3"]


def test_a_row_removed_later_does_not_come_back() -> None:
    now = {"r2": BASE["r2"]}
    wanted = {**now, "r9": ("> 100", '"boss"', "1"), "r8": ("> 5000", '"board"', "9")}
    made, left = settled(now, wanted, now)
    assert made == {**now, "r8": ("> 5000", '"board"', "9")}
    assert left == ["about r9"]


def test_the_old_condition_of_a_row_does_not_come_back_as_a_row() -> None:
    now = {**BASE, "r1": ("> 200", '"lead"', "3")}
    made, left = settled(now, {**now, "r9": ("> 100", '"boss"', "1")}, now)
    assert (made, left) == (now, ["about r9"])


def test_a_row_of_which_a_cell_was_set_later_is_not_removed() -> None:
    now = {**BASE, "r1": ("> 100", '"director"', "3")}
    made, left = settled(now, {"r9": ("= 7", '"x"', "1")}, now)
    assert made == {"r1": now["r1"], "r9": ("= 7", '"x"', "1")}
    assert left == ["about r1"]


def test_a_row_of_a_table_that_was_named_later_or_joined_is_removed() -> None:
    found = later(BASE | {"r3": ("> 900", '"board"', "30")})
    found.follow(table(BASE, "other"), table(BASE))
    now = {**BASE, "r3": ("> 900", '"board"', "30")}
    made, left = settled_table(table(now), table({"r2": BASE["r2"]}), found)
    assert rows_of(made) == {"r2": BASE["r2"], "r3": now["r3"]}
    assert left == ["about r3"]


def test_what_is_added_stands_before_what_was_added_later() -> None:
    now = {**BASE, "r3": ("> 900", '"board"', "30")}
    made, _ = settled(now, {**now, "r4": ("= 7", '"x"', "1")}, now)
    assert [*made] == ["r1", "r2", "r4", "r3"]


def test_a_name_and_a_policy_set_later_stand() -> None:
    found = LaterRows()
    now = table(BASE, "limits", HitPolicy.FIRST)
    found.follow(table(BASE), now)
    made, left = settled_table(now, table(BASE, "orders", HitPolicy.ANY), found)
    assert (parse_xml(made).name, parse_xml(made).hit_policy) == ("limits", HitPolicy.FIRST)
    assert left == ["limits", "FIRST"]
    made, left = settled_table(table(BASE), table(BASE, "orders", HitPolicy.ANY), LaterRows())
    assert (parse_xml(made).name, parse_xml(made).hit_policy) == ("orders", HitPolicy.ANY)
    assert left == []


def test_a_new_column_is_learnt_beside_rows_set_later() -> None:
    now = {**BASE, "r1": ("> 100", '"director"', "3")}
    made, _ = settled_table(table(now), table(BASE, more="form"), later(now))
    assert [column.name for column in parse_xml(made).outputs] == ["who", "days", "form"]
    assert rows_of(made)["r1"][1] == '"director"'


def test_of_a_deleted_table_the_rows_set_later_stay() -> None:
    now = {**BASE, "r1": ("> 100", '"director"', "3")}
    known = later(now)
    assert known.has_set_a_row(table(now))
    made, _ = settled_table(table(now), None, known)
    assert rows_of(made) == {"r1": now["r1"]}
    assert not LaterRows().has_set_a_row(table(now))
    assert not later({"r2": BASE["r2"]}).has_set_a_row(table({"r2": BASE["r2"]}))


def test_what_was_only_repeated_later_stands_too() -> None:
    repeated = RuleRequest(
        operation=Operation.UPDATE,
        target_id="d",
        rule=RuleDraft.model_validate(
            {
                "rows": [
                    {"inputs": {"amount": "> 100"}, "outputs": {"who": '"lead"'}},
                    {"id": "r2", "inputs": {}, "outputs": {"days": "1"}},
                    {"inputs": {"amount": "= 3"}, "outputs": {"who": '"x"'}},
                ]
            }
        ),
    )
    units = stated(repeated, table(BASE))
    assert set(units) == {
        ("cell", "r1", "in amount"),
        ("cell", "r1", "out who"),
        ("cell", "r2", "out days"),
    }
    found = LaterRows()
    found.states(table(BASE), units)
    wanted = {"r1": ("> 100", '"boss"', "8"), "r2": ("<= 100", '"boss"', "8")}
    made, left = settled_table(table(BASE), table(wanted), found)
    assert rows_of(made) == {"r1": ("> 100", '"lead"', "8"), "r2": ("<= 100", '"boss"', "1")}
    assert left == ["about r1", "about r2"]


def test_a_table_that_was_repeated_as_a_whole_stands_whole() -> None:
    found = LaterRows()
    found.states(table(BASE), None)
    made, left = settled_table(table(BASE), table({**BASE, "r1": ("> 100", '"x"', "8")}), found)
    assert (rows_of(made), left) == (BASE, ["about r1"])


def test_nothing_said_later_leaves_the_edit_as_it_is() -> None:
    wanted = {"r2": ("<= 100", '"x"', "8"), "r7": ("= 700", '"y"', "2")}
    made, left = settled_table(table(BASE), table(wanted), LaterRows())
    assert (rows_of(made), left) == (wanted, [])


def test_a_rest_that_is_no_table_is_refused() -> None:
    known = later({"r2": BASE["r2"]})
    with pytest.raises(RuleInvalid):
        settled_table(table({"r2": BASE["r2"]}), None, known)


CELLS = ("in amount", "out who", "out days")


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        (BASE, BASE, set()),
        (BASE, {"r2": BASE["r2"]}, {("row", "r1"), ("case", "amount\0> 100")}),
        (BASE, {**BASE, "r1": ("> 100", '"boss"', "3")}, {("cell", "r1", "out who")}),
        (
            BASE, {**BASE, "r1": ("> 200", '"lead"', "3")},
            {("cell", "r1", "in amount"), ("case", "amount\0> 100")},
        ),
        (
            BASE, {**BASE, "r3": ("-", '"x"', "1")},
            {("row", "r3"), ("case",), *(("cell", "r3", name) for name in CELLS)},
        ),
        (
            None, {"r1": BASE["r1"]},
            {("row", "r1"), ("case", "amount\0> 100"), *(("cell", "r1", name) for name in CELLS)},
        ),
        ({"r1": BASE["r1"]}, None, {("row", "r1"), ("case", "amount\0> 100")}),
    ],
)  # fmt: skip
def test_a_step_sets_the_parts_that_it_changes(
    before: Rows | None, after: Rows | None, parts: set[tuple[str, ...]]
) -> None:
    found = LaterRows()
    found.follow(*(table(rows) if rows is not None else None for rows in (before, after)))
    assert found.parts == parts


def test_a_step_may_set_the_name_or_the_policy_alone() -> None:
    for name, policy, part in (
        ("orders", HitPolicy.UNIQUE, ("name",)), ("approval", HitPolicy.ANY, ("hit policy",)),
    ):  # fmt: skip
        found = LaterRows()
        found.follow(table(BASE), table(BASE, name, policy))
        assert found.parts == {part}
        made, left = settled_table(table(BASE), table(BASE, "mine", HitPolicy.FIRST), found)
        kept = parse_xml(made)
        assert (kept.name == "mine", kept.hit_policy is HitPolicy.FIRST) == (
            part != ("name",), part != ("hit policy",),
        )  # fmt: skip
        assert left == (["approval"] if part == ("name",) else [HitPolicy.UNIQUE])


@pytest.mark.parametrize(
    ("wanted", "order"),
    [
        (["n1", "r1", "r2"], ["n1", "r1", "r2"]),
        (["r1", "n1", "r2"], ["r1", "n1", "r2"]),
        (["r1", "n1", "n2", "r2"], ["r1", "n1", "n2", "r2"]),
        (["r1", "r2", "n1"], ["r1", "r2", "n1"]),
    ],
)
def test_a_row_is_added_where_it_stood(wanted: list[str], order: list[str]) -> None:
    new = {"n1": ("= 1", '"a"', "1"), "n2": ("= 2", '"b"', "2"), **BASE}
    made, left = settled(BASE, {row_id: new[row_id] for row_id in wanted})
    assert ([*made], left) == (order, [])


def test_a_row_at_the_end_is_added_before_those_that_were_added_later() -> None:
    now = {**BASE, "l1": ("= 1", '"x"', "1"), "l2": ("= 2", '"y"', "2")}
    made, left = settled(now, {**now, "n1": ("= 3", '"z"', "3")}, now)
    assert ([*made], left) == (["r1", "r2", "n1", "l1", "l2"], [])
    taken, said = settled(now, {**now, "n1": ("= 1", '"z"', "3")}, now)
    assert (taken, said) == (now, ["about n1"])


def test_a_row_is_removed_unless_a_part_of_it_was_set_later() -> None:
    now = {**BASE, "r1": ("> 100", '"boss"', "3")}
    made, left = settled(now, {}, now)
    assert (made, left) == ({"r1": now["r1"]}, ["about r1"])
