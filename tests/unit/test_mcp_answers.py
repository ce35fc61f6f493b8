"""Session ids and documents are read from every known shape, and from nothing similar."""

from __future__ import annotations

import json

import pytest
from pydantic import JsonValue

from core.adapters.mcp.answers import ToolAnswer
from core.adapters.mcp.pods import read_document, read_session_id
from core.domain.errors import McpDown, PodCallFailed

RULE = "=" * 80
PATH = "scripts/init_skill.py"


@pytest.mark.parametrize(
    "value",
    [
        {"session_id": "s-1"},
        {"sessionId": "s-1", "ttl": 600},
        {"result": {"session_id": "s-1"}},
        {"data": {"sessionId": "s-1"}},
        {"data": {"result": {"session_id": "s-1"}}},
        {"result": '{"session_id": "s-1"}'},
    ],
)
def test_an_id_is_found_structured_or_as_json_in_text(value: JsonValue) -> None:
    assert read_session_id(ToolAnswer((), value)) == "s-1"
    assert read_session_id(ToolAnswer((json.dumps(value),))) == "s-1"
    assert read_session_id(ToolAnswer(("created:", json.dumps(value)))) == "s-1"


def test_a_number_is_an_id() -> None:
    assert read_session_id(ToolAnswer((), {"session_id": 42})) == "42"


@pytest.mark.parametrize(
    "answer",
    [
        ToolAnswer(),
        ToolAnswer(("세션을 만들 수 없습니다",)),
        ToolAnswer(("session_id",)),
        ToolAnswer(("[]",), {"session_id": ""}),
        ToolAnswer((), {"session_id": None}),
        ToolAnswer((), {"session_id": True}),
        ToolAnswer((), {"other": {"session_id": "x"}}),
    ],
)
def test_an_answer_without_an_id_is_an_error(answer: ToolAnswer) -> None:
    with pytest.raises(PodCallFailed, match="no session id"):
        read_session_id(answer)


@pytest.mark.parametrize("between", ["\n\n", "\n", "\r\n", "\r\n\r\n"])
@pytest.mark.parametrize("content", ["print('한')\r\n", "", "Document: x\n" + RULE, f"{RULE}\n\nx"])
def test_a_document_is_what_follows_the_rule(between: str, content: str) -> None:
    text = f"Document: {PATH}{between}{RULE}{between}{content}"
    assert read_document(ToolAnswer((text,)), "skill-creator", PATH) == content


def test_the_path_may_be_shown_with_its_folders() -> None:
    text = f"Document: skills/skill-creator/{PATH}\n\n{RULE}\n\nx"
    assert read_document(ToolAnswer((text,)), "skill-creator", PATH) == "x"


@pytest.mark.parametrize(
    "text",
    [
        "Skill 'skill-creator' not found. Use find_helpful_skills.",
        'Skill "skill-creator" not found',
        f"No documents matching '{PATH}' found in skill 'skill-creator'.",
        f"No documents matching '{PATH}'",
        f"Error: Document not found: {PATH}",
        f"Error reading document: [Errno 2] No such file or directory: '/skills/x/{PATH}'",
        "404 Not Found",
        "❌ File does not exist",
        "문서를 찾을 수 없습니다",
        json.dumps({"error": f"Document '{PATH}' not found"}),
        json.dumps({"error": {"code": 404, "message": "document not found"}}),
        json.dumps({"detail": "Skill not found"}),
        json.dumps({"success": False, "message": "no such file"}),
        json.dumps({"found": False, "content": None}),
        json.dumps({"result": f"Skill 'skill-creator' not found; there are: 'pdf', '{PATH}'"}),
        json.dumps({"isError": True, "content": [{"type": "text", "text": "No document found"}]}),
    ],
)
def test_that_there_is_no_document_is_none(text: str) -> None:
    assert read_document(ToolAnswer((text,)), "skill-creator", PATH) is None


SCRIPT = "#!/usr/bin/env python3\n# Skill 'skill-creator' not found\nimport sys\n\nsys.exit(0)\n"
FRAMED = f"Document: {PATH}\n{RULE}\n{SCRIPT}"


@pytest.mark.parametrize(
    "value",
    [
        {"content": SCRIPT},
        {"success": True, "document": {"path": PATH, "content": SCRIPT}},
        {"result": FRAMED},
        {"result": json.dumps({"text": SCRIPT})},
        {"documents": [{"path": "SKILL.md", "content": "x"}, {"path": PATH, "content": SCRIPT}]},
        {"content": [{"type": "text", "text": SCRIPT}]},
    ],
)
def test_a_script_is_read_from_json_plain_or_under_a_rule(value: JsonValue) -> None:
    for answer in (
        ToolAnswer((json.dumps(value),)),
        ToolAnswer((), value),
        ToolAnswer((SCRIPT,)),
        ToolAnswer((FRAMED.replace(RULE, "-" * 40),)),
    ):
        assert read_document(answer, "skill-creator", PATH) == SCRIPT


def test_a_script_may_hold_such_sentences() -> None:
    script = f"Skill 'skill-creator' not found\nNo documents matching '{PATH}'\n"
    text = f"Document: {PATH}\n\n{RULE}\n\n{script}"
    assert read_document(ToolAnswer((text,)), "skill-creator", PATH) == script


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html>Sign in</html>",
        "Skill 'other' not found",
        "No documents matching 'scripts/init_skill.pyc' found",
        "I think that Skill 'skill-creator' not found is wrong",
        f"Document: scripts/other.py\n\n{RULE}\n\nx",
        f"Document: {PATH}\n\nno rule",
        f"Found 2 documents\n\nDocument: {PATH}\n\n{RULE}\n\nx",
        "[LOADING: 3/10 skills loaded, indexing in progress...]",
        "busy",
        json.dumps({"error": "index is being built"}),
        json.dumps({"error": "session not found: 'x'"}),
        json.dumps({"content": ""}),
        json.dumps({"documents": [{"path": "scripts/other.py", "content": SCRIPT}]}),
    ],
)
def test_anything_else_is_neither_a_document_nor_an_absence(text: str) -> None:
    with pytest.raises(McpDown, match="neither the document"):
        read_document(ToolAnswer((text,)), "skill-creator", PATH)


def test_an_error_shows_the_beginning_of_what_came() -> None:
    with pytest.raises(McpDown) as caught:
        read_document(ToolAnswer(("가" * 5000,)), "skill-creator", PATH)
    assert "가" * 200 in caught.value.message
    assert len(caught.value.message) < 400
