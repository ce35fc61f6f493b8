"""Agents from JSONL, JSON or YAML files: parsed and validated."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

import yaml
from pydantic import ValidationError

from core.domain.errors import InvalidInput
from core.domain.input_formats.json_text import parse_json
from core.domain.input_formats.text import explain, name_problem, of_field, text_problem
from core.domain.messages import Message, joined
from core.domain.models import Agent

_REQUIRED = ("id", "tenant_id", "name")
LONGEST = {"role": 2_000, "goal": 20_000, "persona": 20_000}  # in characters


def read_agents(text: str) -> list[Agent]:
    """Read a YAML or JSON list, or one JSON object a line. Raises InvalidInput, all at once."""
    agents: list[Agent] = []
    problems: list[str] = []
    for position, entry in _entries(text):
        try:
            agents.append(checked_agent(entry))
        except InvalidInput as error:
            problems.append(Message("input.at", place=position, why=error.message))
    if problems:
        raise InvalidInput(joined(problems, "\n"), hint=Message("input.nothing_imported"))
    return agents


def checked_agent(entry: object) -> Agent:
    """Build an agent from one entry; ids are normalised to NFC. Raises InvalidInput."""
    if not isinstance(entry, Mapping):
        raise InvalidInput(Message("agents.no_object"))
    try:
        agent = Agent.model_validate(entry)
    except ValidationError as error:
        raise InvalidInput(explain(error)) from None
    for name in Agent.model_fields:
        value = getattr(agent, name)
        problem = text_problem(value if isinstance(value, str) else "\n".join(value))
        if problem:
            raise InvalidInput(of_field(name, problem))
    for name, most in LONGEST.items():
        if (length := len(getattr(agent, name))) > most:
            raise InvalidInput(
                of_field(name, Message("text.long", n=length, most=most)),
                hint=Message("agents.hint_long"),
            )
    for name in _REQUIRED:
        problem = name_problem(getattr(agent, name))
        if problem:
            raise InvalidInput(of_field(name, problem))
    return agent.model_copy(
        update={
            "id": unicodedata.normalize("NFC", agent.id),
            "tenant_id": unicodedata.normalize("NFC", agent.tenant_id),
        }
    )


def _entries(text: str) -> list[tuple[str, object]]:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if lines and all(line.lstrip().startswith("{") for _, line in lines):
        return [
            (Message("input.line", n=number), _parsed_json(number, line)) for number, line in lines
        ]
    try:
        loaded: object = yaml.safe_load(text)
    except RecursionError:
        raise InvalidInput(Message("agents.too_deep")) from None
    except yaml.YAMLError as error:
        raise InvalidInput(Message("agents.unreadable", why=error)) from None
    if isinstance(loaded, dict) and "items" in loaded:  # the output of `agents list --json`
        loaded = loaded["items"]
    if not isinstance(loaded, list):
        raise InvalidInput(Message("agents.no_list"), hint=Message("agents.hint_list"))
    return [(Message("input.entry", n=number), entry) for number, entry in enumerate(loaded, 1)]


def _parsed_json(number: int, line: str) -> object:
    try:
        return parse_json(line)
    except InvalidInput as error:
        raise InvalidInput(Message("input.at_line", n=number, why=error.message)) from None


def tenants_by_agent(agents: Iterable[Agent]) -> Mapping[str, Collection[str]]:
    """Return the tenants that have an agent of an id, by id."""
    tenants: defaultdict[str, set[str]] = defaultdict(set)
    for agent in agents:
        tenants[agent.id].add(agent.tenant_id)
    return dict(tenants)
