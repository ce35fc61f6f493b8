"""Edits in any order: untouched rows and everything around them keep their bytes."""

from __future__ import annotations

import re
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from core.decision_table import edit_xml, parse_xml
from core.domain.models import RowEdit, RuleDraft
from tests.unit.test_decision_table_edits import FOREIGN

RULE = re.compile(r"<dmn:rule\b.*?</dmn:rule\s*>", re.DOTALL)
ROW_ID = re.compile(r"""<dmn:rule\s[^>]*?\bid=["']([^"']+)["']""")
# Rows without an id are known by their place, which moves: here each has one.
START = FOREIGN.replace("<dmn:rule><", '<dmn:rule id="r3"><')

cells = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"], exclude_characters="\"'()[]{}“”„,"),
    min_size=1,
    max_size=10,
).map(lambda text: text.strip() or "-")
steps = st.lists(
    st.tuples(st.sampled_from(["change", "add", "remove"]), st.integers(0, 20), cells, cells),
    min_size=1,
    max_size=8,
)


def rules_by_id(xml: str) -> dict[str, str]:
    found = {}
    for text in RULE.findall(xml):
        row_id = ROW_ID.match(text)
        assert row_id
        found[row_id[1]] = text
    return found


def around(xml: str) -> list[str]:
    """Return the text outside the rules, without white space."""
    return RULE.sub("", xml).split()


@given(steps)
def test_any_sequence_of_row_edits_leaves_the_rest_byte_identical(
    sequence: list[tuple[str, int, str, str]],
) -> None:
    xml, ids = START, count(1)
    for what, where, condition, result in sequence:
        before = rules_by_id(xml)
        row_id = list(before)[where % len(before)]
        edit = RowEdit(inputs={"amount": condition}, outputs={"fee": result})
        if what == "remove" and len(before) > 1:
            draft = RuleDraft(remove_rows=(row_id,))
        elif what == "change":
            draft = RuleDraft(rows=(edit.model_copy(update={"id": row_id}),))
        else:
            draft, row_id = RuleDraft(rows=(edit,)), ""
        xml = edit_xml(xml, draft, None, new_row_id=lambda: f"n{next(ids)}")
        after = rules_by_id(xml)
        assert all(after[kept] == text for kept, text in before.items() if kept != row_id)
        assert around(xml) == around(START)
        assert [row.id for row in parse_xml(xml).rows] == list(after)


@given(cells, cells)
def test_an_edit_and_its_opposite_give_the_first_bytes_back(condition: str, result: str) -> None:
    ids = count(1)

    def change(xml: str, condition: str, result: str) -> str:
        edit = RowEdit(id="r3", inputs={"amount": condition}, outputs={"fee": result})
        return edit_xml(xml, RuleDraft(rows=(edit,)), None, new_row_id=lambda: f"n{next(ids)}")

    assert change(change(START, condition, result), "5", "9") == START
