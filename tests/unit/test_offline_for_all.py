"""Whether the stand-in deletes a skill for all, or leaves it to those that list it."""

from __future__ import annotations

import pytest

from core.agent.offline import rules

SKILL = rules.Related(
    "stock-count", "SKILL", "stock-count", "재고 실사", is_own=True, on_agent=True
)
MEMORY = rules.Related("mem_1", "MEMORY", "m", "재고 실사는 금요일", is_own=True, on_agent=False)
FOR_ALL = (
    "stock-count 스킬은 이제 전사적으로 폐지됐어요. 모두에게서 삭제해 주세요",
    "stock-count 스킬은 전사에서 폐지했습니다. 삭제해 주세요",
    "모든 에이전트에서 stock-count 스킬을 삭제해 주세요",
    "stock-count 절차는 더 이상 아무도 쓰지 않습니다. 삭제해 주세요",
    "The stock-count skill is withdrawn company-wide, delete it.",
    "Delete the stock-count skill for all agents.",
    "Nobody may use the stock-count skill any more. Delete it.",
)
FOR_ONE = (
    "stock-count 스킬은 폐지됐어요. 삭제해 주세요",
    "stock-count 스킬은 폐지됐어요. 전 직원에게 알려 주세요",
    "The stock-count skill is withdrawn. Delete it.",
)


@pytest.mark.parametrize("text", [*FOR_ALL, *FOR_ONE])
def test_a_skill_goes_for_all_only_where_that_is_said(text: str) -> None:
    tool, args = rules.decide(rules.View(text, "", (SKILL,)))
    assert (tool, args["operation"], args["skill_id"]) == (
        "commit_to_skill",
        "DELETE",
        "stock-count",
    )
    assert args.get("for_all", False) is (text in FOR_ALL)


def test_a_memory_has_no_lists_to_be_taken_off() -> None:
    text = "전사적으로 폐지됐어요. mem_1 메모리는 모두에게서 삭제해 주세요"
    tool, args = rules.decide(rules.View(text, "", (MEMORY,)))
    assert (tool, args["operation"]) == ("commit_to_memory", "DELETE")
    assert "for_all" not in args
