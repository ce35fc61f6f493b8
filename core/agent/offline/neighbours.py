"""What the offline model does with a new memory that was refused beside a near one.

It compares the two as shown in the refusal, and acts on the first difference that applies:

1. only form: `no_action` duplicate
2. whom or what they are about: CREATE, UNRELATED, naming both in the reason
3. what cannot both hold, as a value, a negation, a limit or an order: UPDATE, REPLACE, SUPERSEDES
4. else UPDATE, EXTEND: no word of either is lost

What another agent wrote for the whole tenant it cannot change: instead of 3 and 4 it CREATEs beside
that, with the relationship.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from core.agent.offline.rules import Call, View, no_action, reason
from core.knowledge.duplicates import CLASHES, Evidence, Known, evidence

Data = dict[str, JsonValue]
Sides = tuple[tuple[str, ...], tuple[str, ...]]


def settle(view: View, content: str, hits: Sequence[JsonValue]) -> Call:
    """Return the call that follows the refusal of a memory beside near ones."""
    hit, ids = hits[0], ", ".join(str(hit["id"]) for hit in hits if isinstance(hit, dict))
    assert isinstance(hit, dict)
    item_id = str(hit["id"])
    found = evidence(content, Known(item_id, str(hit["name"]), str(hit["excerpt"])))
    names, numbers = _sides(found, "name"), _sides(found, "number")
    if found.is_exact:
        return no_action(view, "duplicate", "known", f"MEMORY {item_id}")
    if _is_about_another(names, numbers):
        about = f"{', '.join(names[0])} / {', '.join(names[1])}".strip(" /")
        return _create(content, reason(view, "unrelated", f"{ids}: {about}"), "UNRELATED")
    clashes = [d for d in found.differs if d.what in CLASHES]
    is_against = any(d.what != "number" or all((d.new, d.known)) for d in clashes)
    if hit.get("agent_id"):
        relationship = "CONFLICTS" if is_against else "EXTENDS"
        return _create(content, reason(view, "beside_tenant", ids), relationship)
    if is_against:
        why = reason(view, "near_memory", item_id)
        return _update(item_id, content, why, "REPLACE", "SUPERSEDES")
    return _update(item_id, content, reason(view, "adds", item_id), "EXTEND", "EXTENDS")


def _is_about_another(names: Sides, numbers: Sides) -> bool:
    """Whether each names someone else, or one names someone and the values differ."""
    return all(names) or (any(names) and all(numbers))


def _sides(found: Evidence, what: str) -> Sides:
    return next(((d.new, d.known) for d in found.differs if d.what == what), ((), ()))


def _create(content: str, why: str, relationship: str) -> Call:
    args: Data = {"operation": "CREATE", "content": content, "relationship": relationship}
    return "commit_to_memory", args | {"reason": why}


def _update(item_id: str, content: str, why: str, mode: str, relationship: str) -> Call:
    args: Data = {"operation": "UPDATE", "memory_id": item_id, "content": content}
    how: Data = {"merge_mode": mode, "relationship": relationship, "reason": why}
    return "commit_to_memory", args | how
