"""What the offline model does with a memory beside a near one."""

from __future__ import annotations

import pytest

from core.agent.offline.neighbours import settle
from core.agent.offline.rules import View

CASES = {
    "another person": (
        "Ms. Kim wants amounts in KRW",
        "Mr. Lee wants amounts in KRW",
        ("CREATE", "UNRELATED", None),
    ),
    "another company": (
        "한빛상사는 45일 안에 결제합니다",
        "두리무역은 45일 안에 결제합니다",
        ("CREATE", "UNRELATED", None),
    ),
    "one person, another value": (
        "Acme Corp pays within 30 days, not later",
        "Companies pay within 60 days, not later",
        ("CREATE", "UNRELATED", None),
    ),
    "another value": (
        "환불은 14일 이내에만 가능합니다",
        "환불은 7일 이내에만 가능합니다",
        ("UPDATE", "SUPERSEDES", "REPLACE"),
    ),
    "a denial": (
        "Never send invoices by mail",
        "Send invoices by mail",
        ("UPDATE", "SUPERSEDES", "REPLACE"),
    ),
    "another wording": (
        "환불은 일주일 이내에 받습니다",
        "환불은 7일 이내에 신청합니다",
        ("UPDATE", "EXTENDS", "EXTEND"),
    ),
    "a stricter limit": (
        "나사는 50개 미만이면 주문합니다",
        "나사는 50개 이하이면 주문합니다",
        ("UPDATE", "SUPERSEDES", "REPLACE"),
    ),
    "values of two things exchanged": (
        "수도권은 3077건, 지방은 2315건입니다",
        "수도권은 2315건, 지방은 3077건입니다",
        ("UPDATE", "SUPERSEDES", "REPLACE"),
    ),
    "a format of one more kind": (
        "보고서는 엑셀로도 보내 주세요",
        "보고서는 PDF로 보내 주세요",
        ("UPDATE", "EXTENDS", "EXTEND"),
    ),
    "more detail": (
        "환불은 7일 이내에 영수증 원본을 첨부해 신청합니다",
        "환불은 7일 이내에 신청합니다",
        ("UPDATE", "EXTENDS", "EXTEND"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_goes_by_what_differs(case: str) -> None:
    new, known, expected = CASES[case]
    tool, args = settle(View(new, "", ()), new, [{"id": "m1", "name": "n", "excerpt": known}])
    assert tool == "commit_to_memory"
    assert (args["operation"], args["relationship"], args.get("merge_mode")) == expected
    assert args["content"] == new
    assert str(args["reason"]).strip()


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("보고서는 엑셀로 보내 주세요", "보고서는 PDF로 보내 주세요"),
        ("주간 보고는 목요일에 보내 주세요", "주간 보고는 금요일에 보내 주세요."),
        ("보고서는 금요일까지 냅니다", "보고서는 목요일까지 냅니다"),
        ("회의는 오후에 합니다", "회의는 오전에 합니다"),
        ("승인은 박 부장이 한다", "승인은 김 부장이 한다"),
        ("승인은 부장이 한다", "승인은 팀장이 한다"),
        ("출고는 파주 창고에서 합니다", "출고는 김포 창고에서 합니다"),
        ("로고는 오른쪽에 넣어 주세요", "로고는 왼쪽에 넣어 주세요"),
        ("박 대리님은 보고서를 엑셀로 받습니다", "박 대리님은 보고서를 PDF로 받습니다"),
        ("Send the report as a spreadsheet", "Send the report as a PDF."),
        ("Send reports on Thursday", "Send reports on Friday"),
        ("Answer in English", "Answer in Korean"),
        ("The release is approved by Lee", "The release is approved by Kim"),
    ],
)
def test_another_value_in_the_same_slot_takes_its_place(new: str, known: str) -> None:
    for one, other in ((new, known), (known, new)):
        _, args = settle(View(one, "", ()), one, [{"id": "m1", "name": "n", "excerpt": other}])
        assert (args["operation"], args.get("merge_mode")) == ("UPDATE", "REPLACE")
        assert args["relationship"] == "SUPERSEDES"


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("교환비는 무료입니다", "배송비는 무료입니다"),
        ("박 대리님은 엑셀로 보내 주세요", "김 과장님은 PDF로 보내 주세요"),
        ("박 대리님은 보고서를 PDF로 받습니다", "김 과장님은 보고서를 PDF로 받습니다"),
        ("견적서는 엑셀로 보내 주세요", "보고서는 엑셀로 보내 주세요"),
        ("금요일에는 매출을 확인합니다", "목요일에는 매출을 확인합니다"),
        ("보고서에 표를 넣어 주세요", "보고서에 그래프를 넣어 주세요"),
        ("쿠폰은 신규 고객에게 줍니다", "쿠폰은 우수 고객에게 줍니다"),
        ("배송은 부산 고객에게 택배로 합니다", "배송은 서울 고객에게 택배로 합니다"),
        ("도장은 계약서에 찍어 주세요", "도장은 견적서에 찍어 주세요"),
        ("제목은 영어와 함께 적어 주세요", "제목은 한국어와 함께 적어 주세요"),
        ("보고서는 본문이 짧아야 합니다", "보고서는 제목이 짧아야 합니다"),
        ("Attach the invoice to the mail", "Attach the receipt to the mail"),
        ("Send the invoice as a PDF", "Send the report as a PDF"),
        ("Use KRW in invoices", "Use KRW in quotes"),
        ("Refunds are free", "Exchanges are free"),
    ],
)
def test_what_is_about_something_else_takes_no_place(new: str, known: str) -> None:
    for one, other in ((new, known), (known, new)):
        _, args = settle(View(one, "", ()), one, [{"id": "m1", "name": "n", "excerpt": other}])
        assert args.get("merge_mode") != "REPLACE"


def test_where_nothing_is_new_nothing_is_written() -> None:
    new, known = "환불은 7일 이내에 신청합니다", "“환불은 7일 이내에 신청합니다.”"
    tool, args = settle(View(new, "", ()), new, [{"id": "m1", "name": "n", "excerpt": known}])
    assert (tool, args["category"]) == ("no_action", "duplicate")
