"""Rules that are read piece by piece, and what no table is made of."""

from __future__ import annotations

import pytest

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
]


@pytest.mark.parametrize("text", READ)
def test_a_rule_told_in_pieces_is_read(text: str) -> None:
    assert [row.test for row in rows_of(text)] == READ[text]


@pytest.mark.parametrize("text", WHOLE)
def test_what_says_more_than_its_rows_is_kept_whole(text: str) -> None:
    assert rows_of(text) == []


def test_who_it_holds_for_whatever_else_comes_before_the_rest() -> None:
    text = (
        "The late fee is $12 once a rental is more than 3 days overdue. Up to 3 days overdue "
        "it's $4. Students pay $2 however late they are."
    )
    assert [len(row.when) for row in rows_of(text)] == [2, 2, 1]
