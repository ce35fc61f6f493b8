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
    # What was done, and how long ago.
    ("교환은 수령하고 5일 이내면 무료, 5일 넘으면 왕복 배송비 받아요",
     [(("<= 5",), "무료"), (("> 5",), "왕복 배송비 받아요")]),
    ("주차는 1시간까지 무료, 1시간 넘고 3시간까지는 2천원, 3시간 넘으면 5천원",
     [(("<= 1",), "무료"), (("(1..3]",), "2천원"), (("> 3",), "5천원")]),
    ("처음은 무료고 두 번째부터 5천원이에요", [(("1",), "무료"), ((">= 2",), "5천원이에요")]),
    ("점수가 60점도 안 되면 재시험, 60점 이상은 통과",
     [(("< 60",), "재시험"), ((">= 60",), "통과")]),
    ("숙박 요금은 금토 20만원, 나머지 요일은 15만원이에요",
     [(('"금요일", "토요일"',), "20만원"), (('not("금요일", "토요일")',), "15만원이에요")]),
]  # fmt: skip
WHOLE = [
    "수영은 2시간까지 가능하고, 신발은 카운터에 맡기고, 문의는 팀장님께 하세요",
    "우수회원이 5만원 이상 사면 쿠폰 보내줘",
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
