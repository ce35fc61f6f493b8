"""What code can prove about how a text relates to known items, for the agent's tool."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from core.agent.loop.deps import ReactDeps
from core.decision_table import parse_xml
from core.domain.errors import NotFound
from core.domain.models import Kind
from core.knowledge.duplicates import Known, compare
from core.knowledge.duplicates.rules import compare_rules
from core.knowledge.duplicates.skills import compare_described


async def analysed(
    kind: Kind, content: str, ids: Sequence[str], tenant_id: str, *, deps: ReactDeps
) -> JsonValue:
    """Compare a text with known items: `{"compared": [evidence], "not_found": [id]}`.

    A rule's `content` is the JSON of its draft; free text is compared by names alone.
    """
    if kind.is_built_in and kind is not Kind.MEMORY:
        compared, missing = await _COMPARED[kind](content, ids, tenant_id, deps)
    else:
        compared, missing = await _texts(kind, content, ids, tenant_id, deps)
    return {"compared": compared, "not_found": [*missing]}


Evidence = tuple[list[JsonValue], list[str]]


async def _texts(
    kind: Kind, content: str, ids: Sequence[str], tenant_id: str, deps: ReactDeps
) -> Evidence:
    known: list[Known] = []
    missing: list[str] = []
    for item_id in ids:
        try:
            item = await deps.knowledge.get(kind, tenant_id, item_id)
            known.append(Known(item.id, item.name, item.content, kind))
        except NotFound:
            missing.append(item_id)
    return [found.data() for found in compare(content, known)], missing


async def _rules(content: str, ids: Sequence[str], tenant_id: str, deps: ReactDeps) -> Evidence:
    tables = {}
    missing: list[str] = []
    for item_id in ids:
        try:
            item = await deps.knowledge.get(Kind.DMN_RULE, tenant_id, item_id)
            tables[item_id] = parse_xml(item.content)
        except NotFound:
            missing.append(item_id)
    return compare_rules(content, tables), missing


async def _skills(content: str, ids: Sequence[str], tenant_id: str, deps: ReactDeps) -> Evidence:
    read = {name: await deps.skills.read(name, tenant_id) for name in ids}
    known = [bundle for bundle in read.values() if bundle is not None]
    missing = [name for name, bundle in read.items() if bundle is None]
    return [found.data() for found in compare_described(content, known)], missing


_COMPARED = {Kind.DMN_RULE: _rules, Kind.SKILL: _skills}
