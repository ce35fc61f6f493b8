"""What a model calls known already, and no item says the same."""

from __future__ import annotations

import pytest
from langchain_core.messages import ToolMessage

from core.agent.loop import known_already
from core.domain.models import Hit, Kind, Verdict, VerdictStatus
from core.testing.scripted_model import Turn, calls, says
from tests.evals import differences
from tests.support.react import CANDIDATE, MEMORY, Bench, FixedSearch, item_change


# The sealed half is counted, so that a failure shows none of its lines.
@pytest.mark.parametrize("hand", differences.HANDS)
async def test_no_pair_that_differs_is_known_already_unseen(hand: str) -> None:
    given = differences.pairs(hand, "differences")
    both = [*given, *((b, a) for a, b in given)]
    unseen = [await is_known(new, item) for new, item in both]
    assert sum(unseen) == 0


async def is_known(new: str, item: str) -> bool:
    case = bench(new, m1=item)
    claim = known_already.Claim(new, "it is known", "t1", "a1")
    return await known_already.unlike(claim, case.deps) is None


def known(reason: str = "already known") -> Turn:
    return calls(("no_action", {"reason": reason, "category": "duplicate"}))


def bench(text: str, *script: Turn, **items: str) -> Bench:
    """Return a bench whose agent knows memories, by id, and is told a text."""
    hits = [
        Hit(id=item_id, kind=Kind.MEMORY, name=item_id, excerpt=content[:20], score=0.5)
        for item_id, content in items.items()
    ]
    made = Bench(
        script,
        search=FixedSearch(hits),
        candidate=CANDIDATE.model_copy(update={"content": text}),
    )
    for item_id, content in items.items():
        made.knowledge.write(item_change(Kind.MEMORY, item_id, item_id, content))
    return made


def shown(bench: Bench, turn: int = 1) -> str:
    message = bench.model.seen[turn][-1]
    assert isinstance(message, ToolMessage)
    return message.text


def ended(verdict: Verdict) -> tuple[VerdictStatus, str | None]:
    return verdict.status, verdict.receipts[-1].category


@pytest.mark.parametrize(
    ("text", "item", "difference"),
    [
        ("반품이 되는 상품이 아녜요", "반품이 되는 상품이에요", "negation: new says 아녜요"),
        ("이 서류는 비공개입니다", "이 서류는 공개입니다", "negation: new says 비공개입니다"),
        ("The list is incomplete", "The list is complete", "negation: new says incomplete"),
        ("나사는 50개 미만이면 주문", "나사는 50개 이하이면 주문", "limit: new says 미만"),
        (
            "수도권은 3077건, 지방은 2315건",
            "수도권은 2315건, 지방은 3077건",
            "order: new says",
        ),
        ("Move stock from A to B", "Move stock from B to A", "order: new says"),
        ("재택은 팀장만 합니다", "재택은 팀장도 합니다", "scope: new says"),
        ("배지는 달아도 됩니다", "배지는 달아야 합니다", "duty: new says"),
    ],
)
async def test_what_differs_is_not_called_known_and_the_difference_is_shown(
    text: str, item: str, difference: str
) -> None:
    case = bench(text, known(), calls(("commit_to_memory", MEMORY)), says("done"), m1=item)
    assert (await case.run()).status is VerdictStatus.COMPLETED
    assert "m1" in shown(case)
    assert difference in shown(case)
    assert [request.operation for request, _ in case.gate.submitted] == ["CREATE"]


async def test_said_again_it_ends_the_run_with_the_difference_on_record() -> None:
    case = bench("환불은 14일 이내", known(), known("기간은 같습니다"), m1="환불은 7일 이내")
    verdict = await case.run()
    assert ended(verdict) == (VerdictStatus.NO_ACTION, "duplicate")
    for part in ("기간은 같습니다", "m1", "14일", "7일"):
        assert part in verdict.reason


@pytest.mark.parametrize(
    "text", ["환불은 7일 이내입니다", "“환불은 7일  이내입니다.”", "환불은 7일 이내예요"]
)
async def test_what_is_the_same_but_for_its_form_ends_at_once(text: str) -> None:
    case = bench(text, known(), m1="환불은 7일 이내입니다", m2="환불은 14일 이내입니다")
    assert ended(await case.run()) == (VerdictStatus.NO_ACTION, "duplicate")


async def test_an_item_named_in_the_reason_is_the_one_that_is_compared() -> None:
    case = bench(
        "환불은 7일 이내",
        known("m2가 같은 말입니다"),
        known(),
        m1="환불은 7일 이내",
        m2="점심은 12시",
    )
    await case.run()
    assert "점심" in shown(case)


async def test_a_skill_says_in_its_own_words_what_a_reason_names_it_for() -> None:
    case = bench("Close the shop early on holidays")
    excerpt = "# Hours\n\nOn holidays we go home at noon, after the till is counted.\n"
    case.search.hits = [Hit(id="hours", kind=Kind.SKILL, name="hours", excerpt=excerpt, score=0.5)]
    text = case.candidate.content

    async def is_known(reason: str) -> bool:
        claim = known_already.Claim(text, reason, "t1", "a1")
        return await known_already.unlike(claim, case.deps) is None

    assert await is_known("hours says so")
    assert not await is_known("it is known")


async def test_a_skill_that_says_the_contrary_says_nothing_of_it() -> None:
    case = bench("Never close the shop early on holidays")
    excerpt = "# Hours\n\nClose the shop early on holidays\n"
    case.search.hits = [Hit(id="hours", kind=Kind.SKILL, name="hours", excerpt=excerpt, score=0.5)]
    claim = known_already.Claim(case.candidate.content, "hours says so", "t1", "a1")
    assert await known_already.unlike(claim, case.deps) is not None


async def test_of_two_sentences_both_must_be_known() -> None:
    text = "환불은 7일 이내에 합니다. 교환은 9일 이내에 합니다."
    first, second = "환불은 7일 이내에 합니다", "교환은 9일 이내에 합니다"
    whole = bench(text, known(), m1=first, m2=second)
    assert ended(await whole.run()) == (VerdictStatus.NO_ACTION, "duplicate")
    half = bench(text, known(), known(), m1=first, m2="교환은 8일 이내에 합니다")
    await half.run()
    assert "8일" in shown(half)


async def test_nothing_known_that_resembles_it_refuses_nothing() -> None:
    case = bench("환불은 7일 이내에 합니다", known(), m1="로고는 파란색")
    assert ended(await case.run()) == (VerdictStatus.NO_ACTION, "duplicate")
