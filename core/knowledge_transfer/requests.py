"""A line as a request to the change gate, and the key that makes it happen once (pure)."""

from __future__ import annotations

import json
from collections.abc import Mapping

from core.decision_table import draft_to_table, parse_xml, same_table, to_xml
from core.errors import InvalidInput
from core.intake.knowledge_line import KnowledgeLine
from core.knowledge_transfer.owners import Owner
from core.models import (
    SKILL_MD,
    Bundle,
    ChangeRequest,
    Kind,
    KnowledgeItem,
    MemoryRequest,
    MergeMode,
    Operation,
    Relationship,
    RuleDraft,
    RuleRequest,
    SkillFile,
    SkillRequest,
)
from core.skill_bundle import bundle_hash
from core.snapshots import name_key, same_key, text_hash


def create_request(line: KnowledgeLine, reason: str) -> ChangeRequest:
    """Ask for a new item; that it is unrelated to what is near was for the user to say."""
    entry = line.entry
    given = {
        "operation": Operation.CREATE,
        "target_id": entry.name if entry.kind is Kind.SKILL else entry.id,
        "relationship": Relationship.UNRELATED,
        "is_import": True,
        "reason": reason,
    }
    return _request(line, given)


def replace_request(line: KnowledgeLine, target_id: str, reason: str) -> ChangeRequest:
    """Ask that the line takes the place of a known item."""
    given = {
        "operation": Operation.UPDATE,
        "target_id": target_id,
        "relationship": Relationship.SUPERSEDES,
        "is_import": True,
        "merge_mode": MergeMode.REPLACE,
        "reason": reason,
    }
    return _request(line, given)


def _request(line: KnowledgeLine, given: Mapping[str, object]) -> ChangeRequest:
    if line.entry.kind is Kind.SKILL:
        return SkillRequest.model_validate({**given, "folder": line.folder})
    if line.entry.kind is Kind.MEMORY:
        return MemoryRequest.model_validate({**given, "content": line.text})
    return RuleRequest.model_validate({**given, "document": line.text, "rule": _draft(line)})


def line_key(line: KnowledgeLine, owner: Owner) -> str:
    """Give the idempotency key: of whose it is and what it says, not of where it stands."""
    entry = line.entry
    content = line.text
    if line.folder is not None:
        content = bundle_hash(_bundle(line.folder, entry.name or ""))
    elif entry.rule is not None:
        content = entry.rule.model_dump_json()
    parts = [owner.tenant_id, owner.agent_id, entry.kind, entry.id, entry.name, content]
    return f"import:{text_hash(json.dumps(parts))}"


def attach_key(name: str, tenant_id: str, agent_id: str) -> str:
    """Give the idempotency key of putting a skill on an agent's list."""
    return f"import:attach:{text_hash(json.dumps([tenant_id, agent_id, name]))}"


def says_the_same(line: KnowledgeLine, item: KnowledgeItem, folder: Bundle | None) -> bool:
    """Tell whether a known item holds just what the line says. Raises RuleInvalid."""
    if line.folder is not None:
        return folder is not None and dict(folder.files) == dict(line.folder)
    if line.entry.kind is Kind.MEMORY or item.content == line.text:
        return item.content.strip() == line.text.strip()
    if line.entry.rule is None:
        return same_table(item.content, line.text)
    ids = (f"row_{number}" for number in range(1, 1 + len(line.entry.rule.rows)))
    table = draft_to_table(_draft(line), new_row_id=lambda: next(ids))
    return same_table(item.content, to_xml(table, decision_id="given"))


def turn_of(line: KnowledgeLine, owner: Owner) -> str:
    """Give what only one line at a time may bring in: its name, or of a memory what it says.

    Raises InvalidInput where the name of a line is not that of its rule, RuleInvalid.
    """
    name = line.entry.name
    if line.entry.kind is Kind.MEMORY:
        name = same_key(line.text)
    elif line.entry.kind is Kind.DMN_RULE:
        name = name_key(_rule_name(line))
    return f"{owner.tenant_id}\0{owner.agent_id}\0{line.entry.kind}\0{name}"


def _rule_name(line: KnowledgeLine) -> str:
    entry = line.entry
    inner = parse_xml(line.text).name if entry.rule is None else entry.rule.name
    if inner and entry.name and name_key(inner) != name_key(entry.name):
        raise InvalidInput(
            f"name is {entry.name!r}, but the rule itself says {inner!r}",
            hint="leave one of them out, or make them the same",
        )
    return inner or entry.name or ""


def _draft(line: KnowledgeLine) -> RuleDraft:
    draft = line.entry.rule or RuleDraft()
    if line.entry.rule is None or draft.name:
        return draft
    return draft.model_copy(update={"name": line.entry.name or ""})


def _bundle(folder: Mapping[str, SkillFile], name: str) -> Bundle:
    assert SKILL_MD in folder
    return Bundle(name=name, files=folder)
