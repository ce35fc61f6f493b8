"""Known items that are most like what a change is about, and what they have in common with it."""

from __future__ import annotations

from core.decision_table import read_xml, search_text
from core.errors import BundleInvalid, RuleInvalid
from core.knowledge_conflicts import Evidence, Known, compare
from core.models import Change, Hit, Kind, KnownText, Snapshot
from core.ports import Search
from core.skill_document.frontmatter import read_frontmatter

SHOWN = 3
# What a text is about stands at its beginning; more of it costs more than it finds.
_CHARS = 200
_EXCERPT_CHARS = 200


async def similar_to(change: Change, search: Search) -> tuple[Hit, ...]:
    """Give at most three items of the kind, the most similar first, the target left out."""
    text = _words(change.kind, change.after or change.before)[:_CHARS]
    if change.kind is Kind.AGENT_SKILLS or not text.strip():
        return ()
    near = await search.near(
        text,
        tenant_id=change.tenant_id,
        agent_id=change.agent_id,
        kind=change.kind,
        limit=SHOWN + 1,
    )
    items = {item.id: item for item in near.items if item.id != change.target_id}
    known = (Known(item.id, item.name, item.content[:_CHARS], item.kind) for item in items.values())
    found = [evidence for evidence in compare(text, known) if evidence.is_exact or evidence.shared]
    return tuple(_hit(evidence, items[evidence.known.id]) for evidence in found[:SHOWN])


def _hit(evidence: Evidence, item: KnownText) -> Hit:
    return Hit(
        id=item.id,
        kind=item.kind,
        name=item.name,
        excerpt=" ".join(item.content[:_EXCERPT_CHARS].split()),
        score=round(evidence.similarity, 4),
        agent_id=item.agent_id,
        why=evidence.why,
    )


def _words(kind: Kind, state: Snapshot | None) -> str:
    if state is None:
        return ""
    if kind is Kind.SKILL:
        return _description(state.content) or state.name
    if kind is Kind.MEMORY:
        return state.content
    try:
        return search_text(read_xml(state.content))
    except RuleInvalid:
        return state.name


def _description(document: str) -> str:
    try:
        return read_frontmatter(document).description
    except BundleInvalid:
        return ""
