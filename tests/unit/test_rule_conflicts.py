"""What code can prove about a drafted rule against known tables."""

from __future__ import annotations

import json

import pytest
from pydantic import JsonValue

from core.domain.models import DecisionTable, HitPolicy, RowEdit, RuleDraft
from core.knowledge.duplicates.rules import Beside, beside, compare_rules
from tests.support.rules import learnt, row

KNOWN = learnt(row("> 1000000", "팀장"), row("[1..1000000]", "없음")).table
OTHER = learnt(row("> 5", "x"), name="다른 표").table.model_copy(update={"outputs": ()})


def draft(*rows: RowEdit, name: str = "새 규칙") -> str:
    return RuleDraft(name=name, rows=rows).model_dump_json()


def relations(*rows: RowEdit) -> list[tuple[JsonValue, ...]]:
    (entry,) = compare_rules(draft(*rows), {"k": KNOWN})
    assert isinstance(entry, dict)
    found = entry["rows"]
    assert isinstance(found, list)
    return [tuple(one.values()) for one in found if isinstance(one, dict)]


@pytest.mark.parametrize(
    ("new", "relation"),
    [
        (row("> 1000000", "팀장"), (1, "r1", "duplicate", True)),
        (row(">1000000.0", "팀장"), (1, "r1", "duplicate", True)),
        (row("> 1000000", "사장"), (1, "r1", "contradiction", False)),
        (row("> 2000000", "팀장"), (1, "r1", "subsumed", True)),
        (row("> 2000000", "사장"), (1, "r1", "subsumed", False)),
        (row("[5..10]", "없음"), (1, "r2", "subsumed", True)),
        (row("[0..1000000]", "없음"), (1, "r2", "subsumes", True)),
        (row("[0..10]", "무"), (1, "r2", "overlap", False)),
    ],
)
def test_pairs_of_rows_are_told_by_how_they_stand(
    new: RowEdit, relation: tuple[JsonValue, ...]
) -> None:
    assert relations(new) == [relation]


def test_rows_apart_and_tables_of_other_columns_have_nothing_in_common() -> None:
    assert relations(row("< 0", "무")) == []
    (entry,) = compare_rules(draft(row("> 5", "x")), {"o": OTHER})
    assert entry == {
        "id": "o",
        "name": "다른 표",
        "name_collision": False,
        "same_columns": False,
        "exact_duplicate": False,
        "near_duplicate": False,
        "rows": [],
    }


def test_the_table_that_says_it_all_comes_first() -> None:
    near = learnt(row("> 7", "팀장"), name="가까운 표").table
    found = compare_rules(draft(row("> 1000000", "팀장")), {"o": OTHER, "n": near, "k": KNOWN})
    told = [(one["id"], one["exact_duplicate"], one["near_duplicate"]) for one in found
            if isinstance(one, dict)]  # fmt: skip
    assert told == [("k", True, False), ("n", False, True), ("o", False, False)]


@pytest.mark.parametrize(
    "text", ["승인 규칙은 이제 다르다", "[1, 2]", '"승인"', "{}", '{"rows": 5, "승인": 1}']
)
def test_free_text_is_compared_by_names(text: str) -> None:
    (entry,) = compare_rules(text, {"k": KNOWN})
    assert isinstance(entry, dict)
    assert entry["name_collision"] is ("승인" in text)


def test_a_draft_that_is_no_table_says_why() -> None:
    (entry,) = compare_rules(json.dumps({"name": " 승인 ", "rows": []}), {"k": KNOWN})
    assert isinstance(entry, dict)
    assert entry["name_collision"] is True
    assert "no row" in str(entry["problem"])


def test_a_draft_may_stand_in_the_arguments_of_the_tool() -> None:
    rule = json.loads(draft(row("> 1000000", "팀장")))
    (entry,) = compare_rules(json.dumps({"rule": rule}), {"k": KNOWN})
    assert isinstance(entry, dict)
    assert entry["exact_duplicate"] is True


def test_columns_are_the_same_by_name_whatever_their_case_and_order() -> None:
    def table(*names: str) -> DecisionTable:
        inputs = dict.fromkeys(names, "> 1")
        return learnt(RowEdit(inputs=inputs, outputs={"Out": "1"}), policy=HitPolicy.ANY).table

    assert beside(table("Amount", "Age"), table("age", "amount")) == Beside(1, 1, True)
    assert beside(table("Amount"), table("age", "amount")) is None


def test_many_pairs_are_cut_off_and_counted() -> None:
    rows = [row(f"> {number}", "a") for number in range(8)]
    table = learnt(*rows, policy=HitPolicy.COLLECT).table
    (entry,) = compare_rules(draft(*rows), {"k": table})
    assert isinstance(entry, dict)
    assert isinstance(entry["rows"], list)
    assert (len(entry["rows"]), entry["more_rows"]) == (20, 44)
