"""What is indexed of an item, and what a hit shows of it."""

from __future__ import annotations

from core.models import Hit, Kind, SkillSummary
from core.search.documents import SearchDocument
from core.search.hits import EXCERPT_CHARS, make_hit
from core.search.skill_text import skill_search_text, skill_version


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
    text = skill_search_text(document, ["SKILL.md", "references/환불 규정.md"])
    assert "description" not in text
    assert "name" not in text
    assert all(
        part in text for part in ("refund", "환불을 맞춥니다", "# 절차", "key: 값", "환불 규정.md")
    )
    assert skill_search_text("no head: here", []) == "no head: here"


def test_the_version_follows_description_and_number_of_files() -> None:
    one = SkillSummary(name="a", description="d", file_count=1)
    assert skill_version(one) == skill_version(one.model_copy(update={"name": "b"}))
    assert skill_version(one) != skill_version(one.model_copy(update={"description": "e"}))
    assert skill_version(one) != skill_version(one.model_copy(update={"file_count": 2}))


def test_a_name_is_indexed_once() -> None:
    document = SearchDocument(
        tenant_id="t",
        kind=Kind.MEMORY,
        item_id="i",
        agent_id=None,
        name="환불",
        content="환불 규정",
    )
    assert document.text == "환불 규정"
    assert document.model_copy(update={"name": "반품"}).text == "반품\n환불 규정"


def test_a_short_text_is_shown_whole_on_one_line() -> None:
    assert hit("a\n\n b\tc", {}).excerpt == "a b c"
    assert hit("a", {}).score == 0.1235
    assert hit("a", {}).why == ""


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
    assert hit("body", {"titl": 1.0}, name="Title").why == "matches Title"
