"""The offline model corrects a row refused for a clash, once."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from core.agent.offline.edits import edited_table
from core.agent.offline.tables import rows_of
from core.decision_table import draft_to_table, to_xml
from core.domain.models import Kind, Receipt, ReceiptStatus, RuleDraft, RuleRequest, VerdictStatus
from tests.support.react import Bench, item_change
from tests.unit.test_offline_model import Case, hit

CEO = "주문 금액이 500만원을 넘으면 대표 승인을 받아야 합니다"
CLASH = Receipt(
    status=ReceiptStatus.REFUSED,
    message="rows 'row-1' and 'row-9' both match where order amount = 6000000",
    kind=Kind.DMN_RULE,
    target_id="r1",
)


def clashing(*refusals: Receipt) -> Case:
    draft = RuleDraft.model_validate(
        {
            "name": "주문 금액 규칙",
            "inputs": [{"name": "주문 금액", "type": "number"}],
            "rows": [{"inputs": {"주문 금액": "not(< 1000000)"}, "outputs": {"처리": '"팀장"'}}],
        }
    )
    xml = to_xml(draft_to_table(draft, new_row_id=lambda: "row-1"), decision_id="r1")
    case = Case("주문 금액이 500만원을 넘으면 대표 승인을 받아야 합니다")
    case.bench = Bench([])
    case.bench.knowledge.write(item_change(Kind.DMN_RULE, "r1", "주문 금액 규칙", xml))
    case.bench.gate = type(case.bench.gate)([*refusals])
    case.hits = [hit("DMN_RULE", "주문 금액 규칙", "r1")]
    return case


@pytest.mark.parametrize(
    ("refusals", "ends"), [(1, VerdictStatus.COMPLETED), (2, VerdictStatus.NO_ACTION)]
)
async def test_a_clash_is_corrected_once(refusals: int, ends: VerdictStatus) -> None:
    case = clashing(*[CLASH] * refusals)
    status, _ = await case.run()
    assert status is ends
    asked = [request for request, _ in case.bench.gate.submitted]
    assert [r.rule.rows[0].id for r in asked if isinstance(r, RuleRequest) and r.rule] == [
        None,
        "row-1",
    ]


@pytest.mark.parametrize(
    ("test", "remark", "told"),
    [
        ("> 1000000", "팀장 승인", "팀장 승인 [주문 금액 (1000000..5000000]]"),
        (
            "(1..9000000]",
            "팀장 승인 [주문 금액 (1..9000000]]",
            "팀장 승인 [주문 금액 (1..5000000]]",
        ),
        ("> 1000000", "", ""),
    ],
)
def test_the_remark_of_a_narrowed_row_says_where_it_holds(
    test: str, remark: str, told: str
) -> None:
    row: JsonValue = {"id": "row-1", "inputs": [test], "outputs": ['"팀장"'], "annotation": remark}
    table: dict[str, JsonValue] = {
        "inputs": [{"name": "주문 금액", "type": "number"}],
        "outputs": [{"name": "처리"}],
        "rows": [row],
    }
    edits = RuleDraft.model_validate(edited_table(rows_of(CEO), table, CEO))
    assert {row.id: row.annotation for row in edits.rows} == {"row-1": told, None: CEO}
