"""The offline model corrects a row that was refused for a clash, once."""

from __future__ import annotations

import pytest

from core.decision_table import draft_to_table, to_xml
from core.models import Kind, Receipt, ReceiptStatus, RuleDraft, RuleRequest, VerdictStatus
from tests.support.react import Bench, item_change
from tests.unit.test_offline_model import Case, hit

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
