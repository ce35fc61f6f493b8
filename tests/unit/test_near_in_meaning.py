"""Closeness in meaning makes texts near, and never the same."""

from __future__ import annotations

import pytest

from core.knowledge.duplicates import Known, evidence

CHOI = Known("k", "k", "Ms. Choi wants PDF only", closeness=0.44)


def test_one_fact_in_two_languages_is_near_by_meaning_alone() -> None:
    new = "최 과장님은 PDF만"
    assert not evidence(new, Known("k", "k", CHOI.text)).is_near
    found = evidence(new, CHOI)
    assert found.is_near
    assert not found.is_exact
    assert found.data()["close_in_meaning"] == 0.44


@pytest.mark.parametrize("closeness", [0.974, 1.0])
def test_swapped_figures_are_never_a_duplicate_however_close(closeness: float) -> None:
    known = Known("k", "k", "배송비는 수도권 2315원, 지방 3077원이다.", closeness=closeness)
    found = evidence("배송비는 수도권 3077원, 지방 2315원이다.", known)
    assert (found.is_exact, found.is_near) == (False, True)
    assert "order" in {difference.what for difference in found.differs}


@pytest.mark.parametrize("closeness", [0.0, 0.5, 1.0])
def test_what_differs_in_a_word_or_value_stays_near_at_any_closeness(closeness: float) -> None:
    known = Known("k", "k", "환불은 7일 안에 신청한다.", closeness=closeness)
    assert evidence("환불은 14일 안에 신청한다.", known).is_near


def test_texts_of_one_topic_that_mean_something_else_are_less_near() -> None:
    new, known = "회의실 예약은 공유 달력에서 합니다.", "회의실 예약 취소는 총무팀에 전화로 합니다."
    assert evidence(new, Known("k", "k", known)).is_near
    assert not evidence(new, Known("k", "k", known, closeness=0.1)).is_near


def test_a_part_of_a_long_text_is_near_whatever_the_whole_means() -> None:
    whole = "\n".join(
        ["환불은 7일 안에 신청한다.", *(f"{n}번 창고는 쉬는 날이다." for n in range(9))]
    )
    found = evidence("환불은 7일 안에 신청해야 합니다.", Known("k", "k", whole, closeness=0.0))
    assert found.is_near
