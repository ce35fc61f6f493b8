"""The offline model in a conversation: what takes back, puts another value, adds, or is open."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from langchain_core.messages import HumanMessage
from pydantic import JsonValue

from core.agent.offline.model import OfflineChatModel
from core.agent.offline.reach import end_in, is_end_alone, reach_in
from core.agent.offline.wording import put_in, replaced
from core.domain.text import fenced_json

WON = "견적 금액은 원화로 적어 주세요."
SAID = datetime(2026, 5, 6, tzinfo=UTC)


def lesson(known: str | None, **given: JsonValue) -> dict[str, JsonValue]:
    whole: dict[str, JsonValue] = {
        "kind": "MEMORY",
        "id": "m1",
        "name": "n",
        "operation": "CREATE",
        "status": "applied",
    }
    return whole | ({} if known is None else {"known": known}) | given


def step(
    text: str,
    *taught: dict[str, JsonValue],
    said: str = "앞말",
    author: str | None = "kim",
    **given: JsonValue,
) -> tuple[str, dict[str, JsonValue]]:
    feedback = {"text": text, "author": author, "said_at": "2026-05-06T09:00:00+09:00"}
    data: dict[str, JsonValue] = {
        "feedback": feedback | given,
        "candidate": {"content": text},
        "agent": {"id": "a1"},
        "related": [],
    }
    if taught:
        data["conversation"] = [{"text": said, "answered": True, "taught": [*taught]}]
    message = OfflineChatModel().answer([HumanMessage(fenced_json(data))], ["no_action"])
    (call,) = message.tool_calls
    return call["name"], call["args"]


@pytest.mark.parametrize(
    ("text", "known", "made"),
    [
        ("아니 그건 말고 달러로요", WON, "견적 금액은 달러로 적어 주세요."),
        (
            "아 잘못 말했다 영하 20도",
            "냉동창고 온도는 영하 18도로 맞춰",
            "냉동창고 온도는 영하 20도로 맞춰",
        ),
        ("5개", "재고가 10개 이하일 때 알림", "재고가 5개 이하일 때 알림"),
        ("김포 말고 파주로요", "김포 창고에서 출고합니다", "파주 창고에서 출고합니다"),
        (
            "Actually no, a spreadsheet.",
            "Send the report as a PDF.",
            "Send the report as a spreadsheet.",
        ),
        ("no, in dollars instead", "Amounts are in won", "Amounts are in dollars"),
    ],
)
def test_another_value_takes_the_place_of_the_one_of_its_kind(
    text: str, known: str, made: str
) -> None:
    tool, args = step(text, lesson(known))
    assert (tool, args["operation"], args["memory_id"]) == ("commit_to_memory", "UPDATE", "m1")
    assert (args["content"], args["relationship"]) == (made, "SUPERSEDES")


@pytest.mark.parametrize(
    "text",
    ["아까 말한 거 취소", "방금 한 말 취소. 헷갈렸어", "Scratch that.", "never mind", "forget it"],
)
def test_what_is_taken_back_is_deleted(text: str) -> None:
    tool, args = step(text, lesson(WON))
    assert (tool, args["operation"], args["memory_id"]) == ("commit_to_memory", "DELETE", "m1")


def test_a_table_that_is_taken_back_is_deleted() -> None:
    tool, args = step("아까 말한 거 취소", lesson("승인", kind="DMN_RULE", id="r1"))
    assert (tool, args["operation"], args["rule_id"]) == ("commit_to_dmn_rule", "DELETE", "r1")


@pytest.mark.parametrize(
    "text", ["아까 말한 거 취소", "다시 원래대로 해주세요", "back to what it was"]
)
def test_what_was_changed_is_set_back(text: str) -> None:
    changed = lesson("보고는 3시에", operation="UPDATE", before="보고는 5시에")
    tool, args = step(text, changed)
    assert (tool, args["operation"], args["content"]) == (
        "commit_to_memory",
        "UPDATE",
        "보고는 5시에",
    )


@pytest.mark.parametrize(
    "taught", [lesson(None, gone=True), lesson(None, status="held"), lesson(WON, status="known")]
)
def test_what_stands_no_more_or_not_yet_or_was_known_is_left_alone(
    taught: dict[str, JsonValue],
) -> None:
    tool, args = step("아까 말한 거 취소", taught)
    assert (tool, args["category"]) == ("no_action", "unclear")


@pytest.mark.parametrize(
    "text", ["단, 배송 완료 문자는 예외입니다", "재진도요.", "Except gift purchases."]
)
def test_an_addition_stands_under_what_it_adds_to(text: str) -> None:
    _, args = step(text, lesson(WON))
    assert (args["operation"], args["merge_mode"], args["content"]) == ("UPDATE", "EXTEND", text)


@pytest.mark.parametrize("text", ["이번 달 말까지만요.", "Only until 31 May 2026, mind."])
def test_an_end_alone_is_set_on_what_was_taught(text: str) -> None:
    _, args = step(text, lesson(WON))
    assert (args["operation"], args["memory_id"], args["valid_until"]) == (
        "UPDATE",
        "m1",
        "2026-05-31",
    )
    assert not args.get("content")


@pytest.mark.parametrize("text", ["뒤엣것", "the second one", "세 장"])
def test_what_cannot_be_told_does_nothing(text: str) -> None:
    tool, args = step(text, lesson(WON))
    assert (tool, args["category"]) == ("no_action", "unclear")


def test_a_statement_of_its_own_is_learnt_as_if_it_stood_alone() -> None:
    text = "휴가 신청은 항상 팀장에게 메일로 보내야 합니다."
    assert step(text, lesson(WON)) == step(text)


MISSING, SHOWN = {"answered_missing": True}, {"output": "합계 1,000원"}
DANGLING = (
    "아니 그건 말고 달러로요",
    "그건 말고 달러로 해 주세요",
    "아까 말한 거 취소",
    "never mind",
    "원래대로 해 주세요",
    "No, in dollars instead",
    "이번 달 말까지만요.",
    "단, 의류만",
)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        *((text, given) for given in ({}, MISSING, SHOWN) for text in DANGLING),
        ("이거 말고 표로 정리해 주세요", {}),
        ("이거 말고 표로 정리해 주세요", MISSING),
        ("달러로요", MISSING),
        ("단, 배송 완료 문자는 예외입니다", MISSING),
    ],
)
def test_words_about_what_is_not_known_teach_nothing(
    text: str, given: dict[str, JsonValue]
) -> None:
    tool, args = step(text, **given)
    assert (tool, args["category"]) == ("no_action", "unclear")


@pytest.mark.parametrize(
    ("text", "given", "learnt"),
    [
        ("이거 말고 표로 정리해 주세요", SHOWN, "표로 정리해 주세요"),
        ("Instead of this, please use a table", SHOWN, "please use a table"),
        ("아니요, 그건 말고 송장 통화는 달러로 적어 주세요", {}, "송장 통화는 달러로 적어 주세요"),
        (
            "이건 말고도 사례를 항상 함께 적어 주세요",
            {},
            "이건 말고도 사례를 항상 함께 적어 주세요",
        ),
        ("No emojis please", MISSING, "No emojis please"),
        ("앞으로 금액은 달러로 적어 주세요", MISSING, "앞으로 금액은 달러로 적어 주세요"),
    ],
)
def test_what_stands_by_itself_is_learnt_without_dangling_words(
    text: str, given: dict[str, JsonValue], learnt: str
) -> None:
    tool, args = step(text, **given)
    assert (tool, args["operation"], args["content"]) == ("commit_to_memory", "CREATE", learnt)


def test_an_addition_with_an_end_stands_beside_what_it_adds_to() -> None:
    _, args = step("also add the holiday note until 15 December", lesson(WON))
    assert (args["operation"], args["relationship"]) == ("CREATE", "COMPLEMENTS")
    assert args["valid_until"] == "2026-12-15"


def test_another_value_is_set_with_its_end() -> None:
    _, args = step("아니 이번 달 말까지 달러로요", lesson(WON))
    assert (args["operation"], args["merge_mode"]) == ("UPDATE", "REPLACE")
    assert args["valid_until"] == "2026-05-31"


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("이번 달 말까지 배송비는 무료입니다", date(2026, 5, 31)),
        ("다음 달 말까지만 그렇게 해 주세요", date(2026, 6, 30)),
        ("6월 15일까지 할인합니다", date(2026, 6, 15)),
        ("2월 말까지 할인합니다", date(2027, 2, 28)),
        ("이번 주까지만요", date(2026, 5, 10)),
        ("until the end of the year", date(2026, 12, 31)),
        ("free shipping until June 15, 2027", date(2027, 6, 15)),
        ("through 2026-07-01", date(2026, 7, 1)),
        ("매달 5일까지 제출해 주세요", None),
        ("6월 15일까지 제출해 주세요", None),
        ("2월 30일까지 할인합니다", None),
        ("당분간 그렇게 해 주세요", None),
        ("for now", None),
        ("not until 15 June", None),
    ],
)
def test_how_long_something_holds_is_told_from_when_it_is_due(text: str, end: date | None) -> None:
    assert end_in(text, SAID) == end


def test_an_end_beside_other_words_is_no_end_alone() -> None:
    assert is_end_alone("이번 달 말까지만요.")
    assert not is_end_alone("이번 달 말까지 배송비는 무료입니다")
    assert not is_end_alone("배송비는 무료입니다")


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("저한테는 표로 보내 주세요", "user"),
        ("Always send tables to me", "user"),
        ("우리 팀 모두 존댓말을 씁니다", "tenant"),
        ("모든 에이전트는 존댓말을 씁니다", "tenant"),
        ("Every agent answers in English", "tenant"),
        ("김 부장님은 표를 원합니다", None),
        ("제 보고서는 표로 만들어 주세요", "user"),
        ("저는 카톡보다 메일로 받고 싶어요", "user"),
        ("I prefer short answers", "user"),
        ("My reports should have a table", "user"),
        ("Everyone on the team should write in British English", "tenant"),
        ("전 직원은 존댓말을 씁니다", "tenant"),
        ("제 생각에는 배송비가 너무 비쌉니다", None),
        ("저희 팀은 표를 씁니다", None),
        ("공지는 전 직원에게 메일로 보냅니다", None),
        ("고객 문의는 모두 기록합니다", None),
        ("Reply to everyone in the thread", None),
        ("Kids under 5 eat free, everyone else pays full price", None),
        ("My brother's company isn't involved", None),
        ("What do I need from them?", None),
        ("I want every quote to show the date", None),
        ("Orders over 1,000,000 need my approval", None),
    ],
)
def test_for_whom_it_is_is_told_from_plain_words(text: str, scope: str | None) -> None:
    assert reach_in(text, SAID, "kim").get("scope") == scope


def test_a_user_is_meant_only_where_one_is_known() -> None:
    assert reach_in("저한테는 표로 보내 주세요", SAID, None) == {}


def test_a_memory_is_committed_with_its_end_and_scope() -> None:
    tool, args = step("이번 달 말까지 저한테는 항상 표로 보내 주세요")
    assert (tool, args["operation"]) == ("commit_to_memory", "CREATE")
    assert (args["valid_until"], args["scope"]) == ("2026-05-31", "user")


@pytest.mark.parametrize(
    "text",
    [
        "이번 달 말까지 100만원을 넘는 주문은 팀장 승인을 받아야 합니다.",
        "축제까지 100만원을 넘는 주문은 팀장 승인을 받아야 합니다.",
        "오늘 오후 6시까지 주문은 당일 발송합니다.",
        "Until 31 May, orders over 1,000,000 KRW need a manager's approval.",
    ],
)
def test_a_rule_that_holds_for_a_time_is_a_memory_since_no_table_ends(text: str) -> None:
    tool, args = step(text)
    assert tool == "commit_to_memory"
    assert bool(args.get("valid_until")) == (not text.startswith("축제"))


def test_words_that_name_no_end_stand_in_no_table() -> None:
    tool, args = step("당분간 100만원을 넘는 주문은 팀장 승인을 받아야 합니다.")
    assert tool == "commit_to_dmn_rule"
    assert "당분간" not in str(args["rule"])
    assert "끝을 정하지 않았습니다" in str(args["reason"])


def test_what_ends_is_kept_without_the_words_that_say_until_when() -> None:
    _, args = step("고마워요! 이번 달 말까지 배송비는 무료로 처리해 주세요.")
    assert (args["content"], args["valid_until"]) == (
        "배송비는 무료로 처리해 주세요.",
        "2026-05-31",
    )


@pytest.mark.parametrize(
    ("text", "author", "said"),
    [
        ("배송비는 3천원입니다", "kim", "이 에이전트에 둡니다"),
        ("저한테는 이름을 크게 써 주세요", None, "모두에게 적용됩니다"),
        ("I prefer short answers.", None, "holds for all whom this agent serves"),
        ("당분간 배송비는 무료입니다", "kim", "끝을 정하지 않았습니다"),
    ],
)
def test_a_reason_says_what_was_left_open(text: str, author: str | None, said: str) -> None:
    _, args = step(text, author=author)
    assert said in str(args["reason"])
    assert "scope" not in args


@pytest.mark.parametrize(
    ("known", "fragment"),
    [
        ("하나도 없음", "5개"),
        ("3개와 4개", "5개"),
        ("10개 이하", "5개나 6개"),
        ("원화와 달러", "유로로"),
    ],
)
def test_a_value_without_one_clear_place_is_not_put(known: str, fragment: str) -> None:
    assert put_in(known, fragment) is None


def test_the_particle_behind_a_word_fits_the_new_one() -> None:
    assert replaced("학번을 먼저 적는다", "학번", "이름표") == "이름표를 먼저 적는다"
    assert replaced("부산으로 보낸다", "부산", "서울") == "서울로 보낸다"
    assert replaced("부산과 부산", "부산", "서울") is None
