"""What every search must do; a test class supplies `index`, `search` and `skills`.

`skills` is to be a `PartlyUnreadable`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Protocol

import pytest

from core.errors import BundleInvalid
from core.models import SKILL_MD, Bundle, Hit, Kind, SkillFile
from core.ports import Search, SkillStore
from core.search.documents import SearchDocument
from core.skill_bundle import bundle_hash
from core.testing.skill_store import MemorySkillStore

KNOWN = {
    "refund": "환불은 결제 후 7일 안에만 승인합니다",
    "approval": "주문 금액이 100만원을 넘으면 팀장 승인을 받아야 한다",
    "krw": "김 부장님은 금액을 원 단위로, 소수점 없이 원합니다",
    "report": "월말 보고서는 마지막 영업일 오후 세 시까지 보냅니다",
    "mail": "Reply to customers within one business day and apologise for delays",
    "invoice": "Invoices over 1,000,000 KRW need the approvals of two managers",
    "timeout": "The paymentGateway retries http_timeout errors three times",
    "stock": "재고가 열 개 아래로 내려가면 구매팀에 알립니다",
}


class SearchIndex(Protocol):
    """How a test puts documents into the index, committed at once."""

    async def put(self, document: SearchDocument) -> None:
        """Put a document in."""

    async def drop(self, tenant_id: str, kind: Kind, item_id: str) -> None:
        """Take a document out."""


def memory(
    item_id: str, content: str, *, tenant_id: str = "t", agent_id: str | None = "a"
) -> SearchDocument:
    """A memory as the index holds it."""
    return SearchDocument(
        tenant_id=tenant_id,
        kind=Kind.MEMORY,
        item_id=item_id,
        agent_id=agent_id,
        name=content[:20],
        content=content,
    )


def skill(name: str, body: str) -> Bundle:
    """A skill folder of a document and one reference."""
    document = f"---\nname: {name}\ndescription: {body}\n---\n\n# {name}\n\n{body}\n"
    return Bundle(
        name=name,
        files={
            SKILL_MD: SkillFile(data=document.encode()),
            "references/settlement.md": SkillFile(data=b"# Settlement\n"),
        },
    )


class PartlyUnreadable(MemorySkillStore):
    """A skill store that lists the skill `broken`, and cannot give it."""

    reads = 0

    async def read(self, name: str, tenant_id: str) -> Bundle | None:
        """Give a skill. Raises BundleInvalid for `broken`."""
        if name == "broken":
            self.reads += 1
            raise BundleInvalid("SKILL.md is missing")
        return await super().read(name, tenant_id)


async def found(
    search: Search, query: str, *, agent_id: str | None = "a", kind: Kind | None = None
) -> Sequence[Hit]:
    """Search tenant `t`."""
    return await search.search(query, tenant_id="t", agent_id=agent_id, kind=kind, limit=5)


class SearchContract:
    """Inherit in a test class that defines the fixtures `index`, `search` and `skills`."""

    @pytest.fixture
    async def known(self, index: SearchIndex) -> None:
        """The items of `KNOWN`, in the index."""
        for item_id, content in KNOWN.items():
            await index.put(memory(item_id, content))

    @pytest.mark.parametrize(
        ("query", "wanted"),
        [
            ("환불", "refund"),
            ("환불을", "refund"),
            ("환불승인 기한", "refund"),
            ("팀장님이 승인하는 주문", "approval"),
            ("1000000원이 넘는 주문", "approval"),
            ("100만원 초과", "approval"),
            ("원단위", "krw"),
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
        assert all(hit.score < 0.2 for hit in far)

    @pytest.mark.parametrize("query", ["", " \n", "?!…—", "the", "\0\ud800", "🙂"])
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

        file = skill("reconcile", "재고 조사").files[SKILL_MD]
        base = bundle_hash(skill("reconcile", "부분 환불을 맞추는 절차"))
        base = await skills.put_file("reconcile", SKILL_MD, file, "t", base_hash=base)
        await search.refresh("t")
        assert [hit.id for hit in await found(search, "재고 조사")] == ["reconcile"]
        assert await found(search, "환불") == []

        await skills.delete("reconcile", "t", base_hash=base)
        await search.refresh("t")
        assert await found(search, "재고 조사") == []

    async def test_a_skill_that_cannot_be_read_keeps_no_other_out(
        self, search: Search, skills: PartlyUnreadable
    ) -> None:
        for name in ("broken", "reconcile"):
            await skills.upload(skill(name, "부분 환불을 맞추는 절차"), "t")
        await search.refresh("t")
        assert [hit.id for hit in await found(search, "부분환불")] == ["reconcile"]
