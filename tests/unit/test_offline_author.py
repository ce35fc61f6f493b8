"""Skills of the offline author: steps are steps, and a name says what the skill does."""

from __future__ import annotations

import pytest

from core.agent.offline import author as offline_author
from core.agent.offline.text import clauses, english_name

TEXT = "How to handle a damaged box, step by step:\n1. Ask for photos.\n2. Open a claim."


def test_the_line_that_announces_the_steps_is_no_step() -> None:
    tool, artifact = offline_author.answer({"candidate": TEXT, "operation": "CREATE"})
    body = str(artifact["body_markdown"])
    assert tool == "SkillArtifact"
    assert artifact["name"] == "handle-damaged-box"
    assert body.count("### Step") == 2
    assert "## Overview\n\nHow to handle a damaged box, step by step.\n" in body


def test_a_request_to_edit_the_skill_does_not_become_a_part_of_it() -> None:
    document = "---\nname: r\ndescription: d\n---\n# R\n\n## 계산 방법\n\n- 더한다\n"
    text = "refund 스킬을 수정해 주세요. 쿠폰을 쓴 주문은 쿠폰 사용분을 먼저 뺍니다."
    tool, args = offline_author.answer({"candidate": text, "existing": {"SKILL.md": document}})
    assert tool == "SkillEdits"
    assert args == {
        "edits": [
            {
                "op": "insert_section",
                "heading": "",
                "text": "## 추가 지침: 쿠폰을 쓴 주문은 쿠폰 사용분을 먼저 뺍니다\n\n"
                "- 쿠폰을 쓴 주문은 쿠폰 사용분을 먼저 뺍니다.",
            }
        ]
    }


@pytest.mark.parametrize("text", ["환불은 먼저 확인하고 다음에 계산", "refund"])
def test_text_without_english_words_gets_a_stable_name(text: str) -> None:
    name = english_name(clauses(text), text)
    assert name.startswith("skill-")
    assert name == english_name(clauses(text), text)
