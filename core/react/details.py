"""Whole items as the ReAct agent reads them: a memory, a decision table, a skill's files."""

from __future__ import annotations

from pydantic import JsonValue

from core.decision_table import parse_xml
from core.decision_table.learning.cases import case_data
from core.errors import NotFound
from core.models import Bundle, Kind, KnowledgeItem
from core.prompt_data import shorten
from core.react.deps import ReactDeps

FILE_CHARS = 40_000


async def read_detail(kind: Kind, item_id: str, tenant_id: str, *, deps: ReactDeps) -> JsonValue:
    """Give an item as data, or `{"status": "not_found"}`."""
    missing: JsonValue = {"status": "not_found", "kind": kind, "id": item_id}
    if kind is Kind.SKILL:
        bundle = await deps.skills.read(item_id, tenant_id)
        return _skill(bundle) if bundle else missing
    try:
        item = await deps.knowledge.get(kind, tenant_id, item_id)
    except NotFound:
        return missing
    return _rule(item) if kind is Kind.DMN_RULE else _memory(item)


def _memory(item: KnowledgeItem) -> JsonValue:
    return {**_head(item), "content": item.content}


def _rule(item: KnowledgeItem) -> JsonValue:
    table: JsonValue = parse_xml(item.content).model_dump(mode="json")
    return {**_head(item), "table": table, "cases": case_data(item.content)}


def _head(item: KnowledgeItem) -> dict[str, JsonValue]:
    return {
        "id": item.id,
        "kind": item.kind,
        "name": item.name,
        "agent_id": item.agent_id,
        "version": item.version,
    }


def _skill(bundle: Bundle) -> JsonValue:
    return {"id": bundle.name, "kind": Kind.SKILL, "files": skill_files(bundle, FILE_CHARS)}


def skill_files(bundle: Bundle, file_chars: int) -> dict[str, JsonValue]:
    """Give a skill's files: text (cut at `file_chars`), or the size in bytes where binary."""
    return {path: _file(bundle.files[path].data, file_chars) for path in sorted(bundle.files)}


def _file(data: bytes, file_chars: int) -> JsonValue:
    try:
        return shorten(data.decode("utf-8"), file_chars)
    except UnicodeDecodeError:
        return {"binary": True, "bytes": len(data)}
