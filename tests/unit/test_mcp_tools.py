"""The tools for agents: their names and arguments are fixed, their definitions are short."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from mcp import types

from core.app.program import App
from core.domain.models.access import Principal, Role
from core.entrypoints.mcp_knowledge.caller import Caller
from core.entrypoints.mcp_knowledge.skills import skill_of, skill_uri
from core.entrypoints.mcp_knowledge.tools import tools_of
from core.entrypoints.service.session import Session

if TYPE_CHECKING:
    from core.app.program import App

MOST_TOKENS = 900
BYTES_OF_A_TOKEN = 3
FOUR: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "search_memories": (("query", "limit"), ("query",)),
    "evaluate_decision": (("name", "inputs"), ("name", "inputs")),
    "load_skill": (("name", "path"), ("name",)),
    "report_outcome": (("used", "success", "note"), ("used", "success")),
}
FEEDBACK = {"give_feedback": (("text", "about"), ("text",))}


def shown_to(*roles: Role) -> Mapping[str, types.Tool]:
    """Return the tools of a caller with these roles."""
    who = Principal(token_id="1", name="x", tenant_id="t", agent_id="a", roles=frozenset(roles))
    caller = Caller(Session(cast("App", object()), who))
    return {name: tool.shown for name, tool in tools_of(caller).items()}


def signatures(tools: Mapping[str, types.Tool]) -> object:
    """Return the arguments of each tool, and those that are needed."""
    return {
        name: (tuple(tool.inputSchema["properties"]), tuple(tool.inputSchema["required"]))
        for name, tool in tools.items()
    }


def test_the_tools_are_those_agreed_on() -> None:
    assert signatures(shown_to(Role.READ)) == FOUR
    assert signatures(shown_to(Role.READ, Role.SUBMIT)) == {**FOUR, **FEEDBACK}


def test_the_four_definitions_cost_little() -> None:
    shown = [tool.model_dump(by_alias=True, exclude_none=True) for tool in shown_to().values()]
    size = len(json.dumps(shown, ensure_ascii=False).encode())
    assert -(-size // BYTES_OF_A_TOKEN) <= MOST_TOKENS


def test_tools_say_what_they_may_do() -> None:
    marks = {
        name: tool.annotations and (tool.annotations.readOnlyHint, tool.annotations.destructiveHint)
        for name, tool in shown_to(Role.SUBMIT).items()
    }
    reading, reporting = (True, None), (False, False)
    assert marks == dict.fromkeys(FOUR, reading) | {
        "report_outcome": reporting,
        "give_feedback": reporting,
    }


def test_an_address_names_a_file_of_a_skill_whatever_its_name() -> None:
    for path in ("SKILL.md", "references/환불 규정.md", "assets/a%20b#c?.txt"):
        assert skill_of(skill_uri("refund", path)) == ("refund", path)
    for other in ("skill://refund", "skill:///x", "file://refund/SKILL.md", "", "skill://["):
        assert skill_of(other) is None
