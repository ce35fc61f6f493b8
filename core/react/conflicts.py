"""What `analyze_knowledge_conflict` tells: evidence about each known item, by its kind."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from core.decision_table import parse_xml
from core.errors import NotFound
from core.knowledge_conflicts import Known, compare
from core.knowledge_conflicts.rules import compare_rules
from core.knowledge_conflicts.skills import compare_described
from core.models import Kind
from core.react.deps import ReactDeps


async def analysed(
    kind: Kind, content: str, ids: Sequence[str], tenant_id: str, *, deps: ReactDeps
) -> JsonValue:
    """Compare a text with known items: `{"compared": [evidence], "not_found": [id]}`.

    A rule's `content` is the JSON of its draft; free text is compared by names alone.
    """
    compared, missing = await _COMPARED[kind](content, ids, tenant_id, deps)
    return {"compared": compared, "not_found": [*missing]}


Answer = tuple[list[JsonValue], list[str]]


async def _memories(content: str, ids: Sequence[str], tenant_id: str, deps: ReactDeps) -> Answer:
    known: list[Known] = []
    missing: list[str] = []
    for item_id in ids:
        try:
            item = await deps.knowledge.get(Kind.MEMORY, tenant_id, item_id)
            known.append(Known(item.id, item.name, item.content, Kind.MEMORY))
        except NotFound:
            missing.append(item_id)
    return [found.data() for found in compare(content, known)], missing


async def _rules(content: str, ids: Sequence[str], tenant_id: str, deps: ReactDeps) -> Answer:
    tables = {}
    missing: list[str] = []
    for item_id in ids:
        try:
            item = await deps.knowledge.get(Kind.DMN_RULE, tenant_id, item_id)
            tables[item_id] = parse_xml(item.content)
        except NotFound:
            missing.append(item_id)
    return compare_rules(content, tables), missing


async def _skills(content: str, ids: Sequence[str], tenant_id: str, deps: ReactDeps) -> Answer:
    read = {name: await deps.skills.read(name, tenant_id) for name in ids}
    known = [bundle for bundle in read.values() if bundle is not None]
    missing = [name for name, bundle in read.items() if bundle is None]
    return [found.data() for found in compare_described(content, known)], missing


_COMPARED = {Kind.MEMORY: _memories, Kind.DMN_RULE: _rules, Kind.SKILL: _skills}
