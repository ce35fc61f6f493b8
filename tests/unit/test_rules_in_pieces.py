"""Rules that are read piece by piece, and what no table is made of."""

from __future__ import annotations

import pytest

from core.agent.offline.stated import english
from core.agent.offline.stated.joining import joined
from core.agent.offline.stated.piecing import pieced
from core.agent.offline.tables import rows_of

READ = {
    "Delivery is free over $50; below that we charge $4.99.": ["> 50", "<= 50"],
    "Soil pH under 5.5? Spread lime. Over 7.5? Spread sulphur. In between, spread nothing.": [
        "< 5.5", "> 7.5", "[5.5..7.5]"],
    "Approve expense claims automatically unless they're over $500; those go to finance.": [
        "<= 500", "> 500"],
    "Interns: no admin access. Engineers: read-only. SREs: full.": [
        '"Interns"', '"Engineers"', '"SREs"'],
    "습도 40% 이하면 가습기, 60% 이상이면 제습기, 그 사이면 그냥 두세요.": [
        "<= 40", ">= 60", "(40..60)"],
    "쓰레기는 월수금은 일반, 화목은 재활용 내놓으세요": [
        '"월요일", "수요일", "금요일"', '"화요일", "목요일"'],
    "주문이 밤 11시 이전이면 당일 출고, 11시 넘으면 다음날 출고입니다.": [
        '< time("23:00:00")', '> time("23:00:00")'],
    "동의서 제출했으면 진행하고 제출 안 했으면 보류하세요": [
        '"동의서 제출했음"', '"제출 안 했음"'],
    "Deposits: 25% for parties of up to 20, 50% for anything bigger.": ["<= 20", "> 20"],
    "Chlorine below 1 ppm or above 4 ppm: close the pool. Between those it stays open.": [
        "< 1", "> 4", "[1..4]"],
    "Fridge at 2 to 8°C is fine. Outside that range, throw the stock out.": [
        "[2..8]", "not([2..8])"],
    "Fly the red flag when waves exceed 2 m, yellow from 1 to 2 m, green otherwise.": [
        "> 2", "[1..2]", "< 1"],
    "Leave requests with less than 2 weeks' notice go to the manager; 2 weeks or more, approve.": [
        "< 2", ">= 2"],
    "Bread is half price from 6pm on, full price before that.": [
        '>= time("18:00:00")', '< time("18:00:00")'],
    "Could you please charge $5 for bags over 20 kg, $2 for anything lighter? Thanks": [
        "> 20", "<= 20"],
    "Walk-ins before 11 am get a slot today. From 11 on, give them one tomorrow, thanks!": [
        '< time("11:00:00")', '>= time("11:00:00")'],
    "무료 주차는 2시간까지. 넘으면 5천원": ["<= 2", "> 2"],
    "당일 출고는 오후 2시 전 주문까지만요. 2시부터 들어온 건 익일 출고로 찍어야 합니다": [
        '< time("14:00:00")', '>= time("14:00:00")'],
    "불량률 0.5% 이하 합격, 0.5 초과 2% 이하는 재검, 2% 초과는 반납이라고 몇 번을 말합니까": [
        "<= 0.5", "(0.5..2]", "> 2"],
    "출석 80% 이상은 수료, 80% 미만은 미수료라고 안내해 주세요": [">= 80", "< 80"],
    "예약 문의 대기 5분 초과했고 단골이면 점장한테 돌려주세요": ["> 5"],
    "학생증 없는 만 19세 미만은 입장 거절하시면 됩니다": ['"없음"'],
}  # fmt: skip
WHOLE = [
    "The head chef can't stand coriander, so leave it out of staff meals.",
    "Members get 10% off on weekdays and 20% off on weekends.",
    "Reply to complaints within 24 hours and to questions within 3 days.",
    "Students under 25 get 20% off, others pay full price.",
    "성인은 평일 만원, 주말 만 5천원. 아이는 5천원.",
    "국내는 사원 8만원, 팀장 12만원이고 해외는 20만원입니다.",
    "대형견은 3만원, 소형견은 2만원이에요. 주말엔 만원씩 더 받아요.",
    "학생은 5천원인데 방학 때는 4천원입니다.",
    "입찰은 추정가 2천만원 이하는 수의계약 되는데 여성기업이면 5천까지 됩니다.",
    "10개 이상이면 10% 할인인데 회원은 20% 할인이에요",
    "매장에 있는 손님은 5천원, 없는 손님은 3천원이에요.",
    "members pay 10 an hour before 5pm and nothing from 5 on. Non-members pay 30 any time.",
    "만 70세 이상 손님이랑 참전용사는 목욕비 3,000원만 받습니다",
    "VIP는 2만원만 넘게 사도 포장이 무료고 일반은 4만원을 넘어야 무료예요",
    "마감이 2~4일 남은 우유엔 20% 할인 붙이고 오늘까지인 건 40%로 붙여요",
    "Charge 9 pounds postage for framed prints and 2 for everything else",
]


@pytest.mark.parametrize("text", READ)
def test_a_rule_told_in_pieces_is_read(text: str) -> None:
    assert [row.test for row in rows_of(text)] == READ[text]


@pytest.mark.parametrize("text", WHOLE)
def test_what_says_more_than_its_rows_is_kept_whole(text: str) -> None:
    assert rows_of(text) == []


def test_what_the_two_ways_read_with_other_conditions_is_kept_whole() -> None:
    text = (
        "Claims over $300 need a receipt, unless it's a silver account, in which case they are "
        "paid at once."
    )
    in_order, by_pieces = joined(*english.parts_of(text, [])), pieced([text])
    tests = [[[one.test for one in row.when] for row in rows] for rows in (in_order, by_pieces)]
    assert tests[0] != tests[1]
    assert rows_of(text) == []


def test_who_it_holds_for_whatever_else_comes_before_the_rest() -> None:
    text = (
        "The late fee is $12 once a rental is more than 3 days overdue. Up to 3 days overdue "
        "it's $4. Students pay $2 however late they are."
    )
    assert [len(row.when) for row in rows_of(text)] == [2, 2, 1]


def test_either_of_two_limits_leaves_the_rest_to_neither() -> None:
    text = "계약금액이 1억 이상이거나 거래처가 해외면 법무 검토는 필수예요. 그렇지 않으면 생략해요."
    assert [len(row.when) for row in rows_of(text)] == [1, 1, 0]


def test_both_of_two_limits_of_unlike_units_are_kept_apart() -> None:
    text = "배달은 3만원 이상이고 5km 이내면 가능합니다. 둘 중 하나라도 안 맞으면 불가예요."
    assert [len(row.when) for row in rows_of(text)] == [2, 0]


def test_what_is_set_against_limits_holds_whatever_they_are() -> None:
    text = "10kg 이하면 2만원, 10kg 넘으면 4만원인데 안내견은 무게 상관없이 안 받아요."
    assert [len(row.when) for row in rows_of(text)] == [2, 2, 1]
