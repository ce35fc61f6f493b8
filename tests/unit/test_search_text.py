"""What is indexed for an item, and what a hit shows."""

from __future__ import annotations

import unicodedata

import pytest

from core.domain.models import Hit, Kind, SkillSummary
from core.knowledge.search.documents import (
    SearchDocument,
    index_terms,
    skill_search_files,
    skill_search_text,
    skill_version,
)
from core.knowledge.search.hits import EXCERPT_CHARS, make_hit
from core.knowledge.search.ranking import shown
from core.knowledge.search.tokens import read_question, written


def hit(content: str, weights: dict[str, float], name: str = "n") -> Hit:
    return make_hit(
        kind=Kind.MEMORY,
        item_id="i",
        name=name,
        agent_id=None,
        content=content,
        score=0.123456,
        weights=weights,
    )


def test_a_skill_is_indexed_without_the_syntax_of_its_head() -> None:
    document = "---\r\nname: refund\r\ndescription: 환불을 맞춥니다\r\n---\r\n# 절차\nkey: 값\n"
    text = skill_search_text(document)
    assert "description" not in text
    assert "name" not in text
    assert all(part in text for part in ("refund", "환불을 맞춥니다", "# 절차", "key: 값"))
    assert skill_search_text("no head: here") == "no head: here"
    assert skill_search_files(["SKILL.md", "references/환불 규정.md"]) == (
        "references/환불 규정.md",
    )


def test_the_version_follows_description_and_number_of_files() -> None:
    one = SkillSummary(name="a", description="d", file_count=1)
    assert skill_version(one) == skill_version(one.model_copy(update={"name": "b"}))
    assert skill_version(one) != skill_version(one.model_copy(update={"description": "e"}))
    assert skill_version(one) != skill_version(one.model_copy(update={"file_count": 2}))


def document(kind: Kind, name: str, content: str, files: tuple[str, ...] = ()) -> SearchDocument:
    return SearchDocument(
        tenant_id="t",
        kind=kind,
        item_id="i",
        agent_id=None,
        name=name,
        content=content,
        files=files,
    )


def test_the_name_of_a_memory_is_the_beginning_of_its_text_and_counts_once() -> None:
    for name in ("order", "order refunds…"):
        terms = index_terms(document(Kind.MEMORY, name, "order  refunds today"))
        assert (terms.counts["order"], terms.length) == (1, 3)
    other = index_terms(document(Kind.MEMORY, "returns", "order refunds today"))
    assert (other.counts["return"], other.length) == (1, 4)


def test_names_and_headings_are_worth_more_than_text_and_files_are_found() -> None:
    skill = document(Kind.SKILL, "refund", "paid order\n\n## Checks\n\npaid", ("scripts/run.sh",))
    counts = index_terms(skill).counts
    assert (counts["refund"], counts["check"], counts["paid"], counts["order"]) == (3, 2, 2, 1)
    assert counts["script"] == counts["run"] == 2
    rule = index_terms(document(Kind.DMN_RULE, "refund", "refund\n# not a heading"))
    assert (rule.counts["refund"], rule.counts["head"]) == (3, 1)


def test_a_word_is_known_as_written_beside_its_stem() -> None:
    terms = index_terms(document(Kind.MEMORY, "x", "Customers order 환불"))
    assert terms.counts["custom"] == terms.counts["order"] == 1
    assert {term for term in terms.counts if term.startswith("=")} == {written("customers")}
    assert terms.length == 5


def test_a_short_text_is_shown_whole_on_one_line() -> None:
    assert hit("a\n\n b\tc", {}).excerpt == "a b c"
    assert hit("a", {}).score == 0.1235
    assert hit("a", {}).why == "matches further down in the text"


def test_of_a_long_text_the_part_with_most_of_the_query_is_shown() -> None:
    filler = "lorem ipsum dolor " * 40
    content = f"{filler} refund {filler} refund order 환불 {filler}"
    found = hit(content, {"refund": 1.0, "order": 2.0, "환불": 3.0})
    assert "refund order 환불" in found.excerpt
    assert len(found.excerpt) <= EXCERPT_CHARS + 2
    assert found.excerpt.startswith("…")
    assert found.excerpt.endswith("…")
    assert found.why == "matches 환불, order, refund"


