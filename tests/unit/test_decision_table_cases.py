"""Cases are stored in the XML of their row; everything else there keeps its bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from core.decision_table import parse_xml, same_table
from core.decision_table.document.markup import MODEL
from core.decision_table.learning.cases import Case, cases_of, put_cases
from tests.support.rules import learnt, row
from tests.unit.test_decision_table_edits import FOREIGN

FED = Case({"amount": 5}, {"fee": 9}, "feedback", "fb<1")
MADE = Case({"amount": None, "이름": 'a "b" ]]>\n'}, [{"fee": 1}, {"fee": 2}], "conditions")
SPECIFIC = "<dmn:extensionElements><x:mine>kept</x:mine></dmn:extensionElements>"
WITH_FOREIGN = FOREIGN.replace("<![CDATA[old]]></dmn:description>",
                               f"<![CDATA[old]]></dmn:description>{SPECIFIC}")  # fmt: skip
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=5)  # fmt: skip
cases = st.builds(
    Case,
    inputs=st.dictionaries(st.text(min_size=1), json_values, max_size=3),
    outcome=st.none() | st.dictionaries(st.text(), json_values, max_size=2),
    origin=st.sampled_from(["feedback", "conditions"]),
    feedback_id=st.none() | st.from_regex(r"[a-z0-9-]{1,20}", fullmatch=True),
)


@pytest.mark.parametrize("start", [FOREIGN, WITH_FOREIGN, learnt(row("> 1", "a")).xml])
def test_cases_go_in_and_out_and_leave_the_rest(start: str) -> None:
    before = cases_of(start)
    for row_id in [found.id for found in parse_xml(start).rows]:
        kept = before.get(row_id, ())
        full = put_cases(start, {row_id: [*kept, FED, MADE]})
        assert cases_of(full) == before | {row_id: (*kept, FED, MADE)}
        assert same_table(full, start)
        assert put_cases(full, {row_id: [*kept]}) == start


def test_they_stand_where_the_schema_wants_them() -> None:
    full = put_cases(FOREIGN, {"r1": [FED], "r2": [FED], "row_3": [FED]})
    root = etree.fromstring(full.encode())
    first = [
        [etree.QName(child).localname for child in rule][:2]
        for rule in root.iter(f"{{{MODEL}}}rule")
    ]
    assert first == [
        ["description", "extensionElements"],
        ["extensionElements", "inputEntry"],
        ["extensionElements", "inputEntry"],
    ]


def test_extensions_of_others_in_the_same_row_stay() -> None:
    full = put_cases(WITH_FOREIGN, {"r1": [FED]})
    assert "<x:mine>kept</x:mine><sw:case " in full
    only = full.replace("<x:mine>kept</x:mine>", "")
    assert "extensionElements><dmn:inputEntry" not in put_cases(only, {"r1": []})


def test_what_is_no_case_of_ours_is_left_alone() -> None:
    odd = FED.__class__({}, None, "feedback")
    full = put_cases(FOREIGN, {"r1": [odd]}).replace("<sw:inputs>{}<", "<sw:inputs>{]<")
    assert cases_of(full) == {}
    assert full in put_cases(full, {"r1": []})
    assert cases_of(put_cases(full, {"r1": [FED]})) == {"r1": (FED,)}


@given(st.lists(cases, max_size=3, unique_by=lambda case: (repr(case.inputs), repr(case))))
def test_every_case_is_read_as_it_was_written(held: list[Case]) -> None:
    full = put_cases(FOREIGN, {"r1": held, "r2": held[:1]})
    assert cases_of(full).get("r1", ()) == tuple(held)
    assert put_cases(full, {"r1": [], "r2": []}) == FOREIGN
