"""A number that names what a text is about tells two things apart; any other is a value."""

from __future__ import annotations

import pytest

from core.knowledge.duplicates import CLASHES, Known, evidence

NAMED = [
    ("1번 거래처는 월말에 결제한다", "2번 거래처는 월말에 결제한다"),
    ("3호기 점검은 월요일에 한다", "4호기 점검은 월요일에 한다"),
    ("101동 택배는 경비실에 맡긴다", "102동 택배는 경비실에 맡긴다"),
    ("제1공장은 월요일에 쉰다", "제2공장은 월요일에 쉰다"),
    ("첫 번째 창고는 냉동이다", "두 번째 창고는 냉동이다"),
    ("1차 협력사는 매달 평가한다", "2차 협력사는 매달 평가한다"),
    ("3호기가 멈추면 박 과장에게 알린다", "4호기가 멈추면 박 과장에게 알린다"),
    ("Pages for the first line go to Kim", "Pages for the second line go to Kim"),
    ("Line 1 is cleaned on Mondays", "Line 2 is cleaned on Mondays"),
    ("The 1st warehouse ships on Monday", "The 2nd warehouse ships on Monday"),
]
SAID = [
    ("알림은 하루 1번 보낸다", "알림은 하루 2번 보낸다"),
    ("환불은 3번 창구에서 한다", "환불은 5번 창구에서 한다"),
    ("3번 창구에서 환불한다", "5번 창구에서 환불한다"),
    ("2번 문의는 무료다", "3번 문의는 무료다"),
    ("3팀이 참가한다", "4팀이 참가한다"),
    ("2층에 재고를 둔다", "3층에 재고를 둔다"),
    ("회의는 매월 첫 번째 월요일이다", "회의는 매월 두 번째 월요일이다"),
    ("Refunds are handled at gate 3", "Refunds are handled at gate 4"),
    ("Retry 3 times", "Retry 5 times"),
    ("The meeting is on the first Monday", "The meeting is on the second Monday"),
]


def clashes(new: str, known: str) -> bool:
    found = evidence(new, Known("k", "k", known))
    return any(one.what in CLASHES for one in found.told)


@pytest.mark.parametrize(("new", "known"), NAMED)
def test_numbers_that_name_two_things_do_not_contradict(new: str, known: str) -> None:
    found = evidence(new, Known("k", "k", known))
    assert [one.what for one in found.differs] == ["name"]
    assert found.is_of_one_form
    assert not clashes(new, known)


@pytest.mark.parametrize(("new", "known"), SAID)
def test_numbers_that_a_text_says_of_its_subject_contradict(new: str, known: str) -> None:
    assert clashes(new, known)


def test_one_numbered_thing_of_which_two_values_are_said_contradicts() -> None:
    assert clashes("3호기 점검은 7일마다 한다", "3호기 점검은 14일마다 한다")
    assert clashes("First line support answers in 5 days", "First line support answers in 2 days")
