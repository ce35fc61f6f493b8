"""The tools of a model where packages add kinds of knowledge, and where none does."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from core.agent.loop.tool_args import ARGUMENTS, arguments, knowing, tool_of
from tests.support.all_kinds import Poem

POEM = Poem()


def test_without_kinds_the_tools_are_those_that_are_built_in() -> None:
    assert arguments(()) == ARGUMENTS
    for args in ARGUMENTS.values():
        assert knowing(args, ()) is args


def test_a_kind_has_a_write_tool_before_the_last() -> None:
    made = arguments((POEM,))
    assert tool_of(POEM) == "commit_to_poem"
    assert [*made] == [*[*ARGUMENTS][:-1], "commit_to_poem", "no_action"]
    asked = made["commit_to_poem"].model_validate(
        {"operation": "create", "reason": "r", "content": {"title": "Sea"}}
    )
    assert asked.model_dump()["content"] == {"title": "Sea", "lines": ()}
    assert asked.model_dump()["poem_id"] is None
    with pytest.raises(ValidationError):
        made["commit_to_poem"].model_validate(
            {"operation": "CREATE", "reason": "r", "content": {"colour": "x"}}
        )


def test_reading_tools_know_the_kind_and_others_stay_as_they_are() -> None:
    made = arguments((POEM,))
    for name, args in ARGUMENTS.items():
        if "knowledge_type" not in args.model_fields:
            assert made[name] is args
            continue
        field = made[name].model_fields["knowledge_type"]
        known = args.model_fields["knowledge_type"]
        assert "POEM" in str(field.annotation)
        assert "POEM" not in str(known.annotation)
        assert field.is_required() is known.is_required()
        assert field.default == known.default or field.is_required()
    found = made["get_knowledge_detail"].model_validate(
        {"knowledge_type": "poem", "knowledge_id": "p1"}
    )
    assert found.model_dump()["knowledge_type"] == "POEM"
    with pytest.raises(ValidationError):
        ARGUMENTS["get_knowledge_detail"].model_validate(
            {"knowledge_type": "poem", "knowledge_id": "p1"}
        )
