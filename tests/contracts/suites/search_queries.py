"""Contract of search for queries as people type them, and for texts near a new one."""

from __future__ import annotations

import unicodedata

import pytest

from core.domain.models import Kind
from core.domain.ports import Search
from tests.contracts.suites.search_items import KNOWN, SearchIndex, found, memory, near


class SearchQueries:
    """Inherited by `SearchContract`."""

    @pytest.fixture
    async def known(self, index: SearchIndex) -> None:
        """Index the items of `KNOWN`."""
        for item_id, content in KNOWN.items():
            await index.put(memory(item_id, content))

    @pytest.mark.parametrize(
        ("query", "wanted"),
        [
            ("환뷸", "refund"),
            ("보고서는 월먈에", "report"),
            ("재고ㄱ가 열 개", "stock"),
            ("payment gatewya", "timeout"),
            ("invioce", "invoice"),
            ("paymentgateways", "timeout"),
            ("httptimeout", "timeout"),
            ("영업 일", "report"),
        ],
    )
    @pytest.mark.usefixtures("known")
    async def test_a_slip_of_the_keyboard_or_the_blank_finds_what_was_meant(
        self, search: Search, query: str, wanted: str
    ) -> None:
        hits = await found(search, query)
        assert hits[0].id == wanted

    @pytest.mark.parametrize("query", ["환경", "오늘 점심은 맛있었다", "weather tomorrow", "뷁"])
    @pytest.mark.usefixtures("known")
    async def test_what_shares_a_stray_syllable_or_nothing_is_no_hit(
        self, search: Search, query: str
    ) -> None:
        assert await found(search, query) == []

    async def test_one_character_that_is_a_word_is_found(
        self, search: Search, index: SearchIndex
    ) -> None:
        await index.put(memory("money", "낸 돈은 고객 명의 통장으로만 돌려준다"))
        await index.put(memory("x", "Customers of plan X get no discount"))
        await index.put(memory("report", "월말 보고서는 오후에 보냅니다"))
        assert [hit.id for hit in await found(search, "돈")] == ["money"]
        assert [hit.id for hit in await found(search, "돈을")] == ["money"]
        assert [hit.id for hit in await found(search, "x")] == ["x"]

    @pytest.mark.parametrize(
        ("query", "wanted"),
        [
            ("IT", ["team"]),
            ("it", ["team"]),
            ("IT팀", ["team", "korean"]),
            ("it팀", ["team", "korean"]),
            ("who", ["team"]),
            ("A", ["plan"]),
            ("us", ["korean"]),
            ("the IT of the company", ["team"]),
            ("this or that", []),
        ],
    )
    async def test_a_name_that_looks_like_a_function_word_is_found(
        self, search: Search, index: SearchIndex, query: str, wanted: list[str]
    ) -> None:
        await index.put(memory("team", "IT team handles laptops; the WHO approves masks"))
        await index.put(memory("korean", "it팀과 US법인은 매주 만난다"))
        await index.put(memory("plan", "플랜 A 고객은 할인을 받지 못한다"))
        await index.put(memory("none", "A refund is what it was, and who asks us gets it"))
        for form in ("NFC", "NFD"):
            hits = await found(search, unicodedata.normalize(form, query))
            assert {hit.id for hit in hits} >= {*wanted}
            assert "none" not in {hit.id for hit in hits}
            assert bool(hits) == bool(wanted)

    @pytest.mark.parametrize(
        ("query", "name"),
        [
            ("큰 표", "큰 표"),
            (" 큰표 ", "큰 표"),
            ("refund Orders", "refund-orders"),
            ("it", "IT"),
            ("환불\0승인\ud800", "환불 승인"),
        ],
    )
    async def test_what_bears_the_query_as_its_name_comes_first_however_long_it_is(
        self, search: Search, index: SearchIndex, query: str, name: str
    ) -> None:
        words = " ".join(name.replace("-", " ").split())
        rows = "\n".join(f"row {number} 값{number} 표기 {words}" for number in range(5_000))
        rule = memory("rule", rows).model_copy(update={"kind": Kind.DMN_RULE, "name": name})
        for number in range(3):
            await index.put(memory(f"said-{number}", f"{words}, {words}: {number}"))
        await index.put(rule)
        await index.put(memory("theirs", rows, agent_id="b"))
        for form in ("NFC", "NFD"):
            hits = await found(search, unicodedata.normalize(form, query))
            assert (hits[0].id, hits[0].score) == ("rule", 1.0)
        known = await near(search, name)
        assert {item.id for item in known.items} == {f"said-{number}" for number in range(3)}

    @pytest.mark.parametrize(
        "query",
        [
            "docx 스킬로 보고서 표 테두리를 고쳐 주세요",
            "보고서 표 테두리는 docx로 고쳐 주세요",
            "fix the table borders of reports with docx",
        ],
    )
    async def test_what_is_named_anywhere_in_the_query_comes_first(
        self, search: Search, index: SearchIndex, query: str
    ) -> None:
        skill = memory("docx", "Word files " * 300, agent_id=None)
        await index.put(skill.model_copy(update={"kind": Kind.SKILL, "name": "docx"}))
        for number in range(6):
            text = f"보고서 표 테두리는 굵게 고쳐 주세요, fix table borders of reports {number}"
            await index.put(memory(f"said-{number}", text))
        hits = await found(search, query)
        assert (hits[0].id, hits[0].score, len(hits)) == ("docx", 1.0, 5)
        longer = await found(search, query.replace("docx", "mydocxium"))
        assert "docx" not in {hit.id for hit in longer}

    async def test_an_item_is_named_by_its_id_too(self, search: Search, index: SearchIndex) -> None:
        await index.put(memory("mem-204", "담당자는 총무팀이다"))
        await index.put(memory("mem-20", "계좌는 신한은행이다"))
        await index.put(memory("other", "이제 안 맞는 계좌는 지워 주세요"))
        hits = await found(search, "MEM-204는 이제 안 맞아요, 지워 주세요")
        assert hits[0].id == "mem-204"
        assert "mem-20" not in {hit.id for hit in hits}

    async def test_the_name_of_a_long_item_tells_as_much_as_that_of_a_short_one(
        self, search: Search, index: SearchIndex
    ) -> None:
        rows = "\n".join(f"row {number} 값{number}" for number in range(5_000))
        update = {"kind": Kind.DMN_RULE, "name": "출장비 한도 규정"}
        await index.put(memory("rule", rows).model_copy(update=update))
        await index.put(memory("said", "출장비는 카드로 낸다. 다른 경비도 카드로 내고 적어 둔다"))
        hits = await found(search, "출장비 한도")
        assert hits[0].id == "rule"
        assert hits[0].score > 0.5

    @pytest.mark.usefixtures("known")
    async def test_of_a_long_feedback_the_rare_words_tell(self, search: Search) -> None:
        many = " ".join(f"{one}{two} 이야기" for one in "가나다라마바사아자차" for two in KNOWN)
        hits = await found(search, f"{many} 팀장 승인을 받지 않은 주문 금액이 문제였어요.")
        assert hits[0].id == "approval"
        talk = "고객이 전화를 걸어서 한참 이야기했고 우리는 그 내용을 들었습니다. " * 40
        hits = await found(search, f"{talk} 팀장 승인을 받지 않은 주문 금액이 문제였어요. {talk}")
        assert hits[0].id == "approval"

    async def test_what_is_near_comes_with_its_text_best_first(
        self, search: Search, index: SearchIndex
    ) -> None:
        await index.put(memory("same", "환불은 7일 안에 승인한다"))
        await index.put(memory("like", "환불은 14일 안에 팀장이 승인하고 알린다"))
        await index.put(memory("other", "재고가 없으면 알린다"))
        await index.put(memory("theirs", "환불은 7일 안에 승인한다", agent_id="b"))
        rule = memory("rule", "환불은 7일 안에 승인한다").model_copy(update={"kind": Kind.DMN_RULE})
        await index.put(rule)
        known = await near(search, "환불은 7일 안에 승인한다")
        assert [item.id for item in known.items][:2] == ["same", "like"]
        first = known.items[0]
        assert first.content == "환불은 7일 안에 승인한다"
        assert (first.name, first.kind, first.agent_id) == (first.content[:20], Kind.MEMORY, "a")
        assert first.score == pytest.approx(1.0, abs=0.01)
        assert {item.id for item in known.items} <= {"same", "like", "other"}

    async def test_the_mark_of_a_look_grows_with_what_is_committed(
        self, search: Search, index: SearchIndex
    ) -> None:
        marks = [(await near(search, "환불")).seen]
        for number in range(3):
            await index.put(memory(f"m{number}", "반품 절차"))
            marks.append((await near(search, "?!")).seen)
        assert marks == sorted({*marks})
        assert (await near(search, "반품", limit=0)).items == ()
        assert (await near(search, "")).items == ()

    async def test_a_document_of_one_huge_line_is_found_and_cut(
        self, search: Search, index: SearchIndex
    ) -> None:
        await index.put(memory("huge", "환불 규정 " + "긴글" * 1_000_000))
        (hit,) = await found(search, "환불")
        assert len(hit.excerpt) <= 202
        assert len((await near(search, "환불 규정")).items[0].content) <= 20_000

    @pytest.mark.parametrize("query", ["‮환불 승인‬", "환불 🙂 승인", "환불\0승인\ud800"])
    @pytest.mark.usefixtures("known")
    async def test_signs_that_say_nothing_change_nothing(self, search: Search, query: str) -> None:
        assert (await found(search, query))[0].id == "refund"
