"""Spans that say until when something holds, told from deadlines, limits and what recurs."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from core.agent.offline.reach import end_in, is_timed, left_open, timeless
from core.knowledge.duplicates import Known, evidence
from core.knowledge.how_long import is_open, span_in, without_open, without_span

KST = timezone(timedelta(hours=9))
SAID = datetime(2025, 12, 3, 9, tzinfo=KST)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("이번 달 말까지 배송비는 무료로 처리해 주세요", date(2025, 12, 31)),
        ("다음 주 금요일까지 견적에 납기일을 적어 주세요", date(2025, 12, 12)),
        ("금요일까지 배송비 무료입니다", date(2025, 12, 5)),
        ("이번 주말까지 배송비는 무료", date(2025, 12, 7)),
        ("다음 주까지 배송비 무료", date(2025, 12, 14)),
        ("앞으로 2주 동안 배송비는 무료입니다", date(2025, 12, 17)),
        ("앞으로 3일간 상담은 쉽니다", date(2025, 12, 6)),
        ("앞으로 두 달간 배송비는 무료입니다", date(2026, 2, 3)),
        ("3일간만 배송비를 받지 않습니다", date(2025, 12, 6)),
        ("이번 분기까지 할인율은 10%입니다", date(2025, 12, 31)),
        ("내년 1분기 말까지 할인율은 10%입니다", date(2026, 3, 31)),
        ("내년 상반기까지 신규 가입비는 무료", date(2026, 6, 30)),
        ("내년 3월까지 신규 가입비는 무료입니다", date(2026, 3, 31)),
        ("2026년 2월까지 신규 가입비는 무료입니다", date(2026, 2, 28)),
        ("내년까지 배송비 무료", date(2026, 12, 31)),
        ("올해 말까지 배송비 무료", date(2025, 12, 31)),
        ("연말까지 배송비 무료", date(2025, 12, 31)),
        ("12/24까지 선물 포장은 무료입니다", date(2025, 12, 24)),
        ("2025. 12. 24.까지 선물 포장은 무료입니다", date(2025, 12, 24)),
        ("크리스마스까지 선물 포장은 무료입니다", date(2025, 12, 25)),
        ("다음 달 10일까지 반품비는 무료입니다", date(2026, 1, 10)),
        ("2026-12-24 18:00까지 포장은 무료입니다", datetime(2026, 12, 24, 18, tzinfo=KST)),
        ("오늘 오후 6시까지 주문은 당일 발송합니다", datetime(2025, 12, 3, 18, tzinfo=KST)),
        ("지금부터 12월 31일까지 배송비는 무료입니다", date(2025, 12, 31)),
        ("이번 달 동안 배송비는 무료입니다", date(2025, 12, 31)),
        ("이번 달 말까지 답변은 영어로 작성해 주세요", date(2025, 12, 31)),
        ("쿠폰은 12월 31일까지 유효합니다", date(2025, 12, 31)),
        ("until next Friday, quotes show the delivery date", date(2025, 12, 12)),
        ("Until Q1 ends, shipping is free.", date(2026, 3, 31)),
        ("Until Christmas, gift wrap is free.", date(2025, 12, 25)),
        ("Gift wrap is free till Jan 10.", date(2026, 1, 10)),
        ("Until Jan. 10, gift wrap is free.", date(2026, 1, 10)),
        ("Shipping is free for 3 days only.", date(2025, 12, 6)),
        ("Shipping is free until 31/12/2026.", date(2026, 12, 31)),
        ("For the next two weeks, shipping is free.", date(2025, 12, 17)),
        ("For the rest of the year, shipping is free.", date(2025, 12, 31)),
        ("Shipping is free until March.", date(2026, 3, 31)),
        ("Shipping is free until the end of next quarter.", date(2026, 3, 31)),
        ("From now on until the end of the year, it is free.", date(2025, 12, 31)),
        ("Shipping is free until 6pm today.", datetime(2025, 12, 3, 18, tzinfo=KST)),
        ("This week only, shipping is free.", date(2025, 12, 7)),
    ],
)
def test_ways_to_say_until_when_are_read(text: str, end: date) -> None:
    assert end_in(text, SAID) == end
    assert is_timed(text, SAID)


@pytest.mark.parametrize(
    "text",
    [
        "매달 5일까지 제출해 주세요",
        "이번 주 금요일까지 보고서를 보내 주세요",
        "다음 달까지 홈페이지를 고쳐 주세요",
        "내일까지 답변드리겠습니다",
        "12월 31일까지 자료를 보관해 주세요",
        "구매 후 7일까지 환불됩니다",
        "7일까지 환불",
        "반품 상품은 3일간 보관합니다",
        "앞으로 30일 동안 보관해 주세요",
        "30일 동안 무료",
        "월요일부터 금요일까지 상담합니다",
        "9시부터 18시까지 운영합니다",
        "12월부터 2월까지는 동절기 요금입니다",
        "매년 12월 31일까지 정산합니다",
        "무료 주차는 2시간까지",
        "100만원까지는 팀장이 승인합니다",
        "부산까지 당일 배송됩니다",
        "3개월까지 할부됩니다",
        "Please send it by Friday.",
        "We are open until 6 pm.",
        "Support is open until Friday.",
        "Keep the files for 30 days.",
        "Store items for 3 days only.",
        "Free trial for 14 days",
        "not until 15 June",
        "Do not ship until the payment clears.",
        "Answer within an hour Monday through Friday.",
        "From Monday through Friday answer within an hour.",
        "Wait until Friday before you remind a customer.",
        "Refunds are possible until 7 days after delivery.",
        "Read through the list.",
        "By the end of the month, send the report.",
        "환불은 2/3까지만 가능합니다",
        "민원은 월요일 정오까지 답합니다",
        "매입 세금계산서는 다음 달 10일까지 받은 것만 인정한다",
        "승인이 날 때까지 기다린다",
        "답이 올 때까지 하차하지 않는다",
        "Late hauliers are rebooked for the next day.",
        "Students may leave until the end of week three.",
        "On-call is Aisha until the end of the month, then Marek.",
        "Place the wine order for this week.",
        "Be generous with people who have been with us for a while.",
    ],
)
def test_deadlines_limits_and_what_recurs_are_no_end(text: str) -> None:
    assert span_in(text) is None
    assert without_span(text) == text
    assert not is_open(text)


@pytest.mark.parametrize(
    "text",
    [
        "당분간 배송비는 무료입니다",
        "축제까지 배송비는 무료입니다",
        "추석까지 배송비는 무료입니다",
        "공사가 끝날 때까지 정문은 닫습니다",
        "한 달 동안 배송비는 무료입니다",
        "2월 30일까지 배송비는 무료입니다",
        "2024년 2월까지 배송비는 무료입니다",
        "이번 달 말까지 배송비 무료, 다음 달 말까지 포장 무료",
        "금액은 원화로 적습니다. 이번 달 말까지 배송비는 무료입니다.",
        "Shipping is free for now.",
        "Until the festival, shipping is free.",
        "Until further notice, work from home.",
        "By the end of this month, shipping is free.",
        "Shipping is free until 05/06/2026.",
    ],
)
def test_what_cannot_be_read_has_an_open_end_and_says_so(text: str) -> None:
    assert end_in(text, SAID) is None
    assert timeless(text, SAID) == text
    assert "open_end" in left_open(text, {}, is_new=False)


def test_an_end_without_a_day_of_saying_is_open() -> None:
    assert end_in("이번 달 말까지 배송비는 무료입니다", None) is None


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("이번 달 말까지 배송비는 무료입니다", "배송비는 무료입니다"),
        ("배송비는 이번 달 말까지만 무료입니다", "배송비는 무료입니다"),
        ("until 15 December, quotes show no date", "Quotes show no date"),
        ("Shipping is free until March.", "Shipping is free."),
        ("행사는 12월 24일까지입니다", "행사는 12월 24일까지입니다"),
        ("매장은 12월 3일까지 휴무입니다", "매장은 12월 3일까지 휴무입니다"),
        ("오늘까지 접수된 건은 무료입니다", "오늘까지 접수된 건은 무료입니다"),
        ("The shop is closed until 3 December.", "The shop is closed until 3 December."),
        ("이번 주까지만요", "이번 주까지만요"),
    ],
)
def test_the_span_is_left_out_where_the_words_do_without(text: str, rest: str) -> None:
    assert without_span(text) == rest


def test_words_that_name_no_end_are_no_part_of_a_rule() -> None:
    assert without_open("당분간 주문은 승인을 받습니다") == "주문은 승인을 받습니다"
    assert without_open("for now") == "for now"


def test_that_two_texts_end_alike_makes_them_no_more_alike() -> None:
    free = "이번 달 말까지 배송비는 무료로 처리해 주세요"
    for other in ("상담 전화는 1588-1234로 안내합니다", "신용카드 결제는 받지 않습니다"):
        found = evidence(f"이번 달 말까지 {other}", Known("m", "n", free))
        assert not found.is_near


def test_of_near_texts_another_end_is_told() -> None:
    known = Known("m", "n", "이번 달 말까지 배송비는 무료입니다")
    found = evidence("3월 말까지 배송비는 무료입니다", known)
    assert found.is_near
    assert found.differs


def test_a_moment_is_read_in_the_zone_in_which_it_was_said() -> None:
    said = datetime(2025, 12, 3, 9, tzinfo=UTC)
    end = datetime(2025, 12, 3, 18, tzinfo=UTC)
    assert end_in("오늘 18시까지 배송비는 무료입니다", said) == end
