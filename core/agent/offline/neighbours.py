"""What the offline model does with a new memory that was refused beside a near one.

It compares the two as shown in the refusal, and acts on the first difference that applies:

1. only form: `no_action` duplicate
2. the value in one slot ("PDF로", "엑셀로"): UPDATE, REPLACE, SUPERSEDES
3. whom or what they are about: CREATE, UNRELATED, naming both in the reason
4. only one of them ends: CREATE, EXCEPTION, with the words that say until when
5. what cannot both hold, as a value, a negation, a limit or an order: UPDATE, REPLACE, SUPERSEDES
6. else UPDATE, EXTEND: no word of either is lost

An UPDATE that is refused since the item holds for another time or for others is a CREATE beside it.
What another agent wrote for the whole tenant it cannot change: it CREATEs beside that, with the
relationship.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from core.agent.offline.rules import Call, View, no_action, reason
from core.agent.offline.slots import differ_in_one_slot
from core.knowledge.duplicates import CLASHES, Difference, Evidence, Known, evidence

Data = dict[str, JsonValue]
Sides = tuple[tuple[str, ...], tuple[str, ...]]


def settle(view: View, content: str, hits: Sequence[JsonValue], *, ends: bool = False) -> Call:
    """Return the call that follows the refusal of a memory, which `ends`, beside near ones."""
    hit, ids = hits[0], ", ".join(str(hit["id"]) for hit in hits if isinstance(hit, dict))
    assert isinstance(hit, dict)
    item_id = str(hit["id"])
    found = evidence(content, Known(item_id, str(hit["name"]), str(hit["excerpt"])))
    names, numbers = _sides(found, "name"), _sides(found, "number")
    if found.is_exact:
        return no_action(view, "duplicate", "known", f"MEMORY {item_id}")
    is_own, ends_alike = not hit.get("agent_id"), ends is bool(hit.get("valid_until"))
    if is_own and ends_alike and differ_in_one_slot(found, content, str(hit["excerpt"])):
        why = reason(view, "near_memory", item_id)
        return _update(item_id, content, why, "REPLACE", "SUPERSEDES")
    if _is_about_another(names, numbers):
        about = f"{', '.join(names[0])} / {', '.join(names[1])}".strip(" /")
        return _create(content, reason(view, "unrelated", f"{ids}: {about}"), "UNRELATED")
    if is_own and not ends_alike:
        return beside(view, content, ids)
    clashes = [d for d in found.differs if d.what in CLASHES and not _may_both_hold(d)]
    is_against = any(d.what != "number" or all((d.new, d.known)) for d in clashes)
    if not is_own:
        relationship = "CONFLICTS" if is_against else "EXTENDS"
        return _create(content, reason(view, "beside_tenant", ids), relationship)
    if is_against:
        why = reason(view, "near_memory", item_id)
        return _update(item_id, content, why, "REPLACE", "SUPERSEDES")
    return _update(item_id, content, reason(view, "adds", item_id), "EXTEND", "EXTENDS")


def _is_about_another(names: Sides, numbers: Sides) -> bool:
    """Whether each names someone else, or one names someone and the values differ."""
    return all(names) or (any(names) and all(numbers))


def _may_both_hold(difference: Difference) -> bool:
    """Whether one only holds too, or each on a day of its own: "엑셀로도 …", "금요일에는 …"."""
    is_too = difference.what == "scope" and not difference.known
    said = (*difference.new, *difference.known)
    is_topic = all(word.endswith(("에는", "엔")) for word in said)
    return is_topic or (is_too and {*difference.new} <= {"도", "also", "too"})


def _sides(found: Evidence, what: str) -> Sides:
    return next(((d.new, d.known) for d in found.differs if d.what == what), ((), ()))


def beside(view: View, content: str, ids: str) -> Call:
    """Return the call that leaves a memory as it is, with words that say until when this holds."""
    words = view.said if view.is_timed else content
    return _create(words, reason(view, "for_a_time", ids), "EXCEPTION")


def _create(content: str, why: str, relationship: str) -> Call:
    args: Data = {"operation": "CREATE", "content": content, "relationship": relationship}
    return "commit_to_memory", args | {"reason": why}


def _update(item_id: str, content: str, why: str, mode: str, relationship: str) -> Call:
    args: Data = {"operation": "UPDATE", "memory_id": item_id, "content": content}
    how: Data = {"merge_mode": mode, "relationship": relationship, "reason": why}
    return "commit_to_memory", args | how
