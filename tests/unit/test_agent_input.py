"""Import of agents: JSONL, JSON and YAML, with all problems reported at once."""

from __future__ import annotations

import pytest

from core.domain.errors import InvalidInput
from core.domain.input_formats.agents import checked_agent, read_agents
from core.domain.models import Agent

KIM = Agent(id="a1", tenant_id="t", name="정산 담당", role="정산", skills=("refund",))


@pytest.mark.parametrize(
    "text",
    [
        '{"id":"a1","tenant_id":"t","name":"정산 담당","role":"정산","skills":["refund"]}\r\n\n',
        '[{"id":"a1","tenant_id":"t","name":"정산 담당","role":"정산","skills":["refund"]}]',
        "- id: a1\n  tenant_id: t\n  name: 정산 담당\n  role: 정산\n  skills: [refund]\n",
    ],
    ids=["jsonl", "json", "yaml"],
)
def test_each_form_gives_the_same_agent(text: str) -> None:
    assert read_agents(text) == [KIM]


def test_all_problems_are_named_at_once() -> None:
    text = (
        '{"id":"a1","tenant_id":"t","name":"x"}\n{"id":"","tenant_id":"t","name":"x"}\n{"id":"b"}\n'
    )
    with pytest.raises(InvalidInput) as caught:
        read_agents(text)
    assert caught.value.message.splitlines() == [
        "line 2: id is blank",
        "line 3: tenant_id is missing; name is missing",
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello", "it holds no list of agents"),
        ("", "it holds no list of agents"),
        ("a: [", "it is neither JSONL nor YAML"),
        ("{oops", "line 1: it is no JSON"),
        ('{"id": "a", "id": "b"}', "line 1: the key 'id' comes twice"),
        ("- just text", "entry 1: it is no object"),
        ("- {id: a, tenant_id: t, name: x, colour: red}", "entry 1: colour is no known field"),
        ("- {id: 7, tenant_id: t, name: x}", "entry 1: id is no text"),
    ],
)
def test_what_is_no_list_of_agents_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        read_agents(text)


def test_yaml_makes_no_objects() -> None:
    with pytest.raises(InvalidInput, match="neither JSONL nor YAML"):
        read_agents("- !!python/object/apply:os.system ['true']")


@pytest.mark.parametrize("field", ["id", "tenant_id", "name"])
def test_ids_and_names_are_short(field: str) -> None:
    entry = {"id": "a", "tenant_id": "t", "name": "x"}
    assert checked_agent({**entry, field: "가" * 200})
    with pytest.raises(InvalidInput, match=f"{field} has 201 characters, more than 200"):
        checked_agent({**entry, field: "가" * 201})


def test_broken_text_is_refused() -> None:
    with pytest.raises(InvalidInput, match="goal holds a NUL"):
        checked_agent({"id": "a", "tenant_id": "t", "name": "x", "goal": "a\0"})
    with pytest.raises(InvalidInput, match="skills holds a lone surrogate"):
        checked_agent({"id": "a", "tenant_id": "t", "name": "x", "skills": ["\ud800"]})
