"""Whatever is learnt, untouched rows keep their bytes, and a revert restores all of them."""

from __future__ import annotations

from contextlib import suppress
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from core.decision_table import parse_xml
from core.decision_table.learning.cases import cases_of
from core.decision_table.learning.learn import learn_document, learn_edit
from core.domain.errors import RuleInvalid
from core.domain.models import MergeMode, RowEdit, RuleDraft
from tests.unit.test_decision_table_properties import START, rules_by_id

steps = st.lists(
    st.tuples(
        st.sampled_from(["change", "add", "remove", "note"]),
        st.integers(0, 20),
        st.integers(0, 9),
        st.sampled_from(["> {}", "<= {}", "{}", "[0..{}]"]),
        st.sampled_from([None, *range(12)]),
    ),
    min_size=1,
    max_size=6,
)


def draft(step: tuple[str, int, int, str, int | None], ids: list[str]) -> tuple[RuleDraft, str]:
    what, where, number, test, example = step
    row_id = ids[where % len(ids)]
    if what == "remove":
        return RuleDraft(remove_rows=(row_id,)), row_id
    case = {} if example is None else {"amount": example}
    inputs, outputs = {"amount": test.format(number)}, {"fee": str(number)}
    if what == "note":
        inputs, outputs = {}, {}
    row = RowEdit(inputs=inputs, outputs=outputs, example=case, annotation=f"note {number}")
    if what == "add":
        return RuleDraft(rows=(row.model_copy(update={"outputs": {"fee": str(number)}}),)), ""
    return RuleDraft(rows=(row.model_copy(update={"id": row_id}),)), row_id


@given(steps)
def test_learning_leaves_other_rows_alone_and_going_back_gives_all_bytes(
    sequence: list[tuple[str, int, int, str, int | None]],
) -> None:
    xml, ids, history = START, count(1), [START]
    for step in sequence:
        before = rules_by_id(xml)
        asked, touched = draft(step, list(before))
        mode = MergeMode.EXTEND if step[0] == "add" else MergeMode.REFINE
        with suppress(RuleInvalid):
            xml = learn_edit(
                xml, asked, mode, new_row_id=lambda: f"n{next(ids)}", feedback_id="f"
            ).xml
        after = rules_by_id(xml)
        assert all(after[kept] == text for kept, text in before.items() if kept != touched)
        assert set(cases_of(xml)) <= set(after)
        history.append(xml)
    for older in reversed(history):
        assert learn_document(older, xml).xml == older
        assert [row.id for row in parse_xml(older).rows] == list(rules_by_id(older))
        xml = older
    assert xml == START
