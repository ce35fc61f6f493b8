"""Hanja are read as Hangul, as their place in the word changes them; other languages stay."""

from __future__ import annotations

import pytest

from core.knowledge.duplicates import Known, evidence
from core.knowledge.search.hanja import as_hangul


@pytest.mark.parametrize(
    ("hanja", "hangul"),
    [
        ("會議는 10時", "회의는 10시"),
        ("女子 男女", "여자 남녀"),
        ("勞動 勤勞", "노동 근로"),
        ("年度 2026年度 新年", "연도 2026년도 신년"),
        ("比率 確率 法律", "비율 확률 법률"),
        ("不動産 不足 不可", "부동산 부족 불가"),
        ("現金 金額", "현금 금액"),
        ("大韓民國은 民主共和國이다", "대한민국은 민주공화국이다"),
    ],
)
def test_hanja_are_read_as_they_are_said(hanja: str, hangul: str) -> None:
    assert as_hangul(hanja) == hangul
    assert len(hanja) == len(hangul)


@pytest.mark.parametrize("text", ["返金の", "会议", "東京都庁", "회의", "", "plain"])
def test_japanese_and_simplified_chinese_stay(text: str) -> None:
    assert as_hangul(text) == text


def test_a_text_in_hanja_and_its_hangul_are_near_without_a_difference() -> None:
    found = evidence("返品은 7日 안에 받는다", Known("k", "k", "반품은 7일 안에 받는다"))
    assert found.is_near
    assert found.differs == ()


def test_hanja_of_one_reading_differ() -> None:
    found = evidence("市場 報告는 월요일", Known("k", "k", "市長 報告는 월요일"))
    assert [(d.what, d.new, d.known) for d in found.differs] == [("words", ("市場",), ("市長",))]
