"""Contract of every search; a test class supplies `index`, `search` and `skills`.

`skills` is to be a `PartlyUnreadable`.
"""

from __future__ import annotations

import unicodedata

import pytest

from core.domain.models import SKILL_MD, Kind
from core.domain.ports import Search, SkillStore
from core.skills.bundle import bundle_hash
from tests.contracts.suites.search_items import (
    KNOWN,
    PartlyUnreadable,
    SearchIndex,
    found,
    memory,
    skill,
)
from tests.contracts.suites.search_queries import SearchQueries

__all__ = ["KNOWN", "PartlyUnreadable", "SearchContract", "SearchIndex", "found", "memory", "skill"]


class SearchContract(SearchQueries):
    """Inherit in a test class that defines the fixtures `index`, `search` and `skills`."""

    @pytest.mark.parametrize(
        ("query", "wanted"),
        [
            ("환불", "refund"),
            ("환불을", "refund"),
            ("환불승인 기한", "refund"),
            ("팀장님이 승인하는 주문", "approval"),
            ("1000000원이 넘는 주문", "approval"),
            ("100만원 초과", "approval"),
            ("원단위", "amounts"),
            ("월말보고서", "report"),
            ("재고가 부족하면 구매팀으로", "stock"),
            ("replying to a customer", "mail"),
            ("manager approval of an invoice", "invoice"),
            ("1000000 krw", "invoice"),
            ("payment gateway", "timeout"),
            ("HTTP timeouts", "timeout"),
            ("paymentgateway", "timeout"),
        ],
    )
    @pytest.mark.usefixtures("known")
    async def test_the_item_that_is_meant_comes_first(
        self, search: Search, query: str, wanted: str
    ) -> None:
        hits = await found(search, query)
        assert hits[0].id == wanted
        assert hits == sorted(hits, key=lambda hit: -hit.score)

    @pytest.mark.parametrize(
        ("query", "wanted"),
        [
            ("미팅 시간", "회의 시간은 열 시"),
            ("미팅을", "회의 시간은 열 시"),
            ("meetings", "회의 시간은 열 시"),
            ("會議", "회의 시간은 열 시"),
            ("반품은", "返品은 이레 안에 받는다"),
            ("返品", "返品은 이레 안에 받는다"),
            ("택배 지연", "배송 지연은 사흘까지"),
        ],
    )
    async def test_other_words_and_letters_of_one_sense_find_it(
        self, search: Search, index: SearchIndex, query: str, wanted: str
    ) -> None:
        texts = [
            "회의 시간은 열 시",
            "返品은 이레 안에 받는다",
            "배송 지연은 사흘까지",
            "점심은 열두 시",
        ]
        for number, text in enumerate(texts):
            await index.put(memory(f"m{number}", text))
        (hit, *_) = await found(search, query)
        assert hit.excerpt == wanted
        assert hit.why.startswith("matches ")

    @pytest.mark.parametrize("query", ["환불 승인", "월말 보고서를 보낸다"])
    @pytest.mark.usefixtures("known")
    async def test_decomposed_hangul_finds_the_same(self, search: Search, query: str) -> None:
        assert await found(search, query) == await found(
            search, unicodedata.normalize("NFD", query)
        )

    @pytest.mark.usefixtures("known")
    async def test_the_score_is_a_part_of_the_ideal(self, search: Search) -> None:
        same = await found(search, KNOWN["approval"])
        near = await found(search, "주문 금액이 200만원을 넘으면 부장 승인을 받아야 한다")
        far = await found(search, "오늘 점심은 맛있었다")
        assert same[0].score == pytest.approx(1.0, abs=0.01)
        assert 0.4 < near[0].score < 0.9
        assert far == []

    @pytest.mark.parametrize("query", ["", " \n", "?!…—", "the of", "\0\ud800", "🙂"])
    @pytest.mark.usefixtures("known")
    async def test_a_query_that_says_nothing_finds_nothing(
        self, search: Search, query: str
    ) -> None:
        assert await found(search, query) == []

    @pytest.mark.usefixtures("known")
    async def test_queries_of_any_length_are_answered(self, search: Search) -> None:
        long = (KNOWN["refund"] + " 그리고 other words " * 3) * 1_600
        assert len(long) > 100_000
        assert (await found(search, long))[0].id == "refund"
        assert (await found(search, "환"))[0].id == "refund"
        assert await found(search, "x" * 100_000) == []
        assert await search.search("환불", tenant_id="t", agent_id=None, kind=None, limit=0) == []

    async def test_an_empty_index_finds_nothing(self, search: Search) -> None:
        assert await found(search, "환불") == []

    async def test_an_agent_sees_its_own_and_what_is_shared_in_its_tenant(
        self, search: Search, index: SearchIndex
    ) -> None:
        await index.put(memory("own", "환불 규정", agent_id="a"))
        await index.put(memory("others", "환불 규정", agent_id="b"))
        await index.put(memory("shared", "환불 규정", agent_id=None))
        await index.put(memory("foreign", "환불 규정", tenant_id="u", agent_id="a"))
        assert {hit.id for hit in await found(search, "환불")} == {"own", "shared"}
        everyone = await found(search, "환불", agent_id=None)
        assert {hit.id for hit in everyone} == {"own", "others", "shared"}

    async def test_one_kind_can_be_asked_for(self, search: Search, index: SearchIndex) -> None:
        rule = memory("m", "환불 규정").model_copy(update={"kind": Kind.DMN_RULE})
        await index.put(memory("m", "환불 규정"))
        await index.put(rule)
        assert [hit.kind for hit in await found(search, "환불", kind=Kind.DMN_RULE)] == [rule.kind]
        assert len(await found(search, "환불")) == 2

    async def test_a_change_replaces_and_a_deletion_removes(
        self, search: Search, index: SearchIndex
    ) -> None:
        await index.put(memory("m", "환불 규정"))
        await index.put(memory("m", "반품 절차"))
        assert await found(search, "환불") == []
        assert [hit.id for hit in await found(search, "반품")] == ["m"]
        await index.drop("t", Kind.MEMORY, "m")
        await index.drop("t", Kind.MEMORY, "m")
        assert await found(search, "반품") == []

    async def test_a_hit_shows_the_part_that_matches_and_why(
        self, search: Search, index: SearchIndex
    ) -> None:
        filler = "아무 상관이 없는 문장입니다. " * 60
        await index.put(memory("m", f"{filler}\n\n환불은\t승인 뒤에 한다.\n{filler}"))
        (hit,) = await found(search, "환불 승인")
        assert "환불은 승인 뒤에 한다." in hit.excerpt
        assert len(hit.excerpt) <= 202
        assert hit.why == "matches 환불, 승인"
        assert (hit.name, hit.agent_id) == (filler[:20], "a")
        await index.put(memory("m", "환불은 승인 뒤에 한다"))
        assert (await found(search, "환불 승인"))[0].why == "matches 환불, 승인"

    async def test_text_that_a_database_cannot_hold_is_indexed_without_it(
        self, search: Search, index: SearchIndex
    ) -> None:
        await index.put(memory("m", "환불\0규정\ud800 " + "가" * 3_000 + "x" * 5_000))
        assert [hit.id for hit in await found(search, "환불 규정")] == ["m"]

    async def test_skills_that_others_wrote_change_and_delete_are_followed(
        self, search: Search, skills: SkillStore
    ) -> None:
        await skills.upload(skill("reconcile", "부분 환불을 맞추는 절차"), "t")
        await skills.upload(skill("elsewhere", "부분 환불을 맞추는 절차"), "u")
        await search.refresh("t")
        (hit,) = await found(search, "부분환불", agent_id="nobody")
        assert (hit.id, hit.kind, hit.agent_id) == ("reconcile", Kind.SKILL, None)
        assert [hit.id for hit in await found(search, "settlement")] == ["reconcile"]
        (named,) = await found(search, "reconcile settlement 환불")
        assert named.why == (
            "it is named; "
            "matches reconcile in the name; settlement in a file name; 환불 in the text"
        )

        file = skill("reconcile", "재고 조사").files[SKILL_MD]
        base = bundle_hash(skill("reconcile", "부분 환불을 맞추는 절차"))
        base = await skills.put_file("reconcile", SKILL_MD, file, "t", base_hash=base)
        await search.refresh("t")
        assert [hit.id for hit in await found(search, "재고 조사")] == ["reconcile"]
        assert await found(search, "환불") == []

        await skills.delete("reconcile", "t", base_hash=base)
        await search.refresh("t")
        assert await found(search, "재고 조사") == []

    async def test_a_skill_is_found_beside_a_memory_of_the_same_id(
        self, search: Search, skills: SkillStore, index: SearchIndex
    ) -> None:
        await index.put(memory("reconcile", "월말 보고"))
        await skills.upload(skill("reconcile", "부분 환불을 맞추는 절차"), "t")
        await search.refresh("t")
        assert [hit.kind for hit in await found(search, "부분환불")] == [Kind.SKILL]
        assert [hit.kind for hit in await found(search, "월말 보고")] == [Kind.MEMORY]

    async def test_a_skill_that_cannot_be_read_keeps_no_other_out(
        self, search: Search, skills: PartlyUnreadable
    ) -> None:
        for name in ("broken", "reconcile"):
            await skills.upload(skill(name, "부분 환불을 맞추는 절차"), "t")
        await search.refresh("t")
        assert [hit.id for hit in await found(search, "부분환불")] == ["reconcile"]
