"""Korean rules as they are said: what is drawn together in speech, and what stays whole."""

from __future__ import annotations

import pytest

from core.agent.offline import rules
from core.agent.offline.tables import rows_of

Rows = list[tuple[tuple[str, ...], str]]
SAID: list[tuple[str, Rows]] = [
    # A verb behind a limit, and a count that is only equalled beside it.
    ("강의에 5분 넘게 지각하면 경고, 20분 넘게 지각하면 결석 처리",
     [(("(5..20]",), "경고"), (("> 20",), "결석 처리")]),
    ("냉장고 재고가 3팩 이하로 줄면 주문 넣고 1팩 이하까지 줄었으면 급송으로 시키세요",
     [(("(1..3]",), "주문 넣음"), (("<= 1",), "급송으로 시키세요")]),
    ("택배 무게 20kg 초과로 나가면 화물로 돌리고 20kg까지는 일반 택배예요",
     [(("> 20",), "화물로 돌림"), (("<= 20",), "일반 택배예요")]),
    ("반납이 하루 늦으면 1천원, 이틀 이상 늦으면 3천원 받아요",
     [(("1",), "1천원"), ((">= 2",), "3천원 받아요")]),
    ("세 번 이상 빠진 손님은 예약을 안 받습니다", [((">= 3",), "예약을 안 받습니다")]),
    # People counted without a unit.
    ("혼자 오면 바 자리, 둘 이상 오면 테이블로 안내해",
     [(("1",), "바 자리"), ((">= 2",), "테이블로 안내해")]),
    ("한 번도 안 왔으면 전액 환불, 1회 이상 왔으면 환불 불가",
     [(("0",), "전액 환불"), ((">= 1",), "환불 불가")]),
    ("60점대는 C, 70점대는 B, 80점 이상은 A입니다",
     [(("[60..70)",), "C"), (("[70..80)",), "B"), ((">= 80",), "A입니다")]),
    # The other side of a limit, told without it.
    ("30분까지는 무료고 넘기면 2천원이에요", [(("<= 30",), "무료"), (("> 30",), "2천원이에요")]),
    ("주문이 10만원 넘으면 배송비 무료고 못 넘으면 3천원이에요",
     [(("> 100000",), "배송비 무료"), (("<= 100000",), "3천원이에요")]),
    ("오전 11시 넘어서 나가면 레이트 요금 2만원, 그 전에 나가면 무료예요",
     [(('> time("11:00:00")',), "레이트 요금 2만원"), (('<= time("11:00:00")',), "무료예요")]),
    # Days until something is due.
    ("신청서는 일주일 전까지 내면 접수하고 그 뒤에 내면 돌려보내세요",
     [((">= 7",), "접수함"), (("< 7",), "돌려보내세요")]),
    ("펜션은 하루 전까지 취소하면 반액 환불, 당일에 취소하면 환불 없음",
     [((">= 1",), "반액 환불"), (("0",), "환불 없음")]),
]  # fmt: skip
WHOLE = [
    "2개 사면 10% 할인, 5개 이상 사면 20% 할인",
    "예약은 이틀 전까지 취소하면 전액 환불, 당일에 취소하면 환불 없음",
    "당일 배송은 3천원이고 하루 전까지 주문하면 무료",
    "하루 쉬면 5만원, 이틀 쉬면 10만원 깎아요",
]


@pytest.mark.parametrize(("text", "rows"), SAID)
def test_korean_is_read_as_it_is_said(text: str, rows: Rows) -> None:
    read = rows_of(text)
    assert [(tuple(one.test for one in row.when), row.outcome) for row in read] == rows


@pytest.mark.parametrize("text", WHOLE)
def test_korean_that_no_row_can_hold_is_kept_whole(text: str) -> None:
    tool, args = rules.decide(rules.View(text=text, task="", related=()))
    assert (tool, args.get("content")) == ("commit_to_memory", text)
