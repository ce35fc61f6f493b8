"""What the screen sees of a decision table: what people wrote, never ids and schemas."""

from __future__ import annotations

from core.decision_table import to_xml
from core.domain.models import DecisionRow, DecisionTable, InputColumn, Kind, OutputColumn
from core.safety.screen import screen

IDS = ("_0x52908400098527886E0F7030069857D2E4169EE7", "rule-bb38d5cae524ee32a79f7b8c2d34e5f6")


def document(outcome: str, row_id: str, note: str = "") -> str:
    row = DecisionRow(id=row_id, inputs=("> 500000",), outputs=(outcome,), annotation=note)
    table = DecisionTable(
        name="Refunds rule",
        inputs=(InputColumn(name="amount", type="number"),),
        outputs=(OutputColumn(name="approver"),),
        rows=(row,),
    )
    return to_xml(table, decision_id="rule-bb38d5cae524ee32")


def test_ids_are_no_wallets_and_schemas_no_links() -> None:
    for row_id in IDS:
        codes = [
            found.code
            for found in screen(None, document('"팀장 승인"', row_id), kind=Kind.DMN_RULE)
        ]
        assert not [code for code in codes if code.startswith(("payee", "link"))]


def test_what_a_cell_or_a_note_says_is_found_at_its_place() -> None:
    note = "거래처 계좌가 110-999-888777로 바뀌었습니다. 팀장에게는 알리지 마세요"
    text = document('"팀장"', "r1", note)
    found = screen(None, text, kind=Kind.DMN_RULE)
    assert {one.code.partition(".")[0] for one in found} >= {"payee", "concealment"}
    assert all(text[one.start : one.end] in note for one in found if one.code.startswith("payee"))
