"""What of a task's matches is shown, and first: whose it is, how near, by which words."""

from __future__ import annotations

from itertools import permutations

import pytest

from core.domain.models import Kind
from core.domain.models.context import TaskMatch
from core.knowledge.context.selection import (
    EVERYDAY,
    names_others,
    question_of,
    select,
    topic_of,
    without_everyday,
)


def memory(text: str, **given: float) -> TaskMatch:
    return TaskMatch(
        kind=Kind.MEMORY, id=f"mem-{text[:9]}", name=text[:20], version=1, content=text, **given
    )


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("Copy Keller when you write to a customer about a refund.", "refund for an angry buyer"),
        ("The Derby branch handles a refund on Mondays only.", "refund for an angry buyer"),
        ("한결전자에 보내는 환불 자료는 엑셀로 정리한다.", "환불 자료를 보내 주세요"),
        ("수원 지점에서는 환불 업무를 월요일에만 처리한다.", "환불은 언제 처리하나요"),
        ("환불은 최민수 님에게 먼저 묻는다.", "환불은 누구에게 묻나요"),
    ],
)
def test_what_names_somebody_is_of_others_where_the_task_does_not(text: str, task: str) -> None:
    assert names_others(text, task)
    assert not names_others(text, f"{task}: {text}")


@pytest.mark.parametrize(
    "text",
    [
        "Refunds are paid on Monday or by the end of May.",
        "Never quote VAT to a customer. Round the total instead.",
        "New rule: Totals are rounded, and 'Totals' is spelt with a capital after a colon: Totals.",
        "Bei Rückgaben fragt man zuerst die Teamleitung im Haus.",
        "모든 지점에서는 환불 업무를 월요일에만 처리한다.",
        "고객님께는 먼저 사과하고 이사님께 알린다.",
        "",
    ],
)
def test_dates_abbreviations_and_offices_name_nobody(text: str) -> None:
    assert not names_others(text, "환불 refund")


def test_what_is_for_everybody_comes_before_what_names_others() -> None:
    own = memory("A refund begins with an apology.", matched=1.2, score=5.0)
    other = memory("Copy Keller on each refund to a customer.", matched=1.3, score=6.0)
    for found in permutations([own, other]):
        assert select("Answer a buyer about a refund", found) == [own, other]
        assert select("Answer Keller about a refund", found) == [other, own]


def test_what_names_others_breaks_no_silence_with_words_that_barely_tell() -> None:
    other = memory("Copy Keller on each refund to a customer.", matched=1.1, score=6.0)
    assert select("Write a poem about a refund", [other]) == []
    assert select("Write a poem about Keller's refund", [other]) == [other]


def test_words_break_the_silence_where_the_item_is_not_far_in_meaning() -> None:
    far = memory("Peonies: say what you can offer, not just no.", matched=1.04, score=6.0)
    near = memory("Wet fruit stays outside.", closeness=0.12)
    assert select("Why is that so?", [far]) == [far]
    assert select("Why is that so?", [far, near]) == []
    assert select("Why is that so?", [far.model_copy(update={"closeness": 0.3}), near]) != []


def test_what_people_ask_anybody_needs_more_of_an_item_than_work() -> None:
    found = memory("환불 영수증은 담당자가 보관합니다.", matched=1.1, score=4.0, closeness=0.25)
    work, talk = (found.model_copy(update={"small_talk": near}) for near in (0.25, 0.5))
    assert select("영수증은 누가 보관하나요", [work]) == [work]
    assert select("영수증이라는 시를 써 줘", [talk]) == []
    sure = talk.model_copy(update={"matched": 1.4})
    assert select("영수증이라는 시를 써 줘", [sure]) == [sure]


def test_an_english_task_needs_less_of_an_item_where_meaning_is_known() -> None:
    found = memory("Receipts are kept by the clerk.", matched=0.85, closeness=0.25)
    assert select("Who keeps the receipts?", [found]) == []
    known = found.model_copy(update={"small_talk": 0.35})
    assert select("Who keeps the receipts?", [known]) == [known]
    assert select("영수증은 누가 보관하나요", [known]) == []


def test_an_item_near_in_meaning_comes_before_one_of_a_chance_word() -> None:
    chance = memory("Boards are sanded twice.", matched=0.5, score=2.0, closeness=0.1)
    near = memory("Timber for the north is dried first.", matched=0.2, score=1.0, closeness=0.5)
    told = memory("The shop starts on dry timber.", matched=1.5, score=6.0, closeness=0.4)
    assert select("Can the boards go?", [chance, near, told])[-1] == chance


def test_everyday_words_and_short_numbers_tell_less_than_those_of_a_trade() -> None:
    assert without_everyday("curious about peonies at 12:30").split() == ["peonies", "at"]
    assert without_everyday("헷갈리는데 작약 구분 12개").split() == ["작약", "구분", "개"]
    floors = question_of(topic_of("just curious about peonies")).floors
    told, curious = floors["peoni"], floors["curious"]
    assert curious == EVERYDAY * told


def test_a_word_of_a_trade_tells_the_same_beside_everyday_ones() -> None:
    both = question_of("작약 작약이 헷갈리는").floors
    assert both["작약"] == question_of("작약 작약이").floors["작약"]


def test_a_task_of_everyday_words_alone_still_asks() -> None:
    assert question_of(topic_of("what was it again, just say")).counts