def test_the_excerpt_of_a_match_at_either_end_keeps_its_length() -> None:
    filler = "lorem ipsum dolor " * 40
    start, end = hit(f"refund {filler}", {"refund": 1.0}), hit(f"{filler}refund", {"refund": 1.0})
    assert start.excerpt.startswith("refund")
    assert end.excerpt.endswith("refund")
    assert len(end.excerpt) > EXCERPT_CHARS - 25


def test_words_are_named_as_the_text_writes_them() -> None:
    assert hit("Approvals 승인이", {"approv": 1.0, "승인": 1.0, "승": 0.5}).why == (
        "matches Approvals, 승인"
    )
    assert hit("환불은 승인", {"환불": 2.0, "환": 3.0, "승": 1.0}).why == "matches 환불"
    assert hit("승낙", {"환불": 2.0, "승인": 3.0, "승": 1.0}).why == "matches 승"


@pytest.mark.parametrize(
    ("query", "text", "why"),
    [
        ("배송비 무료", "3만원 이상이면 배송비는 무료입니다", "matches 배송비, 무료"),
        ("한빛상시", "한빛상시의 계약은 매년 갱신한다", "matches 한빛상시"),
        ("환불승인", "환불 승인은 팀장이 한다", "matches 환불, 승인"),
        ("보고 양식", "보고서를 낼 때의 양식", "matches 보고서, 양식"),
        ("IT팀", "IT팀은 노트북을, 인사팀은 계약을 맡는다", "matches IT팀"),
        ("WHO guideline", "who asks is told of WHO guidelines", "matches guidelines, WHO"),
        ("돈 낭비", "돈은 낭비하지 않고 주머니돈으로", "matches 낭비, 돈"),
        ("큰 표", "표는 큰 종이에, 도표로", "matches 표, 큰"),
        ("payment gateway", "the paymentGateway retries", "matches paymentGateway"),
        ("승인", "승낙", "matches 승"),
        ("승인", "승ㅇ인", "matches 승ㅇ인"),
        ("port", "an export to the airPort and a port", "matches Port"),
    ],
)
def test_a_reader_is_shown_whole_words_and_no_shards(query: str, text: str, why: str) -> None:
    asked = read_question(query)
    weights = shown({term: 2.0 * factor for term, factor in asked.factors.items()})
    assert hit(text, weights).why == why
    assert hit(unicodedata.normalize("NFD", text), weights).why == why


def test_a_syllable_of_another_word_is_not_named_at_another_place() -> None:
    found = make_hit(
        kind=Kind.DMN_RULE,
        item_id="i",
        name="환불",
        agent_id=None,
        content="담당자가 확인한다",
        score=0.5,
        weights={"환불": 2.0, "환": 0.3, "불": 0.3, "승인": 2.0, "승": 0.3, "인": 0.3},
    )
    assert found.why == "matches 환불 in the name"


def test_a_hit_says_where_a_word_helps() -> None:
    found = make_hit(
        kind=Kind.SKILL,
        item_id="i",
        name="refund-orders",
        agent_id=None,
        content="refund customers\n\n## 승인 절차\n\n승인 뒤 금액",
        score=0.5,
        weights={"refund": 4.0, "승인": 3.0, "금액": 2.0, "match": 1.0, "고객": 9.0},
        files=("scripts/match.py",),
    )
    assert found.why == (
        "matches refund in the name; 승인 in a heading; match in a file name; 금액 in the text"
    )


def test_a_memory_has_no_name_beside_its_text() -> None:
    assert hit("환불 규정", {"환불": 1.0}, name="환불 규정").why == "matches 환불"


def test_numbers_are_shown_as_the_text_writes_them() -> None:
    assert hit("한도는 100 만 원이다", {"1000000": 1.0}).why == "matches 100 만"
    assert hit("limit 1,000,000 KRW", {"1000000": 1.0}).why == "matches 1,000,000"
