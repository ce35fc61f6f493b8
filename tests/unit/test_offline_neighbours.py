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


def test_where_nothing_is_new_nothing_is_written() -> None:
    new, known = "환불은 7일 이내에 신청합니다", "“환불은 7일 이내에 신청합니다.”"
    tool, args = settle(View(new, "", ()), new, [{"id": "m1", "name": "n", "excerpt": known}])
    assert (tool, args["category"]) == ("no_action", "duplicate")
